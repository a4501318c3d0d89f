"""Recording a world: one simulator, episode after episode, as batches of whole episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .layout import Layout
from .transitions import Transitions

if TYPE_CHECKING:
    from ..worlds import World, WorldRow


def record_world(
    world: World,
    layout: Layout,
    frames: int,
    generator: np.random.Generator,
    dtype: str,
    metadata: Mapping[str, Any],
    progress: Callable[[int, int], None] | None,
) -> Iterator[Transitions]:
    """Yield the rows of one episode after the other; the last episode is cut so that the number of rows is exact."""
    done = 0
    for number, episode in enumerate(world.episodes(generator)):
        rows = episode[: frames - done]
        if rows:
            yield _join_rows(rows, number, layout, world.absent, dtype, metadata)
        done += len(rows)
        if progress is not None:
            progress(done, frames)
        if done == frames:
            return


def _join_rows(
    rows: Sequence[WorldRow], number: int, layout: Layout, absent: bool, dtype: str, metadata: Mapping[str, Any]
) -> Transitions:
    """Turn the rows of one episode into arrays."""
    state = np.zeros((len(rows), len(layout.factors), layout.width), dtype=dtype)
    mask = np.zeros(state.shape[:2], dtype=bool)
    cause = np.zeros(state.shape[:2], dtype=bool)
    for at, row in enumerate(rows):
        for factor, values in row.state.items():
            position = layout.index(factor)
            state[at, position, : len(layout.features[factor])] = values
            mask[at, position] = True
        cause[at, [layout.index(factor) for factor in (layout.outcome_factor, *row.cause)]] = True
    return Transitions.of(
        layout,
        state=state,
        outcome=np.array([row.outcome for row in rows], dtype=dtype),
        cause=cause,
        mask=mask if absent else None,
        episode=np.full(len(rows), number),
        extra={name: np.array([row.extra[name] for row in rows]) for name in rows[0].extra},
        metadata=metadata,
    )
