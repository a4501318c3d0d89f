"""Pictures of domains, with arrows from the causes to the outcome.

A domain's dynamics know nothing of this: a *scene* says what a world looks like in the world's own units, and
`draw` paints any scene. A domain gets a picture by one function from its state to a scene, listed in `SCENES`.
Needs the extra `pictures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import QueryError, quote
from .base import Array, BaseDomain, Domain
from .block_1d import Block1D
from .breakout import ALIVE, Breakout
from .canvas import AGENT, EDGE, FIELD, GOAL, INK, OUTCOME, PREDICTED, THING, TRUE, Canvas, Point
from .mover_1d import Mover1D
from .push import Push
from .reactor import (
    ACTIVE,
    CATALYST,
    FAST,
    FEEDS,
    HEATER,
    HEATING,
    INHIBITOR,
    POISONED,
    STIRRER,
    VESSEL,
    Reactor,
)

SIZES = (240, 4096)  # what `size` may be
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


def draw(
    domain: Domain,
    world: Any,
    *,
    cause: Any = None,
    predicted: Any = None,
    size: int = 480,
    caption: Sequence[str] = (),
) -> Array:
    """Draw one world, `(factors, width)`: bytes of shape `(height, width, 3)`.

    `cause` and `predicted` are vectors of 0 and 1 over the factors (as in `info["cause"]`) or names of
    factors. True causes get a solid blue arrow to the outcome, predicted ones a dashed orange one; the
    outcome's own previous value, a loop. `size` is the longer side of the field in pixels, around which
    there is room for a legend and for the lines of the `caption`. Width and height are even.

    >>> from actcause.envs import make
    >>> domain = make("mover-1d")
    >>> draw(domain, [[0], [1]], cause=["mover", "obstacle"]).shape
    (228, 480, 3)
    """
    build = next((build for kind, build in SCENES.items() if isinstance(domain, kind)), None)
    if build is None:
        raise QueryError(f"Domain {domain.name} has no picture; {', '.join(kind.name for kind in SCENES)} have one.")
    return draw_scene(
        domain, build(domain, _check_world(domain, world)), cause=cause, predicted=predicted, size=size, caption=caption
    )


def draw_scene(
    domain: BaseDomain,
    scene: Scene,
    *,
    cause: Any = None,
    predicted: Any = None,
    size: int = 480,
    caption: Sequence[str] = (),
) -> Array:
    """Draw a scene of a domain as `draw` does; every factor that is a cause must be a body of it."""
    if not isinstance(size, int) or not SIZES[0] <= size <= SIZES[1]:
        raise QueryError(f"The size of a picture must be an integer from {SIZES[0]} to {SIZES[1]}. Got {size} instead.")
    overlays = {
        colour: factor_names(domain, given, what)
        for colour, given, what in ((TRUE, cause, "causes"), (PREDICTED, predicted, "predicted causes"))
        if given is not None
    }
    return _Painter(scene, size, len(caption)).paint(domain.outcome, overlays, caption)


def factor_names(domain: BaseDomain, given: Any, what: str = "causes") -> tuple[str, ...]:
    """Name the factors that are given as a vector of 0 and 1 or as names, in the domain's order."""
    values = list(given) if isinstance(given, (list, tuple, set, frozenset)) else given
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        positions = {domain.index(name) for name in values}
    else:
        vector = np.asarray(values)
        right = vector.shape == (len(domain.factors),) and vector.dtype.kind in "biuf"
        if not right or not np.isin(vector, (0, 1)).all():
            raise QueryError(
                f"The {what} must be names of factors, or 0 or 1 for each of the {len(domain.factors)} factors of "
                f"{domain.name}. Got {quote(given)} instead."
            )
        positions = set(np.flatnonzero(vector).tolist())
    return tuple(factor for position, factor in enumerate(domain.factors) if position in positions)


def _check_world(domain: Domain, world: Any) -> Array:
    try:
        values = np.asarray(world, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    wanted = (len(domain.factors), domain.width)
    if values.shape != wanted or not np.isfinite(values).all():
        raise QueryError(f"A world of {domain.name} must be finite numbers of shape {wanted}. Got {quote(world)}.")
    return values


# -- what the domains look like ----------------------------------------------------------------------


def _push(domain: Push, world: Array) -> Scene:
    side, box = domain.arena, (domain.box, domain.box)
    bodies = [
        Body("target", _at(world[3]), box, None, TOP, outline=GOAL),
        *(Body(name, _at(place), box, THING, FOOT) for name, place in zip(domain.factors[4:], world[4:], strict=True)),
        Body("pusher", _at(world[1]), box, AGENT, FOOT),
        Body("block", _at(world[2]), box, OUTCOME, FOOT),
    ]
    room = 1.25 * domain.box  # a block may be pushed out of the arena
    arena = [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side), (0.0, 0.0)]
    return Scene((-room, -room, side + room, side + room), bodies, [arena], ("action", _at(world[0])))


