"""What pictures are painted on: smooth shapes, arrows and text, and a window to show them in.

Coordinates are pixels, y downwards. Shapes are painted at twice the size and scaled down, text last of all,
so that it is sharp and nothing covers it. Pillow and pygame-ce come with the extra `pictures`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import QueryError, import_extra
from .base import Array

Point = tuple[float, float]

FINE = 2  # painted at so many times the size
INK, PAPER, FIELD, EDGE = "#1A1A1A", "#FFFFFF", "#F4F4F4", "#5A5A5A"
# Okabe and Ito's colours, which colour-blind people tell apart as well.
AGENT, OUTCOME, THING, GOAL = "#56B4E9", "#F0E442", "#B3B3B3", "#009E73"
TRUE, PREDICTED = "#0072B2", "#D55E00"
COLOURS = (PAPER, INK, FIELD, EDGE, AGENT, OUTCOME, THING, GOAL, TRUE, PREDICTED)


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the three bytes of a colour.

    >>> rgb("#F0E442")
    (240, 228, 66)
    """
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


class Canvas:
    """A picture in the making."""

    def __init__(self, width: int, height: int, font: int) -> None:
        self._image: Any = import_extra("PIL.Image", "Drawing a domain", "pictures").new(
            "RGB", (width * FINE, height * FINE), PAPER
        )
        self._draw: Any = import_module("PIL.ImageDraw")
        self._pen: Any = self._draw.Draw(self._image)
        self._font = _font(font)
        self._texts: list[tuple[Point, str, str, str, str]] = []
        self.width, self.height = width, height
        self.line = font + 5  # from one line of text to the next

    def box(self, centre: Point, half: Point, fill: str | None, outline: str = EDGE, width: float = 1) -> None:
        self._shape(self._pen.rectangle, centre, half, fill, outline, width)

    def disc(self, centre: Point, half: Point, fill: str | None, outline: str = EDGE, width: float = 1) -> None:
        self._shape(self._pen.ellipse, centre, half, fill, outline, width)

    def _shape(self, paint: Any, centre: Point, half: Point, fill: str | None, outline: str, width: float) -> None:
        corners = [(centre[0] - half[0], centre[1] - half[1]), (centre[0] + half[0], centre[1] + half[1])]
        paint(_fine(corners), fill=fill, outline=outline, width=round(width * FINE))

    def path(self, points: Sequence[Point], colour: str, width: float, dash: float = 0.0) -> None:
        """Paint a line through points; with `dash`, strokes of that length with gaps between them."""
        for part in _dashes(points, dash) if dash else [points]:
            self._pen.line(_fine(part), fill=colour, width=round(width * FINE), joint="curve")

    def arrow(self, points: Sequence[Point], colour: str, width: float, *, dashed: bool = False) -> None:
        """Paint a line with a head at its end, with a white rim, so that it shows on any ground."""
        tip, back = np.asarray(points[-1]), np.asarray(points[max(len(points) - 5, 0)])
        ahead = (tip - back) / max(float(np.hypot(*(tip - back))), 1e-9)
        aside = np.array([-ahead[1], ahead[0]])
        for colour_now, stroke, grown in ((PAPER, 2 * width, width / 2), (colour, width, 0.0)):
            self.path(points[:-1], colour_now, stroke, dash=4 * width if dashed and colour_now == colour else 0.0)
            long, wide = 4.2 * width + grown, 2.2 * width + grown
            foot = tip - ahead * long
            head = [tip + ahead * (width + grown), foot + aside * wide, foot - aside * wide]
            self._pen.polygon(_fine([(float(x), float(y)) for x, y in head]), fill=colour_now)

    def text(self, at: Point, text: str, anchor: str = "mm", colour: str = INK, rim: str = PAPER) -> None:
        """Write text that is kept inside the picture; `anchor` is Pillow's, "mm" the middle."""
        self._texts.append((at, text, anchor, colour, rim))

    def measure(self, text: str) -> float:
        """Return how many pixels wide a line of text is."""
        return float(self._font.getlength(text))

    def shorten(self, text: str, width: float) -> str:
        """Cut text off with dots where it is wider."""
        if self.measure(text) <= width:
            return text
        while text and self.measure(text + "...") > width:
            text = text[:-1]
        return text + "..."

    def pixels(self) -> Array:
        """Return the picture, `(height, width, 3)` bytes."""
        image = self._image.reduce(FINE)
        pen = self._draw.Draw(image)
        for (x, y), text, anchor, colour, rim in self._texts:
            left, top, right, bottom = pen.textbbox((x, y), text, font=self._font, anchor=anchor, stroke_width=2)
            x += max(0, -left) - max(0, right - self.width)
            y += max(0, -top) - max(0, bottom - self.height)
            pen.text((x, y), text, fill=colour, font=self._font, anchor=anchor, stroke_width=2, stroke_fill=rim)
        return np.array(image)


class Window:
    """A window on the screen that shows one picture after another.

    `closed` becomes true when the user closes it; what is shown after that is not seen.
    """

    def __init__(self, title: str, fps: float = 15) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        self._pygame: Any = import_extra("pygame", "Showing a domain in a window", "pictures")
        try:
            self._pygame.display.init()
        except self._pygame.error as none:
            raise QueryError(f'No window can be opened here ({none}); use render_mode="rgb_array".') from none
        self._clock: Any = self._pygame.time.Clock()
        self._screen: Any = None
        self.title, self.fps, self.closed = title, fps, False

    def show(self, picture: Array) -> None:
        """Show a picture as `draw` gives it, not sooner than a frame's time after the one before."""
        if self.closed:
            return
        size = picture.shape[1], picture.shape[0]
        if self._screen is None or self._screen.get_size() != size:
            self._screen = self._pygame.display.set_mode(size)
            self._pygame.display.set_caption(self.title)
        self._screen.blit(self._pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        self._pygame.display.flip()
        self._clock.tick(self.fps)
        if any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()

    def close(self) -> None:
        """Take the window off the screen; a second time does nothing."""
        if not self.closed:
            self.closed = True
            self._pygame.display.quit()


@lru_cache(maxsize=8)
def _font(size: int) -> Any:
    return import_extra("PIL.ImageFont", "Drawing a domain", "pictures").load_default(size)


def _fine(points: Sequence[Point]) -> list[Point]:
    return [(x * FINE, y * FINE) for x, y in points]


def _dashes(points: Sequence[Point], length: float) -> list[list[Point]]:
    """Return the strokes of a dashed line: each `length` long, with gaps of two thirds of that."""
    line = np.asarray(points, dtype=float)
    along = np.concatenate([[0.0], np.hypot(*np.diff(line, axis=0).T).cumsum()])
    strokes = []
    for start in np.arange(0.0, along[-1], length * 5 / 3):
        at = np.linspace(start, min(start + length, along[-1]), 5)
        strokes.append([(float(x), float(y)) for x, y in zip(*(np.interp(at, along, c) for c in line.T), strict=True)])
    return strokes
