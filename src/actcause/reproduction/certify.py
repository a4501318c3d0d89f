"""Certifying: the canaries run on an earlier commit and on the present tree, and a certificate says what was equal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from .catalogue import Listed
from .certificates import Certificate
from .digest import digest_code, write_needed_parts
from .experiment import ReproduceError
from .machine import describe_machine, list_versions, read_commit, run_git

CANARIES = Path("src", "actcause", "reproduction", "canaries.py")


def certify(base: str, home: Path, known: Sequence[Listed]) -> Certificate:
    """Compare the clone at `home` with its commit `base`, part by part."""
    before = (
        None if base.startswith("-") else run_git(home, "rev-parse", "--short=12", "--verify", f"{base}^{{commit}}")
    )
    if before is None:
        raise ReproduceError(f"--certify takes a commit of the clone, such as HEAD~1 or 1a2b3c4. Got '{base}'.")
    began = time.monotonic()
    with TemporaryDirectory(prefix="certify-") as place:
        tree = check_out(home, before, Path(place))
        codes = {one.experiment.name: compare_code(one, tree, home) for one in known}
        old, new = run_canaries({before: tree, "the present tree": home}, home / CANARIES, Path(place))
    return Certificate(
        from_commit=before,
        to_commit=read_commit(home),
        codes={name: pair for name, pair in codes.items() if pair},
        equal=[part for part in old if old[part] == new.get(part)],
        different=[part for part in old if old[part] != new.get(part)],
        canaries={part: [old.get(part), new.get(part)] for part in (old | new)},
        versions=list_versions(),
        machine=describe_machine(),
        seconds=round(time.monotonic() - began, 1),
    )


def check_out(home: Path, commit: str, place: Path) -> Path:
    """Write the files of a commit into a folder; the clone stays as it is."""
    packed, tree = place / "base.zip", place / "base"
    if run_git(home, "archive", "--format=zip", f"--output={packed}", commit) is None:
        raise ReproduceError(f"git cannot write the files of {commit}; look at what 'git archive {commit}' says.")
    shutil.unpack_archive(packed, tree)
    return tree


def compare_code(listed: Listed, old: Path, new: Path) -> dict[str, str]:
    """Digest an experiment's code in two trees; none where it is not in both."""
    files = [tree / "experiments" / listed.file.name for tree in (old, new)]
    name = listed.experiment.run.__name__
    if not all(file.exists() and write_needed_parts(file, name) for file in files):
        return {}
    before, after = (
        digest_code(tree / "src" / "actcause", file, name) for tree, file in zip((old, new), files, strict=True)
    )
    return {before: after}


def run_canaries(trees: Mapping[str, Path], program: Path, place: Path) -> list[dict[str, str]]:
    """Run the canaries of the present tree on each tree, side by side, and read the digest of every part."""
    with ExitStack() as ending:
        running = {}
        for number, (name, tree) in enumerate(trees.items()):
            notes = ending.enter_context((place / f"{number}.log").open("w+"))
            environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
            words = [sys.executable, "-P", str(program), str(place / f"{number}.json")]
            process = subprocess.Popen(words, cwd=place, env=environment, stdout=notes, stderr=notes)
            ending.callback(process.kill)
            running[name] = process, notes
        for name, (process, notes) in running.items():
            if process.wait():
                notes.seek(0)
                last = (notes.read().splitlines() or ["no word"])[-1]
                raise ReproduceError(f"The canaries ended with an error on {name}: {last}")
    return [_read_parts(place / f"{number}.json", tree) for number, tree in enumerate(trees.values())]


def _read_parts(out: Path, tree: Path) -> dict[str, str]:
    given = json.loads(out.read_text(encoding="utf-8"))
    if Path(given["package"]).resolve() != (tree / "src" / "actcause").resolve():
        raise ReproduceError(
            f"The canaries ran {given['package']} instead of {tree / 'src'}; is another one installed?"
        )
    parts: dict[str, str] = given["parts"]
    return parts
