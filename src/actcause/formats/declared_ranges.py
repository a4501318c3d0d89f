"""Models in which a range is written only where an equation alone would give another."""

from collections.abc import Iterable
from dataclasses import replace

from ..core.model import Model
from ..core.parser import Declaration
from ..core.ranges import BINARY


def build_model(declarations: Iterable[Declaration]) -> Model:
    r"""Build a model from lines that all have a range, and leave out those that follow.

    >>> from actcause.core.text import parse_formula
    >>> lines = [Declaration("A", (0, 1)), Declaration("B", (0, 1), parse_formula("not A"))]
    >>> str(build_model(lines))
    'A\nB = not A'
    """
    lines = list(declarations)
    wanted = {line.name: line.range for line in lines}
    written: set[str] = set()
    while True:
        bare = [
            line if line.expression is None or line.name in written else replace(line, range=None) for line in lines
        ]
        model = Model.from_declarations(bare)
        others = {name for name, values in model.ranges.items() if values != wanted[name]}
        if not others:
            return model
        written |= others


def build_boolean(declarations: Iterable[Declaration]) -> Model:
    """Build a model in which every variable is 0 or 1."""
    return build_model(replace(line, range=BINARY) for line in declarations)
