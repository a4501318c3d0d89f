"""Atari Breakout in the Arcade Learning Environment, read from its memory: what turned the ball?

A row is four frames with one action. Outcome: where the ball is then, and its motion in the last two frames. (One frame
does not tell: at most speeds the ball goes one pixel and two in turn.) The walls are no factors: they never move.

True cause. The emulator is set back, the memory is changed, and the four frames are played again. The paddle is a cause
if a paddle at the far side would have left the ball elsewhere, or moving otherwise; a column, if a brick of it vanished
and the ball would be elsewhere without its bricks. The action is a cause where the paddle is, and another action would
have made a difference. Nothing is a cause where nothing turned the ball: not the paddle that missed it either.

A bounce changes the ball's speed at once and its motion from the next frame on. Where it falls into the last frame of a
row, the paddle or the brick has not yet changed the outcome, and is no cause; in the next row the speed that the game
keeps of the ball (`vx`, `vy`) tells what happens, so that the ball's own state explains it.

The player follows the ball, not well. Rows without a ball, and those in which it is lost, are left out:
an episode is one ball.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ..envs.base import Array
from .base import World, WorldRow
from .breakout_game import (
    APART,
    COLUMNS,
    FAR_LEFT,
    FAR_RIGHT,
    FIRE,
    FIRST,
    LEFT,
    LOST,
    MIDDLE,
    NOOP,
    PADDLE_RANGE,
    RIGHT,
    ROWS,
    BreakoutGame,
)
from .functional_cause import BODY_ALPHA, find_functional_cause

MOVES = (NOOP, RIGHT, LEFT)
LOW = 160  # the paddle cannot reach a ball that stays above this
EMPTY = np.zeros(ROWS, dtype=bool)


@dataclass(frozen=True)
class AleBreakout(World):
    """Atari Breakout: a paddle, a ball, and 18 columns of six bricks.

    Args:
        check: Find the functional cause of every row by playing it again with other values.
    """

    name = "ale-breakout"
    title = "Atari Breakout (ALE)"
    horizon = 400
    simulator = "ale-py"
    licence = "GPL-2.0"
    untold = "what moves the paddle is partly in the console's memory, which is no factor of a row"
    extra = "atari"
    revisions = ("first recorded",)
    factors = ("action", "paddle", "ball", *(f"column{number}" for number in range(1, COLUMNS + 1)))
    shared_class: ClassVar[tuple[str, int]] = ("column", 3)
    features: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "action": ("move",),
        "paddle": ("x", "dx"),
        "ball": ("x", "y", "dx", "dy", "vx", "vy"),
        **dict.fromkeys(factors[3:], ("x", *(f"brick{row}" for row in range(1, ROWS + 1)))),
    }
    outcome = "ball"
    outcome_features = ("x", "y", "dx", "dy")
    categorical = ("action.move",)

    check: bool = False

    def episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the rows of one ball after the other, without end; a game has five, and is left after 400 turns."""
        ale_py, roms = self.load("ale_py"), self.load("ale_py.roms")
        game = BreakoutGame(ale_py, roms, int(generator.integers(2**31)))
        (exchanges,) = generator.spawn(1)  # which leaves the generator as it is, so that a check changes no row
        while True:
            for _, turns in groupby(_play(game, generator, self.horizon), lambda turn: turn.ball):
                yield [self._record(game, turn, exchanges) for turn in turns]

    def _record(self, game: BreakoutGame, turn: _Turn, exchanges: np.random.Generator) -> WorldRow:
        gone = np.flatnonzero((turn.bricks & ~turn.bricks_after).any(axis=1)).tolist()
        cause = [self.factors[3 + column] for column in gone if turn.needs_column(game, column)]
        if turn.after[:, 1].max() > LOW and turn.needs_paddle(game):
            cause += ["paddle", "action"] if turn.needs_action(game) else ["paddle"]
        extra = {"contact.paddle": turn.bounces_low}
        extra |= {f"contact.{factor}": column in gone for column, factor in enumerate(self.factors[3:])}
        if self.check:
            extra |= self._look_again(game, turn, exchanges)
        state = {
            "action": (turn.action,),
            "paddle": (turn.before[-1, 2], turn.before[-1, 2] - turn.before[-3, 2]),
            "ball": (*_read_ball(turn.before), *turn.speed),
        }
        for column, factor in enumerate(self.factors[3:]):
            state[factor] = (FIRST + APART * column, *turn.bricks[column])
        return WorldRow(state, _read_ball(turn.after), cause, extra)

    def _look_again(self, game: BreakoutGame, turn: _Turn, generator: np.random.Generator) -> dict[str, bool]:
        """Take every factor away, and find the functional cause of where the ball is next."""

        def changes(exchanged: tuple[str, ...]) -> bool:
            action = int(generator.choice(MOVES)) if "action" in exchanged else turn.action
            paddle = int(generator.integers(*PADDLE_RANGE)) if "paddle" in exchanged else None
            wall = generator.random((COLUMNS, ROWS)) < 0.5
            columns = {column: wall[column] for column in range(COLUMNS) if self.factors[3 + column] in exchanged}
            return turn.differs(game, action, paddle=paddle, columns=columns)

        found = find_functional_cause(self.edges, changes, alpha=BODY_ALPHA)
        differs = {"action": turn.needs_action(game), "paddle": turn.needs_paddle(game)}
        differs |= {factor: turn.needs_column(game, column) for column, factor in enumerate(self.factors[3:])}
        return {f"differs.{factor}": different for factor, different in differs.items()} | {
            f"fac.{factor}": factor in found for factor in self.edges
        }


