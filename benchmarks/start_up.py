"""Start-up: how long a user waits before anything happens. Whole processes, the best of five.

python benchmarks/run.py start_up
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from measure import Figure, time_call

TITLE = "Start-up, as whole processes"
COMMANDS = {
    "python -c pass": (["-c", "pass"], None),
    "import actcause": (["-c", "import actcause"], 0.3),
    "actcause --help": (["-m", "actcause", "--help"], 0.6),
    "actcause examples": (["-m", "actcause", "examples"], None),
    "actcause ask rock-throwing": (["-m", "actcause", "ask", "rock-throwing"], None),
}


@dataclass(frozen=True)
class Arguments:
    """How often each is started."""

    times: int = 5


TINY = Arguments(times=1)


def run(arguments: Arguments) -> Iterator[Figure]:
    for what, (command, bar) in COMMANDS.items():
        runs = [time_call(lambda c=command: start(c)) for _ in range(arguments.times)]
        seconds = min(spent for spent, _ in runs)
        ended = all(code == 0 for _, code in runs)
        yield Figure("start_up", what, seconds, bar=bar, answer="" if ended else "failed", right=ended)


def start(command: list[str]) -> int:
    return subprocess.run([sys.executable, *command], capture_output=True, check=False).returncode
