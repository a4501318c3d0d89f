"""Certifying: the canaries run on an earlier commit and on the present tree, and a certificate says what was equal.

A part whose canary runs the same code in both trees cannot differ, and does not have to run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from .canaries import FRAMES
from .catalogue import ExperimentFile
from .certificates import Certificate, Certificates, label_codes
from .closure import digest_closure
from .digest import digest_whole
from .experiment import SIZES, ReproduceError, piece_key
from .machine import describe_machine, list_versions, read_commit, run_git
from .revisions import list_revisions
from .store import Store

CANARIES = Path("src", "actcause", "reproduction", "canaries.py")


@dataclass(frozen=True)
class Tree:
    """The files of a commit, or of the clone."""

    name: str
    home: Path

    @property
    def package(self) -> Path:
        return self.home / "src" / "actcause"

    def find_file(self, listed: ExperimentFile) -> Path:
        return self.home / "experiments" / listed.file.name

    def digest_codes(self, listed: ExperimentFile) -> dict[str, str]:
        """Digest the code of an experiment's results, for each set of parts that they depend on."""
        experiment, file = listed.experiment, self.find_file(listed)
        pieces = [piece for size in SIZES for piece in experiment.pieces(experiment.size(size))]
        used = dict.fromkeys(frozenset(experiment.uses(piece)) for piece in pieces)
        name = experiment.run.__name__
        return {label_codes(experiment.name, parts): digest_closure(self.package, file, name, parts) for parts in used}

    def digest_canary(self, part: str, program: Path, known: Mapping[str, ExperimentFile]) -> str | None:
        """Digest the code that the canary of a part runs; None where the tree has no such experiment."""
        kind, _, name = part.partition(":")
        if kind == "experiment":
            listed = known[name]
            experiment, file = listed.experiment, self.find_file(listed)
            tiny = frozenset(each for piece in experiment.pieces(experiment.tiny) for each in experiment.uses(piece))
            return digest_closure(self.package, file, experiment.run.__name__, tiny) if file.exists() else None
        used = {part, *(f"domain:{domain}" for domain in FRAMES)} if kind == "method" else {part}
        return digest_closure(self.package, program, f"digest_{kind}", frozenset(used))


def certify(base: str, home: Path, known: Sequence[ExperimentFile], results: Path) -> list[Certificate]:
    """Compare the clone at `home` with its commit `base`, part by part; the last certificate says what came out.

    Another comes before it where results or certificates know that commit by the digest of its whole package.
    """
    before = (
        None if base.startswith("-") else run_git(home, "rev-parse", "--short=12", "--verify", f"{base}^{{commit}}")
    )
    if before is None:
        raise ReproduceError(f"--certify takes a commit of the clone, such as HEAD~1 or 1a2b3c4. Got '{base}'.")
    began = time.monotonic()
    with TemporaryDirectory(prefix="certify-") as place:
        old = Tree(before, check_out(home, before, Path(place)))
        new = Tree("the present tree", home)
        both = [one for one in known if old.find_file(one).exists()]
        by_name = {one.experiment.name: one for one in both}
        parts = [*list_revisions(), *(f"experiment:{name}" for name in by_name)]
        codes = [{part: tree.digest_canary(part, home / CANARIES, by_name) for part in parts} for tree in (old, new)]
        same = [part for part in parts if codes[0][part] == codes[1][part]]
        first, second = run_canaries((old, new), home / CANARIES, [part for part in parts if part not in same])
        equal, different = compare_parts([part for part in parts if part not in same], first, second, by_name)
        certificate = Certificate(
            from_commit=before,
            to_commit=read_commit(home),
            codes=dict(_join_codes(both, old, new)),
            equal=[*same, *equal],
            different=different,
            same_code=same,
            canaries={part: [first.get(part), second.get(part)] for part in (first | second)},
            versions=list_versions(),
            machine=describe_machine(),
            seconds=round(time.monotonic() - began, 1),
        )
        joined = dict(_join_digests(both, old, results))
    return [*([Certificate(before, before, joined, parts, ())] if joined else []), certificate]


