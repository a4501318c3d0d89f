"""What a run says about rows, kept as a file of transitions: causes found, probabilities, and predictions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import QueryError
from ...io.atomic import write_whole_bytes
from ..data import library
from .judged_files import locate_findings
from .whole_states import choose_outcome, is_graph_run, load_whole

if TYPE_CHECKING:
    from ...data import Transitions

ROWS = 8192  # that are judged together
MOST_KEPT = 90  # files about a run: rows, their counts, and rows as text


@library.hide_folders
def judge_rows(payload: Mapping[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Judge all rows of a source by a run, and write them with what was found beside them; a job."""
    from ...data import Writer
    from ...learn import add_predictions, add_predictions_without_each, count_found, load

    out = locate_findings(payload)
    report({"stage": "loading the run"})
    if is_graph_run(payload):
        return _judge_whole(payload, out)
    learner = load(library.find_run(Path(payload["runs"]), str(payload["run"])))
    total, batches = _batches(payload)
    out.parent.mkdir(exist_ok=True)
    hindsight = bool(payload.get("hindsight"))
    parts = (
        add_predictions_without_each(learner, add_predictions(learner, batch, hindsight=hindsight)) for batch in batches
    )
    first = next(parts)
    with Writer(out, first.layout, metadata=first.metadata) as writer:

        def write() -> Iterator[Transitions]:
            for part in chain([first], parts):
                writer.append(part)
                report({"stage": "judging rows", "step": writer.rows, "share": writer.rows / total if total else None})
                yield part

        result = count_found(write()).to_json()
        _keep_summary(out, result)
    _prune(out.parent)
    return result


def _judge_whole(payload: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """Judge whole states by a run of all outcomes."""
    from ...learn import count_found_graphs, predict_graphs

    recording = load_whole(payload["source"], Path(payload["data"]))
    if recording is None:
        raise QueryError("A run of all outcomes judges whole states; collect them with --outcome all.")
    run = library.find_run(Path(payload["runs"]), str(payload["run"]))
    judged = predict_graphs(run, recording, hindsight=bool(payload.get("hindsight")))
    out.parent.mkdir(exist_ok=True)
    result = count_found_graphs(judged).to_json()
    _keep_summary(out, result)
    judged.save(out)
    _prune(out.parent)
    return result


def _keep_summary(out: Path, result: Mapping[str, Any]) -> None:
    """Keep what is said of all rows, before the rows are there: whoever finds them finds this too."""
    write_whole_bytes(out.with_suffix(".json"), json.dumps(result).encode())


def read_summary(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Read what `judge_rows` returned when it wrote the file."""
    return library.read_json(locate_findings(payload).with_suffix(".json"))


def write_csv(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Write the same file as text, beside it; columns of the user's own keep the names that they came with."""
    from ...data.csv_file import write_csv

    source = locate_findings(payload)
    target = source.with_suffix(".csv")
    if not target.exists() or target.stat().st_mtime_ns < source.stat().st_mtime_ns:
        write_csv(source, target, _list_own_names(payload))
    return {"bytes": target.stat().st_size}


def _list_own_names(payload: Mapping[str, Any]) -> dict[str, str]:
    """List what the columns are called in the user's file, by what they are called in ours."""
    from ...data.mapping import ColumnMap
    from ...data.tables import column_names

    if not payload["source"].get("file"):
        return {}
    path = library.find_recording(Path(payload["data"]), str(payload["source"]["file"]))
    stored = library.find_mapping(path)
    return {} if stored is None else ColumnMap.resolve(column_names(path), stored).names


def is_current(payload: Mapping[str, Any]) -> bool:
    """Return whether what the run says is there, and is not older than the run or the recording."""
    out = locate_findings(payload)
    if not out.is_file():
        return False
    since = [library.find_run(Path(payload["runs"]), str(payload["run"])) / library.MODEL]
    if payload["source"].get("file"):
        path = library.find_recording(Path(payload["data"]), str(payload["source"]["file"]))
        beside = library.find_mapping(path)
        since += [path] if beside is None else [path, beside]
    return all(path.is_file() and path.stat().st_mtime_ns < out.stat().st_mtime_ns for path in since)


def _prune(folder: Path) -> None:
    """Keep the newest files only: what was removed is computed again when it is asked for."""
    files = sorted(folder.glob("[!.]*"), key=lambda path: path.stat().st_mtime_ns)
    for path in files[:-MOST_KEPT]:
        path.unlink(missing_ok=True)


def _batches(payload: Mapping[str, Any]) -> tuple[int, Iterator[Transitions]]:
    """Count the rows, as far as that is known, and read them in batches."""
    from ...data import count_rows, read_batches
    from ...data.parquet import is_parquet

    source, folder = payload["source"], Path(payload["data"])
    if not source.get("file"):
        data = library.load_rows(source, folder)
        return len(data), (data.subset(slice(at, at + ROWS)) for at in range(0, len(data), ROWS))
    path = library.find_recording(folder, str(source["file"]))
    whole = load_whole(source, folder)
    if whole is not None:
        view = whole.view(choose_outcome(whole, None))
        return len(view), (view.subset(slice(at, at + ROWS)) for at in range(0, len(view), ROWS))
    library.check_size(path)
    return count_rows(path) if is_parquet(path) else 0, read_batches(path, library.find_mapping(path), rows=ROWS)
