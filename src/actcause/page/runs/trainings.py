"""A training as a job: rows, a run in the folder of runs, its progress, and its error where the truth is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...io.atomic import write_whole_bytes
from ..data import library

if TYPE_CHECKING:
    from ...data import Transitions
    from ...learn.training.loop import TrainingProgress

REQUEST, SCORES = "request.json", "scores.json"
EVERY = 5.0  # seconds between two checkpoints
TEST_SEED = 1_000_000  # added to the seed for the rollouts that are scored
TEST_FRAMES = 20_000

Report = Callable[[dict[str, Any]], None]


@library.hide_folders
def train(payload: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Train, or go on with, the run called `name`, which is one that the server made or looked up; a job.

    What was asked is kept in the run, so that it can be resumed.
    """
    name, source = str(payload["name"]), payload["source"]
    report({"run": name, "stage": "loading"})
    from ... import learn
    from ...learn import runs

    folder = Path(payload["runs"]) / name
    learner = learn.make(
        payload["method"], seed=payload["seed"], max_seconds=payload["max_seconds"], **payload["options"]
    )
    learner.check_options()
    report({"run": name, "stage": "reading" if source.get("file") else "recording"})
    data = library.load_rows(source, Path(payload["data"]), policy="random")

    def on_progress(moment: TrainingProgress) -> None:
        _keep_request(folder, payload)
        report(
            {
                "run": name, "stage": moment.stage, "step": moment.step, "steps": moment.steps,
                "share": moment.step / moment.steps, "seconds": moment.seconds,
                "values": {key: float(value) for key, value in moment.values.items()},
            }
        )  # fmt: skip

    try:
        done = runs.train(
            learner, data, folder, resume=bool(payload.get("resume")), source=library.describe_source(source),
            callback=on_progress, every=EVERY, tensorboard=False,
        )  # fmt: skip
    except KeyboardInterrupt:  # all was saved
        return {"run": name, "status": "interrupted"}
    _keep_request(folder, payload)
    report({"run": name, "stage": "scoring"})
    scores = _measure(folder, data, source)
    if scores is not None:
        _write(folder / SCORES, scores)
    return {
        "run": name,
        "status": done.status,
        "seconds": done.seconds,
        "notes": list(done.notes),
        "shares": dict(done.learner.learned_.get("shares", {})),
        "scores": scores,
    }


@library.hide_folders
def score(payload: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Score a run that was trained elsewhere on a recording with true causes; a job."""
    report({"stage": "loading"})
    from ...learn import LearnError

    folder, source = library.find_run(Path(payload["runs"]), str(payload["name"])), payload["source"]
    data = library.load_rows(source, Path(payload["data"]))
    report({"stage": "scoring"})
    scores = _measure(folder, data, source)
    if scores is None:
        raise LearnError(f"{library.describe_source(source)} holds no true causes that a run could be scored by.")
    _write(folder / SCORES, scores)
    return {"run": folder.name, "status": "scored", "notes": [], "scores": scores}


def _keep_request(folder: Path, payload: Mapping[str, Any]) -> None:
    """Keep what was asked, once a run is there: a training refuses a folder with other files in it."""
    if not (folder / REQUEST).exists():
        kept = {key: payload[key] for key in ("source", "method", "seed", "max_seconds", "options")}
        _write(folder / REQUEST, kept)


def _write(path: Path, document: Mapping[str, Any]) -> None:
    from ...learn.errors import RunError

    write_whole_bytes(path, json.dumps(document).encode(), RunError)


def _measure(run: Path, data: Transitions, source: library.SourceFields) -> dict[str, Any] | None:
    """Measure the error on fresh rows of a domain, or on a recording: its held-out rows where it was learned from."""
    from ...learn import LearnError, RunError, evaluate_run

    if data.cause is None:
        return None
    if source.get("domain"):
        fresh = {**source, "seed": source["seed"] + TEST_SEED, "frames": min(source["frames"], TEST_FRAMES)}
        data = library.load_rows(fresh, Path(), policy="random")
    try:
        scores = evaluate_run(run, data).evaluation
    except RunError:
        raise
    except LearnError:  # nothing to score: no factor in question, or events in every row
        return None
    kept = ("edge_error", "exact_error", "auc", "f1", "states", "resampled")
    named = {"domain": data.metadata.get("domain"), "trivial": dict(scores.trivial)}
    return {**{key: scores.to_json()[key] for key in kept}, **named}
