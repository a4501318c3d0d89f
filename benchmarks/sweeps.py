"""Sweeps and shared trainings: what a second process is worth, and that it changes nothing.

python benchmarks/run.py sweeps      # about five minutes

*A sweep* is `actcause train --sweep` as a whole command, its workers' start included, with one worker and with two; the
answer is whether both wrote the same bytes. *A shared training* is `torchrun -m actcause train` with one process and
with two, and the same batch: steps per second of the stages, start and end not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from actcause.data import collect
from measure import MANY, Figure, with_many

TITLE = "Sweeps, and trainings shared by processes"
CLOCK = ("run.json", "tfevents")  # files that hold times


@dataclass(frozen=True)
class Arguments:
    """How much is trained: rows, trials of a sweep with its steps, steps of a shared training with its batch."""

    frames: int = 20_000
    trials: int = 8
    steps: int = 400
    shared_steps: int = 600
    batch: int = 4096
    width: int = 96


TINY = Arguments(frames=1000, trials=2, steps=10, shared_steps=10, batch=32, width=8)


def run(arguments: Arguments) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        collect("3-in", arguments.frames, seed=0, out=folder / "data.parquet")
        yield from measure_sweeps(folder, arguments)
        yield from measure_shared(folder, arguments)


def measure_sweeps(folder: Path, arguments: Arguments) -> Iterator[Figure]:
    """Time the whole command with one worker and with two."""
    seconds = []
    for workers in (1, 2):
        out = folder / f"sweep{workers}"
        sweep = ["--sweep", f"seed=0..{arguments.trials - 1}", "--workers", str(workers)]
        began = time.perf_counter()
        run_on_one_thread(["-m", "actcause", *training(folder, out, arguments.steps), "--method", "grad", *sweep])
        seconds.append(time.perf_counter() - began)
    same = contents(folder / "sweep1") == contents(folder / "sweep2")
    for workers, spent in zip((1, 2), seconds, strict=True):
        yield Figure(
            "sweeps", f"{arguments.trials} trials, workers: {workers}", spent,
            answer=f"{seconds[0] / spent:.2f} times as fast as one; same bytes: {'yes' if same else 'no'}", right=same,
        )  # fmt: skip
    yield Figure(
        "sweeps", f"{arguments.trials} trials: time of 2 workers", seconds[1] / seconds[0], unit="of one's",
        parts={MANY: with_many(*seconds)}, answer="same bytes", right=same,
    )  # fmt: skip


def measure_shared(folder: Path, arguments: Arguments) -> Iterator[Figure]:
    """Count the steps per second of one training by one process and by two."""
    rates = []
    for processes in (1, 2):
        out = folder / f"shared{processes}"
        options = ["--set", f"batch={arguments.batch}", "--set", f"width={arguments.width}"]
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        command = training(folder, out, arguments.shared_steps)
        run_on_one_thread(
            [*launcher, "-m", "actcause", *command, "--method", "jaci-em", "--set", "distil_steps=1", *options]
        )
        steps = [json.loads(line)["step"] for line in (out / "history.jsonl").read_text().splitlines()]
        rates.append(max(steps) / float(json.loads((out / "run.json").read_text())["seconds"]))
    for processes, rate in zip((1, 2), rates, strict=True):
        yield Figure(
            "sweeps", f"one training, batch {arguments.batch}, processes: {processes}", rate, unit="steps/s",
            answer=f"{rate / rates[0]:.2f} times as fast as one", right=True,
        )  # fmt: skip


def training(folder: Path, out: Path, steps: int) -> list[str]:
    words = ["train", str(folder / "data.parquet"), "--out", str(out), "--device", "cpu", "--no-tensorboard"]
    return [*words, "--set", f"steps={steps}"]


def run_on_one_thread(command: list[str]) -> None:
    """Start a process with one thread for sums, so that a second process and not a second thread is measured."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *command], env=environment, capture_output=True, check=True)


def contents(folder: Path) -> dict[str, bytes]:
    """All files without those that hold times."""
    files = [path for path in folder.rglob("*") if path.is_file() and not any(word in path.name for word in CLOCK)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
