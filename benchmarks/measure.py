"""How things are measured: a figure, a stopwatch, a fresh process with limits, and the machine's facts."""

from __future__ import annotations

import gc
import os
import pickle
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

GIB = 1 << 30
PACKAGES = ("actcause", "numpy", "python-sat", "actualcauses")


@dataclass(frozen=True)
class Other:
    """Another tool's figure for the same question; `reported` if it was not measured here."""

    tool: str
    value: float | None
    limit: float | None = None
    reported: bool = False
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """One line of the results.

    `ours` is None where we did not finish within `limit`. `parts` splits it up; `right` says whether the
    answer is the known one, None where nothing else knows it.
    """

    benchmark: str
    what: str
    ours: float | None
    unit: str = "s"
    limit: float | None = None
    bar: float | None = None
    answer: str = ""
    right: bool | None = None
    parts: dict[str, float] = field(default_factory=dict)
    others: tuple[Other, ...] = ()

    @property
    def met(self) -> bool | None:
        return None if self.bar is None else self.ours is not None and self.ours < self.bar


def with_many(one: float, two: float, workers: int = 64) -> float:
    """Estimate the share of one worker's time that many would take: what two could not share stays (Amdahl's law).

    >>> with_many(100.0, 50.0), round(with_many(100.0, 60.0, workers=4), 9)
    (0.015625, 0.4)
    """
    alone = max(0.0, 2 * two / one - 1)
    return alone + (1 - alone) / workers


MANY = "64 workers, estimated"


def time_call(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and result of one call."""
    gc.collect()
    start = perf_counter()
    result = function()
    return perf_counter() - start, result


def time_best(function: Callable[[], Any], times: int = 3, enough: float = 2.0) -> tuple[float, Any]:
    """Time the shortest of some calls, each of which starts from nothing; one that takes `enough` is not repeated."""
    runs = [time_call(function)]
    while len(runs) < times and runs[-1][0] < enough:
        runs.append(time_call(function))
    return min(runs, key=lambda run: run[0])


# -- a fresh process -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What came out of a fresh process: a result, or the reason why there is none."""

    result: Any = None
    peak_bytes: int | None = None
    failure: str | None = None


def call_in_fresh_process(
    function: Callable[..., Any], *arguments: Any, seconds: float | None = None, memory: int | None = None
) -> Outcome:
    """Call a function of a module in a fresh process, within limits of time and memory."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", "import measure; measure.answer()"],
            input=pickle.dumps((memory, function, arguments)),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(failure=f"over {seconds:.0f} s")
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return Outcome(failure=f"failed: {' '.join(last) or done.returncode}")
    outcome: Outcome = pickle.loads(done.stdout)
    return outcome


def answer() -> None:
    """Read a call, make it, write what came out: what the fresh process does."""
    memory, function, arguments = pickle.load(sys.stdin.buffer)
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        outcome = Outcome(function(*arguments), peak_bytes())
    except MemoryError:
        outcome = Outcome(failure=f"over {memory / GIB:.0f} GiB")
    sys.stdout.buffer.write(pickle.dumps(outcome))


def peak_bytes() -> int:
    """Return the most memory that this process has had resident."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count the parent's memory as well
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


# -- facts -----------------------------------------------------------------------------------------


def machine() -> dict[str, str]:
    """Say what the figures depend on; nothing that names this machine."""
    return {
        "CPU": _cpu(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / GIB:.0f} GiB",
        "system": platform.system(),
        "Python": platform.python_version(),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    found = re.findall(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else []
    return found[0].strip() if found else platform.machine()


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
