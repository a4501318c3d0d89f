"""Collecting transitions from a domain: many worlds at once, episode by episode.

All worlds take their steps together. A world's rows are kept until its episode ends (at the domain's horizon,
or where the domain says that it is over), so that the rows of an episode stand together; then the world starts
afresh. Rows come out in the order in which episodes end. When `frames` steps are reached the episodes still
running are written as far as they went, and the last of them are cut so that the number of rows is exact.

The same domain, frames, seed, policy and number of worlds give the same rows, and with the same versions of
numpy and pyarrow (and of a world's simulator) the same bytes. With `out` not more than the running episodes and
one row group are held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypedDict, TypeVar, Unpack, overload

import numpy as np

from ..errors import DataError, quote
from ..worlds import World
from .domains import domain_layout, domain_metadata, make_domain
from .layout import Layout
from .record_world import record_world
from .row_arrays import concatenate
from .transitions import Transitions
from .validate import Array
from .writer import Writer

if TYPE_CHECKING:
    from ..envs.base import Domain, Step

WORLDS = 1000
MAX_HELD = 1 << 28  # bytes of running episodes
POLICIES = ("random", "scripted")

Progress = Callable[[int, int], None]
Part = TypeVar("Part", bound="_SizedPart")
Policy = Callable[[np.random.Generator, Array], Array]


class _SizedPart(Protocol):
    """Rows that can be cut: `Transitions`, or a `Recording` of whole states."""

    def __len__(self) -> int: ...
    def subset(self, index: Any) -> Self: ...


class _Options(TypedDict, total=False):
    policy: str | Policy
    worlds: int | None
    dtype: str
    metadata: Mapping[str, Any] | None
    progress: Progress | None


@overload
def collect(
    domain: Domain | World | str, frames: int, seed: int = ..., out: None = ..., **options: Unpack[_Options]
) -> Transitions: ...


@overload
def collect(
    domain: Domain | World | str, frames: int, seed: int = ..., *, out: str | PathLike[str], **options: Unpack[_Options]
) -> None: ...


def collect(
    domain: Domain | World | str,
    frames: int,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    *,
    policy: str | Policy = "random",
    worlds: int | None = None,
    dtype: str = "float32",
    metadata: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Transitions | None:
    """Record `frames` transitions: returned, or with `out` written to a file as they come.

    `domain` is a domain, a world or the name of one; a world acts by its own policy, one at a time. `policy` is
    "random", "scripted" (where the domain has one), or a function from a generator and states to actions. `worlds`
    run at once (by default up to 1000; how many there are changes the rows). `metadata` is kept beside the domain's
    name and parameters. `progress` is called with the number of frames so far and of all of them.

    >>> collect("1-in", frames=100, seed=1)
    <Transitions: 100 rows in 2 episodes of a1, y; outcome y, true causes known>
    """
    plan = plan_collection(domain, frames, seed, policy, worlds, dtype, metadata)
    if isinstance(plan.domain, World):
        batches = record_world(plan.domain, plan.layout, frames, plan.generator, dtype, plan.metadata, progress)
    else:
        take = partial(_take_outcome, layout=plan.layout, dtype=dtype)
        build = partial(_build_transitions, layout=plan.layout, metadata=plan.metadata)
        batches = roll_out(plan.domain, plan.act, frames, plan.worlds, plan.generator, take, build, progress)
    try:
        if out is None:
            return concatenate(batches)
        with Writer(out, plan.layout, metadata=plan.metadata) as writer:
            for batch in batches:
                writer.append(batch)
    except MemoryError:
        raise plan.refuse_size() from None
    return None


@dataclass(frozen=True)
class CollectionPlan:
    """A checked request to collect: the domain, its names, the policy, the number of worlds, and the metadata."""

    domain: Domain | World
    layout: Layout
    act: Policy
    worlds: int
    metadata: dict[str, Any]
    generator: np.random.Generator

    def refuse_size(self) -> DataError:
        """Make the error for a domain that does not fit into memory."""
        name = self.metadata["domain"]
        return DataError(f"A {name} of this size does not fit into memory; set smaller parameters.")


def plan_collection(
    domain: Domain | World | str,
    frames: int,
    seed: int,
    policy: str | Policy,
    worlds: int | None,
    dtype: str,
    metadata: Mapping[str, Any] | None,
) -> CollectionPlan:
    """Check what `collect` was asked for."""
    _check_integer("frames", frames, 1)
    _check_integer("seed", seed, 0)
    if dtype not in ("float32", "float64"):
        raise DataError(f"The dtype must be float32 or float64. Got {quote(dtype)} instead.")
    if isinstance(domain, str):
        metadata = {"domain": domain, **(metadata or {})}
        domain = make_domain(domain)
    layout = domain_layout(domain)
    act: Policy = _act_itself
    count = 1
    if isinstance(domain, World):
        _check_alone(domain, policy, worlds)
    else:
        act = _choose_policy(domain, policy)
        count = _count_worlds(domain, layout, frames) if worlds is None else worlds
        _check_integer("number of worlds", count, 1)
        count = min(count, frames)
    known = {
        **domain_metadata(domain),
        "seed": seed,
        "policy": policy if isinstance(policy, str) else getattr(policy, "__name__", "custom"),
        "worlds": count,
        **(metadata or {}),
    }
    return CollectionPlan(domain, layout, act, count, known, np.random.default_rng(seed))


def _act_itself(generator: np.random.Generator, states: Array) -> Array:
    """Stand for the policy of a world, which acts by itself."""
    raise NotImplementedError


def roll_out(
    domain: Domain,
    act: Policy,
    frames: int,
    worlds: int,
    generator: np.random.Generator,
    take: Callable[[Array, Array, Step], dict[str, Array]],
    build: Callable[[dict[str, Array], Array, Array], Part],
    progress: Progress | None,
) -> Iterator[Part]:
    """Yield rows in batches of whole episodes as they end, and at last the rows of the unfinished ones.

    `take` chooses what to keep of the states, the actions and the step that they lead to. `build` makes rows of that,
    given the number of each row's episode and of its step in the episode.
    """
    states = domain.reset(generator, worlds)
    open_episodes = _OpenEpisodes(worlds, min(domain.horizon, -(-frames // worlds)), build)
    given = 0
    for step in range(-(-frames // worlds)):
        actions = domain.with_noise(generator, act(generator, states))
        result = domain.step(states, actions)
        extra = {f"extra.{name}": values for name, values in result.extra.items() if np.shape(values) == (worlds,)}
        open_episodes.add(**take(states, actions, result), **extra)
        over = np.asarray(result.terminated, dtype=bool) | (open_episodes.length == domain.horizon)
        states = result.states
        if over.any():
            ended = np.flatnonzero(over)
            batch = open_episodes.end(ended)
            given += len(batch)
            yield batch if given <= frames else batch.subset(slice(0, len(batch) - (given - frames)))
            states = states.copy()
            states[ended] = domain.reset(generator, len(ended))
        if progress is not None:
            progress(min((step + 1) * worlds, frames), frames)
    left = np.flatnonzero(open_episodes.length)
    if len(left) and given < frames:
        yield open_episodes.end(left).subset(slice(0, frames - given))


class _OpenEpisodes(Generic[Part]):
    """The rows of the episodes that have not ended; every world has a line of its own in the arrays."""

    def __init__(self, worlds: int, horizon: int, build: Callable[[dict[str, Array], Array, Array], Part]) -> None:
        self.length = np.zeros(worlds, dtype=np.int64)
        self._shape = (worlds, horizon)
        self._build: Callable[[dict[str, Array], Array, Array], Part] = build
        self._rows: dict[str, Array] = {}
        self._every = np.arange(worlds)
        self._episodes = 0

    def add(self, **values: Array) -> None:
        if not self._rows:
            self._rows = {name: np.empty((*self._shape, *v.shape[1:]), dtype=v.dtype) for name, v in values.items()}
        for name, rows in values.items():
            self._rows[name][self._every, self.length] = rows
        self.length += 1

    def end(self, worlds: Array) -> Part:
        """Return the rows of these worlds' episodes, one episode after the other, and free their memory."""
        lengths = self.length[worlds]
        world = np.repeat(worlds, lengths)
        time = np.arange(len(world)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows = {name: values[world, time] for name, values in self._rows.items()}
        episode = np.repeat(self._episodes + np.arange(len(worlds)), lengths)
        self._episodes += len(worlds)
        self.length[worlds] = 0
        return self._build(rows, episode, time)


def _take_outcome(states: Array, actions: Array, step: Step, *, layout: Layout, dtype: str) -> dict[str, Array]:
    """Keep the state, the outcome's next features and their cause."""
    outcome, used = layout.index(layout.outcome_factor), len(layout.outcome_features)
    return {
        "state": step.seen.astype(dtype),
        "outcome": step.states[:, outcome, :used].astype(dtype),
        "cause": np.asarray(step.cause, dtype=bool),
    }


def _build_transitions(
    rows: dict[str, Array], episode: Array, time: Array, *, layout: Layout, metadata: dict[str, Any]
) -> Transitions:
    named = {name: rows[name] for name in ("state", "outcome", "cause")}
    return Transitions.of(layout, **named, episode=episode, extra=pick_extra(rows), metadata=metadata)


def pick_extra(rows: Mapping[str, Array]) -> dict[str, Array]:
    """Return the extra values of the rows by name."""
    return {name.removeprefix("extra."): values for name, values in rows.items() if name.startswith("extra.")}


def _count_worlds(domain: Domain, layout: Layout, frames: int) -> int:
    """Choose how many worlds run at once: enough for the frames, at most `WORLDS`, episodes within `MAX_HELD` bytes."""
    episode = min(domain.horizon, frames) * 8 * (len(layout.factors) * layout.width + len(layout.outcome_features))
    return max(1, min(WORLDS, -(-frames // domain.horizon), MAX_HELD // episode))


def _choose_policy(domain: Domain, policy: str | Policy) -> Policy:
    if callable(policy):
        return policy
    if policy == "random":
        return domain.sample_actions
    scripted = getattr(domain, "scripted_actions", None)
    if policy == "scripted" and scripted is not None:
        return lambda generator, states: scripted(states)
    allowed = POLICIES if scripted is not None else POLICIES[:1]
    raise DataError(f"The policy of {domain.name} must be {' or '.join(allowed)}. Got {quote(policy)} instead.")


def _check_alone(world: World, policy: str | Policy, worlds: int | None) -> None:
    """Refuse what a world does not let anybody choose."""
    if policy != "random":
        raise DataError(f"The policy of {world.name} must be random. Got {quote(policy)} instead.")
    if worlds not in (None, 1):
        raise DataError(f"Of {world.name} one runs at a time. Got worlds={quote(worlds)} instead.")


def _check_integer(what: str, value: object, least: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise DataError(f"The {what} must be an integer of at least {least}. Got {quote(value)} instead.")
