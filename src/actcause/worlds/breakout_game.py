"""The game of `ale-breakout`: Atari Breakout in its emulator, read from its memory and changed there.

The machine has 128 bytes. Places are pixels; x counts from about 48 at the left edge of the picture. A brick is two
neighbouring bits of the byte that draws it, and every row has its own bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..envs.base import Array

COLUMNS, ROWS = 18, 6
NOOP, FIRE, RIGHT, LEFT = range(4)
FRAMES = 4  # of one step, in which the action stays
PADDLE, BALL_X, BALL_Y, SPEED_Y, SPEED_X = 72, 99, 101, 103, 105  # the bytes in which the game keeps them
LOST = 0  # where the ball is while there is none, as its y
MIDDLE = 123  # of the field, as x
FIRST, APART = 60, 8  # the middle of the first column, and from one column to the next
PADDLE_RANGE = 55, 191
FAR_LEFT, FAR_RIGHT = 0, 255  # past both ends: the game takes the paddle there as far as it goes
# For each column from the left: the byte of its lowest brick (those above are in the next five) and the lower bit.
BITS: tuple[tuple[int, int], ...] = (
    (30, 6),
    *((24, bit) for bit in (6, 4, 2, 0)),
    *((18, bit) for bit in (0, 2, 4, 6)),
    *((12, bit) for bit in (4, 6)),
    *((6, bit) for bit in (6, 4, 2, 0)),
    *((0, bit) for bit in (0, 2, 4)),
)
_BYTE = np.array([[first + ROWS - 1 - row for row in range(ROWS)] for first, _ in BITS])  # (columns, rows)
_BIT = np.array([[bit] for _, bit in BITS])


class BreakoutGame:
    """One game: what is to be seen after each frame, and states that can be gone back to and changed."""

    def __init__(self, ale_py: Any, roms: Any, seed: int) -> None:
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self._ale = ale_py.ALEInterface()
        self._ale.setInt("random_seed", seed)
        self._ale.setInt("frame_skip", 1)
        self._ale.setFloat("repeat_action_probability", 0.0)
        self._ale.loadROM(roms.get_rom_path("breakout"))
        self._actions = self._ale.getMinimalActionSet()

    @property
    def over(self) -> bool:
        return bool(self._ale.game_over())

    def start(self) -> None:
        self._ale.reset_game()

    def save(self) -> Any:
        return self._ale.cloneState()

    def restore(self, state: Any) -> None:
        self._ale.restoreState(state)

    def step(self, action: int, paddle: int | None = None) -> Array:
        """Take the frames of one step; return ball x, ball y and paddle x after each, `(frames, 3)`.

        With `paddle` it is put there before every frame, as near as the game allows: it pulls the paddle half of the
        way back to where the player holds it.
        """
        seen = np.empty((FRAMES, 3))
        for frame in range(FRAMES):
            if paddle is not None:
                self._ale.setRAM(PADDLE, paddle)
            self._ale.act(self._actions[action])
            memory = self._ale.getRAM()
            seen[frame] = memory[BALL_X], memory[BALL_Y], memory[PADDLE]
        return seen

    def read_speed(self) -> tuple[int, int]:
        """Return the ball's speed as the game keeps it, rightwards and downwards; a bounce changes it at once."""
        memory = self._ale.getRAM().astype(np.int8)
        return -int(memory[SPEED_X]), int(memory[SPEED_Y])

    def read_bricks(self) -> Array:
        """Say which bricks are there, `(columns, rows)`, from the top."""
        return np.asarray(self._ale.getRAM()[_BYTE] >> _BIT & 1, dtype=bool)

    def put_bricks(self, columns: Mapping[int, Array]) -> None:
        """Put these bricks, and no others, into columns."""
        memory = self._ale.getRAM()
        for column, bricks in columns.items():
            both = 0b11 << BITS[column][1]
            for byte, there in zip(_BYTE[column].tolist(), bricks, strict=True):
                memory[byte] = int(memory[byte]) | both if there else int(memory[byte]) & ~both
        for byte in {byte for column in columns for byte in _BYTE[column].tolist()}:
            self._ale.setRAM(byte, int(memory[byte]))
