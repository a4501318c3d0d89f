"""Ours: what noise in the outcome does to answers from the state alone, and to answers in hindsight.

    actcause reproduce noise

`rules` stands for a model that knows the domain's rules and the strength of its noise, but not what the noise will be:
it plays every state many times and names what is more often a cause than not. Nothing that answers from the state
alone can be expected to do better.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np

from actcause.data import Transitions
from actcause.envs import make
from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import EVERY, VECTORS, first_known, fit_and_measure, percent, record_domain, uses
from actcause.reproduction.tables import describe_missing, list_missing, spread, table

RULES = "rules"
OURS = "jaci-auto"
CASES = (("1-in", 0.2), ("3-m-in", 0.2), ("tau-1", 0.2), ("push", 0.1), ("push", 0.3), ("break", 0.3))
# What is to be reached, in percent: of `predict` and of `explain`, edge errors; in push and break balanced errors.
BARS: Mapping[tuple[str, float], tuple[float | None, float | None]] = {
    ("1-in", 0.2): (None, 0.5),
    ("3-m-in", 0.2): (None, 1.0),
    ("tau-1", 0.2): (None, 0.5),
    ("push", 0.1): (4.0, None),
    ("push", 0.3): (8.0, None),
    ("break", 0.3): (6.0, None),
}
PLAYED = 64  # times that `rules` plays each state


@dataclass(frozen=True)
class Arguments:
    """Which domains with how much noise, and who learns from them."""

    cases: tuple[tuple[str, float], ...] = CASES
    methods: tuple[str, ...] = (RULES, *EVERY)
    seeds: tuple[int, ...] = (0, 1, 2)
    frames: int = 100_000
    tests: int = 20_000
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One method in one domain with one strength of noise and one seed."""

    domain: str
    noise: float
    method: str
    seed: int


FULL = Arguments()
SHORT = {"steps": 600, "distil_steps": 300, "width": 32}
SMALL = Arguments(
    methods=(RULES, "jaci-auto", "jaci-em", "cf", "granger", "never", "always"), seeds=(0,), frames=10_000, tests=5000,
    options=SHORT,
)  # fmt: skip
QUICK = Arguments(
    (("1-in", 0.2), ("push", 0.1)), (RULES, "jaci-auto", "never"), seeds=(0,), frames=4000, tests=1000,
    options={"steps": 200, "distil_steps": 100, "width": 32},
)  # fmt: skip
TINY = Arguments(
    (("push", 0.1),), (RULES, "jaci-auto"), seeds=(0,), frames=1000, tests=300,
    options={"steps": 20, "distil_steps": 10, "width": 16, "batch": 64},
)  # fmt: skip


