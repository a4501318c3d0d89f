"""2D Pushing: a pusher shoves a block about in an arena with obstacles.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", arXiv 2404.10883,
Section 7.2 and Appendix "2D Pushing Domain".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import QueryError, quote
from .base import Array, Domain, Step
from .physics import TOUCH, Number, Truth, anywhere, either, gap, greater, lesser, nudge, unpack, where, worlds_where

PUSHER, BLOCK, TARGET, FIRST = 1, 2, 3, 4  # rows of a state; the obstacles come last
TRIES = 200  # darts for one box before its world is placed afresh
ROUNDS = 50  # times that worlds are placed afresh before we say that the arena is too full


class _Motion(NamedTuple):
    """Where pusher and block end, who touched whom, and who stopped whom."""

    pusher: Sequence[Number]
    block: Sequence[Number]
    touched: Truth  # the pusher came to where the block was
    stopped: Sequence[Truth]  # each obstacle: it stopped the block short
    held: Truth  # the block could not give way, so that the pusher stopped at it
    halted: Sequence[Truth]  # each obstacle: it stopped the pusher short, or the block that the pusher stopped at


@dataclass(frozen=True)
class Push(Domain):
    """2D Pushing: the outcome is where the block is next.

    **Description.** A pusher and a block, each a box with sides along the axes, move in a square arena
    among obstacles that do not. Under random actions the pusher shoves the block in about 9% of steps,
    so that the block's own previous position explains nearly everything.

    **Factors.** `action` (dx, dy), `pusher` (x, y), `block` (x, y), `target` (x, y, and `on`, 1 while
    the block is on it), `obstacle1`, ... (x, y). Positions are midpoints.

    **Actions.** In [-1, 1] on each axis (cut to that): how far the pusher wants to go, times `stride`.

    **Dynamics.** The pusher goes first along x, then along y; on each axis every body is swept, so that
    nothing passes through anything, however far it goes. The walls and the obstacles stop the pusher at
    the first edge of contact, and its motion along the edge goes on. A block in the way is pushed along;
    it stops at the first obstacle, and the pusher at it. The target stops nothing. The arena binds the
    pusher, not the block: a block may be pushed out at the edge, where it stays in reach.

    With `noise` the block is then shifted by chance on each axis, as far as pusher and obstacles let it and not
    further out of the arena than a pusher can push it.

    **True cause** of the block's next position. The block: always. The action and the pusher: if the
    pusher would have come to where the block was, even if the block could not give way. An obstacle: if
    it stopped a pushed block short; two, if they did so at the same distance. The target: never.
    `extra["moved"]` says where a contact moved the block, and `extra["pinned"]` where one left it in its
    place (about one contact in eight). In a pinned contact the block's own position explains the outcome,
    so the functional actual cause is the block alone, while the simulator names all that touched; report
    these states apart. The rule is about who touches the *block*: an obstacle that stops the *pusher*, so
    that it misses the block (in 0.8% of steps), pushes it less far (0.3%) or slides into it (0.2%), is not
    named, though the block would be elsewhere without it. Noise does not change the labels: they are those
    of the step before the shift.

    **Parameters.** `obstacles` how many; `arena` and `box` sides of the arena and of every box;
    `stride` the longest move on an axis; `margin` how far inside the arena boxes are placed;
    `walls_bind_block` whether the walls stop the block too; `on_target` how near the block's
    midpoint must be to the target's on each axis, in boxes; `noise` the standard deviation of a Gaussian shift
    of the block in every step, which no factor explains: its two random numbers stand behind the action.

    **Choices where the paper is silent.** Motion is axis by axis, x first (a straight sweep differs only
    where it would clip a corner). Boxes are thrown in one after another, uniformly, where they overlap
    none of the earlier ones, with a `margin` of a quarter to the walls, which gives contacts in 8.7% of steps
    (8.1% without); the target may lie anywhere. A block is on the target when its midpoint is
    within half a box of the target's on both axes.

    >>> domain = Push()
    >>> states = domain.reset(np.random.default_rng(0), 1000)
    >>> step = domain.step(states, domain.sample_actions(np.random.default_rng(1), states))
    >>> step.cause.shape, bool(step.cause[:, domain.index("block")].all())
    ((1000, 7), True)
    """

    name: ClassVar[str] = "push"
    title: ClassVar[str] = "2D Pushing"
    horizon: ClassVar[int] = 20
    outcome: ClassVar[str] = "block"
    shared_class: ClassVar[tuple[str, int]] = ("obstacle", FIRST)
    noise_axes: ClassVar[int] = 2
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    obstacles: int = 3
    arena: float = 5.0
    box: float = 1.0
    stride: float = 1.0
    margin: float = 0.25
    walls_bind_block: bool = False
    on_target: float = 0.5
    noise: float = 0.0

    def __post_init__(self) -> None:
        self._check("obstacles", whole=True)
        self._check("arena", "box", "stride", "on_target", positive=True)
        self._check("margin", "noise")
        if not isinstance(self.walls_bind_block, bool):
            raise QueryError(
                f"The 'walls_bind_block' of push must be True or False. Got {quote(self.walls_bind_block)} instead."
            )
        if not 0 <= 2 * self.margin < self.arena - self.box:
            raise QueryError(
                f"A 'margin' of {self.margin} leaves no room for a box of {self.box} in an arena of {self.arena}; "
                "give a smaller one."
            )
        if (self.obstacles + 2) * self.box**2 > (self.arena - 2 * self.margin) ** 2:
            raise self._too_full()

    @cached_property
    def factors(self) -> tuple[str, ...]:
        return ("action", "pusher", "block", "target", *(f"obstacle{i + 1}" for i in range(self.obstacles)))

    @cached_property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        place = ("x", "y")
        return {**dict.fromkeys(self.factors, place), "action": ("dx", "dy"), "target": ("x", "y", "on")}

    @property
    def edges(self) -> tuple[str, ...]:
        return ("action", "pusher", *self.factors[FIRST:])

    @property
    def bounds(self) -> tuple[Array, Array]:
        low, high = np.zeros((2, len(self.factors), 3))
        high[PUSHER:, :2] = self.arena
        low[0, :2], high[0, :2] = -1, 1
        if not self.walls_bind_block:
            low[BLOCK, :2], high[BLOCK, :2] = -self.box, self.arena + self.box
        high[TARGET, 2] = 1
        return low, high

    # -- beginning -----------------------------------------------------------------------------------

    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        states = np.zeros((worlds, len(self.factors), 3))
        low = self.box / 2 + self.margin
        high = self.arena - low
        states[:, TARGET, :2] = generator.uniform(low, high, (worlds, 2))
        solid = [PUSHER, BLOCK, *range(FIRST, len(self.factors))]
        todo = np.arange(worlds)
        for _ in range(ROUNDS):
            if not len(todo):
                break
            placed = np.empty((len(todo), len(solid), 2))
            stuck = np.zeros(len(todo), dtype=bool)
            for i in range(len(solid)):
                rows = np.arange(len(todo))
                for _ in range(TRIES):
                    placed[rows, i] = generator.uniform(low, high, (len(rows), 2))
                    apart = np.abs(placed[rows, :i] - placed[rows, i, None]).max(axis=2) >= self.box
                    rows = rows[~apart.all(axis=1)]
                    if not len(rows):
                        break
                stuck[rows] = True
            states[todo[~stuck, None], solid, :2] = placed[~stuck]
            todo = todo[stuck]
        if len(todo):
            raise self._too_full()
        states[:, TARGET, 2] = self._on_target(unpack(states))
        return states

    def _too_full(self) -> QueryError:
        return QueryError(f"{self.obstacles} obstacles of {self.box} do not fit an arena of {self.arena}; give fewer.")

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        return self.with_noise(generator, generator.uniform(-1, 1, (len(states), 2)))

    # -- dynamics ------------------------------------------------------------------------------------

    def step(self, states: Array, actions: Array) -> Step:
        actions = self._check_actions(states, actions)
        seen, following = states.copy(), states.copy()
        following[:, 0] = 0
        cause = np.zeros(states.shape[:2], dtype=bool)
        cause[:, BLOCK] = True
        moved, pinned, ended = np.zeros((3, len(states)), dtype=bool)
        world, action = unpack(states), unpack(actions)
        wish = self._wish(world, action)
        for axis in (0, 1):
            seen[:, 0, axis] = _clip(action[axis])
            following[:, PUSHER, axis] = world[PUSHER][axis] + wish[axis]
        # Only where the box around the pusher's way meets a solid body is there anything to work out.
        near = either(self._near(world[PUSHER], wish, body) for body in (world[BLOCK], *world[FIRST:]))
        if anywhere(near):
            rows = worlds_where(near)
            self._collide(rows, states[rows], actions[rows], following, cause)
            shifted = (following[rows, BLOCK] != states[rows, BLOCK]).any(axis=1)
            moved[rows] = cause[rows, PUSHER] & shifted
            pinned[rows] = cause[rows, PUSHER] & ~shifted
        if actions.shape[1] > self.action_size:
            self._nudge(actions[:, self.action_size :], following)
        following[:, TARGET, 2] = self._on_target(unpack(following))
        return Step(seen, following, cause, ended, {"moved": moved, "pinned": pinned})

    def _wish(self, world: Sequence[Any], action: Sequence[Number]) -> list[Number]:
        """Return the part of the action that the walls allow; a pusher outside them can only come back."""
        low = self.box / 2
        high = self.arena - low
        return [
            greater(lesser(_clip(action[axis]) * self.stride, greater(high - at, 0.0)), lesser(low - at, 0.0))
            for axis, at in enumerate(world[PUSHER][:2])
        ]

    def _near(self, pusher: Sequence[Number], wish: Sequence[Number], body: Sequence[Number]) -> Truth:
        near: Truth = True
        for axis, way in enumerate(wish):
            half = way * 0.5
            near = near & (abs(body[axis] - (pusher[axis] + half)) < abs(half) + self.box)
        return near

    def graph(self, states: Array, actions: Array, step: Step) -> Array:
        """Return who caused what, `(worlds, outcomes, factors)`.

        The pusher's next place: the pusher and the action, always; an obstacle that stopped the pusher short; a block
        that could not give way, with the obstacles that held it. The target's next state, where `on` changes: the
        block, with all that caused the block's next place. Obstacles go on by themselves.
        """
        graph = super().graph(states, actions, step)
        pusher, target = (self.outcomes.index(name) for name in ("pusher", "target"))
        motion = self._sweep(unpack(states), unpack(self._check_actions(states, actions)))
        graph[:, pusher, 0] = True
        graph[:, pusher, BLOCK] = motion.held
        for position, stops in enumerate(motion.halted, start=FIRST):
            graph[:, pusher, position] = stops
        graph[:, target] |= step.cause & (step.states[:, TARGET, 2] != states[:, TARGET, 2])[:, None]
        return graph

    def _collide(self, rows: Array | slice, states: Array, actions: Array, following: Array, cause: Array) -> None:
        """Work out the pusher's and the block's way in the worlds `rows`, and who touched whom."""
        motion = self._sweep(unpack(states), unpack(actions))
        for axis in (0, 1):
            following[rows, PUSHER, axis] = motion.pusher[axis]
            following[rows, BLOCK, axis] = motion.block[axis]
        cause[rows, 0] = cause[rows, PUSHER] = motion.touched
        for position, stops in enumerate(motion.stopped, start=FIRST):
            cause[rows, position] = stops

    def _sweep(self, world: Sequence[Any], action: Sequence[Number]) -> _Motion:
        """Move the pusher, and the block before it, one axis after the other."""
        wish = self._wish(world, action)
        pusher, block, obstacles = list(world[PUSHER]), list(world[BLOCK]), world[FIRST:]
        touched: Truth = False
        held: Truth = False
        stopped: list[Truth] = [False] * self.obstacles
        halted: list[Truth] = [False] * self.obstacles
        for axis in (0, 1):
            sign = where(wish[axis] < 0, -1.0, 1.0)
            before = self._gap(pusher, block, axis, sign)
            wanted = reach = abs(wish[axis])
            ahead = [self._gap(pusher, obstacle, axis, sign) for obstacle in obstacles]
            for room in ahead:
                reach = lesser(reach, room)
            contact = reach > before + TOUCH
            if anywhere(contact):
                push = where(contact, reach - before, 0.0)
                gaps = [self._gap(block, obstacle, axis, sign) for obstacle in obstacles]
                free = self._to_wall(block[axis], sign) if self.walls_bind_block else push + np.inf
                for room in gaps:
                    free = lesser(free, room)
                short = push > free + TOUCH
                given = where(short, free, push)
                block[axis] = block[axis] + sign * given
                reach = where(contact, before + given, reach)
                touched = touched | contact
                # Whoever stops the block stands at the free distance.
                stops = [short & (room <= free + TOUCH) for room in gaps]
                stopped = [was | now for was, now in zip(stopped, stops, strict=True)]
                halted = [was | now for was, now in zip(halted, stops, strict=True)]
                held = held | short
            # Whoever stops the pusher itself stands where its way ends.
            room_left = wanted > reach + TOUCH
            halted = [was | (room_left & (room <= reach + TOUCH)) for was, room in zip(halted, ahead, strict=True)]
            pusher[axis] = pusher[axis] + sign * reach
        return _Motion(pusher, block, touched, stopped, held, halted)

    def _gap(self, body: Sequence[Number], box: Sequence[Number], axis: int, sign: Number) -> Number:
        """Return how far `body` can go along an axis before it meets a box; infinite if it never does."""
        aside = abs(box[1 - axis] - body[1 - axis]) < self.box - TOUCH
        return gap((box[axis] - body[axis]) * sign, aside, self.box)

    def _to_wall(self, place: Number, sign: Number) -> Number:
        return greater(where(sign > 0, self.arena - place, place) - self.box / 2, 0.0)

    def _nudge(self, draws: Array, following: Array) -> None:
        """Shift the block by chance, as far as what is solid lets it and no further than a pusher could."""
        world = unpack(following)
        solid = [(body, (self.box, self.box), True) for body in (world[PUSHER], *world[FIRST:])]
        low = self.box / 2 if self.walls_bind_block else -self.box / 2
        bounds = ((low, low), (self.arena - low, self.arena - low))
        shift = [self.noise * draw for draw in unpack(draws)]
        for axis, place in enumerate(nudge(world[BLOCK][:2], shift, solid, bounds)):
            following[:, BLOCK, axis] = place

    def _on_target(self, world: Sequence[Any]) -> Truth:
        near = self.on_target * self.box
        block, target = world[BLOCK], world[TARGET]
        return (abs(block[0] - target[0]) < near) & (abs(block[1] - target[1]) < near)


def _clip(action: Number) -> Number:
    return lesser(greater(action, -1.0), 1.0)
