"""Chains of a recording: from what became of a factor at a step back to the actions behind it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.chain import Chain, trace_back
from ..errors import DataError, quote
from .layout import check_factor
from .recording import Recording
from .validate import Array


def trace(recording: Recording, *, episode: int, step: int, factor: str, graphs: Any = None) -> Chain:
    """Trace what became of `factor` at `step` of an episode back through local graphs.

    `graphs`, of shape (rows, outcomes, factors), are learned ones (`LocalGraphs.predict`, `explain`); by default the
    true ones of the recording.

    >>> from actcause.data import collect_recording
    >>> recording = collect_recording("3-chain", frames=100, seed=0)
    >>> chain = trace(recording, episode=0, step=4, factor="y")
    >>> {cause for link in chain.links if link.outcome == "a2" for cause in link.causes}
    {'a1'}
    """
    if graphs is None and recording.cause is None:
        raise DataError(
            "The recording holds no true causes; give {parameter}, such as those of a run.", parameter="graphs"
        )
    chosen = recording.cause if graphs is None else np.asarray(graphs)
    shape = (len(recording), len(recording.outcomes), len(recording.factors))
    if chosen is None or chosen.shape != shape or chosen.dtype != np.bool_:
        got = "none" if chosen is None else f"{chosen.dtype} of shape {chosen.shape}"
        raise DataError(f"Graphs must be booleans of shape {shape}: (rows, outcomes, factors). Got {got} instead.")
    check_factor(factor, recording.outcomes, "factor of an event")
    rows = _find_rows(recording, episode, step)
    graph = chosen[rows]
    place = {outcome: position for position, outcome in enumerate(recording.outcomes)}

    def causes(now: int, outcome: str) -> list[str]:
        return [recording.factors[position] for position in np.flatnonzero(graph[now, place[outcome]])]

    last = rows[step]
    own, used = recording.index(factor), recording.features[factor]
    change = {
        name: (float(recording.state[last, own, k]), float(recording.next_state[last, own, k]))
        for k, name in enumerate(used)
    }
    return trace_back(causes, factor, step, inputs=recording.inputs, change=change)


def _find_rows(recording: Recording, episode: int, step: int) -> Array:
    """Return the rows of the steps 0 to `step` of an episode."""
    mine = np.flatnonzero(recording.episode == episode)
    if not len(mine):
        numbers = recording.episode
        raise DataError(
            "There is no episode {got}; they are {first} to {last}.",
            parameter="episode",
            got=quote(episode),
            first=int(numbers.min()),
            last=int(numbers.max()),
        )
    steps = recording.step[mine]
    if not isinstance(step, (int, np.integer)) or not steps.min() <= step <= steps.max():
        raise DataError(
            "Episode {episode} has the steps {first} to {last}. Got {got} instead.",
            parameter="step",
            episode=episode,
            first=int(steps.min()),
            last=int(steps.max()),
            got=quote(step),
        )
    ordered = mine[np.argsort(steps, kind="stable")]
    rows: Array = ordered[recording.step[ordered] <= step]
    if not np.array_equal(recording.step[rows], np.arange(step + 1)):
        raise DataError(
            f"Episode {episode} lacks some of the steps 0 to {step}, or has some twice: a chain needs them all."
        )
    return rows
