"""A sweep from its folder to its table: what is left to do is done by an engine's workers, and nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError
from ...io.atomic import write_whole_bytes
from ...parallel import Engine
from .. import RunError
from ..runs import FREE
from . import plot
from .grid import Grid, name_of
from .ranking import Ranking, ranked
from .source import Source
from .trial import FAILED, VERDICTS, Trial, failed, tried

FORMAT, VERSION = "actcause-sweep", 1
SWEEP, TABLE = "sweep.json", "table"
RETRIES = 2  # of a trial whose process was killed
Told = Callable[[Mapping[str, Any], int], None]  # a verdict, and how many there are


@dataclass(frozen=True)
class Sweep:
    """What is to be trained: every combination of the grid, with one method and options for all."""

    source: Source
    folder: Path
    grid: Grid
    method: str
    options: Mapping[str, Any]
    patience: int | None = None
    tensorboard: bool | None = None

    def trials(self) -> list[Trial]:
        """One for each combination; paths are whole, since a worker may stand elsewhere."""
        found, folder, source = [], str(self.folder.absolute()), self.source.absolute()
        for settings in self.grid.settings():
            options = {**self.options, **settings}
            method = options.pop("method", self.method)
            found.append(
                Trial(
                    name_of(settings), folder, settings, method, options, source, self.patience, self.tensorboard
                )
            )  # fmt: skip
        return found

    def check(self) -> None:
        """Refuse settings that a method does not take, and data that are not there."""
        for trial in self.trials():
            trial.learner().check_options()
        self.source.check()

    def asked(self) -> dict[str, Any]:
        """What must be the same for a folder to be gone on with; further values of the same names may be added."""
        swept = self.grid.values
        fixed = {name: value for name, value in self.options.items() if name not in (*FREE, *swept)}
        return {
            "format": FORMAT,
            "version": VERSION,
            "source": Path(self.source.name).name,
            "data": self.source.digest(),
            "mapping": None if self.source.mapping is None else Source(self.source.mapping).digest(),
            "frames": self.source.frames,
            "draw": self.source.draw,
            "method": None if "method" in swept else self.method,
            "options": fixed,
            "patience": self.patience,
            "names": list(swept),
        }


def swept(sweep: Sweep, workers: Engine, told: Told = lambda verdict, count: None) -> tuple[Ranking, list[str]]:
    """Train what is not finished yet, and write the table and the picture; also sentences worth reading."""
    trials = sweep.trials()
    _begin(sweep)
    verdicts: dict[str, Mapping[str, Any]] = {}
    for trial in trials:
        finished = trial.finished()
        if finished is not None:
            verdicts[trial.name] = finished
    for verdict in _reports(workers, [trial for trial in trials if trial.name not in verdicts]):
        verdicts[verdict["name"]] = verdict
        told(verdict, len(verdicts))
    _tidy(sweep.folder)
    ranking = ranked(list(sweep.grid.values), [verdicts[trial.name] for trial in trials])
    return ranking, [*_problems(ranking), *_write(sweep.folder, ranking)]


def _reports(workers: Engine, trials: Sequence[Trial]) -> Iterator[Mapping[str, Any]]:
    """A verdict of every trial; one that was killed is begun again at once, one that failed when others are done."""
    for last in (False, True):
        again = []
        for trial, outcome in zip(trials, workers.run(tried, trials, retries=RETRIES, isolated=True), strict=True):
            if outcome.value is not None:
                yield outcome.value
            elif last or outcome.attempts > 1:
                yield failed(trial, str(outcome.error))
            else:
                again.append(trial)
        trials = again


def _begin(sweep: Sweep) -> None:
    """Take the folder, or go on with it where it holds this very sweep."""
    folder, asked = sweep.folder, json.loads(json.dumps(sweep.asked()))
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file; a sweep is a folder: choose another name.")
    if (folder / SWEEP).exists():
        try:
            before = json.loads((folder / SWEEP).read_text(encoding="utf-8"))
        except (OSError, ValueError) as wrong:
            raise RunError(f"{folder / SWEEP} cannot be understood: sweep into another folder.") from wrong
        for key, value in asked.items():
            found = before.get(key) if isinstance(before, dict) else None
            if found != value:
                raise RunError(
                    f"{folder} holds a sweep with other {_SAID.get(key, key)} and cannot go on with this one: "
                    "give the same command, or another folder."
                )
        _tidy(folder)
        return
    if folder.is_dir() and any(not path.name.endswith(".partial") for path in folder.iterdir()):
        raise RunError(f"{folder} is a folder that is neither empty nor a sweep: choose another name.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise RunError(f"Cannot write to {folder}: {refused.strerror or refused}.") from refused
    write_whole_bytes(folder / SWEEP, (json.dumps(asked, indent=1) + "\n").encode(), RunError)


def _tidy(folder: Path) -> None:
    """Remove what a process that was killed left half-written."""
    for partial in (*folder.glob(".*.partial"), *(folder / VERDICTS).glob(".*.partial")):
        with suppress(OSError):
            partial.unlink(missing_ok=True)


_SAID = {"names": "settings swept over", "frames": "--frames", "draw": "--draw", "mapping": "mapping"}


def _write(folder: Path, ranking: Ranking) -> list[str]:
    write_whole_bytes(folder / f"{TABLE}.json", ranking.json(), RunError)
    write_whole_bytes(folder / f"{TABLE}.csv", ranking.csv(), RunError)
    if ranking.winner is None:
        return []
    try:
        write_whole_bytes(folder / f"{TABLE}.svg", plot.drawn(ranking), RunError)
    except MissingExtraError as missing:
        return [str(missing)]
    return []


def _problems(ranking: Ranking) -> list[str]:
    """One sentence about the trials that failed; the table says why of each."""
    lost = [trial for trial in ranking.trials if trial["status"] == FAILED]
    if not lost:
        return []
    return [f"{len(lost)} of {len(ranking.trials)} trials failed; {lost[0]['name']}: {lost[0]['notes'][0]}"]
