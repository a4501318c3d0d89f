"""Pictures of worlds: a scene of their own where one is listed in `SCENES`, and else a table of the factors' values.

A world's recording knows nothing of this, and its simulator is not needed. Needs the extra `pictures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..envs.base import Array, BaseDomain
from ..envs.canvas import AGENT, GOAL, OUTCOME, THING
from ..envs.drawing import LANE, Body, Scene
from .base import World
from .door_key import DoorKey
from .highway import Highway

ACTIONS = ("turn left", "turn right", "forward", "pick up", "drop", "toggle", "done")  # MiniGrid's
DOORS = ("open", "shut", "locked")
WAYS = (">", "v", "<", "^")
STRETCH = 3.0  # a road is drawn so many times wider than it is


def build_scene(world: World, state: Array, present: Array | None = None) -> Scene:
    """Build what a world looks like in a state, `(factors, width)`; factors that are not `present` are left out."""
    scene = SCENES.get(type(world), _build_table)(world, state)
    return scene if present is None else leave_out(scene, world, present)


def leave_out(scene: Scene, domain: BaseDomain, present: Array) -> Scene:
    """Leave out the bodies of factors that are absent."""
    there = {factor for factor, here in zip(domain.factors, present, strict=True) if here}
    return replace(scene, bodies=[body for body in scene.bodies if body.name in there])


def _build_table(world: World, state: Array) -> Scene:
    """Build a box for each factor, with its values in it."""
    bodies = []
    for row, (factor, values) in enumerate(zip(world.factors, state, strict=True)):
        shown = ", ".join(f"{name} {value:.3g}" for name, value in zip(world.features[factor], values, strict=False))
        colour = OUTCOME if factor == world.outcome else AGENT if factor == "action" else THING
        bodies.append(Body(factor, (0.0, -1.5 * row), (10.0, 1.0), colour, text=f"{factor}: {shown}"))
    return Scene((-7.5, -1.5 * len(bodies), 7.5, 1.5), bodies)


def _build_door_key(world: DoorKey, state: Array) -> Scene:
    (kind, *_), (x, y, way), (key_x, key_y, carried), goal, (door_x, door_y, door) = state
    last = world.size - 1
    rim = [(0.5, -0.5), (0.5, 0.5 - last), (last - 0.5, 0.5 - last), (last - 0.5, -0.5), (0.5, -0.5)]
    split = [[(door_x, -0.5), (door_x, 0.5 - door_y)], [(door_x, -0.5 - door_y), (door_x, 0.5 - last)]]
    held = 0.3 * bool(carried)  # a key in hand is drawn at the agent's side
    bodies = [
        Body("goal", (float(goal[0]), -float(goal[1])), (0.9, 0.9), None, outline=GOAL),
        Body("door", (door_x, -door_y), (0.9, 0.9), OUTCOME, text=f"door {_name(DOORS, door)}"),
        Body("agent", (x, -y), (0.7, 0.7), AGENT, round=True, text=f"agent {_name(WAYS, way)}"),
        Body("key", (key_x + held, -key_y - held), (0.35, 0.35), THING, round=True),
        Body("action", (last / 2, 0.2), (2.0, 0.6), AGENT, text=_name(ACTIONS, kind)),
    ]
    return Scene((-0.1, 0.1 - last, last + 0.1, 0.7), bodies, [rim, *split])


def _build_highway(world: Highway, state: Array) -> Scene:
    """Build what is near the ego car; the road is drawn wider than it is, so that cars do not hide each other."""
    ego, *others = ((float(x), -STRETCH * float(y)) for x, y, *_ in state)
    extent = (5.0, STRETCH * 2.0)
    bodies = [Body(name, at, extent, THING, LANE) for name, at in zip(world.factors[1:], others, strict=True)]
    bodies.append(Body("ego", ego, extent, OUTCOME, LANE))
    left, right = ego[0] - 60, ego[0] + 120
    edges = [STRETCH * (2.0 - 4.0 * lane) for lane in range(world.lanes + 1)]
    return Scene((left, edges[-1] - 3, right, edges[0] + 3), bodies, [[(left, y), (right, y)] for y in edges])


def _name(names: Sequence[str], number: float) -> str:
    """Name what a recording holds as a number; a number that stands for nothing is shown as it is."""
    return names[int(number)] if number in range(len(names)) else f"{number:g}"


SCENES: Mapping[type[World], Callable[[Any, Array], Scene]] = MappingProxyType(
    {DoorKey: _build_door_key, Highway: _build_highway}
)
