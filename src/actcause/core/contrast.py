"""Contrast: why this *rather than that*? What a contrast, or a rule, must be to make sense."""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from ..errors import QueryError
from .expression import Expression
from .model import Model
from .ranges import grids

# Past this many combinations of values a contrast is taken as given; a witness must undo the effect all the same.
LOOKED_AT = 1 << 20
FEW = 8  # are tried one by one: there may be a thousand rules


def can_hold(model: Model, formula: Expression, names: Sequence[str] | None = None) -> bool:
    r"""Return whether some values of a formula's variables make it true; too many combinations are not looked at.

    >>> from .text import parse_formula
    >>> model = Model.from_text("A\nY in 0..2 = 2 * A")
    >>> can_hold(model, parse_formula("Y == A")), can_hold(model, parse_formula("Y == 7"))
    (True, False)
    """
    names = formula.names() if names is None else names
    ranges = [model.ranges[name] for name in names]
    count = prod(map(len, ranges))
    if count <= FEW:
        return any(formula.value(dict(zip(names, values, strict=True))) for values in product(*ranges))
    everywhere = np.asarray(True)
    return count > LOOKED_AT or any(
        bool(np.any(formula.array(dict(zip(names, columns, strict=True)), everywhere) != 0))
        for columns in grids(ranges)
    )


def check_contrast(model: Model, effect: Expression, contrast: Expression) -> None:
    r"""Refuse a contrast that can hold together with the effect, or that can never hold.

    >>> from .text import parse_formula
    >>> model = Model.from_text("A\nY in 0..2 = 2 * A")
    >>> check_contrast(model, parse_formula("Y == 2"), parse_formula("Y == 1"))
    """
    names = tuple(dict.fromkeys((*effect.names(), *contrast.names())))
    ranges = [model.ranges[name] for name in names]
    if prod(map(len, ranges)) > LOOKED_AT:
        return
    possible = False
    for columns in grids(ranges):
        env = dict(zip(names, columns, strict=True))
        shape = columns[0].shape if columns else ()
        holds = np.broadcast_to(contrast.array(env, np.asarray(True)) != 0, shape)
        possible |= bool(holds.any())
        both = np.flatnonzero(holds & (effect.array(env, holds) != 0))
        if len(both):
            example = ", ".join(f"{name}={int(column[both[0]])}" for name, column in env.items())
            wrong = "The contrast must rule the effect out; '{contrast}' and '{effect}' both hold at {example}."
            raise QueryError(wrong, parameter="contrast", contrast=contrast, effect=effect, example=example)
    if not possible:
        wrong = "The contrast '{contrast}' can never hold; name something that could have happened instead."
        raise QueryError(wrong, parameter="contrast", contrast=contrast)
