"""Canaries: small runs of everything that results depend on, each part as a digest of the bytes it gave.

    OMP_NUM_THREADS=1 PYTHONPATH=src python -P src/actcause/reproduction/canaries.py OUT.json PART...

A program of its own that uses the public interface alone, so that the same file runs on an old tree and on a new one:
`actcause reproduce --certify COMMIT` does so and compares. A part is a domain, a method, the exact core or an
experiment; one that the tree does not have is left out. Floating-point numbers count by their bytes, which is why one
thread computes everything.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import actcause as ac
from actcause.data import Transitions, collect
from actcause.envs import make as make_domain
from actcause.envs import names as domain_names
from actcause.envs import parameters

SHORT = {"steps": 40, "distil_steps": 20, "pretrain": 20, "batch": 64, "width": 16, "embedding": 16, "samples": 4}
SEEDS = (0, 1)
FRAMES = {"1-in": 1200, "push": 1500, "break": 1500}
SCORES = (
    "edge_error", "exact_error", "auc", "average_precision", "false_positive_rate", "false_negative_rate",
    "calibration_error", "per_factor", "trivial", "states", "resampled", "moved", "hindsight",
)  # fmt: skip
OF_A_FACTOR = (  # what trees have in common: figures were added later
    "edge_error", "auc", "average_precision", "f1", "false_positive_rate", "false_negative_rate", "rate", "states",
)  # fmt: skip
NOISE, INCREMENT = {"noise": 0.1}, {"dynamics": "increment"}
SHARES = ("alpha_sufficiency", "alpha_necessity")
MOST_PAIRS, MOST_STATES = 20, 20_000  # that are listed; there are up to a million states
MOST_CONTEXTS = 10_000_000  # of an example that is searched whole
MOST_VARIABLES = 24  # of an example whose states are partitioned: those of a tank over six steps take minutes


class Digest:
    """A hash of arrays, tensors and JSON values, in the order in which they are added."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add(self, name: str, value: Any) -> None:
        """Add a value under a name: an array by its kind, shape and bytes, anything else as JSON."""
        if isinstance(value, np.ndarray):
            self._hash.update(f"{name} {value.dtype} {value.shape}\n".encode())
            self._hash.update(np.ascontiguousarray(value).tobytes())
        else:
            self._hash.update(f"{name} {json.dumps(value, sort_keys=True, default=str)}\n".encode())

    def __str__(self) -> str:
        return self._hash.hexdigest()[:16]


# -- domains -----------------------------------------------------------------------------------------


def digest_domain(name: str) -> str:
    """Hash recordings of a domain: several seeds, several draws, its options; of a world: several seeds."""
    world = name not in domain_names()
    known = {} if world else parameters(name)
    chosen: list[dict[str, Any]] = [{}]
    if "draw" in known:
        chosen += [{"draw": 3}, {"draw": 1, **INCREMENT}]
    if "noise" in known:
        chosen.append(NOISE)
    digest = Digest()
    for options in chosen:
        for seed in SEEDS:
            source = name if world else make_domain(name, **options)
            add_rows(digest, f"{options} {seed}", collect(source, 200 if world else 600, seed=seed))
    return str(digest)


def list_worlds() -> list[str]:
    """List the worlds whose simulators are installed; earlier trees have none."""
    if find_spec("actcause.worlds") is None:
        return []
    worlds = import_module("actcause.worlds")
    return [name for name in worlds.names() if worlds.make(name).version is not None]


def add_rows(digest: Digest, name: str, data: Transitions) -> None:
    """Add all that a recording holds."""
    digest.add(name, [data.factors, data.own, data.features, data.metadata])
    for part in ("state", "outcome", "cause", "mask", "episode", "step"):
        digest.add(part, getattr(data, part, None))
    for key, column in sorted(data.extra.items()):
        digest.add(key, np.asarray(column))


# -- methods -----------------------------------------------------------------------------------------


def record_objects(seed: int) -> Transitions:
    """Record a ball among blocks of one class that are not always there."""
    generator = np.random.default_rng([seed, 1])
    state = generator.uniform(-1, 1, (600, 4, 2))
    mask = np.concatenate([np.ones((600, 1), dtype=bool), generator.random((600, 3)) < 0.7], axis=1)
    hit = mask & (np.abs(state[:, :, 0] - state[:, :1, 0]) < 0.2)
    return Transitions(
        factors=["ball", "a", "b", "c"],
        state=state,
        outcome=state[:, 0] + 0.5 * hit[:, 1:].sum(axis=1, keepdims=True),
        own="ball",
        cause=hit,
        mask=mask,
        episode=np.arange(600) // 20,
        metadata={"classes": {"a": "block", "b": "block", "c": "block"}},
    )


def record_lamps(seed: int) -> Transitions:
    """Record a lamp whose own state is not known, a switch of three positions and a dimmer."""
    generator = np.random.default_rng([seed, 2])
    switch, dimmer = generator.integers(0, 3, 600), generator.random(600)
    return Transitions(
        factors=["switch", "dimmer"],
        state=np.stack([switch, dimmer], axis=1)[:, :, None],
        outcome=np.where(switch > 0, dimmer * switch, 0)[:, None],
        outcome_factor="lamp",
        cause=np.stack([np.ones(600, dtype=bool), switch > 0], axis=1),
        metadata={"categorical": ["switch.x0"]},
    )


