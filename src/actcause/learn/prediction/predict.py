"""Predict the rows of files: find what is left to do, have workers do it, and count what was found.

The parts of a file lie in a hidden folder beside its target. When all are there they are joined, the file gets its
name, and the folder goes. So a file under its own name is always whole, and a command that was cut off goes on with
what is missing.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from ...parallel import Engine, Outcome, engine
from .files import FOUND, UNSURE, FilePair, Target, count_causes, pair_files
from .row_groups import Fault, FileContents, GroupTask, PredictionSettings, inspect_file, predict_group

R = TypeVar("R")
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class PredictedFiles:
    """The result of predicting files: rows, causes found, and files that failed."""

    settings: PredictionSettings
    files: tuple[Path, ...]  # finished, now or before
    counts: Counter[str]  # over these files, as `count_causes` counts
    predicted: int  # rows, this time
    seconds: float
    failed: Mapping[Path, str]  # a sentence for each file that could not be predicted

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
        """Rows predicted in a second."""
        return self.predicted / self.seconds

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON can hold it."""
        origin = dict(self.settings.origin)
        return {
            "rows": self.counts["rows"],
            "files": len(self.files),
            "method": origin["method"],
            "from": origin["from"],
            "rates": self.rates,
            "unsure": self.unsure,
            "annotated": self.predicted,
            "seconds": round(self.seconds, 3),
            "per_second": round(self.per_second),
            "failed": {str(path): sentence for path, sentence in self.failed.items()},
        }

    def describe(self, out: str) -> str:
        """Write a sentence for people: rows, rates of the factors, share of unsure rows, speed."""
        listed = ", ".join(f"{factor} {rate:.1%}" for factor, rate in self.rates.items())
        speed = f"{self.per_second:,.0f} transitions a second" if self.predicted else "all of them were there already"
        rows = f"{self.counts['rows']:,} transitions in {out}"
        return f"{rows}; found to be a cause: {listed}; unsure {self.unsure:.1%}; {speed}."


def predict_files(
    run: str | PathLike[str],
    files: str | Sequence[str],
    out: str | PathLike[str],
    *,
    hindsight: bool = False,
    mapping: str | PathLike[str] | None = None,
    device: str = "auto",
    workers: Engine | int | None = None,
    on_progress: OnProgress = lambda done, rows: None,
) -> PredictedFiles:
    """Write the rows of files with what caused the outcome of each, leaving out what was done before.

    `files` are files, folders or patterns, and `out` is a file for one file and a folder for several. `workers` is
    their number on this machine, or an engine. `on_progress` is called with the rows that are done, and all of them.
    A file that cannot be read does not keep the others from being finished; a place that cannot be written to does.
    """
    from ..loading import load  # with torch, which a worker does not need to know what it has to do

    run, mapping = Path(run), None if mapping is None else Path(mapping)
    settings = PredictionSettings.of(run, load(run, device=device), device, hindsight, mapping)
    pairs = pair_files([files] if isinstance(files, str) else files, os.fspath(out))
    with engine(workers=workers) if workers is None or isinstance(workers, int) else nullcontext(workers) as shared:
        return _predict_pairs(pairs, settings, shared, on_progress)


def _predict_pairs(
    pairs: Sequence[FilePair], settings: PredictionSettings, workers: Engine, on_progress: OnProgress
) -> PredictedFiles:
    begun = time.perf_counter()
    failed: dict[Path, str] = {}
    targets: list[Target] = []
    inspected = workers.run(inspect_file, [(pair.source.absolute(), settings.mapping) for pair in pairs])
    for pair, outcome in zip(pairs, inspected, strict=True):
        contents = _unpack(outcome, pair.source)
        if isinstance(contents, FileContents):
            targets.append(Target.of(pair, contents, settings))
        else:
            failed[pair.source] = contents.reason
    left = [target for target in targets if not target.is_finished()]
    predicted = _predict_targets(left, settings, workers, failed, on_progress)
    files = tuple(target.pair.target for target in targets if target.pair.source not in failed)
    counts: Counter[str] = Counter()
    for file in files:
        counts.update(count_causes(file))
    return PredictedFiles(settings, files, counts, predicted, time.perf_counter() - begun, failed)


def _predict_targets(
    targets: Sequence[Target],
    settings: PredictionSettings,
    workers: Engine,
    failed: dict[Path, str],
    on_progress: OnProgress,
) -> int:
    """Predict and join file after file, and count the rows; `failed` takes in what fails."""
    tasks = {target: target.tasks(settings) for target in targets}
    rows = sum(task.rows for each in tasks.values() for task in each if not os.path.exists(task.part))
    begun: deque[tuple[Target, GroupTask]] = deque()

    def hand_out() -> Iterator[GroupTask]:
        for target, each in tasks.items():
            for task in each:
                if target.pair.source in failed:
                    break
                begun.append((target, task))
                yield task

    done = 0
    for outcome in workers.run(predict_group, hand_out()):
        target, task = begun.popleft()
        source = target.pair.source
        written = _unpack(outcome, source, task.group)
        if isinstance(written, Fault):
            if written.output:
                raise target.refusal(written.reason)
            failed.setdefault(source, written.reason)
            continue
        if task is tasks[target][-1] and source not in failed:
            target.join([each.part for each in tasks[target]])
        done += written
        on_progress(done, rows)
    return done


def _unpack(outcome: Outcome[R], source: Path, group: int | None = None) -> R | Fault:
    """Take the value of a task; a worker that died, or whatever else went wrong, is a fault of the file."""
    if outcome.error is not None:
        where = source if group is None else f"{source}, row group {group}"
        return Fault(f"{where}: {outcome.error}")
    return outcome.value  # type: ignore[return-value]  # no task gives None
