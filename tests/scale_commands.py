"""The commands that take --workers and --engine, run one after the other by a process of its own.

Prints what each ended with, as JSON; `test_scale.py` starts it where Ray is missing or the disk is full.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from actcause.cli import main
from actcause.data import collect
from actcause.parallel import Outcome
from actcause.parallel.processes import Local, attempt

EXPERIMENTS = str(Path(__file__).parents[1] / "experiments")
QUESTION = '{"model": "rock-throwing", "event": "ST=1"}\n'
SPACE = "A in 0..299\nB in 0..299\nY = A > B\n"  # its masks fill more than a block of a disk


def commands(inputs: Path, out: Path, small: bool) -> dict[str, list[str]]:
    """Each command by its name; those that are not small write more, to the same places."""
    questions, recordings, model = inputs / "questions", inputs / "recordings", inputs / "model.txt"
    experiments = ["mover"] if small else ["mover", "mover_costs"]
    masks = ["rock-throwing"] if small else [str(model), "--outcome", "Y"]
    return {
        "ask": ["ask", "--questions", f"{questions}{1 if small else 500}.jsonl", "--out", str(out / "answers.jsonl")],
        "partition": ["partition", *masks, "--alpha-sufficiency", "0.2", "--out", str(out / "masks.npy")],
        "predict": [
            *("predict", str(inputs / "run"), str(recordings / ("a.parquet" if small else "*.parquet"))),
            *("--out", f"{out / 'causes'}/"),
        ],
        "train": [
            *("train", str(recordings / "a.parquet"), "--method", "never", "--no-tensorboard"),
            *("--sweep", "seed=0" if small else "seed=0..1", "--out", str(out / "sweep")),
        ],
        "reproduce": [
            *("reproduce", *experiments, "--size", "tiny", "--results", str(out / "results")),
            *("--experiments", EXPERIMENTS, "--device", "cpu"),
        ],
    }


def prepare(inputs: Path) -> None:
    (inputs / "recordings").mkdir(parents=True)
    for seed, name in enumerate("ab"):
        collect("1-in", 500, seed=seed, out=inputs / "recordings" / f"{name}.parquet")
    for count in (1, 500):
        (inputs / f"questions{count}.jsonl").write_text(QUESTION * count)
    (inputs / "model.txt").write_text(SPACE)
    run(["train", str(inputs / "recordings" / "a.parquet"), "--method", "never", "--out", str(inputs / "run")])


def run(words: list[str]) -> tuple[int, str]:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        code = main(words)
    return code, said.getvalue()


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "filled"}


def without_ray(folder: Path) -> None:
    """Every command with the usual engine, then with Ray."""
    Local.run = in_this_process  # type: ignore[assignment, method-assign]  # who runs a task has no part in this
    prepare(folder)
    found = {}
    for name, words in commands(folder, folder, small=True).items():
        found[name] = {"local": run(words), "ray": run([*words, "--engine", "ray"])}
    print(json.dumps(found))


def try_full_disk(inputs: Path, out: Path) -> None:
    """Small commands while there is room; larger ones once the disk is full, then once it is read-only."""
    Local.run = in_this_process  # type: ignore[assignment, method-assign]  # who runs a task has no part in this
    prepare(inputs)
    found: dict[str, dict[str, object]] = {name: {} for name in commands(inputs, out, small=True)}
    for name, words in commands(inputs, out, small=True).items():
        found[name]["earlier"] = run(words)
    before = contents(out)
    for how, prepared in {"full": fill, "read-only": protect}.items():
        prepared(out)
        for name, words in commands(inputs, out, small=False).items():
            code, said = run(words)
            there = contents(out)
            found[name][how] = code, said, all(there.get(path) == content for path, content in before.items())
    print(json.dumps(found))


def in_this_process(engine: Local, function: Any, tasks: Iterable[Any], **_: Any) -> Iterator[Outcome[Any]]:
    return (Outcome(*attempt(function, task), 1) for task in tasks)


def fill(folder: Path) -> None:
    with open(folder / "filled", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError:
            return


def protect(folder: Path) -> None:
    assert os.system(f"mount -o remount,ro {folder}") == 0


if __name__ == "__main__":
    _, what, *folders = sys.argv
    {"without-ray": without_ray, "refused": try_full_disk}[what](*map(Path, folders))