def pieces(arguments: Arguments) -> list[Piece]:
    """Case after case, so that all methods learn from the same recordings."""
    return [
        Piece(domain, noise, method, seed)
        for domain, noise in arguments.cases
        for method in arguments.methods
        for seed in arguments.seeds
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded, options that are not the method's own, and how often `rules` plays."""
    given = {"frames": arguments.frames, "tests": arguments.tests, "options": dict(arguments.options)}
    return {**given, "played": PLAYED} if piece.method == RULES else given


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train and score one method in one domain, all seeds of the pack as one computation."""
    recorded = [
        record_domain(piece.domain, piece.seed, arguments.frames, noise=piece.noise, tests=arguments.tests)
        for piece in pack
    ]
    if pack[0].method == RULES:
        return [play_rules(piece, test) for piece, (_, test) in zip(pack, recorded, strict=True)]
    return fit_and_measure(pack[0].method, [piece.seed for piece in pack], recorded, device, arguments.options)


def play_rules(piece: Piece, test: Transitions) -> dict[str, Any]:
    """Measure the least errors of one that knows the rules: of each kind of error, by the answers that are best at it.

    For the balanced error an answer weighs as rare as its kind of row is.
    """
    from actcause.learn.evaluation import balanced_error, edge_error

    began = time.process_time()
    domain = make(piece.domain, noise=piece.noise, **({"draw": piece.seed} if piece.domain in VECTORS else {}))
    generator = np.random.default_rng(piece.seed)
    states = np.asarray(test.state, dtype=float)
    scored = [domain.index(name) for name in test.edges]
    cause_often, other_often, event_often = np.zeros(test.cause.shape), np.zeros(test.cause.shape), np.zeros(len(test))
    for _ in range(PLAYED):
        acted = domain.sample_actions(generator, states)
        if domain.action is not None:
            acted[:, : domain.action_size] = states[:, domain.index(domain.action), : domain.action_size]
        cause = domain.step(states, acted).cause
        event = cause[:, scored].any(axis=1)
        cause_often += cause
        other_often += ~cause & event[:, None]
        event_often += event
    share = min(max(float(event_often.mean()) / PLAYED, 1e-9), 1 - 1e-9)
    fair = cause_often / share > other_often / share + (PLAYED - event_often[:, None]) / (1 - share)
    return {
        "error": percent(edge_error(test, 2 * cause_often > PLAYED)),
        "balanced": percent(balanced_error(test, fair)),
        "states": len(test),
        "processor_seconds": round(time.process_time() - began, 2),
        "trained_together": 1,
        "notes": [],
    }


# -- what came out -----------------------------------------------------------------------------------


def figure(domain: str) -> str:
    """Which error is compared with a bar: rows with a cause are rare in push and break."""
    return "error" if domain in VECTORS else "balanced"


def missed(results: Results) -> list[str]:
    """Say where the default learner misses a bar, and where it explains worse than it predicts."""
    found = []
    for (domain, noise), (most, most_explained) in BARS.items():
        here = {"domain": domain, "noise": noise, "method": OURS}
        if not results.where(**here):
            continue
        said, shown = (fmean(results.values(f"{before}{figure(domain)}", **here)) for before in ("", "explain_"))
        for verb, error, bar in (("predict", said, most), ("explain", shown, most_explained)):
            if bar is not None and error > bar:
                found.append(f"{domain} with noise {noise:g}: {verb} {error:.2f}%, where at most {bar:g}% is asked for")
        if shown > said:
            found.append(f"{domain} with noise {noise:g}: explain {shown:.2f}% is worse than predict {said:.2f}%")
    return found


def page(results: Results) -> Page:
    """Show what is best from the state alone beside the default and its bars, then all methods."""
    sentences = missed(results) if results.size == "full" else []
    parts = [INTRODUCTION, _ours(results)]
    if sentences:
        parts += ["The bars that are missed:", "\n".join(f"- {sentence}" for sentence in sentences)]
    parts += [_absent(results), "## All methods", _errors(results)]
    return Page("\n\n".join(part for part in parts if part), (), DEVIATIONS)


def _ours(results: Results) -> str:
    rows = []
    for domain, noise in results.arguments.cases:
        here = {"domain": domain, "noise": noise}
        bars = BARS.get((domain, noise), (None, None))
        names = (figure(domain), f"explain_{figure(domain)}")
        rows.append(
            [domain, f"{noise:g}", figure(domain).replace("error", "edge")]
            + [spread(results.values(names[0], **here, method=RULES))]
            + [spread(results.values(name, **here, method=OURS)) for name in names]
            + ["—" if bar is None else f"{bar:g}" for bar in bars]
        )
    headings = ["domain", "noise", "error", RULES, "predict", "explain", "to reach: predict", "explain"]
    return table(headings, rows)


def _errors(results: Results) -> str:
    rows = []
    for domain, noise in results.arguments.cases:
        for method in first_known({one.piece["method"] for one in results.where(domain=domain, noise=noise)}):
            here = {"domain": domain, "noise": noise, "method": method}
            names = ("error", "balanced", "explain_error", "explain_balanced")
            cells = [spread(results.values(name, **here)) for name in names]
            seconds = [one.value["processor_seconds"] / one.value["trained_together"] for one in results.where(**here)]
            rows.append([domain, f"{noise:g}", method, str(len(results.where(**here))), *cells, spread(seconds, 0)])
    headings = ["domain", "noise", "method", "seeds", "error", "balanced", "explain: error", "balanced", "seconds"]
    return table(headings, rows)


def _absent(results: Results) -> str:
    """Name what has not been run yet."""
    given = results.arguments
    lost = {
        f"{domain} with noise {noise:g}": describe_missing(
            results, given.methods, given.seeds, domain=domain, noise=noise
        )
        for domain, noise in given.cases
    }
    return list_missing(lost)


INTRODUCTION = (
    "In every step chance shifts the outcome, by a Gaussian of the strength given, and no factor explains that. "
    "Every method has its default options, but for the settings listed above, and sees no label; the default is "
    "`jaci-auto`. Errors are in percent, over all rows as they come: *edge* is the share of wrong answers, "
    "*balanced* the mean of that share over rows with and without a cause. `predict` answers from the state alone, "
    f"`explain` knows the outcome. `{RULES}` knows the rules and the noise's strength and plays every state {PLAYED} "
    "times: the least error that answers from the state alone can have, where chance decides what is a cause. Means "
    "± standard deviation between seeds. Seconds are those that a processor worked at one seed's training, on one "
    "thread."
)
DEVIATIONS = ("This is not in the paper, whose domains have no noise.",)

EXPERIMENT = Experiment(
    name="noise",
    title="Noise in the outcome",
    paper="Ours; the paper has no such table.",
    expected="minutes on one core for each method, case and seed that learns (the seconds are in the table)",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: (f"domain:{piece.domain}",) if piece.method == RULES else uses(piece.method, piece.domain),
    together=lambda piece: (piece.domain, piece.noise, piece.method),
    missed=missed,
    order=31,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
