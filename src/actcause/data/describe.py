"""What a recording or a domain holds, in a few numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import envs
from .collect import collect
from .files import read_batches
from .layout import Layout
from .running_statistics import RunningStatistics
from .transitions import Transitions
from .validate import Array

RATE_FRAMES = 20_000  # of the short rollout by which a domain's rates are told
FEW = 16  # a feature with no more values than this is discrete: its extremes are values like the others


@dataclass(frozen=True)
class FeatureSummary:
    """One feature: `clipped` is the share of values that sit on its minimum or maximum.

    `values` is the number of different values where there are few (up to 16); such a feature counts as not clipped.
    """

    mean: float
    std: float
    low: float
    high: float
    clipped: float
    constant: bool
    values: int | None


@dataclass(frozen=True)
class FactorSummary:
    """One factor: `spread` is the root mean square of its features' standard deviations."""

    spread: float
    clipped: float
    rate: float | None  # how often it truly was a cause
    present: float  # share of rows in which it is there
    features: Mapping[str, FeatureSummary]


@dataclass(frozen=True)
class Description:
    """What a recording holds; `to_json` gives it as one document."""

    source: str | None
    size: int | None  # bytes of the file
    rows: int
    episodes: int | None
    mean_length: float | None
    own: str | None
    outcome_factor: str
    outcome: FactorSummary
    still: float | None  # share of rows in which the outcome kept its own previous value
    edges: tuple[str, ...]
    factors: Mapping[str, FactorSummary]
    notes: tuple[str, ...]
    metadata: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and numbers."""
        return asdict(self) | {"edges": list(self.edges), "notes": list(self.notes)}


def describe(source: str | PathLike[str] | Transitions, mapping: Any = None) -> Description:
    """Describe factors, rates, episodes, spread and share of clipped values, in one pass over batches.

    >>> data = Transitions(factors=["a", "b"], state=[[[1.0], [0]], [[3.0], [0]]], outcome=[[2.0], [6.0]], own="a")
    >>> description = describe(data)
    >>> description.rows, description.factors["a"].spread, description.notes
    (2, 1.0, ("'b' never changes, so nothing can be learned about it from these rows.",))
    """
    if isinstance(source, Transitions):
        return _describe([source], None, None)
    path = Path(source)
    return _describe(read_batches(path, mapping), str(path), path.stat().st_size if path.exists() else None)


def describe_domain(name: str) -> dict[str, Any]:
    """Describe a domain by its name; `rates` says how often each edge fires in a short random rollout."""
    domain = envs.make(name)
    rates = collect(domain, RATE_FRAMES, 0).rates()
    return {
        "name": name,
        "title": domain.title,
        "factors": list(domain.factors),
        "features": {factor: list(features) for factor, features in domain.features.items()},
        "outcome": domain.outcome,
        "edges": list(domain.edges),
        "horizon": domain.horizon,
        "rates": {factor: round(float(rates[factor]), 4) for factor in domain.edges},
    }


def _describe(batches: Iterable[Transitions], source: str | None, size: int | None) -> Description:
    gathered: _Summing | None = None
    for batch in batches:
        gathered = gathered or _Summing(batch)
        gathered.add(batch)
    if gathered is None:
        raise AssertionError("read_batches gives at least one batch")
    return gathered.describe(source, size)


class _Summing:
    """Gathers what a description needs, batch by batch."""

    def __init__(self, first: Transitions) -> None:
        self.layout: Layout = first.layout
        self.metadata = dict(first.metadata)
        self.rows = self.still = 0
        self.state = RunningStatistics(first.state.shape[1:])
        self.outcome = RunningStatistics(first.outcome.shape[1:])
        self.values = _DistinctValues(first.state.shape[1:])
        self.outcome_values = _DistinctValues(first.outcome.shape[1:])
        self.present = np.zeros(len(first.factors))
        self.caused = None if first.cause is None else np.zeros(len(first.factors))
        self.episodes: set[int] | None = None if first.episode is None else set()
        self.stretches = 0
        self._last: int | None = None

    def add(self, batch: Transitions) -> None:
        self.rows += len(batch)
        self.state.add(batch.state, None if batch.mask is None else batch.mask[:, :, None])
        self.outcome.add(batch.outcome)
        self.values.add(batch.state)
        self.outcome_values.add(batch.outcome)
        self.present += len(batch) if batch.mask is None else batch.mask.sum(axis=0)
        shared = [k for k, _ in self.layout.shared]
        self.still += int((batch.change[:, shared] == 0).all(axis=1).sum()) if shared else 0
        if batch.cause is not None and self.caused is not None:
            self.caused += batch.cause.sum(axis=0)
        if batch.episode is not None and self.episodes is not None:
            self.episodes.update(np.unique(batch.episode).tolist())
            self.stretches += int(np.count_nonzero(np.diff(batch.episode))) + (int(batch.episode[0]) != self._last)
            self._last = int(batch.episode[-1])

    def describe(self, source: str | None, size: int | None) -> Description:
        layout = self.layout
        factors: dict[str, FactorSummary] = {}
        for position, factor in enumerate(layout.factors):
            here = float(self.present[position])
            factors[factor] = _summary(
                layout.features[factor],
                self.state,
                self.values,
                (position,),
                None if self.caused is None else float(self.caused[position]) / max(here, 1),
                here / self.rows,
            )
        outcome = _summary(layout.outcome_features, self.outcome, self.outcome_values, (), None, 1.0)
        episodes = None if self.episodes is None else len(self.episodes)
        return Description(
            source=source,
            size=size,
            rows=self.rows,
            episodes=episodes,
            mean_length=None if episodes is None else self.rows / episodes,
            own=layout.own,
            outcome_factor=layout.outcome_factor,
            outcome=outcome,
            still=self.still / self.rows if layout.shared else None,
            edges=layout.edges,
            factors=factors,
            notes=tuple(_notes(factors, outcome, layout, self.rows, self.stretches > (episodes or 0))),
            metadata=self.metadata,
        )


def _summary(
    names: tuple[str, ...],
    statistics: RunningStatistics,
    values: _DistinctValues,
    at: tuple[int, ...],
    rate: float | None,
    present: float,
) -> FactorSummary:
    features: dict[str, FeatureSummary] = {}
    for feature, name in enumerate(names):
        here = (*at, feature)
        few = values.count(here)
        counts = [count for count in (statistics.at_low[here], statistics.at_high[here]) if count > 1]
        clipped = 0.0 if few is not None else float(sum(counts) / max(statistics.count[here], 1))
        seen = statistics.count[here] > 0
        features[name] = FeatureSummary(
            float(statistics.mean[here]),
            float(statistics.std[here]),
            float(statistics.low[here]) if seen else 0.0,
            float(statistics.high[here]) if seen else 0.0,
            clipped,
            bool(statistics.constant[here]),
            few,
        )
    spread = float(np.sqrt(np.mean([summary.std**2 for summary in features.values()])))
    clipped = float(np.mean([summary.clipped for summary in features.values()]))
    return FactorSummary(spread, clipped, rate, present, features)


def _notes(
    factors: Mapping[str, FactorSummary], outcome: FactorSummary, layout: Layout, rows: int, scattered: bool
) -> Iterable[str]:
    if rows < 2:
        return
    for factor, summary in factors.items():
        if all(feature.constant for feature in summary.features.values()):
            yield f"'{factor}' never changes, so nothing can be learned about it from these rows."
    if all(feature.constant for feature in outcome.features.values()):
        yield f"The outcome '{layout.outcome_factor}' never changes."
    if scattered:
        yield "The rows of an episode do not all stand next to one another."


class _DistinctValues:
    """The different values of every feature, as long as they are few."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._seen: dict[tuple[int, ...], set[float]] = {here: set() for here in np.ndindex(*shape)}

    def add(self, batch: Array) -> None:
        for here, seen in self._seen.items():
            if len(seen) > FEW:
                continue
            column = batch.reshape(len(batch), -1)[:, np.ravel_multi_index(here, batch.shape[1:])]
            seen.update(np.unique(column[: 4 * FEW]).tolist())
            if len(seen) <= FEW:
                seen.update(np.unique(column).tolist()[: FEW + 1])

    def count(self, here: tuple[int, ...]) -> int | None:
        return len(self._seen[here]) if len(self._seen[here]) <= FEW else None
