"""Annotating a large recording: ten million transitions of `break`, with one worker and with two.

    python benchmarks/run.py annotation

The recording is one of 65,536 transitions, tiled: its row group is copied until there are ten million rows in nine
files. The run is trained for a moment only, since what it answers does not matter here; its networks have the usual
size. The memory is the sum over all processes of what each has resident, looked at several times a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actcause.data.writer import join_files
from measure import GIB, MANY, Figure, with_many

TITLE = "Annotating a large recording"
LIMIT = 2 * GIB
FASTER = 1.6  # that two workers are than one
MIB = 1 << 20


@dataclass(frozen=True)
class Arguments:
    """Rows of the recording that is tiled, how often it stands in a file, and how many files there are."""

    tile: int = 1 << 16
    tiles: int = 17
    files: int = 9
    steps: int = 40

    @property
    def rows(self) -> int:
        return self.tile * self.tiles * self.files


TINY = Arguments(tile=200, tiles=2, files=2, steps=2)


def run(arguments: Arguments) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, arguments)
        done = {workers: annotate(folder, workers) for workers in (1, 2)}
        first, second = (read_folder(folder / f"causes{workers}") for workers in done)
        same = first == second and len(first) == arguments.files
        what = f"{arguments.rows:,} transitions of break"
        for workers, (said, peak) in done.items():
            right = same and said["annotated"] == said["rows"] == arguments.rows
            many = "1 worker" if workers == 1 else f"{workers} workers"
            yield Figure(
                "annotation", f"{what}, {many}", said["seconds"],
                answer=f"{said['per_second']:,} a second", right=right,
            )  # fmt: skip
            yield Figure(
                "annotation", f"{what}, {many}: memory of all processes", peak / MIB, unit="MiB", bar=LIMIT / MIB,
                right=right,
            )  # fmt: skip
        share = done[2][0]["seconds"] / done[1][0]["seconds"]
        yield Figure(
            "annotation", f"{what}: time of 2 workers", share, unit="of one's", bar=1 / FASTER,
            parts={MANY: with_many(done[1][0]["seconds"], done[2][0]["seconds"])},
            answer=f"{1 / share:.2f} times as fast, the same bytes", right=same,
        )  # fmt: skip


def prepare(folder: Path, arguments: Arguments) -> None:
    """Make a run and the files to annotate."""
    tile = folder / "tile.parquet"
    sizes = [f"--set=steps={arguments.steps}", f"--set=distil_steps={arguments.steps}"]
    # The default learner, trained for so short a time, would choose its other networks, which break does not need.
    words = ["train", "break", "--method", "jaci-em", "--frames", "5000", *sizes, "--no-tensorboard"]
    actcause(*words, "--out", str(folder / "run"))
    actcause("collect", "break", "--frames", str(arguments.tile), "--seed", "1", "--out", str(tile))
    (folder / "data").mkdir()
    for number in range(arguments.files):
        with open(folder / "data" / f"{number}.parquet", "wb") as file:
            join_files([tile] * arguments.tiles, file)


def actcause(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "actcause", *words], check=True, capture_output=True)


def annotate(folder: Path, workers: int) -> tuple[dict[str, Any], int]:
    """Return what the command says, and the most memory that it and its workers had."""
    words = ["predict", folder / "run", folder / "data", "--out", folder / f"causes{workers}", "--device", "cpu"]
    command = [sys.executable, "-m", "actcause", *map(str, words), "--workers", str(workers), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            peak[0] = max(peak[0], count_resident_bytes(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        printed, _ = process.communicate()
    finally:
        over.set()
        watcher.join()
    return json.loads(printed), peak[0]


def count_resident_bytes(pid: int) -> int:
    """Count the bytes that a process and its descendants have resident; what they share counts for each."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return 0
    return pages * 4096 + sum(count_resident_bytes(int(child)) for child in children)


def read_folder(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
