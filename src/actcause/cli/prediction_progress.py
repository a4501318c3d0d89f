"""How far an annotation is, for people who watch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress() -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr, where that is a terminal: rows, rows in a second, and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} transitions"),
        TextColumn("{task.fields[speed]:,.0f} a second"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=1, speed=0.0)

        def told(done: int, rows: int) -> None:
            bar.update(task, completed=done, total=rows, speed=bar.tasks[task].speed or 0.0)

        yield told
