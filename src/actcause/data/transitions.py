"""Observed transitions: what every factor was, what the outcome became, and (where it is known) why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, quote
from .history import Past, add_past
from .kinds import describe_kinds
from .layout import Layout, check_name
from .parquet import ROWS
from .reading import read_frame, read_rows
from .row_arrays import RowArrays, concatenate
from .shifted_features import find_shifted_features
from .standardise import Standardiser
from .validate import Array, check_numbers, read_only
from .writer import Writer

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Transitions(RowArrays):
    """Rows of (state before, outcome after), validated when built and never changed.

    `state[n, f, d]` is feature `d` of factor `f` in row `n`, 0 beyond the factor's named features;
    `outcome[n]` the outcome's features one step later. `own` names the factor that holds the outcome's own
    previous value. `cause[n, f]` says whether factor `f` actually caused the outcome of row `n`, where the
    truth is known. `episode[n]` numbers the episode; `mask[n, f]` is false where the object is absent, whose
    features then count as 0; so is an object all of whose features are NaN. `categorical` lists features that are
    kinds, not amounts (`["door.state", "action"]`), `classes` which factors are of one kind, `places` the features that
    say where a thing is, `periods` which begin anew after a full turn, as in a [mapping](../data.md#your-own-csv); the
    metadata keep them. `extra` holds further
    values of each row, `metadata` whatever JSON can hold. The arrays are kept as read-only views, not copied: do not
    change them behind its back.

    >>> import numpy as np
    >>> state = np.array([[[0.0], [1.0]], [[0.5], [0.0]], [[0.5], [1.0]]])
    >>> outcome = np.array([[0.5], [0.5], [1.0]])
    >>> data = Transitions(factors=["block", "push"], state=state, outcome=outcome, own="block")
    >>> data
    <Transitions: 3 rows of block, push; outcome block>
    >>> data.change.ravel()
    array([0.5, 0. , 0.5])
    """

    def __init__(
        self,
        *,
        factors: Sequence[str],
        state: Any,
        outcome: Any,
        features: Mapping[str, Sequence[str]] | None = None,
        own: str | None = None,
        outcome_factor: str | None = None,
        outcome_features: Sequence[str] | None = None,
        cause: Any = None,
        mask: Any = None,
        episode: Any = None,
        edges: Iterable[str] | None = None,
        categorical: Sequence[str] | None = None,
        classes: Mapping[str, str] | None = None,
        places: Sequence[str] | None = None,
        periods: Mapping[str, float] | None = None,
        extra: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        state = check_numbers(state, "state", 3, "(rows, factors, features)", "state[:, :, None]")
        outcome = check_numbers(outcome, "outcome", 2, "(rows, features)", "outcome[:, None]")
        layout = Layout.build(
            factors,
            features,
            own=own,
            outcome_factor=outcome_factor,
            outcome_features=outcome_features,
            edges=edges,
            width=state.shape[2],
            outcome_width=outcome.shape[1],
        )
        known = describe_kinds(
            layout, metadata, categorical=categorical, classes=classes, places=places, periods=periods
        )
        self._fill(layout, state, outcome, cause, mask, episode, extra, known)
        if len(self) > 1 and bool((self.outcome == self.outcome[0]).all()):
            raise DataError(
                f"The outcome '{layout.outcome_factor}' is the same in all {len(self)} rows: nothing to explain."
            )

    @classmethod
    def from_frame(cls, frame: Any, mapping: Any = None) -> Transitions:
        """Read a mapping of columns, or a pandas or Polars frame.

        Columns named as in our own files (`ball.x`, `next.ball.x`, `cause.paddle`, `episode`) need no more;
        for others `mapping` says which column is what, as for `actcause.data.load`.

        >>> frame = {"b": [0.0, 1.0, 1.0], "p": [1, 0, 0], "b2": [1.0, 1.0, 2.0]}
        >>> Transitions.from_frame(frame, {"factors": {"block": ["b"], "push": ["p"]}, "outcome": {"block": ["b2"]}})
        <Transitions: 3 rows of block, push; outcome block>
        """
        return cls.take_over(read_frame(frame, mapping))

    # -- reading -----------------------------------------------------------------------------------

    @property
    def factors(self) -> tuple[str, ...]:
        """The names of the factors, in the order of the state's second axis."""
        return self.layout.factors

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """The names of each factor's features."""
        return self.layout.features

    @property
    def own(self) -> str | None:
        """The factor that holds the outcome's own previous value."""
        return self.layout.own

    @property
    def outcome_factor(self) -> str:
        """The name of what is to be explained."""
        return self.layout.outcome_factor

    @property
    def outcome_features(self) -> tuple[str, ...]:
        """The names of the outcome's features."""
        return self.layout.outcome_features

    @property
    def edges(self) -> tuple[str, ...]:
        """The factors that are scored."""
        return self.layout.edges

    @cached_property
    def change(self) -> Array:
        """The outcome minus its own previous value; outcome features without one are given as they are."""
        changed = self.outcome.copy()
        for k, feature in self.layout.shared:
            changed[:, k] -= self.state[:, self.layout.index(self.own or ""), feature]
        return read_only(changed)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what is not wrong but worth knowing: factors that never change, scattered episodes."""
        notes = []
        for position, factor in enumerate(self.factors):
            values = self.state[:, position]
            if len(self) > 1 and bool((values == values[0]).all()):
                notes.append(f"'{factor}' never changes, so nothing can be learned about it from these rows.")
        if len(self) > 1 and bool((self.outcome == self.outcome[0]).all()):
            notes.append(f"The outcome '{self.outcome_factor}' never changes.")
        elif len(self) > 1 and self._stands_still():
            notes.append(
                f"The outcome '{self.outcome_factor}' is what it was before in all rows: is it one step later?"
            )
        notes += find_shifted_features(self.layout, self.state, self.outcome)
        if self.episode is not None:
            stretches = 1 + int(np.count_nonzero(self.episode[1:] != self.episode[:-1]))
            if stretches > len(np.unique(self.episode)):
                notes.append("The rows of an episode do not all stand next to one another.")
        return tuple(notes)

    def _stands_still(self) -> bool:
        """Tell whether every outcome is the value that its own factor had before."""
        return len(self.layout.shared) == len(self.outcome_features) and not bool(self.change.any())

    def rates(self) -> dict[str, float]:
        """Return how often each factor truly was a cause, as a share of the rows; empty without truth.

        Where an object may be absent, the rows in which it is present count.
        """
        if self.cause is None:
            return {}
        seen = np.full(len(self.factors), len(self)) if self.mask is None else self.mask.sum(axis=0)
        shares = self.cause.sum(axis=0) / np.maximum(seen, 1)
        return dict(zip(self.factors, map(float, shares), strict=True))

    # -- parts -------------------------------------------------------------------------------------

    def subset(self, index: Any) -> Transitions:
        """Select the rows that `index` (a slice, positions, or a boolean for each row) names, in its order."""
        if not isinstance(index, slice):
            index = np.asarray(index)
            if index.ndim != 1 or index.dtype.kind not in "biu":
                raise DataError(f"Rows are selected by a slice, positions or booleans. Got {quote(index)} instead.")
        try:
            part = self.take(index)
        except IndexError as outside:
            raise DataError(f"The selection does not fit {len(self)} rows: {outside}.") from outside
        if not len(part):
            raise DataError("The selection holds no row.")
        return part

    def replaced(self, **changes: Any) -> Transitions:
        """Return a copy with other arrays or other metadata, checked again.

        >>> data = Transitions(factors=["a"], state=[[[1.0]], [[3.0]]], outcome=[[2.0], [6.0]])
        >>> data.replaced(episode=[0, 1]).episode
        array([0, 1])
        """
        kept = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "layout"}
        unknown = next((name for name in changes if name not in kept), None)
        if unknown is not None:
            raise DataError(f"'{unknown}' cannot be replaced; one of {', '.join(kept)} can.")
        return type(self).of(self.layout, **(kept | changes))

    @property
    def unit(self) -> str:
        """What `split` and `folds` keep whole: an "episode", or a "row" where there are no episodes."""
        return "row" if self.episode is None else "episode"

    def split(self, share: float = 0.8, *, seed: int = 0) -> tuple[Transitions, Transitions]:
        """Split into two parts, the first with this share of the episodes; no episode is in both.

        Without an episode index the rows are split one by one, as `unit` says.

        >>> data = Transitions(factors=["a"], state=np.zeros((4, 1, 1)), outcome=[[0.0], [1.0], [2.0], [3.0]])
        >>> [len(part) for part in data.split(0.5)]
        [2, 2]
        """
        if not isinstance(share, (int, float)) or not 0 < share < 1:
            raise DataError(f"The share of a split must be between 0 and 1. Got {quote(share)} instead.")
        codes, count = self._units(2)
        first = min(max(round(share * count), 1), count - 1)
        chosen = np.zeros(count, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(count)[:first]] = True
        return self.subset(chosen[codes]), self.subset(~chosen[codes])

    def folds(self, k: int = 5, *, seed: int = 0) -> list[tuple[Transitions, Transitions]]:
        """Return `k` pairs (the rest, a fold): every episode (or row, see `unit`) is in exactly one fold."""
        if not isinstance(k, int) or k < 2:
            raise DataError(f"The number of folds must be an integer of at least 2. Got {quote(k)} instead.")
        codes, count = self._units(k)
        fold = np.empty(count, dtype=np.int64)
        fold[np.random.default_rng(seed).permutation(count)] = np.arange(count) % k
        return [(self.subset(fold[codes] != each), self.subset(fold[codes] == each)) for each in range(k)]

    def _units(self, wanted: int) -> tuple[Array, int]:
        """For each row the number of its episode (or of the row itself), and how many there are."""
        codes = np.arange(len(self)) if self.episode is None else np.unique(self.episode, return_inverse=True)[1]
        count = int(codes.max()) + 1
        if count < wanted:
            remedy = "" if self.episode is None else "; replaced(episode=None) splits by rows instead"
            raise DataError(f"{wanted} parts need at least {wanted} {self.unit}s, and there is {count}{remedy}.")
        return codes, count

    def with_history(self, frames: int = 1, *, differences: bool | Sequence[str] = False) -> Transitions:
        """Return the rows with past frames as further features: `x@-1` is `x` one step before, and so on.

        With `differences` (true, or the names of features) `x.change` is the change of `x` since the step before; for
        differences alone say `frames=0`. Rows of an episode must follow each other. Its first rows, whose past is not
        known, are left out. Where an object was absent before, its nearest later value stands for the missing one.

        >>> state = np.array([0.0, 1, 3, 6])[:, None, None]
        >>> data = Transitions(factors=["ball"], features={"ball": ["x"]}, state=state, outcome=state[:, 0] + 1)
        >>> past = data.with_history(1, differences=True)
        >>> past.features["ball"], past.state[:, 0].tolist()
        (('x', 'x@-1', 'x.change'), [[1.0, 0.0, 1.0], [3.0, 1.0, 2.0], [6.0, 3.0, 3.0]])
        """
        past = Past.read(frames, differences)
        if not past:
            return self
        parts = list(add_past([self], past))
        if not parts:
            raise DataError(f"No row has {past.rows} rows of its episode before it: record longer episodes.")
        return self.take_over(parts[0])

    def read_text(self, name: str) -> Array:
        """Return a categorical feature, `door.state` or `next.state`, as the texts that it was read from.

        >>> frame = {"switch": ["up", "down", "up"], "lamp": [1.0, 0.0, 2.0]}
        >>> mapping = {"factors": {"switch": {"at": "switch"}}, "outcome": {"lamp": "lamp"}, "categorical": ["switch"]}
        >>> Transitions.from_frame(frame, mapping).read_text("switch.at").tolist()
        ['up', 'down', 'up']
        """
        texts = self.metadata.get("categories", {})
        listed = texts[check_name(name, list(texts), f"No texts are known of {quote(name)}", "there are those of")]
        factor, _, feature = name.partition(".")
        if factor == "next":
            codes = self.outcome[:, self.outcome_features.index(feature)]
        else:
            codes = self.state[:, self.layout.index(factor), self.features[factor].index(feature)]
        return np.array(listed, dtype=object)[codes.astype(np.int64)]

    def standardiser(self) -> Standardiser:
        """Fit a standardiser on these rows only: `train.standardiser().transform(test)`."""
        return Standardiser.fit([self])

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write one Parquet file (needs the extra `data`)."""
        with Writer(path, self.layout, metadata=self.metadata) as writer:
            writer.append(self)

    @classmethod
    def load(cls, path: str | PathLike[str], mapping: Any = None) -> Transitions:
        """Read a file, as `actcause.data.load` does."""
        return cls.take_over(concatenate(read_rows(path, mapping)))

    def __repr__(self) -> str:
        counted = "" if self.episode is None else f" in {len(np.unique(self.episode))} episodes"
        listed = ", ".join(self.factors[:8]) + (f" and {len(self.factors) - 8} more" if len(self.factors) > 8 else "")
        truth = "" if self.cause is None else ", true causes known"
        return f"<Transitions: {len(self)} rows{counted} of {listed}; outcome {self.outcome_factor}{truth}>"


def load(path: str | PathLike[str], mapping: Any = None) -> Transitions:
    r"""Read all rows of a file.

    `path` is one of our files, or any Parquet, CSV or NPZ file: then `mapping` (a dictionary, or a JSON or TOML
    file) says which column is what, unless the columns are named as ours are (see `actcause.data.mapping`). Of our
    own files a mapping may ask for past frames: `{"history": 2}`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> table = "bx,px,hit,next_bx\n0,1,1,1\n1,5,0,1\n1,1,1,2\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "mine.csv").write_text(table)
    ...     mapping = {"factors": {"block": ["bx"], "push": ["px"]}, "outcome": {"block": ["next_bx"]}}
    ...     load(f"{folder}/mine.csv", mapping | {"cause": {"push": "hit"}})
    <Transitions: 3 rows of block, push; outcome block, true causes known>
    """
    return Transitions.load(path, mapping)


def read_batches(
    path: str | PathLike[str], mapping: Any = None, *, rows: int = ROWS, group: int | None = None
) -> Iterator[Transitions]:
    """Read a file, at most `rows` rows at a time; never more than one row group is in memory.

    `group` reads only that row group, of a file that `actcause` wrote.
    """
    yield from map(Transitions.take_over, read_rows(path, mapping, rows=rows, group=group))
