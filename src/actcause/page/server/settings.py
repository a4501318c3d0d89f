"""What the explorer is told when it starts: where it listens, its folders, its limits."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# A host with or without its port; not by `urlsplit`, which takes what stands in brackets for the whole name.
HOST = re.compile(r"(?:\[(?P<number>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True)
class Limits:
    """What a request may cost: bytes of its body, seconds and bytes of memory of a question or a job."""

    body: int = MIB
    upload: int = 1024 * MIB
    seconds: float = 10.0
    memory: int = 4 * GIB  # of each process that answers a question or does a job
    workers: int = 3  # one more than the two cores of a small machine, ready when another is killed
    slow: int = 4  # questions that may take longer than `patience` at the same time
    patience: float = 1.0  # seconds after which a question is long
    turn: float = 0.2  # seconds of a processor after which it gives way to one that waits
    rest: float = 60.0  # seconds after which a process that has grown, and has nothing to do, makes room
    waiting: int = 200
    running_jobs: int = 2
    waiting_jobs: int = 20
    remembered_jobs: int = 100
    niceness: int = 10  # of a job, or of a question that works long: other questions go first
    quota: int = 20 * GIB  # of the folder of recordings, and of that of runs
    connections: int = 500  # half of the files that a process may usually have open


@dataclass(frozen=True)
class Settings:
    """Where the page listens and what it reads; `data` holds recordings, `runs` what was learned from some.

    Without a token everybody who can connect is let in.
    """

    data: Path
    runs: Path
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    entry: str | None = None  # what opens the page once in place of the token
    any_host: bool = False  # whether requests may name another host than this machine
    allowed_host: str | None = None  # one that they may name besides, that of a proxy
    limits: Limits = field(default_factory=Limits)


def home() -> Path:
    """Return where recordings and runs are kept unless the user says otherwise."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "actcause"
