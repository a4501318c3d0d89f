"""Annotating files: what is left to do, who does it, and what came of it.

The parts of a file lie in a hidden folder beside its target, whose name holds a fingerprint of run and input. When
all are there they are put together, the file is moved to its name, and the folder goes. So a file under its own name
is always whole, and a command that was cut off goes on with what is missing.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ...parallel import Outcome
from .files import Job
from .results import FOUND, UNSURE, Work, not_written, tally
from .row_groups import Contents, Fault, Piece, Request, annotate, inspect

T = TypeVar("T")
R = TypeVar("R")


class Workers(Protocol):
    """Who runs tasks: an engine, or Ray Data."""

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[Outcome[R]]:
        """Outcomes in the order of the tasks."""
        ...


@dataclass(frozen=True)
class Annotation:
    """What came of it."""

    request: Request
    files: tuple[Path, ...]  # finished, now or before
    counts: Counter[str]  # over these files, as `tally` counts
    annotated: int  # rows, this time
    seconds: float
    failed: Mapping[Path, str]  # a sentence for each file that could not be annotated

    @property
    def rates(self) -> dict[str, float]:
        """The share of rows in which each factor was found to be a cause."""
        rows = max(self.counts["rows"], 1)
        return {n.removeprefix(FOUND): k / rows for n, k in self.counts.items() if n.startswith(FOUND)}

    @property
    def unsure(self) -> float:
        """The share of rows whose answer cannot be trusted."""
        return self.counts[UNSURE] / max(self.counts["rows"], 1)

    @property
    def per_second(self) -> float:
        """Rows annotated in a second."""
        return self.annotated / self.seconds

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        mark = dict(self.request.mark)
        return {
            "rows": self.counts["rows"],
            "files": len(self.files),
            "method": mark["method"],
            "from": mark["from"],
            "rates": self.rates,
            "unsure": self.unsure,
            "annotated": self.annotated,
            "seconds": round(self.seconds, 3),
            "per_second": round(self.per_second),
            "failed": {str(path): sentence for path, sentence in self.failed.items()},
        }

    def sentence(self, out: str) -> str:
        """What people want to know."""
        listed = ", ".join(f"{factor} {rate:.1%}" for factor, rate in self.rates.items())
        speed = f"{self.per_second:,.0f} transitions a second" if self.annotated else "all of them were there already"
        rows = f"{self.counts['rows']:,} transitions in {out}"
        return f"{rows}; found to be a cause: {listed}; unsure {self.unsure:.1%}; {speed}."


def annotate_files(
    jobs: Sequence[Job], request: Request, workers: Workers, told: Callable[[int, int], None] = lambda done, rows: None
) -> Annotation:
    """Write every file with what was found about its rows, leaving out what was done before.

    A file that cannot be read does not keep the others from being finished; a place that cannot be written to does.
    `told` hears how many rows of how many are done.
    """
    begun = time.perf_counter()
    failed: dict[Path, str] = {}
    works: list[Work] = []
    inspected = workers.run(inspect, [(job.source.absolute(), request.mapping) for job in jobs])
    for job, outcome in zip(jobs, inspected, strict=True):
        seen = _given(outcome, job.source)
        if isinstance(seen, Contents):
            works.append(Work.of(job, seen, request))
        else:
            failed[job.source] = seen.reason
    left = [work for work in works if not work.is_finished()]
    annotated = _annotated(left, request, workers, failed, told)
    files = tuple(work.job.target for work in works if work.job.source not in failed)
    counts: Counter[str] = Counter()
    for file in files:
        counts.update(tally(file))
    return Annotation(request, files, counts, annotated, time.perf_counter() - begun, failed)


def _annotated(
    works: Sequence[Work],
    request: Request,
    workers: Workers,
    failed: dict[Path, str],
    told: Callable[[int, int], None],
) -> int:
    """Annotate and put together file after file, and count the rows; `failed` takes in what fails."""
    pieces = {work: work.pieces(request) for work in works}
    rows = sum(piece.rows for each in pieces.values() for piece in each if not os.path.exists(piece.part))
    begun: deque[tuple[Work, Piece]] = deque()

    def tasks() -> Iterator[Piece]:
        for work, each in pieces.items():
            for piece in each:
                if work.job.source in failed:
                    break
                begun.append((work, piece))
                yield piece

    done = 0
    for outcome in workers.run(annotate, tasks()):
        work, piece = begun.popleft()
        came = _given(outcome, work.job.source, piece.group)
        if isinstance(came, Fault):
            if came.output:
                raise not_written(work.job.target, came.reason)
            failed.setdefault(work.job.source, came.reason)
            continue
        if piece is pieces[work][-1] and work.job.source not in failed:
            work.put_together([each.part for each in pieces[work]])
        done += came
        told(done, rows)
    return done


def _given(outcome: Outcome[R], source: Path, group: int | None = None) -> R | Fault:
    """What a task gave; where its worker died or something else went wrong, that is a fault of the file."""
    if outcome.error is not None:
        where = source if group is None else f"{source}, row group {group}"
        return Fault(f"{where}: {outcome.error}")
    return outcome.value  # type: ignore[return-value]  # no task gives None
