"""Mini-Breakout: a ball, a paddle, and blocks that vanish when they are hit.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", ICML 2024,
Section 7.2 and Appendix "Mini Breakout Domain".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import ClassVar

import numpy as np

from ..errors import QueryError
from .base import Array, Domain, Step

PADDLE, BALL, FIRST = 1, 2, 3  # rows of a state; the blocks come last
X, Y, VX, VY, ALIVE = range(5)
TOUCH = 1e-9  # what rounding may cost: bodies that overlap by less only touch
STILL = 1e-300  # stands for a speed of 0, so that one may divide by it
ROUNDS = 10_000  # times that blocks are placed afresh before we say that there is no room


@dataclass(frozen=True)
class Breakout(Domain):
    """Mini-Breakout: the outcome is the ball's next position and velocity.

    **Description.** A ball flies between three walls, a paddle that moves sideways below, and blocks above
    that each take one hit. The episode ends when the ball reaches the bottom or no block is left.

    **Factors.** `action` (move), `paddle`, `ball` (x, y, vx, vy: midpoint and velocity), `block1`, ... (the
    same, and `alive`, 1 until the block is hit). The paddle's velocity is how far it went in the last step.

    **Actions.** -1, 0 or 1: the paddle goes `paddle_speed` to the left, nowhere, or to the right.

    **Dynamics.** First the velocity is settled, then the ball goes that far: a ball whose way would enter
    something turns before it, so that the ball's midpoint stays on the grid of integers. A side wall
    flips vx, the top vy. A block in the way flips vy, whatever side was hit, and is gone. The paddle gives
    the velocity of the zone that the ball is over, from left to right `angles`, judged where ball and
    paddle stand before either moves. Ways are swept, so that nothing passes through a body or its corner.
    Of several bodies in the way only the nearest counts, or all of those that are equally near. After the
    ball the paddle moves; it stops at the side walls, and at a ball beside it.

    **True cause** of the ball's next state. The ball: always. The paddle: if it struck the ball. A block:
    if it was hit, or if it stood in the way of a ball that had just bounced off something else. The
    action: never, for the ball moves before the paddle. Walls are no factors.

    **Parameters.** `blocks` how many; `size` of the field and of the `paddle`, the `ball` and each `block`
    as (width, height); `paddle_at` where the paddle begins and `paddle_speed`; `angles` the velocities that
    the paddle's zones give; `ball_rows` and `block_rows` lowest and highest y at the beginning.

    **Choices where the paper is silent.** The zones are quarters of the paddle, judged by the ball's
    midpoint; a boundary belongs to the zone on its right, what hangs over an end to the outer zone. Any
    contact with the paddle is a strike: a ball that flies into its side is sent up and outwards. Where a
    ball that has just bounced meets another body at once, its x is held for the step, and if that does not
    clear the way, it waits; with the new velocity, so that it bounces there in the next step. Between a
    block and the top its y is held likewise. Blocks may touch and stand anywhere between the side walls. On
    reaching the bottom the ball's position is not cut off. With random actions a ball is usually lost after
    a fall or two, and non-trivial causes make up about 2.7% of steps; `scripted_actions` keeps it in play.

    >>> domain = Breakout()
    >>> states = domain.reset(np.random.default_rng(0), 1000)
    >>> step = domain.step(states, domain.scripted_actions(states))
    >>> step.cause.shape, bool(step.cause[:, domain.index("ball")].all())
    ((1000, 6), True)
    """

    name: ClassVar[str] = "break"
    title: ClassVar[str] = "Mini-Breakout"
    horizon: ClassVar[int] = 1000

    blocks: int = 3
    size: tuple[float, float] = (30.0, 50.0)
    paddle: tuple[float, float] = (7.0, 3.0)
    ball: tuple[float, float] = (2.0, 2.0)
    block: tuple[float, float] = (5.0, 2.0)
    paddle_at: tuple[float, float] = (15.0, 10.0)
    paddle_speed: float = 2.0
    angles: tuple[tuple[float, float], ...] = ((-1, 1), (-1, 2), (1, 2), (1, 1))
    ball_rows: tuple[int, int] = (22, 28)
    block_rows: tuple[int, int] = (30, 45)

    def __post_init__(self) -> None:
        if self.blocks < 1:
            raise QueryError(f"The 'blocks' of break must be 1 or more. Got {self.blocks} instead.")
        if not self.angles or any(up <= 0 for _, up in self.angles):
            raise QueryError(
                f"The 'angles' of break must be one or more velocities upwards. Got {self.angles} instead."
            )
        for name in ("paddle", "ball", "block"):
            across, up = getattr(self, name)
            if not (0 < across < self.size[0] and 0 < up < self.size[1]):
                raise QueryError(
                    f"The '{name}' of break must be (width, height), positive and smaller than the field's "
                    f"{self.size}. Got {across, up} instead."
                )
        for name, lowest in (
            ("ball_rows", self.paddle_at[1] + (self.paddle[1] + self.ball[1]) / 2),
            ("block_rows", self.ball_rows[1] + (self.block[1] + self.ball[1]) / 2),
        ):
            low, high = getattr(self, name)
            if not lowest <= low <= high:
                raise QueryError(
                    f"The '{name}' of break must be (low, high) with low at least {lowest}, clear of what is below. "
                    f"Got {low, high} instead."
                )

    @property
    def factors(self) -> tuple[str, ...]:
        return ("action", "paddle", "ball", *(f"block{i + 1}" for i in range(self.blocks)))

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        motion = ("x", "y", "vx", "vy")
        return {"action": ("move",), "paddle": motion, "ball": motion} | dict.fromkeys(
            self.factors[FIRST:], (*motion, "alive")
        )

    @property
    def outcome(self) -> str:
        return "ball"

    @property
    def edges(self) -> tuple[str, ...]:
        return ("paddle", *self.factors[FIRST:])

    @property
    def bounds(self) -> tuple[Array, Array]:
        fastest = np.abs([*self.angles, (1, 1)]).max(axis=0)
        low, high = np.zeros((2, len(self.factors), 5))
        high[PADDLE:, :2] = self.size
        low[0, 0], high[0, 0] = -1, 1
        low[PADDLE, VX], high[PADDLE, VX] = -self.paddle_speed, self.paddle_speed
        low[BALL, VX : VY + 1], high[BALL, VX : VY + 1] = -fastest, fastest
        low[BALL, Y] = -fastest[1]  # the last step of a lost ball
        high[FIRST:, ALIVE] = 1
        return low, high

    @property
    def choices(self) -> Array:
        return np.array([[-1.0], [0.0], [1.0]])

    # -- beginning -----------------------------------------------------------------------------------

    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        states = np.zeros((worlds, len(self.factors), 5))
        states[:, PADDLE, :2] = self.paddle_at
        states[:, BALL, X] = generator.integers(*self._columns(self.ball), worlds, endpoint=True)
        states[:, BALL, Y] = generator.integers(*self.ball_rows, worlds, endpoint=True)
        states[:, BALL, VX] = generator.choice((-1.0, 1.0), worlds)
        states[:, BALL, VY] = -1
        states[:, FIRST:, ALIVE] = 1
        todo = np.arange(worlds)
        for _ in range(ROUNDS):
            shape = (len(todo), self.blocks)
            states[todo, FIRST:, X] = generator.integers(*self._columns(self.block), shape, endpoint=True)
            states[todo, FIRST:, Y] = generator.integers(*self.block_rows, shape, endpoint=True)
            places = states[todo, FIRST:, :2]
            overlap = (np.abs(places[:, :, None] - places[:, None]) < self.block).all(axis=3)
            todo = todo[overlap.sum(axis=(1, 2)) > self.blocks]  # each overlaps itself
            if not len(todo):
                return states
        raise QueryError(f"{self.blocks} blocks do not fit between y = {self.block_rows}; give fewer or more rows.")

    def _columns(self, body: tuple[float, float]) -> tuple[int, int]:
        """The least and greatest integer x at which a body is inside the field."""
        return ceil(body[0] / 2), floor(self.size[0] - body[0] / 2)

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        return generator.integers(-1, 2, (len(states), 1)).astype(float)

    def scripted_actions(self, states: Array) -> Array:
        """Actions that keep the ball in play: follow it, and strike it towards a block that is left.

        >>> domain = Breakout()
        >>> states = domain.reset(np.random.default_rng(0), 100)
        >>> for _ in range(100):
        ...     step = domain.step(states, domain.scripted_actions(states))
        ...     states = step.states
        >>> bool((states[:, BALL, Y] > 1).all())
        True
        """
        ball = states[:, BALL, X] + states[:, BALL, VX]
        first = states[:, FIRST:, ALIVE].argmax(axis=1)
        aim = states[np.arange(len(states)), FIRST + first, X] - ball
        # The outer zones send the ball flat, the inner ones steeply: flat to a block that is far.
        zone = self._zone * np.where(np.abs(aim) > self.size[0] / 4, 1.25, 0.5)
        way = ball - np.where(aim < 0, -zone, zone) - states[:, PADDLE, X]
        return np.where(np.abs(way) > self.paddle_speed / 2, np.sign(way), 0.0)[:, None]

    # -- dynamics ------------------------------------------------------------------------------------

    @cached_property
    def _reach(self) -> Array:
        """How near the ball's midpoint may come to that of every body but the action, on each axis."""
        sizes = [self.paddle, self.ball, *([self.block] * self.blocks)]
        return (np.asarray(sizes) + self.ball) / 2 - TOUCH

    @property
    def _zone(self) -> float:
        """The width of a zone of the paddle."""
        return self.paddle[0] / len(self.angles)

    def step(self, states: Array, actions: Array) -> Step:
        moves = np.asarray(actions, dtype=float).reshape(len(states)).clip(-1, 1)
        seen = states.copy()
        seen[:, 0, 0] = moves
        following = states.copy()
        following[:, 0] = 0
        cause = np.zeros(states.shape[:2], dtype=bool)
        cause[:, BALL] = True
        place = states[:, BALL, :2]
        velocity = self._off_walls(place, states[:, BALL, VX : VY + 1])
        following[:, BALL, :2] += velocity
        following[:, BALL, VX : VY + 1] = velocity
        # Only where the box around the ball's way meets a body is there anything to work out.
        half = velocity * 0.5
        distance = np.abs(states[:, PADDLE:, :2] - (place + half)[:, None])
        around: Array = distance < np.abs(half)[:, None] + self._reach
        near: Array = around.all(axis=2) & self._present(states)
        rows = np.flatnonzero(near.any(axis=1))
        if len(rows):
            self._bounce(rows, states, velocity[rows], following, cause)
        self._move_paddle(moves, following)
        ended = (following[:, BALL, Y] <= self.ball[1] / 2) | ~following[:, FIRST:, ALIVE].any(axis=1)
        return Step(seen, following, cause, ended)

    def _present(self, states: Array) -> Array:
        """Which bodies, from the paddle on, the ball can meet: not itself, no block that was hit."""
        present: Array = states[:, PADDLE:, ALIVE] > 0
        present[:, 0] = True
        present[:, BALL - PADDLE] = False
        return present

    def _off_walls(self, place: Array, velocity: Array) -> Array:
        """The velocity with what points through a wall turned round."""
        vx, vy = velocity[:, 0], velocity[:, 1]
        aside = place[:, 0] + vx - self.size[0] / 2
        above = place[:, 1] + vy
        turned = velocity.copy()
        np.negative(vx, out=turned[:, 0], where=(np.abs(aside) > (self.size[0] - self.ball[0]) / 2) & (aside * vx > 0))
        np.negative(vy, out=turned[:, 1], where=(above > self.size[1] - self.ball[1] / 2) & (vy > 0))
        return turned

    def _bounce(self, rows: Array, states: Array, velocity: Array, following: Array, cause: Array) -> None:
        """Turn the ball off what is in its way in the worlds `rows`, and note what that was."""
        place = states[rows, BALL, :2]
        bodies = states[rows, PADDLE:, :2]
        present = self._present(states[rows])
        struck = self._nearest(place, velocity, bodies, present)
        some = struck.any(axis=1)
        if not some.all():  # a way past a corner
            if not some.any():
                return
            rows, velocity, place = rows[some], velocity[some], place[some]
            bodies, present, struck = bodies[some], present[some], struck[some]
        by_paddle = struck[:, 0]
        velocity[~by_paddle, 1] *= -1
        velocity[by_paddle] = self._angle(place[by_paddle], bodies[by_paddle, 0], velocity[by_paddle])
        bounced, velocity = velocity, self._off_walls(place, velocity)
        # What was hit is gone; what is left may stand in the new way.
        present &= ~struck
        present[:, 0] = True
        going = velocity.copy()
        going[velocity[:, 1] != bounced[:, 1], 1] = 0
        held = self._nearest(place, going, bodies, present)
        going[held.any(axis=1), 0] = 0
        going[self._nearest(place, going, bodies, present).any(axis=1)] = 0
        following[rows, BALL, :2] = place + going
        following[rows, BALL, VX : VY + 1] = velocity
        following[rows, FIRST:, ALIVE] *= ~struck[:, FIRST - PADDLE :]
        cause[rows, PADDLE:] |= struck | held

    def _angle(self, ball: Array, paddle: Array, velocity: Array) -> Array:
        """The velocity that the paddle gives: by zone, or down again off its underside."""
        zone = np.floor((ball[:, 0] - paddle[:, 0]) / self._zone + len(self.angles) / 2).astype(int)
        given: Array = np.asarray(self.angles, dtype=float)[zone.clip(0, len(self.angles) - 1)]
        below = ball[:, 1] <= paddle[:, 1] - self._reach[0, 1]
        given[below] = velocity[below] * (1, -1)
        return given

    def _nearest(self, place: Array, velocity: Array, bodies: Array, present: Array) -> Array:
        """The bodies that a ball on its way enters first."""
        speed = np.where(velocity == 0, STILL, velocity)[:, None]
        offset = bodies - place[:, None]
        one, other = (offset - self._reach) / speed, (offset + self._reach) / speed
        enters = np.minimum(one, other).max(axis=2)
        leaves = np.maximum(one, other).min(axis=2)
        meets = present & (enters < leaves) & (enters < 1) & (leaves > 0)
        enters = np.where(meets, np.maximum(enters, 0.0), np.inf)
        nearest: Array = meets & (enters <= enters.min(axis=1)[:, None] + TOUCH)
        return nearest

    def _move_paddle(self, moves: Array, following: Array) -> None:
        """Move the paddle as far as the walls, and a ball beside it, let it."""
        before = following[:, PADDLE, X].copy()
        half = self.paddle[0] / 2
        after = (before + moves * self.paddle_speed).clip(half, self.size[0] - half)
        above = following[:, BALL, Y] - following[:, PADDLE, Y]
        beside = np.abs(above) < self._reach[0, 1]
        if beside.any():
            aside = following[:, BALL, X] - before
            room = np.maximum(np.abs(aside) - self._reach[0, 0] - TOUCH, 0.0)
            after = np.where(beside & (aside > 0), np.minimum(after, before + room), after)
            after = np.where(beside & (aside < 0), np.maximum(after, before - room), after)
        following[:, PADDLE, X] = after
        following[:, PADDLE, VX] = after - before
