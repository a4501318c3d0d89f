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
from ..envs.scene import LANE, OVER, TOP, UNDER, Body, Scene
from .ale_breakout import AleBreakout
from .base import World
from .breakout_game import LEFT, RIGHT, ROWS
from .door_key import DoorKey
from .fetch import Fetch, FetchPush, FetchSlide
from .highway import Highway
from .mujoco_pucks import MujocoPucks
from .puck_table import FASTEST, WALL

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


def _build_pucks(world: MujocoPucks, state: Array) -> Scene:
    bodies = [
        Body(name, (float(x), float(y)), (0.1, 0.1), OUTCOME if name == world.outcome else THING, round=True)
        for name, (x, y, *_) in zip(world.factors[2:], state[2:], strict=True)
    ]
    bodies.append(Body("pusher", (float(state[1, 0]), float(state[1, 1])), (0.06, 0.06), AGENT, UNDER, round=True))
    walls = [(-WALL, -WALL), (WALL, -WALL), (WALL, WALL), (-WALL, WALL), (-WALL, -WALL)]
    action = float(state[0, 0]) / FASTEST, float(state[0, 1]) / FASTEST
    return Scene((-WALL - 0.02, -WALL - 0.02, WALL + 0.02, WALL + 0.02), bodies, [walls], ("action", action))


def _build_fetch(world: Fetch, state: Array) -> Scene:
    """Build what is seen from above; how high the gripper is stands beside its name."""
    action, gripper, block, goal = ([float(value) for value in row] for row in state)
    over = gripper[2] - block[2]
    bodies = [
        Body("goal", (goal[0], goal[1]), (0.05, 0.05), None, TOP, outline=GOAL),
        Body("block", (block[0], block[1]), (0.05, 0.05), OUTCOME, UNDER),
        Body("gripper", (gripper[0], gripper[1]), (0.03, 0.06), AGENT, OVER, text=f"gripper {100 * over:+.0f} cm"),
    ]
    return Scene(
        (block[0] - 0.25, block[1] - 0.25, block[0] + 0.25, block[1] + 0.25),
        bodies,
        (),
        ("action", (action[0], action[1])),
    )


def _build_breakout(world: AleBreakout, state: Array) -> Scene:
    """Build a column of bricks as one body, as high as the bricks that are left; an empty one is an outline."""
    (move, *_), (paddle, *_), (ball_x, ball_y, *_) = state[:3]
    columns = []
    for name, (x, *bricks) in zip(world.factors[3:], state[3:, : ROWS + 1], strict=True):
        left = float(sum(bricks))
        colour = THING if left else None
        columns.append(Body(name, (float(x), -63.0), (7.0, max(6 * left, 2.0)), colour, text=f"{left:.0f}"))
    bodies = [
        *columns,
        Body("paddle", (float(paddle) + 8, -180.0), (16.0, 4.0), AGENT),
        Body("ball", (float(ball_x), -float(ball_y)), (3.0, 4.0), OUTCOME, OVER),
    ]
    way = {RIGHT: 1.0, LEFT: -1.0}.get(int(move), 0.0)
    walls = [(55.0, -195.0), (55.0, -20.0), (200.0, -20.0), (200.0, -195.0)]
    return Scene((50, -200, 205, -15), bodies, [walls], ("action", (way, 0.0)))


def _name(names: Sequence[str], number: float) -> str:
    """Name what a recording holds as a number; a number that stands for nothing is shown as it is."""
    return names[int(number)] if number in range(len(names)) else f"{number:g}"


SCENES: Mapping[type[World], Callable[[Any, Array], Scene]] = MappingProxyType(
    {
        DoorKey: _build_door_key,
        Highway: _build_highway,
        MujocoPucks: _build_pucks,
        FetchPush: _build_fetch,
        FetchSlide: _build_fetch,
        AleBreakout: _build_breakout,
    }
)