def _break(domain: Breakout, world: Array) -> Scene:
    across, up = domain.size
    blocks = [
        Body(name, _at(row), domain.block, THING if row[ALIVE] > 0 else None, outline=EDGE if row[ALIVE] > 0 else THING)
        for name, row in zip(domain.factors[3:], world[3:], strict=True)
    ]
    bodies = [
        *sorted(blocks, key=lambda block: block.colour is not None),
        Body("paddle", _at(world[1]), domain.paddle, AGENT),
        Body("ball", _at(world[2]), domain.ball, OUTCOME, OVER),
    ]
    walls = [(0.0, 0.0), (0.0, up), (across, up), (across, 0.0)]
    return Scene((-1.0, -3.0, across + 1.0, up + 1.0), bodies, [walls], ("action", (float(world[0, 0]), 0.0)))


def _mover_1d(domain: Mover1D, world: Array) -> Scene:
    last = max(domain.fields, domain.obstacle_fields - 1) + 0.5  # with the field on which the mover is out
    walls = [[(edge, -0.5), (edge, 0.5)] for edge in np.arange(-0.5, last + 0.5).tolist()]
    walls += [[(-0.5, edge), (last, edge)] for edge in (-0.5, 0.5)]
    half = max(1.0, 0.2 * last)
    bodies = [
        Body("obstacle", (float(world[1, 0]), 0.0), (0.8, 0.8), THING, UNDER),
        Body("mover", (float(world[0, 0]), 0.0), (0.5, 0.5), OUTCOME, OVER, round=True),
    ]
    return Scene((-0.6, -half, last + 0.1, half), bodies, walls)


def _block_1d(domain: Block1D, world: Array) -> Scene:
    pusher, block, *obstacles = map(float, world[:, 0])
    reach = 3 * (domain.reach + domain.body)  # what acts on the block is nearer than that
    wide = max(domain.body, reach / 75)
    extent = (wide, max(wide, reach / 8))
    colours = [(name, at, THING) for name, at in zip(domain.factors[2:], obstacles, strict=True)]
    colours += [("pusher", pusher, AGENT), ("block", block, OUTCOME)]
    bodies = [Body(name, (at, extent[1] / 2), extent, colour, LANE) for name, at, colour in colours]
    floor = [(max(0.0, block - reach), 0.0), (min(domain.size, block + reach), 0.0)]
    ends = [[(end, 0.0), (end, extent[1])] for end in (0.0, domain.size) if abs(end - block) < reach]
    walls = [floor, *ends] if floor[0][0] < floor[1][0] else ends
    return Scene((block - reach, -reach / 4, block + reach, reach / 2), bodies, walls, whole=(0.0, domain.size))


def _reactor(domain: Reactor, world: Array) -> Scene:
    """Build feeds above the vessel and the other controls below it, filled where a feature is past its threshold."""
    level, temperature, product = map(float, world[VESSEL, :3])
    past = {
        "stirrer": world[STIRRER, 0] > FAST,
        "catalyst": world[CATALYST, 0] * world[CATALYST, 1] > ACTIVE,
        "inhibitor": world[INHIBITOR, 0] > POISONED,
        "heater": world[HEATER, 0] > HEATING,
        **{feed: row[0] > 1 - domain.rate for feed, row in zip(domain.factors[FEEDS:], world[FEEDS:], strict=True)},
    }
    wide = 1.2 * max(VESSEL, domain.feeds)
    bodies = []
    for controls, y in ((domain.factors[:VESSEL], 0.0), (domain.factors[FEEDS:], 3.0)):
        for number, name in enumerate(controls):
            x = wide * (number + 0.5) / len(controls)
            bodies.append(Body(name, (x, y), (1.05, 0.5), AGENT if past[name] else None))
    text = f"vessel {level:.2f}, {temperature:.2f}, {product:.2f}"
    bodies.append(Body("vessel", (wide / 2, 1.5), (2.6, 0.8), OUTCOME, text=text))
    return Scene((-0.2, -0.5, wide + 0.2, 3.5), bodies)


def _at(row: Array) -> Point:
    return float(row[0]), float(row[1])


