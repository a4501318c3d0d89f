"""Progress of the commands, on stderr and only where that is a terminal: a line of text, or a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..learn.training.loop import TrainingProgress


@contextmanager
def show_line() -> Iterator[Callable[[str], None]]:
    """Show what is going on, in one line."""
    from rich.console import Console

    with Console(stderr=True, markup=False, highlight=False).status("") as status:
        yield status.update


@contextmanager
def show_rows() -> Iterator[Callable[[int, int], None]]:
    """Show how many rows are done, how many in a second, and the time left."""
    columns = "{task.completed:,.0f} of {task.total:,.0f} transitions", "{task.fields[speed]:,.0f} a second"
    with _show_bar((), columns, speed=0.0) as (update, task):
        yield lambda done, rows: update(completed=done, total=rows, speed=task.speed or 0.0)


@contextmanager
def show_training() -> Iterator[Callable[[TrainingProgress], None]]:
    """Show the stage of a training, its losses and the time left."""
    columns = "{task.completed:.0f}/{task.total:.0f}", "{task.fields[values]}"
    with _show_bar(("{task.description}",), columns, values="") as (update, _):

        def report(moment: TrainingProgress) -> None:
            values = " ".join(f"{name} {value:.3g}" for name, value in moment.values.items())
            update(description=moment.stage, completed=moment.step, total=moment.steps, values=values)

        yield report


@contextmanager
def _show_bar(
    before: tuple[str, ...], after: tuple[str, ...], **fields: Any
) -> Iterator[tuple[Callable[..., None], Any]]:
    """Show a bar between columns of text; give what updates it, and its task."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (*map(TextColumn, before), BarColumn(bar_width=20), *map(TextColumn, after), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("preparing", total=1, **fields)
        yield lambda **changes: bar.update(task, **changes), bar.tasks[0]
