"""A process of this machine with a pipe to it, which ends with its caller and leaves Ctrl-C to it.

The pool of `processes.py` and the explorer's server start their processes here.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

SPAWN = multiprocessing.get_context("spawn")  # a fork would copy locks that the caller's threads hold


@dataclass(frozen=True, eq=False)
class ChildProcess:
    """A process, and our end of its pipe."""

    process: BaseProcess
    channel: Connection

    @classmethod
    def start(cls, target: Callable[..., None], *arguments: Any, context: Any = SPAWN) -> ChildProcess:
        """Call `target(channel, *arguments)`, a function of a module, in a process of its own.

        `context` is one of multiprocessing's that starts processes without our threads.
        """
        with hold_interrupts():  # nobody would know of a process that an interrupt cut off here
            ours, its = context.Pipe()
            # A daemon ends with us, even where nobody closed it.
            process = context.Process(target=_run, args=(target, its, *arguments), daemon=True)
            process.start()
            its.close()  # so that the end of the process is the end of the pipe
            return cls(process, ours)

    def end(self) -> str:
        """End it, whatever it is doing, and say how it ended."""
        self.process.kill()  # one that has ended already keeps its exit code
        self.process.join()
        code = self.process.exitcode or 0
        self.process.close()
        self.channel.close()
        return f"by signal {-code}" if code < 0 else f"with exit code {code}"


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait; a process that is begun meanwhile holds it too, until it ignores it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set what a process that is begun meanwhile inherits."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# -- in the child --------------------------------------------------------------------------------------


def _run(target: Callable[..., None], channel: Connection, *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the caller ends us
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_caller, daemon=True).start()
    target(channel, *arguments)


def _end_with_caller() -> None:
    caller = multiprocessing.parent_process()
    assert caller is not None
    wait([caller.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)  # a target may put its files in order first