SCENES: Mapping[type[Domain], Callable[[Any, Array], Scene]] = MappingProxyType(
    {Push: _push, Breakout: _break, Block1D: _block_1d, Mover1D: _mover_1d, Reactor: _reactor}
)


# -- painting ----------------------------------------------------------------------------------------


class _Painter:
    """One scene on one canvas: from top to bottom dial and legend, the field, names, the whole, the caption."""

    def __init__(self, scene: Scene, size: int, lines: int) -> None:
        left, bottom, right, top = scene.view
        self.scene = scene
        self.unit = size / 480
        self.scale = size / max(right - left, top - bottom)
        font = max(11, round(13 * self.unit))
        lanes = sum(body.label == LANE for body in scene.bodies)
        self.head = round(44 * self.unit)
        across, self.up = (right - left) * self.scale, (top - bottom) * self.scale
        self.below = self.head + self.up + (lanes and (lanes + 0.5) * (font + 5))
        tall = self.below + (42 * self.unit if scene.whole else 0) + (lines and lines * (font + 5) + 8)
        wide = max(across, 0.7 * size)
        self.canvas = Canvas(_even(wide), _even(tall), font)
        self.field = (wide - across) / 2, (wide + across) / 2

    def pixel(self, place: Point) -> Point:
        """Return where a place of the world is in the picture; far outside it, somewhere outside."""
        limit = 2.0 * (self.canvas.width + self.canvas.height)
        x = self.field[0] + (place[0] - self.scene.view[0]) * self.scale
        y = self.head + (self.scene.view[3] - place[1]) * self.scale
        return min(max(x, -limit), limit), min(max(y, -limit), limit)

    def half(self, body: Body) -> Point:
        return max(body.extent[0] * self.scale / 2, 2.0), max(body.extent[1] * self.scale / 2, 2.0)

    def anchor(self, body: Body) -> Point:
        """Return where a body's arrow begins: its middle, or the edge of the picture nearest to it."""
        x, y = self.pixel(body.place)
        rim = 6 * self.unit
        inside = min(max(x, self.field[0] + rim), self.field[1] - rim)
        return inside, min(max(y, self.head + rim), self.head + self.up - rim)

    def paint(self, outcome: str, overlays: Mapping[str, Sequence[str]], caption: Sequence[str]) -> Array:
        canvas, scene = self.canvas, self.scene
        middle = (sum(self.field) / 2, self.head + self.up / 2)
        canvas.box(middle, ((self.field[1] - self.field[0]) / 2, self.up / 2), FIELD, FIELD)
        for wall in scene.walls:
            canvas.path([self.pixel(place) for place in wall], INK, 2 * self.unit)
        for body in scene.bodies:
            paint = canvas.disc if body.round else canvas.box
            thick = 1.5 * self.unit if body.colour else 2.5 * self.unit
            paint(self.pixel(body.place), self.half(body), body.colour, body.outline, thick)
        anchors = {body.name: self.anchor(body) for body in scene.bodies}
        if scene.action:
            anchors[scene.action[0]] = self._dial(*scene.action)
        if scene.whole:
            self._whole(*scene.whole)
        goal = next(body for body in scene.bodies if body.name == outcome)
        for colour, names in overlays.items():
            for name in names:
                self._arrow(colour, anchors[name], anchors[outcome], self.half(goal), loop=name == outcome)
        self._labels(18 * self.unit if overlays else 0.0)
        self._legend(overlays)
        for number, line in enumerate(reversed(caption)):
            at = canvas.height - 6 - (number + 0.5) * canvas.line
            canvas.text((8, at), canvas.shorten(line, canvas.width - 16), "lm")
        return canvas.pixels()

    def _arrow(self, colour: str, start: Point, end: Point, half: Point, *, loop: bool) -> None:
        """Bend true causes upwards and predicted ones downwards, so that neither hides the other."""
        side = 1 if colour == TRUE else -1
        if loop:
            radius = min(max(0.4 * max(half), 12 * self.unit), 15 * self.unit)
            turn = np.radians(np.linspace(100, 350, 40))
            corner = end[0] - side * max(half[0], radius) * 0.9, end[1] - max(half[1], radius) * 0.9
            path = np.stack([corner[0] + side * radius * np.cos(turn), corner[1] + radius * np.sin(turn)], axis=1)
        else:
            first, last = np.array(start), np.array(end)
            along = last - first
            length = float(np.hypot(*along))
            ahead = along / length if length > 1 else np.array([1.0, 0.0])
            up = np.array([ahead[1], -ahead[0]]) * (1 if ahead[0] >= 0 else -1)
            bend = (first + last) / 2 + side * up * max(0.3 * length + 24 * self.unit, 90 * self.unit - length)
            t = np.linspace(0, 1, 81)[:, None]
            path = (1 - t) ** 2 * first + 2 * t * (1 - t) * bend + t**2 * last
            outside = np.flatnonzero((np.abs(path - last) > np.multiply(half, 0.7)).any(axis=1))
            path = path[: max(int(outside[-1]) + 1, 6)] if len(outside) else path
        points = [(float(x), float(y)) for x, y in path]
        self.canvas.arrow(points, colour, 2.6 * self.unit, dashed=colour == PREDICTED)

    def _labels(self, loops: float) -> None:
        """Write the names; those above a body leave room for the loops."""
        canvas, lane = self.canvas, 0
        for body in self.scene.bodies:
            x, y = self.pixel(body.place)
            half = self.half(body)
            name = body.text or body.name
            if body.label == LANE:
                at = self.head + self.up + (lane + 0.75) * canvas.line
                lane += 1
                seen, _ = self.anchor(body)
                if seen == x:
                    canvas.path([(x, y + half[1] + 1), (x, at - canvas.line / 2)], EDGE, self.unit)
                far = f"< {name}" if x < seen else f"{name} >" if x > seen else name
                canvas.text((seen, at), far)
            elif body.label in (FOOT, TOP):
                inside = max(half[1] - canvas.line * 0.6, 0)
                canvas.text((x, y + (inside if body.label == FOOT else -inside)), name, rim=body.colour or FIELD)
            elif body.label == MIDDLE:
                canvas.text((x, y), name, colour=INK if body.colour else EDGE, rim=body.colour or FIELD)
            else:
                away = half[1] + canvas.line * 0.6
                canvas.text((x, y + (away if body.label == UNDER else -away - loops)), name)

    def _dial(self, name: str, way: Point) -> Point:
        """Draw the action as a pointer in a circle; return where its arrows begin."""
        radius = self.head * 0.36
        centre = (8 * self.unit + radius, self.head / 2)
        self.canvas.disc(centre, (radius, radius), FIELD)
        tip = tuple(centre[i] + radius * float(np.clip(way[i], -1, 1)) * 0.85 * (1 - 2 * i) for i in (0, 1))
        self.canvas.path([centre, (tip[0], tip[1])], INK, 2 * self.unit)
        dot = (3 * self.unit, 3 * self.unit)
        self.canvas.disc((tip[0], tip[1]), dot, INK, INK)
        self.canvas.text((centre[0] + radius + 6 * self.unit, self.head / 2), name, "lm")
        return centre[0], centre[1] + radius

    def _whole(self, low: float, high: float) -> None:
        """Draw all bodies on a line that shows the whole world, and what of it is seen above."""
        canvas, y = self.canvas, self.below + 22 * self.unit
        left, right = 30 * self.unit, canvas.width - 34 * self.unit

        def along(x: float) -> float:
            return left + (right - left) * min(max((x - low) / (high - low), 0.0), 1.0)

        seen = along(self.scene.view[0]), along(self.scene.view[2])
        canvas.box((sum(seen) / 2, y), ((seen[1] - seen[0]) / 2, 12 * self.unit), FIELD)
        canvas.path([(left, y), (right, y)], INK, 2 * self.unit)
        for body in self.scene.bodies:
            canvas.box((along(body.place[0]), y), (3 * self.unit, 7 * self.unit), body.colour)
        canvas.text((left - 6 * self.unit, y), f"{low:g}", "rm")
        canvas.text((right + 6 * self.unit, y), f"{high:g}", "lm")

    def _legend(self, overlays: Mapping[str, Sequence[str]]) -> None:
        canvas = self.canvas
        right = canvas.width - 8 * self.unit
        wide = canvas.measure("predicted cause")
        for row, colour in enumerate(overlays):
            y = self.head * (0.5 if len(overlays) == 1 else 0.27 + 0.46 * row)
            text = right - wide
            line = [(float(x), y) for x in np.linspace(text - 52 * self.unit, text - 10 * self.unit, 20)]
            canvas.arrow(line, colour, 2 * self.unit, dashed=colour == PREDICTED)
            canvas.text((text, y), "true cause" if colour == TRUE else "predicted cause", "lm")


def _even(length: float) -> int:
    """Films want even sides."""
    return 2 * round(length / 2)
