"""What a run says about rows, kept as a file of transitions: causes found, probabilities, and predictions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import QueryError
from ...io.atomic import write_whole, write_whole_bytes
from ..data import library
from .judged_files import locate_findings
from .whole_states import choose_outcome, is_graph_run, load_whole, read_found_graphs

if TYPE_CHECKING:
    from ...data import Transitions
    from ...learn import Learner

ROWS = 8192  # that are judged together
MOST_COLUMNS = 400  # of predictions without a factor
MOST_KEPT = 90  # files about a run: rows, their counts, and rows as text


@library.hide_folders
def judge_rows(payload: Mapping[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Judge all rows of a source by a run, and write them with what was found beside them; a job."""
    from ...data import Writer
    from ...learn import load

    out = locate_findings(payload)
    report({"stage": "loading the run"})
    if is_graph_run(payload):
        return _judge_whole(payload, out)
    learner = load(library.find_run(Path(payload["runs"]), str(payload["run"])))
    total, batches = _batches(payload)
    out.parent.mkdir(exist_ok=True)
    tally = _Tally()
    parts = (_judge(learner, batch, bool(payload.get("hindsight"))) for batch in batches)
    first = next(parts)
    with Writer(out, first.layout, metadata=first.metadata) as writer:
        for part in chain([first], parts):
            writer.append(part)
            tally.add(part)
            report({"stage": "judging rows", "step": tally.rows, "share": tally.rows / total if total else None})
        result = tally.result()
        _keep_summary(out, result)
    _prune(out.parent)
    return result


def _judge_whole(payload: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """Judge whole states by a run of all outcomes."""
    from ...learn import predict_graphs
    from ...learn.local_graphs import measure_errors

    recording = load_whole(payload["source"], Path(payload["data"]))
    if recording is None:
        raise QueryError("A run of all outcomes judges whole states; collect them with --outcome all.")
    run = library.find_run(Path(payload["runs"]), str(payload["run"]))
    judged = predict_graphs(run, recording, hindsight=bool(payload.get("hindsight")))
    graphs = read_found_graphs(judged)
    out.parent.mkdir(exist_ok=True)
    errors = {} if graphs is None or recording.cause is None else measure_errors(recording, graphs)
    rates = {
        f"{outcome} by {factor}": float(judged.extra[f"found.{outcome}.{factor}"].mean())
        for outcome in recording.outcomes
        for factor in recording.edges[outcome]
    }
    result = {
        "rows": len(judged),
        "rates": rates,
        "unsure": None,  # which graphs do not say
        "error": sum(errors.values()) / len(errors) if errors else None,
    }
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
    from ...data.parquet import open_parquet
    from ...errors import import_extra

    source = locate_findings(payload)
    target = source.with_suffix(".csv")
    if not target.exists() or target.stat().st_mtime_ns < source.stat().st_mtime_ns:
        arrow, writer = (import_extra(name, "Writing CSV files", "data") for name in ("pyarrow", "pyarrow.csv"))
        known = _list_own_names(payload)
        with open_parquet(source) as file, write_whole(target) as text:
            names = [known.get(name, name) for name in file.schema_arrow.names]
            if len(set(names)) < len(names):  # a column was used twice
                names = file.schema_arrow.names
            with writer.CSVWriter(text, file.schema_arrow.empty_table().rename_columns(names).schema) as sink:
                for batch in file.iter_batches(batch_size=ROWS):
                    sink.write_table(arrow.Table.from_batches([batch]).rename_columns(names))
    return {"bytes": target.stat().st_size}


def _list_own_names(payload: Mapping[str, Any]) -> dict[str, str]:
    """List what the columns are called in the user's file, by what they are called in ours."""
    from ...data.mapping import ColumnMap
    from ...data.tables import column_names

    if not payload["source"].get("file"):
        return {}
    path = library.find_recording(Path(payload["data"]), str(payload["source"]["file"]))
    stored = library.find_mapping(path)
    if stored is None:
        return {}
    mapped = ColumnMap.resolve(column_names(path), stored)
    layout = mapped.layout
    names = {f"cause.{factor}": column for factor, column in mapped.cause.items()}
    names |= {f"present.{factor}": column for factor, column in mapped.present.items()}
    for factor, columns in zip(layout.factors, mapped.state, strict=True):
        names |= {
            f"{factor}.{feature}": column for feature, column in zip(layout.features[factor], columns, strict=True)
        }
    after = zip(layout.outcome_features, mapped.following or (), strict=mapped.following is not None)
    names |= {f"next.{layout.outcome_factor}.{feature}": column for feature, column in after}
    return names | ({"episode": mapped.episode} if mapped.episode else {})


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


def _judge(learner: Learner, batch: Transitions, hindsight: bool) -> Transitions:
    """Judge rows: what was found, and what the model predicts with and without each factor."""
    from ...learn import predict_without_each
    from ...learn.prediction.row_groups import add_predictions

    judged = add_predictions(learner, batch, hindsight=hindsight)
    names = batch.outcome_features
    if len(batch.factors) * len(names) > MOST_COLUMNS:
        return judged
    predicted = predict_without_each(learner, batch)
    if predicted is None:
        return judged
    full, without_each = predicted
    extra = dict(judged.extra)
    extra |= {f"expected.{name}": full[:, k].astype("float32") for k, name in enumerate(names)}
    for position, factor in enumerate(batch.factors):
        if factor != batch.own:
            without = without_each[position].astype("float32")
            extra |= {f"without.{factor}.{name}": without[:, k] for k, name in enumerate(names)}
    return judged.replaced(extra=extra)


class _Tally:
    """How often each factor was found, and how often that was wrong where the truth is known."""

    def __init__(self) -> None:
        self.rows = self.unsure = self.wrong = self.counted = 0
        self.found: dict[str, int] = {}

    def add(self, part: Transitions) -> None:
        self.rows += len(part)
        self.unsure += int(part.extra["unsure"].sum())
        for factor in part.factors:
            found = part.extra.get(f"found.{factor}")
            if found is None:
                continue
            self.found[factor] = self.found.get(factor, 0) + int(found.sum())
            if part.cause is not None and factor in part.edges:
                position = part.layout.index(factor)
                here = slice(None) if part.mask is None else part.mask[:, position]
                self.wrong += int((found != part.cause[:, position])[here].sum())
                self.counted += len(part) if part.mask is None else int(part.mask[:, position].sum())

    def result(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "rates": {factor: count / self.rows for factor, count in self.found.items()},
            "unsure": self.unsure / self.rows,
            "error": self.wrong / self.counted if self.counted else None,
        }
