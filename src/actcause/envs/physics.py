"""Physics written once, for one world and for thousands: numbers that are floats or arrays over worlds.

One world as an array of one costs a microsecond for every operation; as floats it costs a twentieth. The
operations are the same IEEE ones, so that a world's numbers do not depend on how many are stepped together.

    >>> where(True, 1.0, 2.0), where(np.array([True, False]), 1.0, 2.0).tolist()
    (1.0, [1.0, 2.0])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

import numpy as np

from .base import Array

Number = Any  # a float, or an array (worlds,) of floats
Truth = Any  # a bool, or an array (worlds,) of bools

TOUCH = 1e-9  # what rounding may cost: bodies that overlap by less only touch


def unpack(states: Array) -> Any:
    """Return `[factor][feature]` of the states: a float if there is one world, else an array over the worlds."""
    if len(states) == 1:
        return states[0].tolist()
    views = np.moveaxis(states, 0, -1)
    views.flags.writeable = False  # the states are the caller's
    return views


def where(condition: Truth, yes: Number, no: Number) -> Number:
    """Return `yes` where the condition holds, else `no`."""
    if type(condition) is bool:
        return yes if condition else no
    return np.where(condition, yes, no)


def lesser(one: Number, other: Number) -> Number:
    """Return the lesser of two; `other` may be a float in all worlds."""
    if type(one) is float:
        return other if other < one else one
    return np.minimum(one, other)


def greater(one: Number, other: Number) -> Number:
    """Return the greater of two; `other` may be a float in all worlds."""
    if type(one) is float:
        return other if other > one else one
    return np.maximum(one, other)


def either(truths: Iterable[Truth]) -> Truth:
    """Say in which worlds one of them holds."""
    holds: Truth = False
    for truth in truths:
        holds = holds | truth
    return holds


def anywhere(truth: Truth) -> bool:
    """Say whether it holds in any world."""
    return truth if type(truth) is bool else bool(truth.any())


def worlds_where(truth: Truth) -> Array | slice:
    """Return an index of the worlds in which it holds."""
    return slice(None) if type(truth) is bool else np.flatnonzero(truth)


def gap(ahead: Number, aside: Truth, reach: float) -> Number:
    """Return how far a body can go until it meets one `ahead`, where that is in its way; infinite where it is not."""
    return where(aside & (ahead > 0), greater(ahead - reach, 0.0), inf)


def nudge(
    place: Sequence[Number],
    shift: Sequence[Number],
    bodies: Iterable[tuple[Sequence[Number], Sequence[float], Truth]],
    bounds: tuple[Sequence[float], Sequence[float]],
) -> list[Number]:
    """Return a body's place after a shift, axis by axis, as far as the bounds and solid bodies let it.

    Each of `bodies` is its place, how near on each axis the moving one may come to it, and whether it is there.

    >>> nudge([0.0], [5.0], [([3.0], [1.0], True)], ([-9.0], [9.0]))
    [2.0]
    """
    after = list(place)
    solid = list(bodies)
    for axis, way in enumerate(shift):
        sign = where(way < 0, -1.0, 1.0)
        edge = where(way < 0, after[axis] - bounds[0][axis], bounds[1][axis] - after[axis])
        free = lesser(greater(edge, 0.0), abs(way))
        for other, reach, there in solid:
            aside = there
            for across in range(len(after)):
                if across != axis:
                    aside = aside & (abs(other[across] - after[across]) < reach[across] - TOUCH)
            free = lesser(free, gap((other[axis] - after[axis]) * sign, aside, reach[axis]))
        after[axis] = after[axis] + sign * free
    return after