def compare_parts(
    parts: Sequence[str], first: Mapping[str, str], second: Mapping[str, str], known: Mapping[str, ExperimentFile]
) -> tuple[list[str], list[str]]:
    """List the parts that gave the same bytes in two trees, and those that did not.

    An experiment is judged by those pieces of both trees that use nothing which differs, if there are any: what a
    method changes on purpose says nothing of the results of other methods.
    """
    equal: list[str] = []
    different: list[str] = []
    for part in sorted(parts, key=lambda part: part.startswith("experiment:")):
        ran = {key for key in first if key.partition(" ")[0] == part}
        if not ran:
            continue  # the earlier tree does not have it
        if part.startswith("experiment:"):
            experiment = known[part.removeprefix("experiment:")].experiment
            tiny = experiment.pieces(experiment.tiny)
            unchanged = {f"{part} {piece_key(one)}" for one in tiny if not {*experiment.uses(one)} & {*different}}
            ran = ran & unchanged or ran
        same = all(first[key] == second.get(key) for key in ran)
        (equal if same else different).append(part)
    return equal, different


def _join_codes(known: Sequence[ExperimentFile], old: Tree, new: Tree) -> Iterator[tuple[str, dict[str, str]]]:
    """Pair the codes of results in two trees where they differ."""
    for listed in known:
        before = old.digest_codes(listed)
        for label, after in new.digest_codes(listed).items():
            if before[label] != after:
                yield label, {before[label]: after}


def _join_digests(known: Sequence[ExperimentFile], tree: Tree, results: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Pair the digest of the whole package with the codes of results in one tree, where the former is known."""
    certificates = Certificates.read(results)
    for listed in known:
        name = listed.experiment.name
        whole = digest_whole(tree.package, tree.find_file(listed), listed.experiment.run.__name__)
        named = {record.code for size in SIZES for record in Store.of(results, size).read(name)}
        named |= {code for one in certificates.entries for pair in one.codes.get(name, {}).items() for code in pair}
        for label, code in tree.digest_codes(listed).items() if whole in named else ():
            if not any(one.codes.get(label, {}).get(whole) == code for one in certificates.entries):
                yield label, {whole: code}


def check_out(home: Path, commit: str, place: Path) -> Path:
    """Write the files of a commit into a folder; the clone stays as it is."""
    packed, tree = place / "base.zip", place / "base"
    if run_git(home, "archive", "--format=zip", f"--output={packed}", commit) is None:
        raise ReproduceError(f"git cannot write the files of {commit}; look at what 'git archive {commit}' says.")
    shutil.unpack_archive(packed, tree)
    return tree


def run_canaries(trees: Sequence[Tree], program: Path, parts: Sequence[str]) -> list[dict[str, str]]:
    """Run the canaries of the present tree on each tree, side by side, and read the digest of every part."""
    if not parts:
        return [{} for _ in trees]
    with ExitStack() as ending:
        place = Path(ending.enter_context(TemporaryDirectory(prefix="canaries-")))
        running = []
        for number, tree in enumerate(trees):
            notes = ending.enter_context((place / f"{number}.log").open("w+"))
            environment = {**os.environ, "PYTHONPATH": str(tree.package.parent), "OMP_NUM_THREADS": "1"}
            words = [sys.executable, "-P", str(program), str(place / f"{number}.json"), *parts]
            process = subprocess.Popen(words, cwd=place, env=environment, stdout=notes, stderr=notes)
            ending.callback(process.kill)
            running.append((tree, process, notes))
        for tree, process, notes in running:
            if process.wait():
                notes.seek(0)
                last = (notes.read().splitlines() or ["no word"])[-1]
                raise ReproduceError(f"The canaries ended with an error on {tree.name}: {last}")
        return [_read_parts(place / f"{number}.json", tree) for number, tree in enumerate(trees)]


def _read_parts(out: Path, tree: Tree) -> dict[str, str]:
    given = json.loads(out.read_text(encoding="utf-8"))
    if Path(given["package"]).resolve() != tree.package.resolve():
        raise ReproduceError(
            f"The canaries ran {given['package']} instead of {tree.package}; is another one installed?"
        )
    parts: dict[str, str] = given["parts"]
    return parts
