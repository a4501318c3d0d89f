"""Runs of local graphs: train one into a folder, write what it finds into a file, score it, and trace an event by it.

The folder holds `model.safetensors` and `run.json`, as that of one outcome does, and while it is trained what it goes
on from (`graph_keeper.py`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from .._version import __version__
from ..core.chain import Chain
from ..data import Recording, trace
from ..io.atomic import write_whole_bytes
from .checkpoint import GRAPHS
from .errors import LearnError, RunError
from .evaluation import Evaluation, evaluate
from .graph_keeper import GraphKeeper
from .learner import Array
from .loading import MODEL, SUMMARY
from .local_graph_file import fingerprint_recording
from .local_graphs import LocalGraphs
from .runs import FREE, check_free, summary
from .training.loop import TrainingProgress

TRUTH = "truth"  # in the place of a run: the true graphs of the recording


@dataclass(frozen=True)
class TrainedGraphs:
    """A run of local graphs after training."""

    graphs: LocalGraphs
    folder: Path
    rows: int
    seconds: float
    status: str = "finished"

    def to_json(self) -> dict[str, Any]:
        """Return what the command prints."""
        shares = {
            outcome: dict(one.learner.learned_.get("shares", {})) if len(one.group.members) == 1 else {}
            for one in self.graphs.learned_
            for outcome in one.group.members
        }
        return {
            "out": str(self.folder),
            "method": self.graphs.method,
            "outcomes": list(self.graphs.outcomes_),
            "learned": list(shares),
            "still": list(self.graphs.still_),
            "rows": self.rows,
            "status": self.status,
            "seconds": round(self.seconds, 2),
            "settings": self.graphs.settings(),
            "notes": list(self.graphs.notes_),
        }


@dataclass(frozen=True)
class GraphEvaluation:
    """How right local graphs are: an evaluation for every outcome that has factors in question."""

    outcomes: Mapping[str, Evaluation]
    method: str
    hindsight: bool
    held_out: bool
    states: int

    @property
    def edge_error(self) -> float:
        """The mean edge error of the outcomes."""
        return sum(one.edge_error for one in self.outcomes.values()) / len(self.outcomes)

    def to_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {
            "edge_error": self.edge_error,
            "states": self.states,
            "method": self.method,
            "hindsight": self.hindsight,
            "held_out": self.held_out,
            "outcomes": {outcome: one.to_json() for outcome, one in self.outcomes.items()},
        }

    def __str__(self) -> str:
        part = "held-out states of the data it was trained on" if self.held_out else "states"
        lines = [f"{self.method} on {self.states:,} {part}; all outcomes {self.edge_error:.2%} of the edges wrong."]
        lines += [f"\n{outcome}\n{one}" for outcome, one in self.outcomes.items()]
        return "\n".join(lines)


def train_graphs(
    graphs: LocalGraphs,
    recording: Recording,
    out: str | PathLike[str],
    *,
    seeds: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    source: str | None = None,
    callback: Callable[[TrainingProgress], None] | None = None,
    every: float = 20.0,
) -> TrainedGraphs:
    """Learn the causes of every outcome into the folder `out`; with `resume` go on with a run that was cut off.

    A checkpoint is written `every` so many seconds.

    >>> import tempfile
    >>> from actcause.data import collect_recording
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train_graphs(LocalGraphs("never"), collect_recording("1-in", 1000), f"{folder}/run")
    ...     sorted(path.name for path in run.folder.iterdir())
    ['model.safetensors', 'run.json']
    """
    folder = Path(out)
    check_free(folder, resume, overwrite)
    header = {
        "method": GRAPHS,
        "settings": json.loads(json.dumps(graphs.settings())),
        "factors": list(recording.factors),
        "features": {factor: list(names) for factor, names in recording.features.items()},
        "outcomes": list(recording.outcomes),
        "data": fingerprint_recording(recording),
        "seeds": seeds,
        "package": __version__,
        "source": source,
    }
    before = _find_start(folder, header) if resume else None
    if before is not None and before["status"] == "finished":
        return TrainedGraphs(LocalGraphs.load(folder), folder, len(recording), float(before["seconds"]))
    began, earlier = time.monotonic(), 0.0 if before is None else float(before["seconds"])
    keeper = GraphKeeper(folder, every, device=str(graphs.options.get("device", "auto")))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if before is None:
            keeper.clear()
            (folder / MODEL).unlink(missing_ok=True)
    except OSError as refused:
        raise RunError(f"Cannot write to {folder}: {refused.strerror or refused}.") from refused

    def measure_seconds() -> float:
        return round(earlier + time.monotonic() - began, 2)

    _write_summary(folder, {**header, "status": "training", "seconds": earlier, "notes": []})
    try:
        graphs.fit(recording, seeds=seeds, callback=callback, keeper=keeper)
    except KeyboardInterrupt:
        _write_summary(folder, {**header, "status": "interrupted", "seconds": measure_seconds(), "notes": []})
        raise
    status, seconds = "stopped" if keeper.stopped else "finished", measure_seconds()
    graphs.save(folder / MODEL)
    _write_summary(folder, {**header, "status": status, "seconds": seconds, "notes": list(graphs.notes_)})
    if not keeper.stopped:
        keeper.clear()
    return TrainedGraphs(graphs, folder, len(recording), seconds, status)


def _find_start(folder: Path, header: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the summary of the run to resume, None if there is none; refuse other data, options or seeds."""
    if not (folder / SUMMARY).exists():
        return None
    before = summary(folder)
    if before.get("method") != GRAPHS:
        raise RunError(f"{folder} explains one outcome, and cannot go on with --outcome all: choose another folder.")
    for name in ("settings", "data", "seeds"):
        found, wanted = before.get(name), header[name]
        if name == "settings":
            found, wanted = ({k: v for k, v in dict(one or {}).items() if k not in FREE} for one in (found, wanted))
        if found != wanted:
            what = {"data": "data", "seeds": "seeds"}.get(name, "options")
            raise RunError(f"{folder} was begun with other {what} and cannot go on with these: give the same.")
    return before


