"""How often each factor was found to be a cause in predicted rows, and how often that was wrong.

Rows are predicted rows of transitions (`row_groups.add_predictions`) or whole states (`predict_graphs`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...data import Recording, Transitions
from ...data.found import read_found_graphs


@dataclass(frozen=True)
class FoundCounts:
    """The rows, the share of them that has each factor as a cause, the share of unsure ones, and of wrong edges."""

    rows: int
    rates: Mapping[str, float]
    unsure: float | None  # None where nobody says
    error: float | None  # None where the truth is not known

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON can hold it."""
        return asdict(self)


def count_found(batches: Iterable[Transitions]) -> FoundCounts:
    """Count what was found in predicted rows, batch by batch.

    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> from actcause.learn.prediction import add_predictions
    >>> data = collect("1-in", 1000)
    >>> counts = count_found([add_predictions(Never().fit(data), data)])
    >>> counts.rows, counts.rates, counts.error == data.rates()["a1"]
    (1000, {'a1': 0.0}, True)
    """
    found: Counter[str] = Counter()
    rows = unsure = wrong = scored = 0
    for batch in batches:
        rows += len(batch)
        unsure += int(batch.extra["unsure"].sum())
        for position, factor in enumerate(batch.factors):
            answers = batch.extra.get(f"found.{factor}")
            if answers is None:
                continue
            found[factor] += int(answers.sum())
            if batch.cause is not None and factor in batch.edges:
                present = slice(None) if batch.mask is None else batch.mask[:, position]
                differs = (answers != batch.cause[:, position])[present]
                wrong, scored = wrong + int(differs.sum()), scored + len(differs)
    rates = {factor: count / rows for factor, count in found.items()}
    return FoundCounts(rows, rates, unsure / rows, wrong / scored if scored else None)


def count_found_graphs(recording: Recording) -> FoundCounts:
    """Count what was found in whole states: the rates of each outcome by each factor in question, the mean error."""
    from ..local_graphs import measure_errors  # with torch, which rows of one outcome do not need

    graphs = read_found_graphs(recording)
    errors = {} if graphs is None or recording.cause is None else measure_errors(recording, graphs)
    rates = {
        f"{outcome} by {factor}": float(recording.extra[f"found.{outcome}.{factor}"].mean())
        for outcome in recording.outcomes
        for factor in recording.edges[outcome]
    }
    return FoundCounts(len(recording), rates, None, sum(errors.values()) / len(errors) if errors else None)
