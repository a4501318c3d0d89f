"""2D Pushing: a pusher shoves a block about in an arena with obstacles.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", ICML 2024,
Section 7.2 and Appendix "2D Pushing Domain".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import QueryError
from .base import Array, Domain, Step

PUSHER, BLOCK, TARGET, FIRST = 1, 2, 3, 4  # rows of a state; the obstacles come last
TOUCH = 1e-9  # what rounding may cost: boxes that overlap by less only touch
TRIES = 200  # darts for one box before its world is placed afresh
ROUNDS = 50  # times that worlds are placed afresh before we say that the arena is too full


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

    **True cause** of the block's next position. The block: always. The action and the pusher: if the
    pusher would have come to where the block was, even if the block could not give way. An obstacle: if
    it stopped a pushed block short; two, if they did so at the same distance. The target: never.
    `extra["moved"]` says where a contact moved the block, and `extra["pinned"]` where one left it in its
    place (about one contact in eight). In a pinned contact the block's own position explains the outcome,
    so the functional actual cause is the block alone, while the simulator names all that touched; report
    these states apart. The rule is about who touches the *block*: an obstacle that stops the *pusher*, so
    that it misses the block (in 0.8% of steps), pushes it less far (0.3%) or slides into it (0.2%), is not
    named, though the block would be elsewhere without it.

    **Parameters.** `obstacles` how many; `arena` and `box` sides of the arena and of every box;
    `stride` the longest move on an axis; `margin` how far inside the arena boxes are placed;
    `walls_bind_block` whether the walls stop the block too; `on_target` how near the block's
    midpoint must be to the target's on each axis, in boxes.

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

    obstacles: int = 3
    arena: float = 5.0
    box: float = 1.0
    stride: float = 1.0
    margin: float = 0.25
    walls_bind_block: bool = False
    on_target: float = 0.5

    def __post_init__(self) -> None:
        if self.obstacles < 0:
            raise QueryError(f"The 'obstacles' of push must be 0 or more. Got {self.obstacles} instead.")
        for name in ("arena", "box", "stride", "on_target"):
            if not getattr(self, name) > 0:
                raise QueryError(f"The '{name}' of push must be positive. Got {getattr(self, name)} instead.")
        if not 0 <= 2 * self.margin < self.arena - self.box:
            raise QueryError(
                f"A 'margin' of {self.margin} leaves no room for a box of {self.box} in an arena of {self.arena}; "
                "give a smaller one."
            )

    @property
    def factors(self) -> tuple[str, ...]:
        return ("action", "pusher", "block", "target", *(f"obstacle{i + 1}" for i in range(self.obstacles)))

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        place = ("x", "y")
        return {**dict.fromkeys(self.factors, place), "action": ("dx", "dy"), "target": ("x", "y", "on")}

    @property
    def outcome(self) -> str:
        return "block"

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
            raise QueryError(
                f"{self.obstacles} obstacles of {self.box} do not fit into an arena of {self.arena}; give fewer."
            )
        states[:, TARGET, 2] = self._on_target(states)
        return states

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        return generator.uniform(-1, 1, (len(states), 2))

    # -- dynamics ------------------------------------------------------------------------------------

    def step(self, states: Array, actions: Array) -> Step:
        actions = np.asarray(actions, dtype=float).reshape(len(states), 2)
        actions = np.minimum(np.maximum(actions, -1.0), 1.0)
        seen = states.copy()
        seen[:, 0, :2] = actions
        following = states.copy()
        following[:, 0] = 0
        cause = np.zeros(states.shape[:2], dtype=bool)
        cause[:, BLOCK] = True
        moved = np.zeros(len(states), dtype=bool)
        pinned = moved.copy()
        pusher = states[:, PUSHER, :2]
        wish = self._within_walls(pusher, actions * self.stride)
        following[:, PUSHER, :2] += wish
        # Only where the box around the pusher's way meets a solid body is there anything to work out.
        half = wish * 0.5
        distance = np.abs(states[:, BLOCK:, :2] - (pusher + half)[:, None])
        around: Array = distance < (np.abs(half) + self.box)[:, None]
        near: Array = np.logical_and.reduce(around, axis=2)
        near[:, TARGET - BLOCK] = False
        rows = np.logical_or.reduce(near, axis=1).nonzero()[0]
        if len(rows):
            self._collide(rows, states, wish[rows], following, cause)
            contact = cause[:, PUSHER]
            shifted = (following[:, BLOCK] != states[:, BLOCK]).any(axis=1)
            moved = contact & shifted
            pinned = contact & ~shifted
        following[:, TARGET, 2] = self._on_target(following)
        ended = np.zeros(len(states), dtype=bool)
        return Step(seen, following, cause, ended, {"moved": moved, "pinned": pinned})

    def _collide(self, rows: Array, states: Array, wish: Array, following: Array, cause: Array) -> None:
        """Work out the pusher's and the block's way in the worlds `rows`, and who touched whom."""
        pusher = states[rows, PUSHER, :2]
        solids = states[rows, BLOCK:, :2]
        solids[:, TARGET - BLOCK] = np.inf  # out of everyone's way
        block, others = solids[:, 0], solids[:, 1:]
        signs = np.where(wish < 0, -1.0, 1.0)
        wish = np.abs(wish)
        for axis in (0, 1):
            sign = signs[:, axis]
            gaps = self._gaps(pusher, solids, axis, sign)
            before = gaps[:, 0]
            reach = np.minimum(wish[:, axis], gaps[:, 1:].min(axis=1))
            contact = reach > before + TOUCH
            if contact.any():
                push = np.where(contact, reach - before, 0.0)
                gaps = self._gaps(block, others, axis, sign)
                free = gaps.min(axis=1)
                if self.walls_bind_block:
                    free = np.minimum(free, self._to_wall(block, axis, sign))
                short = push > free + TOUCH
                given = np.where(short, free, push)
                block[:, axis] += sign * given
                reach = np.where(contact, before + given, reach)
                cause[rows, 0] |= contact
                cause[rows, PUSHER] |= contact
                # Whoever stops the block stands at the free distance.
                cause[rows, TARGET:] |= short[:, None] & (gaps <= free[:, None] + TOUCH)
            pusher[:, axis] += sign * reach
        following[rows, PUSHER, :2] = pusher
        following[rows, BLOCK, :2] = block

    def _gaps(self, body: Array, boxes: Array, axis: int, sign: Array) -> Array:
        """How far `body` can go along an axis before it meets each box; infinite if it never does."""
        offset = boxes - body[:, None]
        ahead = offset[:, :, axis] * sign[:, None]
        meets = (np.abs(offset[:, :, 1 - axis]) < self.box - TOUCH) & (ahead > 0)
        return np.where(meets, np.maximum(ahead - self.box, 0.0), np.inf)

    def _within_walls(self, pusher: Array, wish: Array) -> Array:
        """The part of a wish that the walls allow; a pusher outside them can only come back."""
        low = self.box / 2
        return np.maximum(np.minimum(wish, np.maximum(self.arena - low - pusher, 0.0)), np.minimum(low - pusher, 0.0))

    def _to_wall(self, block: Array, axis: int, sign: Array) -> Array:
        ahead = np.where(sign > 0, self.arena - block[:, axis], block[:, axis])
        return np.maximum(ahead - self.box / 2, 0.0)

    def _on_target(self, states: Array) -> Array:
        offset = np.abs(states[:, BLOCK, :2] - states[:, TARGET, :2])
        near: Array = np.maximum(offset[:, 0], offset[:, 1]) < self.on_target * self.box
        return near
