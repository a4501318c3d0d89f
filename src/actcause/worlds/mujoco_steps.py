"""Steps of a MuJoCo simulation that can be taken again: from the same state, and without some of its bodies.

MuJoCo's integration state holds all that a step depends on (positions, velocities, controls, time, and where the
solver starts from), so a step taken twice from one saved state gives the same numbers to the last bit. A body is taken
away by letting its geoms touch nothing. How far off the outcome then is, in spreads of its change, is the body's
*effect*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..envs.base import Array

Pair = frozenset[str]  # the names of two bodies that touch each other


@dataclass(frozen=True, eq=False)
class TakenStep:
    """A step that was taken: the states from which and to which, and what it gave."""

    start: Array
    others: Sequence[Array]  # the states from which it would have started with other actions
    outcome: Array
    impulses: Mapping[Pair, float]  # along the normal, between bodies that pressed on each other, in N s
    end: Array


class MujocoSteps:
    """A model and its data, stepped `substeps` at a time.

    `bodies` gives the name of the body that each geom belongs to, by the geom's number; contacts of other geoms, such
    as the floor, are not watched. `outcome` is the name of one of them, `driven` that of the one that the action
    drives. `read_outcome` reads the outcome's features after a step, and `spread` is the standard deviation of their
    change.
    """

    def __init__(
        self,
        mujoco: Any,
        model: Any,
        data: Any,
        *,
        substeps: int,
        bodies: Mapping[int, str],
        outcome: str,
        driven: str,
        read_outcome: Callable[[], Array],
        spread: Array,
    ) -> None:
        self._mujoco, self._model, self._data = mujoco, model, data
        self._substeps, self._outcome, self._driven = substeps, outcome, driven
        self._read_outcome, self._spread = read_outcome, spread
        self._names = tuple(dict.fromkeys(bodies.values()))
        self._body = np.full(model.ngeom, -1)
        for geom, name in bodies.items():
            self._body[geom] = self._names.index(name)
        self._signature = mujoco.mjtState.mjSTATE_INTEGRATION
        self._size = mujoco.mj_stateSize(model, self._signature)

    def save(self) -> Array:
        """Return all that the next step depends on."""
        state = np.empty(self._size)
        self._mujoco.mj_getState(self._model, self._data, state, self._signature)
        return state

    def restore(self, state: Array) -> None:
        """Go back to a saved state. What MuJoCo derives from it, such as contacts, is not computed anew."""
        self._mujoco.mj_setState(self._model, self._data, state, self._signature)

    def take(self, others: Sequence[Array] = ()) -> TakenStep:
        """Take a step. Forces are read in every substep: a touch may begin and end within one step."""
        mujoco, model, data = self._mujoco, self._model, self._data
        start = self.save()
        impulses: dict[Pair, float] = {}
        wrench = np.zeros(6)
        for _ in range(self._substeps):
            mujoco.mj_step(model, data)
            contacts, bodies = self._find_contacts()
            for contact in contacts.tolist():
                mujoco.mj_contactForce(model, data, contact, wrench)
                if wrench[0] > 0:
                    pair = frozenset(self._names[body] for body in bodies[contact])
                    impulses[pair] = impulses.get(pair, 0.0) + float(wrench[0]) * model.opt.timestep
        return TakenStep(start, others, self._read_outcome(), impulses, self.save())

    def measure_effects(self, taken: TakenStep, threshold: float) -> dict[str, float]:
        """Return the effect of every body that touched the outcome's, or touched one that did, and of the action.

        The action is asked about where the effect of the body that it drives is above the `threshold`.
        """
        touching = sorted(find_connected(self._outcome, taken.impulses))
        effects = {body: self.measure_effect(taken, taken.start, without=(body,)) for body in touching}
        if effects.get(self._driven, 0.0) > threshold:
            effects["action"] = self.measure_action(taken)
        return effects

    def find_differences(self, taken: TakenStep, threshold: float) -> dict[str, bool]:
        """Say for every body, touching or not, and for the action, whether the outcome would be another without it."""
        others = [body for body in self._names if body != self._outcome]
        effects = {body: self.measure_effect(taken, taken.start, without=(body,)) for body in others}
        return {name: effect > threshold for name, effect in {**effects, "action": self.measure_action(taken)}.items()}

    def measure_effect(self, taken: TakenStep, start: Array, without: Iterable[str] = ()) -> float:
        """Step from `start` without these bodies; return how far off the outcome is, at most, in spreads."""
        self.step_again(start, without)
        return float(np.max(np.abs(self._read_outcome() - taken.outcome) / self._spread))

    def step_again(self, start: Array, without: Iterable[str] = ()) -> None:
        """Step from a saved state without these bodies, and stay there."""
        self.restore(start)
        with self._take_away(without):
            self._mujoco.mj_step(self._model, self._data, self._substeps)

    def measure_action(self, taken: TakenStep) -> float:
        """Return the largest difference that another action makes."""
        return max((self.measure_effect(taken, other) for other in taken.others), default=0.0)

    def find_overlap(self) -> float:
        """Return how deep two bodies lie in each other at most, in m."""
        contacts, _ = self._find_contacts()
        return max((-float(distance) for distance in self._data.contact.dist[contacts]), default=0.0)

    def _find_contacts(self) -> tuple[Array, Array]:
        """Return the numbers of the contacts between two bodies that are watched, and the bodies of all contacts."""
        bodies = self._body[self._data.contact.geom]
        watched = (bodies.min(axis=1, initial=0) >= 0) & (bodies[:, 0] != bodies[:, 1])
        return np.flatnonzero(watched), bodies

    @contextmanager
    def _take_away(self, bodies: Iterable[str]) -> Iterator[None]:
        """Let these bodies touch nothing as long as this holds."""
        geoms = np.isin(self._body, [self._names.index(name) for name in bodies])
        bits = self._model.geom_contype, self._model.geom_conaffinity
        kept = [values[geoms] for values in bits]
        try:
            for values in bits:
                values[geoms] = 0
            yield
        finally:
            for values, before in zip(bits, kept, strict=True):
                values[geoms] = before


def find_connected(name: str, pairs: Iterable[Pair]) -> set[str]:
    """Return the bodies that touched `name`, those that touched these, and so on.

    >>> pairs = [frozenset({"a", "b"}), frozenset({"b", "c"}), frozenset({"d", "e"})]
    >>> sorted(find_connected("a", pairs))
    ['b', 'c']
    """
    found, remaining = {name}, list(pairs)
    while touching := [pair for pair in remaining if pair & found]:
        remaining = [pair for pair in remaining if not pair & found]
        found = found.union(*touching)
    return found - {name}
