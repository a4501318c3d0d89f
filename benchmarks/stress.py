"""Workers are killed with kill -9 at random: nothing is lost, nothing is done twice, every byte is the same.

    python benchmarks/stress.py --kills 30

A sweep, an annotation and a reproduction are run by the command line with two workers: first undisturbed, then while
workers are killed, and now and then the command itself, which is then given again as it was. A process is killed at a
random moment after the folder has got a new file or result, so that there is something to lose. A task that was killed
three times in a row is reported, and the command fails; it is given again too. A command that succeeds before its share
of the kills was made is followed by another, into an empty folder.

At the end the two folders must hold files of the same names with the same bytes. Left out of the comparison is what is
measured, the field "seconds" of a run (run.json) and of a result; the order of results; and files whose name begins
with a dot or ends in .partial, which are what a process was about to write when it was killed: they are counted. The
exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from actcause.data.writer import join_files

CALLERS = 0.25  # the share of kills that the command itself gets
MOMENT = 1.0  # seconds within which the next process is killed
PATIENCE = 900.0  # seconds that a job may take in all
EXPERIMENT = '''"""Sums of random walks: small pieces for workers to be killed at."""

import time
from dataclasses import dataclass

import numpy

from actcause.reproduction import Experiment, Page


@dataclass(frozen=True)
class Arguments:
    seeds: int = 24


@dataclass(frozen=True)
class Piece:
    seed: int


def run(pieces, arguments, device):
    time.sleep(0.4)
    return [float(numpy.random.default_rng(piece.seed).normal(size=10_000).cumsum().sum()) for piece in pieces]


EXPERIMENT = Experiment(
    name="walks", title="Walks", paper="Of no paper.", expected="10 s", arguments=Arguments(), quick=None, tiny=None,
    pieces=lambda arguments: [Piece(seed) for seed in range(arguments.seeds)], settings=lambda piece, arguments: {},
    run=run, page=lambda results: Page(""), uses=lambda piece: ("exact",),
)
'''


@dataclass(frozen=True)
class Job:
    """What is run: the words of a command that writes to a folder, after something was prepared in another."""

    name: str
    prepare: Callable[[Path], None]
    words: Callable[[Path, Path], list[str]]  # (prepared, folder)


@dataclass(frozen=True)
class Arguments:
    """How many kills in all, by which seed, and of which jobs."""

    kills: int = 30
    seed: int = 0
    jobs: tuple[str, ...] = ()


# -- the jobs ----------------------------------------------------------------------------------------

FEW = ["--method", "attn", "--set", "steps=80", "--device", "cpu", "--no-tensorboard"]


def prepare_sweep(place: Path) -> None:
    run_command("collect", "1-in", "--frames", "1500", "--out", str(place / "rows.parquet"))


def sweep(place: Path, folder: Path) -> list[str]:
    return [
        "train",
        str(place / "rows.parquet"),
        *FEW,
        "--out",
        str(folder / "sweep"),
        "--sweep",
        "width=16",
        "seed=0..5",
    ]


def prepare_annotation(place: Path) -> None:
    tile = place / "tile.parquet"
    run_command("train", "1-in", "--frames", "1500", *FEW, "--out", str(place / "run"))
    run_command("collect", "1-in", "--frames", "30000", "--out", str(tile))
    (place / "data").mkdir()
    for number in range(6):
        with open(place / "data" / f"{number}.parquet", "wb") as file:
            join_files([tile] * 4, file)


def annotation(place: Path, folder: Path) -> list[str]:
    return ["predict", str(place / "run"), str(place / "data" / "*.parquet"), "--out", str(folder / "causes")]


def prepare_reproduction(place: Path) -> None:
    (place / "experiments").mkdir()
    (place / "experiments" / "walks.py").write_text(EXPERIMENT)


def reproduction(place: Path, folder: Path) -> list[str]:
    return ["reproduce", "walks", "--experiments", str(place / "experiments"), "--results", str(folder / "results")]


JOBS = (
    Job("reproduction", prepare_reproduction, reproduction),
    Job("annotation", prepare_annotation, annotation),
    Job("sweep", prepare_sweep, sweep),
)


# -- running and killing -----------------------------------------------------------------------------


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "actcause", *words]


def run_command(*words: str) -> None:
    ran = subprocess.run(command(*words), capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join(words)} failed: {ran.stderr}")


def run_with_kills(words: list[str], folder: Path, kills: int, luck: random.Random) -> Counter[str]:
    """Give the command until it succeeds, killing as many processes of it as were asked for, if it lasts so long."""
    count: Counter[str] = Counter()
    seen: set[tuple[str, int]] = set()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        count["commands"] += 1
        with open(folder.with_suffix(".log"), "a", encoding="utf-8") as log:
            caller = subprocess.Popen(command(*words), stdout=log, stderr=log)
            while caller.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
                files = {(name, results_in(path)) for name, path in files_of(folder)}
                if count["workers"] + count["callers"] < kills and not files <= seen:
                    time.sleep(luck.uniform(0, MOMENT))
                    count[kill_one(caller, luck)] += 1
                    seen |= files
            caller.kill()
        if caller.wait() == 0:
            return count
        if caller.returncode > 0:
            print(f"  {read_last_line(folder)}", flush=True)
    raise SystemExit(f"{' '.join(words)} did not end within {PATIENCE:.0f} s: {read_last_line(folder)}")


def read_last_line(folder: Path) -> str:
    """Return the last line of what the commands have said."""
    return (folder.with_suffix(".log").read_text(encoding="utf-8").splitlines() or [""])[-1]


def kill_one(caller: subprocess.Popen[bytes], luck: random.Random) -> str:
    """Kill the caller or one of its workers, and say which."""
    workers = list(workers_of(caller.pid))
    if caller.poll() is not None or not workers:
        return "missed"
    if luck.random() < CALLERS:
        caller.kill()
        return "callers"
    try:
        os.kill(luck.choice(workers), signal.SIGKILL)
    except ProcessLookupError:
        return "missed"
    return "workers"


def workers_of(caller: int) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == caller and b"spawn_main" in (entry / "cmdline").read_bytes():
                yield int(entry.name)
        except (FileNotFoundError, ProcessLookupError):
            continue


# -- comparing ---------------------------------------------------------------------------------------


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            yield str(path.relative_to(folder)), path


def results_in(path: Path) -> int:
    """Count the results that a file holds; 0 in any other file."""
    try:
        return path.read_bytes().count(b"\n") if "results" in path.parts else 0
    except FileNotFoundError:
        return 0


def is_leftover(name: str) -> bool:
    return name.endswith(".partial") or any(part.startswith(".") for part in Path(name).parts)


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is compared of each file, by its name."""
    return {name: read_without_times(path) for name, path in files_of(folder) if not is_leftover(name)}


