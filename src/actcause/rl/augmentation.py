"""More transitions from those that there are: groups of factors that are causally apart are exchanged.

Pitis, Creager and Garg, "Counterfactual Data Augmentation using Locally Factored Dynamics", NeurIPS 2020.

Of two transitions one takes a group of factors from the second and the rest from the first, before and after the step.
That is a transition of the same world if group and rest have nothing to do with each other: in neither of the two, and
not in the new state either. An exchange can bring the pusher next to the block, so that an edge fires that was not
there; therefore the new state is asked about too, and what no longer comes apart in the same way is left out. No
simulator is asked for that: the graphs are a function of the state, true or learned.

    for each pair:  a group is what is joined, in either transition, by edges of any direction
                    exchange some of the groups, before and after
                    keep it if the graph of the new state is the two parts side by side, as they were,
                    and if a learned forward model, where there is one, expects just that
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..envs.base import Array
from ..errors import QueryError
from .arguments import check_count, check_recording, refuse
from .graph_sources import ask_graphs

if TYPE_CHECKING:
    from ..data import Recording

MOST_GROUPS = 10  # of which every exchange is tried: 1,022 ways


@dataclass(frozen=True, eq=False, repr=False)
class Augmentation:
    """What came of exchanging: the new transitions, how many pairs were tried, and which rows each came from.

    `recording` is None where nothing could be kept. `first` and `second` are the rows that each new row was made of,
    `exchanged`, `(rows, factors)`, the factors that came from the second.
    """

    recording: Recording | None
    tried: int
    first: Array
    second: Array
    exchanged: Array
    expected_wrong: float | None = None  # the share that a model expects to be wrong

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        return f"<Augmentation: {len(self):,} new rows of {self.tried:,} pairs>"

    @property
    def share(self) -> float:
        """The share of the pairs that were kept; with every exchange of a pair, how many a pair gave."""
        return len(self) / self.tried

    def measure_exactness(self, dynamics: Any, tolerance: float = 1e-4) -> float | None:
        """Return the share of the new transitions that the true dynamics would have given; None where there are none.

        `dynamics` has `step(state)`, from `(rows, factors, width)` to the same, as `TrueGraphs` has.
        """
        if not callable(getattr(dynamics, "step", None)):
            refuse("dynamics", "what has step(state), as TrueGraphs(domain) has", dynamics)
        if self.recording is None:
            return None
        following = dynamics.step(self.recording.state)
        places = [self.recording.index(outcome) for outcome in self.recording.outcomes]
        off = np.abs(following[:, places] - self.recording.next_state[:, places])
        return float((off <= tolerance).all(axis=(1, 2)).mean())


def augment(
    recording: Recording,
    graphs: Any,
    *,
    pairs: int | None = None,
    every: bool = False,
    recheck: bool = True,
    model: Any = None,
    wrong: float = 0.02,
    seed: int = 0,
) -> Augmentation:
    """Make new transitions by exchanging groups of factors that are causally apart.

    Args:
        recording: The transitions that there are.
        graphs: What says who caused what, asked about new states too: `TrueGraphs(domain)`, `LocalGraphs`,
            `GraphsByOutcome`, `NearGraphs`. None exchanges anything, without a check. `ContactGraphs` say by themselves
            which rows may be exchanged and whether the new state is one in which nothing new is touched.
        pairs: How many pairs of rows are tried; by default as many as there are rows.
        every: Whether all exchanges of a pair are tried, each way to part its groups, instead of one drawn by chance.
        recheck: Whether the new state is asked about. Without it an exchange that makes an edge fire is kept.
        model: A fitted `TransitionModel`: what it does not predict is left out. Learned graphs that miss an edge keep
            transitions that cannot be; a model sees that.
        wrong: The share of wrong transitions that the model may expect among those kept.
        seed: Of the pairs and of what is exchanged.

    >>> from actcause.data import collect_recording
    >>> from actcause.envs import make
    >>> from actcause.rl import TrueGraphs
    >>> truth = TrueGraphs(make("push"))
    >>> more = augment(collect_recording("push", frames=1000, dtype="float64"), truth)
    >>> more.measure_exactness(truth)
    1.0
    """
    check_recording(recording)
    check_count("seed", seed, 0)
    if pairs is not None:
        check_count("pairs", pairs)
    if model is not None and not hasattr(model, "measure_gaps"):
        refuse("model", "a fitted TransitionModel", model)
    if isinstance(wrong, bool) or not isinstance(wrong, (int, float)) or not 0 < wrong < 1:
        refuse("wrong", "a share between 0 and 1", wrong)
    generator = np.random.default_rng(seed)
    count = len(recording) if pairs is None else int(pairs)
    first, second = generator.integers(len(recording), size=(2, count))
    shape = (len(recording), len(recording.outcomes), len(recording.factors))
    judge = graphs if hasattr(graphs, "allow_exchanges") and not isinstance(graphs, type) else None
    if graphs is None:
        found = np.zeros(shape, dtype=bool)
    else:
        found = ask_graphs(graphs, recording) if judge is None else judge.find_joined(recording)
    if every:
        pair, group = list_groups(recording, found[first] | found[second])
        first, second = first[pair], second[pair]
    else:
        group = choose_groups(recording, found[first] | found[second], generator)
    made = _exchange(recording, first, second, group)
    differs = (made[0] != recording.state[first]).any(axis=(1, 2)) & (made[0] != recording.state[second]).any(
        axis=(1, 2)
    )
    kept = np.flatnonzero(differs & ~group.all(axis=1))
    if judge is not None and recheck and len(kept):
        settled = judge.find_settled(recording)
        kept = kept[settled[first[kept]] & settled[second[kept]]]
        kept = kept[judge.allow_exchanges(_build(recording, *made, first, kept), group[kept])] if len(kept) else kept
    elif graphs is not None and recheck and len(kept):
        new = ask_graphs(graphs, _build(recording, *made, first, kept))
        places = [recording.index(outcome) for outcome in recording.outcomes]
        taken = group[kept][:, places]  # outcomes that came from the second row
        before = np.where(taken[:, :, None], found[second[kept]], found[first[kept]])
        kept = kept[(new == before).all(axis=(1, 2))]
    expected = None
    if model is not None and len(kept):
        gaps = model.measure_gaps(_build(recording, *made, first, kept))
        limit = model.choose_limit(gaps, wrong)
        expected = model.estimate_wrong(gaps, limit)
        kept = kept[gaps <= limit]
    built = _build(recording, *made, first, kept) if len(kept) else None
    return Augmentation(built, count, first[kept], second[kept], group[kept], expected)


def choose_groups(recording: Recording, graphs: Array, generator: np.random.Generator) -> Array:
    """Return for each row, `(rows, factors)`, which factors are exchanged: some of the groups, never all of them.

    A factor is drawn whose group is exchanged and one of another group that is not; the other groups are as a coin
    says. Where everything is joined, everything is chosen.
    """
    joined = find_joined(recording, graphs)
    rows, factors = len(graphs), len(recording.factors)
    every = np.arange(rows)
    first = joined.argmax(axis=2)  # of each factor the first of its group, which stands for the group
    coins = generator.random((rows, factors)) < 0.5
    chosen = coins[every[:, None], first]
    taken = joined[every, generator.integers(factors, size=rows)]
    keys = np.where(taken, -1.0, generator.random((rows, factors)))
    left = joined[every, keys.argmax(axis=1)] & ~taken
    return np.asarray((chosen | taken) & ~left)


def list_groups(recording: Recording, graphs: Array) -> tuple[Array, Array]:
    """Return every way to exchange some groups and not all: the rows, and the factors, `(ways, factors)`."""
    joined = find_joined(recording, graphs)
    first = joined.argmax(axis=2)
    rows, ways = [], []
    for row, leaders in enumerate(first):
        groups = np.unique(leaders)
        if len(groups) > MOST_GROUPS:
            raise QueryError(
                "A pair with {count} groups has too many exchanges to try every one; leave {parameter} out.",
                parameter="every", count=len(groups),
            )  # fmt: skip
        numbers = np.arange(1, 2 ** len(groups) - 1)
        chosen = (numbers[:, None] >> np.arange(len(groups))) & 1 == 1
        ways.append(chosen[:, np.searchsorted(groups, leaders)])
        rows.append(np.full(len(numbers), row))
    return np.concatenate(rows), np.concatenate(ways)


def find_joined(recording: Recording, graphs: Array) -> Array:
    """Return `(rows, factors, factors)`: which factors are of one group, joined by edges of any direction."""
    factors = len(recording.factors)
    joined = np.repeat(np.eye(factors, dtype=bool)[None], len(graphs), axis=0)
    for place, outcome in enumerate(recording.outcomes):
        joined[:, recording.index(outcome)] |= graphs[:, place]
    joined |= joined.transpose(0, 2, 1)
    reached = 1
    while reached < factors:  # each time twice as far
        joined = (joined.astype(np.float32) @ joined.astype(np.float32)) > 0
        reached *= 2
    return np.asarray(joined)


def _exchange(recording: Recording, first: Array, second: Array, group: Array) -> tuple[Array, Array]:
    """Return the states before and after, the group from the second row and the rest from the first."""
    chosen = group[:, :, None]
    return (
        np.where(chosen, recording.state[second], recording.state[first]),
        np.where(chosen, recording.next_state[second], recording.next_state[first]),
    )


def _build(recording: Recording, before: Array, after: Array, first: Array, kept: Array) -> Recording:
    """Make a recording of new rows, each an episode of its own."""
    mask = recording.mask
    return recording.replaced(
        state=before[kept],
        next_state=after[kept],
        episode=np.arange(len(kept)),
        step=np.zeros(len(kept), dtype=np.int64),
        cause=None,
        mask=None if mask is None else mask[first[kept]],
        extra={},
    )
