"""Models as Bayesian networks in the Interchange Format (BIF): every equation is a table of 0 and 1."""

import re
from fractions import Fraction
from itertools import product

from ..core.model import Model
from ..errors import ModelError
from .bif import CONSTANT, EXOGENOUS
from .imported import Prior
from .tables import tabulate

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_'-]*")


def write_bif(model: Model, title: str = "", prior: Prior | None = None) -> str:
    """Write any model with small tables; roots without a prior are uniform, since the format needs a number."""
    lines = [f"network {re.sub(r'[^A-Za-z0-9_]+', '_', title).strip('_') or 'model'} {{", "}"]
    for name in model.variables:
        if not WORD.fullmatch(name):
            raise ModelError(f"BIF has names of letters, digits, '-' and '_'; rename {name}.")
        values = model.ranges[name]
        lines += [f"variable {name} {{", f"  type discrete [ {len(values)} ] {{ {', '.join(map(str, values))} }};"]
        if name in model.exogenous:
            lines.append(f"  property {EXOGENOUS} ;")
        if name in model.equations and not model.parents(name):
            lines.append(f"  property {CONSTANT} ;")
        if name in model.labels:
            lines.append(f'  property label "{model.labels[name]}" ;')
        lines.append("}")
    for name in model.variables:
        lines += _probability(model, name, prior or {})
    return "\n".join([*lines, ""])


def _probability(model: Model, name: str, prior: Prior) -> list[str]:
    values, parents = model.ranges[name], model.parents(name)
    if name not in model.equations:
        shares = prior.get(name, dict.fromkeys(values, Fraction(1, len(values))))
        row = ", ".join(repr(float(shares.get(value, Fraction(0)))) for value in values)
        return [f"probability ( {name} ) {{", f"  table {row};", "}"]
    given = f"{name} | {', '.join(parents)}" if parents else name
    lines = [f"probability ( {given} ) {{"]
    assignments = product(*(model.ranges[parent] for parent in parents))
    for assignment, value in zip(assignments, tabulate(model, name), strict=True):
        row = ", ".join("1.0" if one == value else "0.0" for one in values)
        lines.append(f"  ({', '.join(map(str, assignment))}) {row};" if parents else f"  table {row};")
    return [*lines, "}"]