def read_without_times(path: Path) -> bytes:
    """Return the bytes of a file; those of a run and of results without seconds, results in any order."""
    text = path.read_bytes()
    if path.name == "run.json":
        return re.sub(rb'^ "seconds": .*\n', b"", text, flags=re.MULTILINE)
    if "results" in path.parts:
        return b"\n".join(sorted(re.sub(rb'"seconds": [^,]*, ', b"", line) for line in text.splitlines()))
    return text


def stress(job: Job, kills: int, luck: random.Random, home: Path) -> bool:
    """Compare what a job gives with as many kills and without; print what happened."""
    place, calm = home / "prepared", home / "calm"
    place.mkdir()
    calm.mkdir()
    job.prepare(place)
    began = time.monotonic()
    two = ["--workers", "2"]
    run_command(*job.words(place, calm), *two)
    right = contents(calm)
    seconds = time.monotonic() - began
    print(f"{job.name}: {len(right)} files in {seconds:.0f} s undisturbed", flush=True)
    total: Counter[str] = Counter()
    same = True
    while (made := total["workers"] + total["callers"]) < kills:
        folder = home / f"disturbed-{total['rounds']}"
        folder.mkdir()
        total += run_with_kills([*job.words(place, folder), *two], folder, kills - made, luck)
        total["rounds"] += 1
        found = contents(folder)
        total["leftovers"] += sum(is_leftover(name) for name, _ in files_of(folder))
        for name in sorted(right.keys() | found.keys()):
            if right.get(name) != found.get(name):
                same = False
                print(f"  {name}: {'lost' if name not in found else 'more' if name not in right else 'differs'}")
    print(
        f"  {made} kills ({total['workers']} of workers, {total['callers']} of commands), {total['commands']} commands "
        f"in {total['rounds']} rounds, {total['leftovers']} temporary files left: "
        f"{'the same bytes' if same else 'NOT the same bytes'}",
        flush=True,
    )
    return same


def parse_arguments() -> Arguments:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=Arguments.kills)
    parser.add_argument("--seed", type=int, default=Arguments.seed)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"which ones: {', '.join(job.name for job in JOBS)}")
    given = parser.parse_args()
    if unknown := set(given.jobs) - {job.name for job in JOBS}:
        parser.error(f"no job named {', '.join(sorted(unknown))}; there are {', '.join(job.name for job in JOBS)}")
    return Arguments(given.kills, given.seed, tuple(given.jobs))


def main() -> int:
    arguments = parse_arguments()
    luck = random.Random(arguments.seed)
    jobs = [job for job in JOBS if not arguments.jobs or job.name in arguments.jobs]
    same = True
    place = Path(tempfile.mkdtemp(prefix="stress-"))
    for position, job in enumerate(jobs):
        home = place / job.name
        home.mkdir()
        share = arguments.kills // len(jobs) + (position < arguments.kills % len(jobs))
        same &= stress(job, share, luck, home)
    if not same:
        print(f"Something differs: look into {place}.")
        return 1
    shutil.rmtree(place)
    print("Nothing lost, nothing twice, the same bytes.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
