"""A sweep from its folder to its table: what is left to do is done by an engine's workers, and nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError
from ...io.atomic import reason, remove_partials, write_whole_bytes
from ...io.journal import Journal
from ...parallel import Engine, engine
from ..errors import RunError
from ..runs import FREE
from ..training_source import TrainingSource
from . import plot
from .grid import Grid, name_of
from .ranking import Ranking, rank_trials
from .trial import FAILED, Trial, fail_trial, run_trial

FORMAT, VERSION = "actcause-sweep", 1
SWEEP, TABLE = "sweep.json", "table"
RETRIES = 2  # of a trial whose process was killed
Verdict = Mapping[str, Any]
OnVerdict = Callable[[Verdict, int, int], None]  # a verdict, how many there are, and how many there will be


def sweep(
    source: TrainingSource | str,
    out: str | PathLike[str],
    settings: Mapping[str, Sequence[Any]],
    *,
    method: str = "jaci-auto",
    options: Mapping[str, Any] | None = None,
    patience: int | None = None,
    tensorboard: bool | None = None,
    workers: Engine | int | None = None,
    on_verdict: OnVerdict = lambda verdict, done, count: None,
) -> Ranking:
    """Train every combination of the settings that is not finished yet, and write a table and a picture of all.

    `source` is a file or a domain, `options` are the same for every trial. `workers` is their number on this machine,
    or an engine. The folder `out` goes on where it stopped, and takes further values of the same settings.
    """
    rows = source if isinstance(source, TrainingSource) else TrainingSource(source)
    grid = Grid({name: tuple(values) for name, values in settings.items()})
    plan = _Plan(rows, Path(out), grid, method, options or {}, patience, tensorboard)
    plan.check()
    with engine(workers=workers) if workers is None or isinstance(workers, int) else nullcontext(workers) as shared:
        return _run(plan, shared, on_verdict)


@dataclass(frozen=True)
class _Plan:
    """What is to be trained: every combination of the grid, with one method and options for all."""

    source: TrainingSource
    folder: Path
    grid: Grid
    method: str
    options: Mapping[str, Any]
    patience: int | None
    tensorboard: bool | None

    def trials(self) -> list[Trial]:
        """List one for each combination; paths are whole, since a worker may stand elsewhere."""
        trials, folder, source = [], str(self.folder.absolute()), self.source.absolute()
        for settings in self.grid.settings():
            options = {**self.options, **settings}
            method = options.pop("method", self.method)
            trials.append(
                Trial(
                    name_of(settings), folder, settings, method, options, source, self.patience, self.tensorboard
                )
            )  # fmt: skip
        return trials

    def check(self) -> None:
        """Refuse settings that a method does not take, and data that are not there."""
        for trial in self.trials():
            trial.learner().check_options()
        self.source.check()

    def identity(self) -> dict[str, Any]:
        """Return what must be the same to resume in a folder; further values of the same names may be added."""
        swept = self.grid.values
        fixed = {name: value for name, value in self.options.items() if name not in (*FREE, *swept)}
        return {
            "format": FORMAT,
            "version": VERSION,
            "source": Path(self.source.name).name,
            "data": self.source.digest(),
            "mapping": None if self.source.mapping is None else TrainingSource(self.source.mapping).digest(),
            "frames": self.source.frames,
            "draw": self.source.draw,
            "method": None if "method" in swept else self.method,
            "options": fixed,
            "patience": self.patience,
            "names": list(swept),
        }


def _run(plan: _Plan, workers: Engine, on_verdict: OnVerdict) -> Ranking:
    trials = plan.trials()
    _take_folder(plan)
    earlier = _read_table(plan.folder)
    with Journal(plan.folder / f"{TABLE}.json") as journal:
        verdicts: dict[str, Verdict] = {}
        for trial in trials:
            verdict = json.loads(journal[trial.name]) if trial.name in journal else earlier.get(trial.name)
            if verdict is not None and trial.is_finished(verdict):
                verdicts[trial.name] = verdict
        for verdict in _judge_trials(workers, [trial for trial in trials if trial.name not in verdicts]):
            text = json.dumps(verdict)
            verdicts[verdict["name"]] = json.loads(text)  # as it will be read back
            try:
                journal.add(verdict["name"], text)
            except OSError as refused:
                raise RunError(f"Cannot write to {plan.folder}: {reason(refused)}.") from refused
            on_verdict(verdict, len(verdicts), len(trials))
        remove_partials(plan.folder)
        ranking = rank_trials(list(plan.grid.values), [verdicts[trial.name] for trial in trials])
        notes = (*_describe_failures(ranking), *_write(plan.folder, ranking))
        journal.remove()
    return replace(ranking, notes=notes)


def _judge_trials(workers: Engine, trials: Sequence[Trial]) -> Iterator[Verdict]:
    """Yield the verdict of every trial; retry one that was killed at once, and one that failed after all others."""
    for last in (False, True):
        again = []
        for trial, outcome in zip(trials, workers.run(run_trial, trials, retries=RETRIES, isolated=True), strict=True):
            if outcome.value is not None:
                yield outcome.value
            elif last or outcome.attempts > 1:
                yield fail_trial(trial, str(outcome.error))
            else:
                again.append(trial)
        trials = again


def _take_folder(plan: _Plan) -> None:
    """Make the folder, or resume in it if it holds this very sweep."""
    folder, identity = plan.folder, json.loads(json.dumps(plan.identity()))
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file; a sweep is a folder: choose another name.")
    if (folder / SWEEP).exists():
        try:
            before = json.loads((folder / SWEEP).read_text(encoding="utf-8"))
        except (OSError, ValueError) as wrong:
            raise RunError(f"{folder / SWEEP} cannot be understood: sweep into another folder.") from wrong
        for key, value in identity.items():
            if (before.get(key) if isinstance(before, dict) else None) != value:
                raise RunError(
                    f"{folder} holds a sweep with other {_WORDS.get(key, key)} and cannot go on with this one: "
                    "give the same command, or another folder."
                )
        remove_partials(folder)
        return
    if folder.is_dir() and any(not path.name.endswith(".partial") for path in folder.iterdir()):
        raise RunError(f"{folder} is a folder that is neither empty nor a sweep: choose another name.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise RunError(f"Cannot write to {folder}: {refused.strerror or refused}.") from refused
    write_whole_bytes(folder / SWEEP, (json.dumps(identity, indent=1) + "\n").encode(), RunError)


_WORDS = {"names": "settings swept over", "frames": "--frames", "draw": "--draw", "mapping": "mapping"}


def _read_table(folder: Path) -> dict[str, Verdict]:
    """Read the verdicts of an earlier table, without scores, which depend on the other trials."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        trials = json.loads((folder / f"{TABLE}.json").read_text(encoding="utf-8"))["trials"]
        return {trial["name"]: {key: trial[key] for key in trial if key != "score"} for trial in trials}
    return {}


def _write(folder: Path, ranking: Ranking) -> list[str]:
    """Write the table and the picture; say what is missing for it."""
    write_whole_bytes(folder / f"{TABLE}.json", ranking.json(), RunError)
    write_whole_bytes(folder / f"{TABLE}.csv", ranking.csv(), RunError)
    if ranking.winner is None:
        return []
    try:
        write_whole_bytes(folder / f"{TABLE}.svg", plot.draw_ranking(ranking), RunError)
    except MissingExtraError as missing:
        return [str(missing)]
    return []


def _describe_failures(ranking: Ranking) -> list[str]:
    """Write one sentence about the trials that failed; the table says why of each."""
    lost = [trial for trial in ranking.trials if trial["status"] == FAILED]
    if not lost:
        return []
    return [f"{len(lost)} of {len(ranking.trials)} trials failed; {lost[0]['name']}: {lost[0]['notes'][0]}"]
