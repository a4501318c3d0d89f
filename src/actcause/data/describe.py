"""What a recording or a domain holds, in a few numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..worlds import World
from .collect import collect
from .domains import make_domain
from .layout import Layout
from .running_statistics import RunningStatistics
from .transitions import Transitions, read_batches
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
        return _Recording([source]).describe(None, None)
    path = Path(source)
    return _Recording(read_batches(path, mapping)).describe(str(path), path.stat().st_size)


def describe_domain(name: str) -> dict[str, Any]:
    """Describe a domain by its name; `rates` says how often each edge fires in a short random rollout.

    A world is described without its simulator: `rates` is None, and `needs` says what it takes.

    >>> describe_domain("door-key")["needs"]["licence"]
    'Apache-2.0'
    """
    domain = make_domain(name)
    rates = needs = None
    if isinstance(domain, World):
        needs = {
            "simulator": domain.simulator,
            "licence": domain.licence,
            "extra": domain.extra,
            "installed": domain.version is not None,
        }
    else:
        rates = collect(domain, RATE_FRAMES, 0).rates()
    return {
        "name": name,
        "title": domain.title,
        "factors": list(domain.factors),
        "features": {factor: list(features) for factor, features in domain.features.items()},
        "outcome": domain.outcome,
        "edges": list(domain.edges),
        "horizon": domain.horizon,
        "rates": None if rates is None else {factor: round(float(rates[factor]), 4) for factor in domain.edges},
        "needs": needs,
    }


class _Recording:
    """Gathers what a description needs, batch by batch; there is at least one."""

    def __init__(self, batches: Iterable[Transitions]) -> None:
        rest = iter(batches)
        first = next(rest)
        self.layout: Layout = first.layout
        self.metadata = dict(first.metadata)
        self.rows = self.still = 0
        self.state, self.outcome = _Features(first.state.shape[1:]), _Features(first.outcome.shape[1:])
        self.present = np.zeros(len(first.factors))
        self.caused = None if first.cause is None else np.zeros(len(first.factors))
        self.episodes: set[int] | None = None if first.episode is None else set()
        self.stretches = 0
        self._last: int | None = None
        for batch in chain([first], rest):
            self._add(batch)

    def _add(self, batch: Transitions) -> None:
        self.rows += len(batch)
        self.state.add(batch.state, None if batch.mask is None else batch.mask[:, :, None])
        self.outcome.add(batch.outcome)
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
            rate = None if self.caused is None else float(self.caused[position]) / max(here, 1)
            factors[factor] = self.state.summarise(layout.features[factor], (position,), rate, here / self.rows)
        outcome = self.outcome.summarise(layout.outcome_features, (), None, 1.0)
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
            notes=tuple(self._notes(factors, outcome)),
            metadata=self.metadata,
        )

    def _notes(self, factors: Mapping[str, FactorSummary], outcome: FactorSummary) -> Iterator[str]:
        if self.rows < 2:
            return
        for factor, summary in factors.items():
            if all(feature.constant for feature in summary.features.values()):
                yield f"'{factor}' never changes, so nothing can be learned about it from these rows."
        name = self.layout.outcome_factor
        if all(feature.constant for feature in outcome.features.values()):
            yield f"The outcome '{name}' never changes."
        elif self.still == self.rows and len(self.layout.shared) == len(self.layout.outcome_features):
            yield f"The outcome '{name}' is what it was before in all rows: is it one step later?"
        if self.episodes is not None and self.stretches > len(self.episodes):
            yield "The rows of an episode do not all stand next to one another."


class _Features:
    """Statistics of every feature, and its different values as long as they are few."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._statistics = RunningStatistics(shape)
        self._values: dict[tuple[int, ...], set[float]] = {here: set() for here in np.ndindex(*shape)}

    def add(self, batch: Array, present: Array | None = None) -> None:
        self._statistics.add(batch, present)
        for here, values in self._values.items():
            if len(values) > FEW:
                continue
            column = batch.reshape(len(batch), -1)[:, np.ravel_multi_index(here, batch.shape[1:])]
            values.update(np.unique(column[: 4 * FEW]).tolist())
            if len(values) <= FEW:
                values.update(np.unique(column).tolist()[: FEW + 1])

    def summarise(
        self, names: tuple[str, ...], at: tuple[int, ...], rate: float | None, present: float
    ) -> FactorSummary:
        features = {name: self._summarise_feature((*at, position)) for position, name in enumerate(names)}
        spread = float(np.sqrt(np.mean([summary.std**2 for summary in features.values()])))
        clipped = float(np.mean([summary.clipped for summary in features.values()]))
        return FactorSummary(spread, clipped, rate, present, features)

    def _summarise_feature(self, here: tuple[int, ...]) -> FeatureSummary:
        count, distinct = self._statistics.count[here], len(self._values[here])
        mean, std, low, high, at_low, at_high = (
            float(getattr(self._statistics, name)[here]) for name in ("mean", "std", "low", "high", "at_low", "at_high")
        )
        clipped = 0.0 if distinct <= FEW else sum(many for many in (at_low, at_high) if many > 1) / max(float(count), 1)
        low, high = (low, high) if count > 0 else (0.0, 0.0)
        few = distinct if distinct <= FEW else None
        return FeatureSummary(mean, std, low, high, clipped, bool(self._statistics.constant[here]), few)
