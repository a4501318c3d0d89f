"""What a world looks like, in the world's own units: bodies, walls and an action, for `painter.py` to paint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .canvas import EDGE, Point

FOOT, TOP, MIDDLE, OVER, UNDER, LANE = range(6)  # where a body's name stands


@dataclass(frozen=True)
class Body:
    """What one factor looks like: midpoint and extent in the world's units, y upwards; `text` stands for its name."""

    name: str
    place: Point
    extent: Point
    colour: str | None  # none: only an outline
    label: int = MIDDLE
    round: bool = False
    outline: str = EDGE
    text: str | None = None


@dataclass(frozen=True)
class Scene:
    """What a world looks like. Bodies are painted in their order."""

    view: tuple[float, float, float, float]  # left, bottom, right, top: what is seen of the world
    bodies: Sequence[Body]
    walls: Sequence[Sequence[Point]] = ()
    action: tuple[str, Point] | None = None  # shown on a dial, each number from -1 to 1
    whole: tuple[float, float] | None = None  # the ends of a world of which the view is a part
