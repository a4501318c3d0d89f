"""What raced agents see of a state and a goal, and how far the object is from there.

A state is a row of numbers of which the last are the object's place; a goal is such a place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from ..envs.base import Array

if TYPE_CHECKING:
    from .goal_env import GoalLayout


class GoalView(Protocol):
    """How states and goals are shown to networks."""

    @property
    def inputs(self) -> int:
        """How many numbers a network sees."""

    @property
    def actions(self) -> int:
        """How many numbers an action has."""

    @property
    def places(self) -> int:
        """How many numbers a place has."""

    def observe(self, state: Tensor, goal: Tensor) -> Tensor:
        """Return what a network sees of states, `(..., width)`, and goals, `(..., places)`."""

    def measure(self, state: Tensor, goal: Tensor) -> Tensor:
        """Return how far the object is from the goal, in the task's units."""


@dataclass(frozen=True)
class PushView:
    """Push: a state is `(pusher, block)`, four numbers in the arena's units; networks see them scaled, and between."""

    arena: float
    inputs: int = 10
    actions: int = 2
    places: int = 2

    def observe(self, state: Tensor, goal: Tensor) -> Tensor:
        """Show pusher, block and goal, and how they lie from each other."""
        pusher, block, half = state[..., :2], state[..., 2:], self.arena / 2
        between = [block - pusher, goal - block]
        return torch.cat([(part - half) / half for part in (pusher, block, goal)] + [p / half for p in between], dim=-1)

    def measure(self, state: Tensor, goal: Tensor) -> Tensor:
        """Measure from the block to the goal."""
        away: Tensor = torch.linalg.vector_norm(state[..., 2:] - goal, dim=-1)
        return away


class EnvView:
    """Any goal-conditioned environment of ours: a state is its scaled `observation`, and `achieved_goal` after that."""

    def __init__(self, layout: GoalLayout) -> None:
        self.places, self.actions = layout.places, len(layout.features[layout.action])
        self.width = layout.size + layout.places
        self.inputs = self.width + 3 * layout.places
        before = layout.seen[: layout.seen.index(layout.driven)]
        self._driven = sum(len(layout.features[factor]) for factor in before)
        driven, moving = (layout.factors.index(name) for name in (layout.driven, layout.moving))
        self._unit = _copy(layout.half[moving, : self.places])
        self._ratio = _copy(layout.half[driven, : self.places]) / self._unit
        middles = layout.middle[driven, : self.places] - layout.middle[moving, : self.places]
        self._shift = _copy(middles) / self._unit

    def observe(self, state: Tensor, goal: Tensor) -> Tensor:
        """Show everything, the goal, and how the driven body, the object and the goal lie from each other."""
        place = state[..., -self.places :]
        driven = state[..., self._driven : self._driven + self.places]
        own = driven * self._ratio.to(state.device) + self._shift.to(state.device)  # scaled as the object is
        return torch.cat([state, goal, place - own, goal - place], dim=-1)

    def measure(self, state: Tensor, goal: Tensor) -> Tensor:
        """Measure from the object to the goal."""
        between = (state[..., -self.places :] - goal) * self._unit.to(state.device)
        away: Tensor = torch.linalg.vector_norm(between, dim=-1)
        return away


def _copy(values: Array) -> Tensor:
    return torch.as_tensor(values.copy(), dtype=torch.float32)
