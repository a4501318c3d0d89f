"""Mini-Breakout: a ball, a paddle, and blocks that vanish when they are hit.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", arXiv 2404.10883,
Section 7.2 and Appendix "Mini Breakout Domain".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, inf
from typing import Any, ClassVar

import numpy as np

from ..errors import QueryError, quote
from .base import Array, Domain, Step
from .physics import TOUCH, Number, Truth, anywhere, either, greater, lesser, nudge, unpack, where, worlds_where

PADDLE, BALL, FIRST = 1, 2, 3  # rows of a state; the blocks come last
X, Y, VX, VY, ALIVE = range(5)
STILL = 1e-300  # stands for a speed of 0, so that one may divide by it
ROUNDS = 10_000  # times that blocks are placed afresh before we say that there is no room

Body = tuple[Sequence[Number], list[float], Truth]  # its state, how near the ball may come, whether it is there


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

    With `noise` the ball's place, not its velocity, is shifted by chance on each axis before the paddle moves,
    as far as walls, paddle and blocks let it; it then leaves the grid of integers.

    **True cause** of the ball's next state. The ball: always. The paddle: if it struck the ball. A block:
    if it was hit, or if it stood in the way of a ball that had just bounced off something else. The
    action: never, for the ball moves before the paddle. Walls are no factors. Noise does not change
    the labels: they are those of the step before the shift.

    **Parameters.** `blocks` how many; `size` of the field and of the `paddle`, the `ball` and each `block`
    as (width, height); `paddle_at` where the paddle begins and `paddle_speed`; `angles` the velocities that
    the paddle's zones give; `ball_rows` and `block_rows` lowest and highest y at the beginning;
    `noise` the standard deviation of a Gaussian shift of the ball in every step, which no factor explains: its
    two random numbers stand behind the action.

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
    outcome: ClassVar[str] = "ball"
    shared_class: ClassVar[tuple[str, int]] = ("block", FIRST)
    choices: ClassVar[Array] = np.array([[-1.0], [0.0], [1.0]])
    noise_axes: ClassVar[int] = 2
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

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
    noise: float = 0.0

    def __post_init__(self) -> None:
        self._check("blocks", least=1, whole=True)
        self._check("paddle_speed", "noise")
        for name in ("size", "paddle", "ball", "block", "paddle_at", "ball_rows", "block_rows"):
            if not _is_pair(getattr(self, name)):
                raise QueryError(
                    f"The '{name}' of break must be two numbers, such as {getattr(type(self), name)}. "
                    f"Got {quote(getattr(self, name))} instead."
                )
        zones = self.angles if isinstance(self.angles, tuple) else ()
        if not zones or not all(_is_pair(angle) and angle[1] > 0 for angle in zones):
            raise QueryError(f"The 'angles' of break must be one or more velocities upwards. Got {quote(self.angles)}.")
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
        room = self.size[0] * (self.block_rows[1] - self.block_rows[0] + self.block[1])
        if self.blocks * self.block[0] * self.block[1] > room:
            raise self._too_full()

    @cached_property
    def factors(self) -> tuple[str, ...]:
        return ("action", "paddle", "ball", *(f"block{i + 1}" for i in range(self.blocks)))

    @cached_property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        motion = ("x", "y", "vx", "vy")
        every = dict.fromkeys(self.factors, (*motion, "alive"))
        return {**every, "action": ("move",), "paddle": motion, "ball": motion}

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
        raise self._too_full()

    def _too_full(self) -> QueryError:
        return QueryError(f"{self.blocks} blocks do not fit between y = {self.block_rows}; give fewer or more rows.")

    def _columns(self, body: tuple[float, float]) -> tuple[int, int]:
        """Return the least and greatest integer x at which a body is inside the field."""
        return ceil(body[0] / 2), floor(self.size[0] - body[0] / 2)

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        return self.with_noise(generator, generator.integers(-1, 2, (len(states), 1)).astype(float))

    def scripted_actions(self, states: Array) -> Array:
        """Choose actions that keep the ball in play: follow it, and strike it towards a block that is left.

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
    def _reach(self) -> list[list[float]]:
        """How near, on each axis, the ball's midpoint may come to that of the paddle and of each block."""
        sizes = [self.paddle, *([self.block] * self.blocks)]
        return [[(own + ball) / 2 for own, ball in zip(size, self.ball, strict=True)] for size in sizes]

    @property
    def _zone(self) -> float:
        """The width of a zone of the paddle."""
        return self.paddle[0] / len(self.angles)

    def step(self, states: Array, actions: Array) -> Step:
        actions = self._check_actions(states, actions)
        moves = lesser(greater(unpack(actions)[0], -1.0), 1.0)
        seen, following = states.copy(), states.copy()
        seen[:, 0, 0] = moves
        following[:, 0] = 0
        cause = np.zeros(states.shape[:2], dtype=bool)
        cause[:, BALL] = True
        world = unpack(states)
        ball = self._fly(world)
        _put(following, slice(None), ball)
        # Only where the box around the ball's way meets a body is there anything to work out.
        half = (ball[VX] * 0.5, ball[VY] * 0.5)
        middle = (world[BALL][X] + half[X], world[BALL][Y] + half[Y])
        near = either(
            there
            & (abs(body[X] - middle[X]) < abs(half[X]) + reach[X] - TOUCH)
            & (abs(body[Y] - middle[Y]) < abs(half[Y]) + reach[Y] - TOUCH)
            for body, reach, there in self._bodies(world)
        )
        if anywhere(near):
            rows = worlds_where(near)
            self._bounce(rows, unpack(states[rows]), following, cause)
        if actions.shape[1] > self.action_size:
            self._nudge(actions[:, self.action_size :], following)
        return Step(seen, following, cause, self._move_paddle(moves, following))

    def graph(self, states: Array, actions: Array, step: Step) -> Array:
        """Return who caused what, `(worlds, outcomes, factors)`.

        The paddle's next state: the paddle and the action, always; a ball beside it that stopped it, with all that
        caused the ball's next state. A block's: the block, and the ball where it hits it.
        """
        graph = super().graph(states, actions, step)
        half = self.paddle[0] / 2
        wanted = states[:, PADDLE, X] + step.seen[:, 0, 0] * self.paddle_speed
        stopped = step.states[:, PADDLE, X] != np.clip(wanted, half, self.size[0] - half)
        graph[:, 0] |= step.cause & stopped[:, None]
        graph[:, 0, 0] = True
        graph[:, FIRST - 1 :, BALL] = step.states[:, FIRST:, ALIVE] != states[:, FIRST:, ALIVE]
        return graph

    def _bodies(self, world: Sequence[Any]) -> list[Body]:
        """List what the ball can meet, and where it is there: the paddle always, a block until it is hit."""
        there = [True, *(block[ALIVE] > 0 for block in world[FIRST:])]
        return list(zip((world[PADDLE], *world[FIRST:]), self._reach, there, strict=True))

    def _fly(self, world: Sequence[Any]) -> tuple[Number, Number, Number, Number]:
        """Return the ball after a step in which it meets nothing but walls."""
        x, y, vx, vy, _ = world[BALL]
        vx, vy = self._bounce_off_walls(x, y, vx, vy)
        return x + vx, y + vy, vx, vy

    def _bounce_off_walls(self, x: Number, y: Number, vx: Number, vy: Number) -> tuple[Number, Number]:
        """Turn round what of the velocity points through a wall."""
        aside = x + vx - self.size[0] / 2
        outwards = (abs(aside) > (self.size[0] - self.ball[0]) / 2) & (aside * vx > 0)
        upwards = (y + vy > self.size[1] - self.ball[1] / 2) & (vy > 0)
        return where(outwards, -vx, vx), where(upwards, -vy, vy)

    def _bounce(self, rows: Array | slice, world: Sequence[Any], following: Array, cause: Array) -> None:
        """Turn the ball off what is in its way in the worlds `rows`, and note what that was."""
        x, y = world[BALL][:2]
        flown = self._fly(world)
        bodies = self._bodies(world)
        struck = self._find_nearest(x, y, flown[VX], flown[VY], bodies)
        some = either(struck)  # a way may lead past a corner
        if not anywhere(some):
            return
        given = self._strike(x, y, world[PADDLE], flown[VX], flown[VY])
        up = where(struck[0], given[1], -flown[VY])
        vx, vy = self._bounce_off_walls(x, y, where(struck[0], given[0], flown[VX]), up)
        # What was hit is gone; what is left may stand in the new way.
        left = [bodies[0]]
        left += [(body, reach, there ^ hit) for (body, reach, there), hit in zip(bodies[1:], struck[1:], strict=True)]
        dx, dy = vx, where(vy != up, 0.0, vy)
        held = self._find_nearest(x, y, dx, dy, left)
        dx = where(either(held), 0.0, dx)
        stuck = either(self._find_nearest(x, y, dx, dy, left))
        bounced = (x + where(stuck, 0.0, dx), y + where(stuck, 0.0, dy), vx, vy)
        _put(following, rows, [where(some, new, old) for new, old in zip(bounced, flown, strict=True)])
        for number, (hit, holds) in enumerate(zip(struck, held, strict=True)):
            position = PADDLE if number == 0 else BALL + number
            cause[rows, position] = some & (hit | holds)
            if position != PADDLE:
                following[rows, position, ALIVE] = where(hit, 0.0, world[position][ALIVE])

    def _strike(self, x: Number, y: Number, paddle: Sequence[Number], vx: Number, vy: Number) -> tuple[Number, Number]:
        """Return the velocity that the paddle gives: by zone, or down again off its underside."""
        zone = (x - paddle[X]) / self._zone + len(self.angles) / 2
        across, up = map(float, self.angles[0])
        for number, angle in enumerate(self.angles[1:], start=1):
            across, up = (where(zone >= number, float(new), old) for new, old in zip(angle, (across, up), strict=True))
        below = y <= paddle[Y] - (self._reach[0][1] - TOUCH)
        return where(below, vx, across), where(below, -vy, up)

    def _find_nearest(self, x: Number, y: Number, vx: Number, vy: Number, bodies: Sequence[Body]) -> list[Truth]:
        """Say which bodies a ball on its way enters first."""
        speed = (where(vx == 0, STILL, vx), where(vy == 0, STILL, vy))
        entries = []
        for body, reach, there in bodies:
            times = []
            for axis, offset in enumerate((body[X] - x, body[Y] - y)):
                near = reach[axis] - TOUCH
                one, other = (offset - near) / speed[axis], (offset + near) / speed[axis]
                times.append((lesser(one, other), greater(one, other)))
            enters = greater(times[0][0], times[1][0])
            leaves = lesser(times[0][1], times[1][1])
            meets = there & (enters < leaves) & (enters < 1) & (leaves > 0)
            entries.append(where(meets, greater(enters, 0.0), inf))
        first = entries[0]
        for entry in entries[1:]:
            first = lesser(first, entry)
        return [(entry < inf) & (entry <= first + TOUCH) for entry in entries]

    def _nudge(self, draws: Array, following: Array) -> None:
        """Shift the ball by chance, as far as walls, paddle and blocks let it."""
        world = unpack(following)
        low = (self.ball[0] / 2, 0.0)
        high = (self.size[0] - self.ball[0] / 2, self.size[1] - self.ball[1] / 2)
        shift = [self.noise * draw for draw in unpack(draws)]
        following[:, BALL, X], following[:, BALL, Y] = nudge(world[BALL][:2], shift, self._bodies(world), (low, high))

    def _move_paddle(self, moves: Number, following: Array) -> Array:
        """Move the paddle as far as the walls, and a ball beside it, let it; returns where the episode ends."""
        world = unpack(following)
        ball, before = world[BALL], world[PADDLE][X]
        half = self.paddle[0] / 2
        after = lesser(greater(before + moves * self.paddle_speed, half), self.size[0] - half)
        beside = abs(ball[Y] - world[PADDLE][Y]) < self._reach[0][1] - TOUCH
        if anywhere(beside):
            aside = ball[X] - before
            room = greater(abs(aside) - self._reach[0][0], 0.0)
            after = where(beside & (aside > 0), lesser(after, before + room), after)
            after = where(beside & (aside < 0), greater(after, before - room), after)
        following[:, PADDLE, VX] = after - before
        following[:, PADDLE, X] = after  # last, for `before` may be a view of it
        over = (ball[Y] <= self.ball[1] / 2) | (either(block[ALIVE] > 0 for block in world[FIRST:]) ^ True)
        return np.atleast_1d(np.asarray(over))


def _is_pair(value: Any) -> bool:
    numbers = isinstance(value, tuple) and all(isinstance(number, int | float) for number in value)
    return numbers and len(value) == 2


def _put(following: Array, rows: Array | slice, ball: Sequence[Number]) -> None:
    for feature, value in enumerate(ball):
        following[rows, BALL, feature] = value