def _write_summary(folder: Path, document: Mapping[str, Any]) -> None:
    write_whole_bytes(folder / SUMMARY, (json.dumps(document, indent=1) + "\n").encode(), RunError)


def find_graphs(
    run: str | PathLike[str], recording: Recording, *, hindsight: bool = False, device: str = "auto"
) -> Array:
    """Return the local graphs of a recording by a run, or its true ones where the run is called `truth`."""
    if str(run) == TRUTH:
        if recording.cause is None:
            raise LearnError("The recording holds no true causes; give a run instead of 'truth'.")
        return recording.cause
    graphs = LocalGraphs.load(run, device=device)
    return graphs.explain(recording) if hindsight else graphs.predict(recording)


def predict_graphs(
    run: str | PathLike[str], recording: Recording, *, hindsight: bool = False, device: str = "auto"
) -> Recording:
    """Return the recording with what was found: `extra.found.OUTCOME.FACTOR` and `extra.probability.OUTCOME.FACTOR`."""
    graphs = LocalGraphs.load(run, device=device)
    found = graphs.explain(recording) if hindsight else graphs.predict(recording)
    likely = graphs.explain_proba(recording) if hindsight else graphs.predict_proba(recording)
    extra = dict(recording.extra)
    for kind, values in (("found", found), ("probability", likely)):
        for place, outcome in enumerate(recording.outcomes):
            for position, factor in enumerate(recording.factors):
                extra[f"{kind}.{outcome}.{factor}"] = values[:, place, position]
    return recording.replaced(extra=extra)


def evaluate_graphs(
    run: str | PathLike[str], recording: Recording, *, hindsight: bool = False, device: str = "auto"
) -> GraphEvaluation:
    """Score local graphs: of the recording that they were trained on only the held-out part, of others all rows."""
    graphs = LocalGraphs.load(run, device=device)
    held_out = graphs.fingerprint_ == fingerprint_recording(recording)
    if held_out:
        recording = recording.subset(graphs.find_held_out(recording))
    likely = graphs.explain_proba(recording) if hindsight else graphs.predict_proba(recording)
    scored = {}
    for outcome in recording.outcomes:
        rows = recording.rows_of(outcome)
        if recording.edges[outcome] and len(rows):
            threshold = graphs.find_threshold(outcome)
            answers = likely[rows, recording.outcome_index(outcome)]
            scored[outcome] = evaluate(answers, recording.view(outcome), threshold=threshold)
    return GraphEvaluation(scored, graphs.method, hindsight, held_out, len(recording))


def trace_run(
    run: str | PathLike[str],
    recording: Recording,
    *,
    episode: int,
    step: int,
    factor: str,
    hindsight: bool = False,
    device: str = "auto",
) -> Chain:
    """Trace what became of a factor at a step back through the graphs of a run, or the true ones (`truth`)."""
    rows = recording.episode == episode
    chosen = recording.subset(rows) if rows.any() else recording
    graphs = find_graphs(run, chosen, hindsight=hindsight, device=device)
    return trace(chosen, episode=episode, step=step, factor=factor, graphs=graphs)