@dataclass(frozen=True)
class _Turn:
    """Four frames that were played: from which state, by which action, and what was seen before and after."""

    ball: int  # how many were lost before in this game
    start: Any
    action: int
    bricks: Array  # before
    speed: tuple[int, int]
    before: Array  # ball x, ball y and paddle x in the four frames before
    after: Array
    bricks_after: Array

    @property
    def bounces_low(self) -> bool:
        """Whether the ball turned upwards at the paddle's height."""
        way = np.diff(np.concatenate([self.before[-2:, 1], self.after[:, 1]]))
        return bool(((way[1:] < 0) & (way[:-1] > 0)).any()) and self.after[:, 1].max() > LOW

    def needs_action(self, game: BreakoutGame) -> bool:
        """Whether the ball would be elsewhere after another action."""
        return any(self.differs(game, other) for other in MOVES if other != self.action)

    def needs_paddle(self, game: BreakoutGame) -> bool:
        """Whether the ball would be elsewhere with the paddle at the other side."""
        away = FAR_LEFT if self.before[-1, 0] > MIDDLE else FAR_RIGHT
        return self.differs(game, self.action, paddle=away)

    def needs_column(self, game: BreakoutGame, column: int) -> bool:
        """Whether the ball would be elsewhere without the bricks of a column."""
        return self.differs(game, self.action, columns={column: EMPTY})

    def differs(
        self,
        game: BreakoutGame,
        action: int,
        *,
        paddle: int | None = None,
        columns: Mapping[int, Array] = MappingProxyType({}),
    ) -> bool:
        """Play it again with another action, the paddle elsewhere or other bricks: is the ball then elsewhere?"""
        game.restore(self.start)
        game.put_bricks(columns)
        return _read_ball(game.step(action, paddle)) != _read_ball(self.after)


def _play(game: BreakoutGame, generator: np.random.Generator, horizon: int) -> Iterator[_Turn]:
    """Play one game, four frames at a time; turns without a ball are not told. Whoever listens may change the game."""
    game.start()
    before = game.step(FIRE)
    ball, aim = 0, 0.0
    for _ in range(horizon):
        if game.over:
            return
        if (before[:, 1] == LOST).any():
            before = game.step(FIRE if generator.random() < 0.5 else NOOP)
            continue
        if generator.random() < 0.15:
            aim = generator.uniform(-9, 9)
        action = _choose_action(generator, before, aim)
        start, bricks, speed = game.save(), game.read_bricks(), game.read_speed()
        after = game.step(action)
        if not (after[:, 1] == LOST).any():
            end = game.save()
            yield _Turn(ball, start, action, bricks, speed, before, after, game.read_bricks())
            game.restore(end)
        else:
            ball += 1
        before = after


def _choose_action(generator: np.random.Generator, seen: Array, aim: float) -> int:
    """Go where the ball will soon be, or rather near it; now and then anywhere."""
    missing = seen[-1, 0] + 3 * (seen[-1, 0] - seen[-2, 0]) + aim - seen[-1, 2]
    if generator.random() < 0.15:
        return int(generator.choice(MOVES))
    return NOOP if abs(missing) < 4 else RIGHT if missing > 0 else LEFT


def _read_ball(seen: Array) -> tuple[float, ...]:
    """Return the ball's place after the last frame, and its motion in the last two."""
    x, y, _ = seen[-1]
    return float(x), float(y), float(x - seen[-3, 0]), float(y - seen[-3, 1])
