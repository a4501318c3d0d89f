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
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

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
    from ..envs.base import Domain

WORLDS = 1000
MAX_HELD = 1 << 28  # bytes of running episodes
POLICIES = ("random", "scripted")

Progress = Callable[[int, int], None]
Policy = Callable[[np.random.Generator, Array], Array]


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
    _check_integer("frames", frames, 1)
    _check_integer("seed", seed, 0)
    if dtype not in ("float32", "float64"):
        raise DataError(f"The dtype must be float32 or float64. Got {quote(dtype)} instead.")
    if isinstance(domain, str):
        metadata = {"domain": domain, **(metadata or {})}
        domain = make_domain(domain)
    layout = domain_layout(domain)
    if isinstance(domain, World):
        _check_alone(domain, policy, worlds)
        count = 1
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
    generator = np.random.default_rng(seed)
    if isinstance(domain, World):
        batches = record_world(domain, layout, frames, generator, dtype, known, progress)
    else:
        batches = _roll_out(domain, layout, act, frames, count, generator, dtype, known, progress)
    try:
        if out is None:
            return concatenate(batches)
        with Writer(out, layout, metadata=known) as writer:
            for batch in batches:
                writer.append(batch)
    except MemoryError:
        raise DataError(f"A {known['domain']} of this size does not fit into memory; set smaller parameters.") from None
    return None


def _roll_out(
    domain: Domain,
    layout: Layout,
    act: Policy,
    frames: int,
    worlds: int,
    generator: np.random.Generator,
    dtype: str,
    metadata: dict[str, Any],
    progress: Progress | None,
) -> Iterator[Transitions]:
    """Yield the rows in batches of whole episodes as they end, and at the end of the unfinished ones."""
    outcome, used = layout.index(layout.outcome_factor), len(layout.outcome_features)
    states = domain.reset(generator, worlds)
    open_episodes = _OpenEpisodes(worlds, min(domain.horizon, -(-frames // worlds)), layout, metadata)
    given = 0
    for step in range(-(-frames // worlds)):
        result = domain.step(states, domain.with_noise(generator, act(generator, states)))
        open_episodes.add(
            state=result.seen.astype(dtype),
            outcome=result.states[:, outcome, :used].astype(dtype),
            cause=np.asarray(result.cause, dtype=bool),
            **{f"extra.{name}": values for name, values in result.extra.items() if np.shape(values) == (worlds,)},
        )
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


class _OpenEpisodes:
    """The rows of the episodes that have not ended, a row of memory for each world."""

    def __init__(self, worlds: int, horizon: int, layout: Layout, metadata: dict[str, Any]) -> None:
        self.length = np.zeros(worlds, dtype=np.int64)
        self._shape = (worlds, horizon)
        self._layout = layout
        self._metadata = metadata
        self._rows: dict[str, Array] = {}
        self._every = np.arange(worlds)
        self._episodes = 0

    def add(self, **values: Array) -> None:
        if not self._rows:
            self._rows = {name: np.empty((*self._shape, *v.shape[1:]), dtype=v.dtype) for name, v in values.items()}
        for name, value in values.items():
            self._rows[name][self._every, self.length] = value
        self.length += 1

    def end(self, worlds: Array) -> Transitions:
        """Return the rows of these worlds' episodes, one episode after the other, and free their memory."""
        lengths = self.length[worlds]
        world = np.repeat(worlds, lengths)
        time = np.arange(len(world)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows = {name: values[world, time] for name, values in self._rows.items()}
        episode = np.repeat(self._episodes + np.arange(len(worlds)), lengths)
        self._episodes += len(worlds)
        self.length[worlds] = 0
        return Transitions.of(
            self._layout,
            state=rows["state"],
            outcome=rows["outcome"],
            cause=rows["cause"],
            episode=episode,
            extra={name.removeprefix("extra."): values for name, values in rows.items() if name.startswith("extra.")},
            metadata=self._metadata,
        )


def _count_worlds(domain: Domain, layout: Layout, frames: int) -> int:
    """Choose as many as make whole episodes, up to `WORLDS`, as long as their episodes fit into `MAX_HELD`."""
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
