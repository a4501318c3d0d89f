"""The names of a recording: its factors, their features, and what is to be explained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..errors import DataError, quote, suggest

# First parts of column names that mean something else than a factor.
RESERVED = ("next", "cause", "present", "extra")
MAX_NAME = 200


@dataclass(frozen=True)
class Layout:
    """What the arrays of a recording mean, without the arrays.

    `own` is the factor that holds the outcome's own previous value, if there is one; outcome features of
    the same names as its features are the same quantities one step later. `edges` are the factors whose
    causal role is in question, by default all but `own`.

    >>> layout = Layout.build(["ball", "paddle"], {"ball": ["x", "vx"], "paddle": ["x"]}, own="ball")
    >>> layout.outcome_factor, layout.outcome_features, layout.edges
    ('ball', ('x', 'vx'), ('paddle',))
    """

    factors: tuple[str, ...]
    features: Mapping[str, tuple[str, ...]]
    outcome_factor: str
    outcome_features: tuple[str, ...]
    own: str | None
    edges: tuple[str, ...]

    @classmethod
    def build(
        cls,
        factors: Sequence[str],
        features: Mapping[str, Sequence[str]] | None = None,
        *,
        own: str | None = None,
        outcome_factor: str | None = None,
        outcome_features: Sequence[str] | None = None,
        edges: Iterable[str] | None = None,
        width: int | None = None,
        outcome_width: int | None = None,
    ) -> Layout:
        """Check the names and fill in those left out; the widths are those of the arrays, where there are some."""
        names = _names(factors, "factor")
        for name in names:
            if name in RESERVED or "." in name:
                raise DataError(
                    f"A factor cannot be called {quote(name)}: columns are named factor.feature, "
                    f"and {', '.join(RESERVED)} have meanings of their own; rename it."
                )
        described = _features(names, features, width)
        if own is not None:
            check_factor(own, names, "own")
        outcome = own or "outcome" if outcome_factor is None else _names([outcome_factor], "outcome factor")[0]
        if outcome in names and own != outcome:
            raise DataError(
                f"The outcome '{outcome}' is a factor, so its own previous value is known: say own='{outcome}'."
            )
        scored = tuple(n for n in names if n != own) if edges is None else _names(edges, "edge", empty=True)
        for edge in scored:
            check_factor(edge, names, "edges")
        explained = _outcome_features(outcome_features, described.get(own or ""), own, outcome_width)
        return cls(names, MappingProxyType(described), outcome, explained, own, scored)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, ({**vars(self), "features": dict(self.features)},))

    def __hash__(self) -> int:
        return hash((self.factors, tuple(self.features.values()), self.outcome_factor, self.own, self.edges))

    @property
    def width(self) -> int:
        """The number of features of the factor that has most."""
        return max(map(len, self.features.values()))

    def index(self, factor: str) -> int:
        """Return the position of a factor; an unknown one is refused with the nearest name."""
        return self.factors.index(check_factor(factor, self.factors, "factor"))

    @property
    def shared(self) -> tuple[tuple[int, int], ...]:
        """(outcome feature, feature of `own`) for each outcome feature whose own previous value is known."""
        before = self.features[self.own] if self.own is not None else ()
        return tuple((k, before.index(name)) for k, name in enumerate(self.outcome_features) if name in before)


def check_factor(name: object, names: Sequence[str], what: str) -> str:
    """Return the name of a factor; refuse another.

    >>> check_factor("bal", ["ball"], "own")
    Traceback (most recent call last):
    ...
    actcause.errors.DataError: Unknown factor 'bal' (own); did you mean 'ball'?
    """
    return check_name(name, names, f"Unknown factor {quote(name)} ({what})", "the factors are")


def check_name(name: object, names: Sequence[str], refusal: str, listing: str) -> str:
    """Return `name` if it is one of `names`; refuse it otherwise, and suggest the nearest or list them."""
    if isinstance(name, str) and name in names:
        return name
    near = suggest(name, names) if isinstance(name, str) else ""
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    raise DataError(f"{refusal}{near or f'; {listing} {listed}.'}")


def _rebuild(named: dict[str, Any]) -> Layout:
    return Layout(**{**named, "features": MappingProxyType(named["features"])})


def _names(given: Any, what: str, empty: bool = False) -> tuple[str, ...]:
    """Names that can head a column, none of them twice."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"The {what}s must be a list of names. Got {quote(given)} instead.")
    names = tuple(given)
    if not names and not empty:
        raise DataError(f"There must be at least one {what}.")
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
            raise DataError(f"The name of a {what} must be printable text. Got {quote(name)} instead.")
    twice = next((name for position, name in enumerate(names) if name in names[:position]), None)
    if twice is not None:
        raise DataError(f"The {what} '{twice}' is named twice.")
    return names


def _features(
    factors: tuple[str, ...], given: Mapping[str, Sequence[str]] | None, width: int | None
) -> dict[str, tuple[str, ...]]:
    if given is None:
        if width is None:
            raise DataError("Without arrays the features must be named: features={'ball': ['x', 'vx'], ...}.")
        return {factor: tuple(f"x{position}" for position in range(width)) for factor in factors}
    if not isinstance(given, Mapping):
        raise DataError(f"The features must be a mapping from factors to names. Got {quote(given)} instead.")
    for factor in given:
        check_factor(factor, factors, "features")
    lacking = next((factor for factor in factors if factor not in given), None)
    if lacking is not None:
        raise DataError(f"The features of '{lacking}' are not named: name those of every factor or of none.")
    named = {factor: _names(given[factor], f"feature of '{factor}'") for factor in factors}
    widest = max(named, key=lambda factor: len(named[factor]))
    if width is not None and len(named[widest]) > width:
        raise DataError(f"'{widest}' has {len(named[widest])} features, but the state holds {width} per factor.")
    return named


def _outcome_features(
    given: Sequence[str] | None, before: tuple[str, ...] | None, own: str | None, width: int | None
) -> tuple[str, ...]:
    if given is not None:
        named = _names(given, "outcome feature")
        if width is not None and len(named) != width:
            raise DataError(f"{len(named)} outcome features are named, but the outcome holds {width} per row.")
        return named
    if before is None:
        if width is None:
            raise DataError("Without arrays the outcome's features must be named: outcome_features=['x', ...].")
        return tuple(f"y{position}" for position in range(width))
    if width is not None and width > len(before):
        raise DataError(
            f"The outcome holds {width} values per row and its own factor '{own}' has {len(before)} features: "
            f"name them with outcome_features=[...]."
        )
    return before if width is None else before[:width]
