"""Processes that are ready at once: copies of one that has imported what they need.

That one is the fork server of multiprocessing, which has no threads whose locks a copy could inherit. A new interpreter
would import for longer than most questions take.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import threading
from collections.abc import Callable
from multiprocessing import forkserver
from typing import Any

from ...parallel.child_process import SPAWN, ChildProcess, environment, hold_interrupts
from .child import ONE_THREAD, Child

IMPORTED = ("actcause.page.server.child", "actcause.page.ask.answers", "actcause.page.spaces.answers")
OF_COMMANDS = "actcause.cli"  # what the installed script imports, which each copy would otherwise do again

_one_at_a_time = threading.Lock()  # the fork server answers one request after another


async def copy_child(target: Callable[..., None], *arguments: Any) -> Child:
    """Start a copy; in a thread, since the first one waits until everything is imported."""
    return Child(await asyncio.to_thread(_copy, _choose_context(), target, *arguments))


def _choose_context() -> Any:
    """Choose how copies are made; where there is no fork server, a copy is a new interpreter."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return SPAWN
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*IMPORTED, *([OF_COMMANDS] if OF_COMMANDS in sys.modules else [])])
    with environment(ONE_THREAD), hold_interrupts():
        forkserver.ensure_running()  # it imports while we go on
    return context


def _copy(context: Any, target: Callable[..., None], *arguments: Any) -> ChildProcess:
    with _one_at_a_time:
        return ChildProcess.start(target, *arguments, context=context)
