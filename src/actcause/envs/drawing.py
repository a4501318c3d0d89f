"""Pictures of domains, with arrows from the causes to the outcome.

A domain's dynamics know nothing of this: a *scene* says what a world looks like, and `draw` paints any scene. A domain
gets a picture by one function from its state to a scene, listed in `SCENES`. Needs the extra `pictures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import QueryError, quote
from .base import Array, BaseDomain, Domain
from .block_1d import Block1D
from .breakout import ALIVE, Breakout
from .canvas import AGENT, EDGE, GOAL, OUTCOME, PREDICTED, THING, TRUE, Point
from .mover_1d import Mover1D
from .painter import Painter
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
from .scene import FOOT, LANE, OVER, TOP, UNDER, Body, Scene

SIZES = (240, 4096)  # what `size` may be


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
    return Painter(scene, size, len(caption)).paint(domain.outcome, overlays, caption)


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
