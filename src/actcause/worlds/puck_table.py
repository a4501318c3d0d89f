"""The table of `mujoco-pucks`: its scene, and bodies that can be placed, read and driven."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..envs.base import Array
from .mujoco_steps import MujocoSteps

SUBSTEPS = 10  # of 4 ms
WALL = 0.4  # from the middle to the walls, in m
PLACED = 0.3  # the same to the edge of the square in which bodies are placed
APART = 0.16  # the least distance of two bodies that are placed
TOUCHING = 0.1  # the distance at which two pucks touch
TRIES = 100  # to find room for a body
USUAL = 0.35  # standard deviation of a body's speed on an axis, in m/s
FASTEST = 1.5  # the most that the pusher can be asked for on an axis, in m/s
FLOOR = "0.25 0.005 0.0001"  # friction: sliding, torsional, rolling


class PuckTable:
    """A pusher and pucks, all cylinders, between four walls. `bodies` are the pusher's name and the pucks' names."""

    def __init__(self, mujoco: Any, bodies: Sequence[str], outcome: str, spread: Array) -> None:
        self._mujoco = mujoco
        self._model = mujoco.MjModel.from_xml_string(describe_scene(bodies))
        self._data = mujoco.MjData(self._model)
        self.bodies = tuple(bodies)
        joints = [self._model.joint(f"{body}.x" if body == bodies[0] else body) for body in bodies]
        self._places = {body: int(joint.qposadr[0]) for body, joint in zip(bodies, joints, strict=True)}
        self._speeds = {body: int(joint.dofadr[0]) for body, joint in zip(bodies, joints, strict=True)}
        self.steps = MujocoSteps(
            mujoco,
            self._model,
            self._data,
            substeps=SUBSTEPS,
            bodies={int(self._model.geom(body).id): body for body in bodies},
            outcome=outcome,
            driven=bodies[0],
            read_outcome=lambda: self.read_body(outcome),
            spread=spread,
        )

    def start(self, generator: np.random.Generator) -> None:
        """Place all bodies anew, apart from each other; the pucks slide."""
        self.clear()
        placed: list[Array] = []
        while len(placed) < len(self.bodies):
            found = _find_room(generator, placed, APART)
            placed = [] if found is None else [*placed, found]
        for body, place in zip(self.bodies, placed, strict=True):
            speed = generator.normal(scale=0.7, size=2) if body != self.bodies[0] else np.zeros(2)
            self.put(body, np.concatenate([place, speed]))

    def clear(self) -> None:
        """Put every body to rest, upright in the middle, for others to be put elsewhere."""
        self._mujoco.mj_resetData(self._model, self._data)

    def exchange(self, start: Array, bodies: Iterable[str], generator: np.random.Generator) -> Array:
        """Return `start` with these bodies at other places, where they touch nobody, and at other speeds."""
        self.steps.restore(start)
        exchanged = list(bodies)
        kept = [self.read_body(body)[:2] for body in self.bodies if body not in exchanged]
        for body in exchanged:
            found = _find_room(generator, kept, TOUCHING)
            if found is not None:  # else it stays where it was
                kept.append(found)
                self.put(body, np.concatenate([found, generator.normal(scale=USUAL, size=2)]))
        return self.steps.save()

    def put(self, body: str, motion: Array) -> None:
        """Give a body a place and a speed on the table."""
        self._data.qpos[self._places[body] :][:2] = motion[:2]
        self._data.qvel[self._speeds[body] :][:2] = motion[2:]

    def read_body(self, body: str) -> Array:
        """Return x, y, vx and vy of a body."""
        place, speed = self._places[body], self._speeds[body]
        return np.concatenate([self._data.qpos[place : place + 2], self._data.qvel[speed : speed + 2]])

    def read(self) -> Mapping[str, Array]:
        """Return x, y, vx and vy of every body."""
        return {body: self.read_body(body) for body in self.bodies}

    def drive(self, action: Iterable[float]) -> Array:
        """Ask the pusher for a speed; return the state from which the step then starts."""
        self._data.ctrl[:] = action
        return self.steps.save()


def _find_room(generator: np.random.Generator, taken: Sequence[Array], apart: float) -> Array | None:
    """Draw a place that is so far from those that are taken; None where there seems to be none."""
    for place in generator.uniform(-PLACED, PLACED, (TRIES, 2)):
        if all(np.linalg.norm(place - other) > apart for other in taken):
            return np.array(place)
    return None


def describe_scene(bodies: Sequence[str]) -> str:
    """Write the scene for MuJoCo: the first body is the pusher, the others are pucks."""
    pusher, *pucks = bodies
    walls = "".join(
        f'<geom type="box" pos="{x} {y} 0.05" size="{a} {b} 0.05"/>'
        for side in (-WALL - 0.02, WALL + 0.02)
        for x, y, a, b in ((side, 0, 0.02, WALL + 0.04), (0, side, WALL + 0.04, 0.02))
    )
    sliding = "".join(
        f'<body pos="0 0 0.03"><freejoint name="{puck}"/>'
        f'<geom name="{puck}" type="cylinder" size="0.05 0.03" mass="0.2" condim="4" friction="{FLOOR}"/></body>'
        for puck in pucks
    )
    joints = "".join(
        f'<joint name="{pusher}.{axis}" type="slide" axis="{way}" damping="1"/>'
        for axis, way in (("x", "1 0 0"), ("y", "0 1 0"))
    )
    motors = "".join(
        f'<velocity joint="{pusher}.{axis}" kv="40" ctrlrange="{-FASTEST} {FASTEST}"/>' for axis in ("x", "y")
    )
    return f"""
        <mujoco>
          <option timestep="0.004" integrator="implicitfast" cone="elliptic"/>
          <worldbody>
            <geom type="plane" size="2 2 0.1" friction="{FLOOR}"/>
            {walls}
            {sliding}
            <body pos="0 0 0.04">
              {joints}
              <geom name="{pusher}" type="cylinder" size="0.03 0.03" mass="1" friction="0.3 0.005 0.0001"/>
            </body>
          </worldbody>
          <actuator>{motors}</actuator>
        </mujoco>"""
