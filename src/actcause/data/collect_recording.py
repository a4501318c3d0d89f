"""Collecting whole states from a domain: the rows of `collect`, with every factor's next value and the true graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..worlds import World
from .collect import Policy, Progress, pick_extra, plan_collection, roll_out
from .recording import Recording, join_recordings
from .validate import Array

if TYPE_CHECKING:
    from ..envs.base import BaseDomain, Domain, Step


def collect_recording(
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
) -> Recording:
    """Record `frames` whole transitions with the true graph of each; with `out` they are also written to a file.

    The arguments are those of `collect`, and so are the rows: `collect_recording(...).view(domain.outcome)` equals
    `collect(...)`, where that explains all features of the outcome. A world whose simulator does not tell the causes of
    every factor is refused, with the reason.

    >>> recording = collect_recording("break", frames=100, seed=1)
    >>> recording.cause.shape, recording.outcomes
    ((100, 5, 6), ('paddle', 'ball', 'block1', 'block2', 'block3'))
    """
    plan = plan_collection(domain, frames, seed, policy, worlds, dtype, metadata)
    names = _name_parts(plan.domain)
    try:
        if isinstance(plan.domain, World):
            batches = _record(plan.domain, names, frames, plan.generator, dtype, plan.metadata, progress)
        else:
            take = partial(_take_whole, domain=plan.domain, dtype=dtype)
            build = partial(_build_recording, names=names, metadata=plan.metadata)
            batches = roll_out(plan.domain, plan.act, frames, plan.worlds, plan.generator, take, build, progress)
        recording = join_recordings(batches)
    except MemoryError:
        raise plan.refuse_size() from None
    if out is not None:
        recording.save(out)
    return recording


def _name_parts(domain: BaseDomain) -> dict[str, Any]:
    return {
        "factors": domain.factors,
        "features": domain.features,
        "outcomes": domain.outcomes,
        "edges": {domain.outcome: domain.edges},
    }


def _take_whole(states: Array, actions: Array, step: Step, *, domain: Domain, dtype: str) -> dict[str, Array]:
    """Keep the states before and after, and the true graph."""
    return {
        "state": step.seen.astype(dtype),
        "next_state": step.states.astype(dtype),
        "cause": domain.graph(states, actions, step),
    }


def _build_recording(
    rows: dict[str, Array], episode: Array, time: Array, *, names: dict[str, Any], metadata: Mapping[str, Any]
) -> Recording:
    arrays: dict[str, Any] = {name: rows[name] for name in ("state", "next_state", "cause")}
    return Recording(**names, **arrays, episode=episode, step=time, extra=pick_extra(rows), metadata=metadata)


def _record(
    world: World,
    names: dict[str, Any],
    frames: int,
    generator: np.random.Generator,
    dtype: str,
    metadata: Mapping[str, Any],
    progress: Progress | None,
) -> Iterator[Recording]:
    """Yield the rows of one episode of a world after the other; the last is cut so that the number is exact."""
    done = 0
    for number, episode in enumerate(world.whole_episodes(generator)):
        rows = episode[: frames - done]
        if rows:
            shape = (len(rows), len(world.factors), world.width)
            state, after = np.zeros((2, *shape), dtype=dtype)
            cause = np.zeros((len(rows), len(world.outcomes), len(world.factors)), dtype=bool)
            for at, row in enumerate(rows):
                for factor, values in row.state.items():
                    state[at, world.index(factor), : len(world.features[factor])] = values
                for factor, values in row.following.items():
                    after[at, world.index(factor), : len(world.features[factor])] = values
                for place, outcome in enumerate(world.outcomes):
                    cause[at, place, [world.index(factor) for factor in (outcome, *row.graph[outcome])]] = True
            extra = {name: np.array([row.extra[name] for row in rows]) for name in rows[0].extra}
            yield Recording(
                **names,
                state=state,
                next_state=after,
                cause=cause,
                episode=np.full(len(rows), number),
                step=np.arange(len(rows)),
                extra=extra,
                metadata=metadata,
            )
        done += len(rows)
        if progress is not None:
            progress(done, frames)
        if done == frames:
            return