def record(world: str, seed: int) -> Transitions:
    """Record what methods learn from."""
    if world == "objects":
        return record_objects(seed)
    return record_lamps(seed) if world == "lamps" else collect(world, FRAMES[world], seed=seed)


def digest_method(method: str) -> str:
    """Hash what a method learns and says in every world, several seeds trained as one computation."""
    from actcause.learn import METHODS, evaluate, fit_many, make

    known = {field.name for field in fields(METHODS[method])}
    options = {name: value for name, value in SHORT.items() if name in known}
    digest = Digest()
    for world in (*FRAMES, "objects", "lamps"):
        learners = [make(method, seed=seed, device="cpu", **options) for seed in SEEDS]
        fit_many(learners, [record(world, seed) for seed in SEEDS])
        test = record(world, 7)
        for learner in learners:
            digest.add(world, [learner.learned_, learner.notes_])
            digest.add("predicted", learner.predict_proba(test))
            digest.add("explained", learner.explain_proba(test))
            digest.add("unsure", learner.unsure(test, hindsight=True))
            scores = evaluate(learner, test, resample=world in ("push", "break")).to_json()
            for factor, figures in scores["per_factor"].items():
                scores["per_factor"][factor] = {name: figures[name] for name in OF_A_FACTOR}
            digest.add("scores", [scores[name] for name in SCORES])
            add_tensors(digest, learner)
    return str(digest)


def add_tensors(digest: Digest, learner: Any) -> None:
    """Add the tensors of the learner's file."""
    from safetensors.numpy import load_file

    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder, "model.safetensors"))
        for name, tensor in sorted(load_file(Path(folder, "model.safetensors")).items()):
            digest.add(name, tensor)


# -- the exact core ----------------------------------------------------------------------------------


def digest_exact() -> str:
    """Hash the causes by every definition, and the minimal pairs, of every example."""
    digest = Digest()
    for name in ac.examples.names():
        example = ac.examples.load(name)
        if example.model.context_count > MOST_CONTEXTS:
            continue
        shares: dict[str, Any] = {
            "alpha_sufficiency": example.alpha_sufficiency,
            "alpha_necessity": example.alpha_necessity,
        }
        small = len(example.model.variables) <= MOST_VARIABLES
        for definition in ac.DEFINITIONS:
            if definition == "functional" and not small:
                continue
            question: dict[str, Any] = {"context": dict(example.context), "effect": example.effect}
            question |= {"definition": definition, **(shares if definition == "functional" else {})}
            answer = ac.causes(example.model, **question)
            causes = [[dict(one.event), one.witness.to_json()] for one in answer.causes]
            digest.add(f"{name} {definition}", [causes, answer.status.value])
            for variable, value in example.context.items():
                if variable in example.model.exogenous:  # never a cause, so no question
                    continue
                verdict = ac.is_cause(example.model, **question, event={variable: value})
                digest.add(variable, [verdict.holds, dict(verdict.conditions)])
        if small:
            pairs: Any = ac.partitions(example.model, example.outcome, **shares)
            binaries = [[row.binary for row in islice(pair, MOST_STATES)] for pair in islice(pairs, MOST_PAIRS)]
            digest.add(f"{name} pairs", [pairs.cost, pairs.count, binaries])
    return str(digest)


# -- experiments -------------------------------------------------------------------------------------


def digest_experiments(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Hash what experiments give at their tiny size, piece by piece, the times that were measured left out."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "all.jsonl")
        words = ["reproduce", *names, "--size", "tiny", "--device", "cpu", "--results", folder]
        words += ["--archive", str(archive)]
        subprocess.run([sys.executable, "-m", "actcause", *words], check=True, stdout=subprocess.DEVNULL)
        for line in archive.read_text(encoding="utf-8").splitlines():
            given = json.loads(line)
            digest = Digest()
            digest.add("piece", [given["piece"], given["settings"], without_times(given["value"])])
            yield f"{given['experiment']} {'_'.join(map(str, given['piece'].values()))}", str(digest)


def without_times(value: Any) -> Any:
    """Leave out the entries of a value that say how long something took, or how much memory."""
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if not name.endswith(("seconds", "memory"))}
    return [without_times(each) for each in value] if isinstance(value, list) else value


# -- all of them -------------------------------------------------------------------------------------


def digest_parts(parts_to_digest: Sequence[str], say: Callable[[str], None]) -> dict[str, str]:
    """Digest those of the parts that this tree has, by their names."""
    import torch

    from actcause.learn import METHODS

    torch.set_num_threads(1)
    canaries: dict[str, Callable[[], str]] = {"exact": digest_exact}
    canaries |= {f"domain:{name}": partial(digest_domain, name) for name in (*domain_names(), *list_worlds())}
    canaries |= {f"method:{name}": partial(digest_method, name) for name in METHODS}
    parts = {}
    for part in parts_to_digest:
        if part in canaries:
            parts[part] = canaries[part]()
            say(part)
    experiments = [part.removeprefix("experiment:") for part in parts_to_digest if part.startswith("experiment:")]
    if experiments:
        parts |= {f"experiment:{name}": digest for name, digest in digest_experiments(experiments)}
        say("experiments")
    return parts


if __name__ == "__main__":
    began = time.monotonic()
    found = digest_parts(
        sys.argv[2:], lambda part: print(f"{time.monotonic() - began:6.1f} s  {part}", file=sys.stderr)
    )
    Path(sys.argv[1]).write_text(json.dumps({"package": str(Path(ac.__file__).parent), "parts": found}, indent=1))
