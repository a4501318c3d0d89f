"""Causal models in the style of HP2SAT's files: JSON with `exos`, and `endos` that have a name and a formula.

A root that can be a cause is written as HP2SAT wants it: an endogenous variable `A` whose formula is an exogenous one
of its own, `A_exo`. Reading joins the two again.
"""

import json
import re
from typing import Any

from ..core.model import Model
from ..core.parser import Declaration
from ..errors import ModelError, ParseError, escape, quote
from .boolean_form import boolean_form, check_boolean
from .declared_ranges import build_boolean
from .formulas import find_words, read_formula, write_formula
from .imported import Imported
from .names import describe_renaming, make_label, rename

WORD = re.compile(r"[A-Za-z0-9_]+")
OWN = "_exo"  # what the exogenous variable of a root ends in


def read_hp2sat(text: str) -> Imported:
    """Read a causal model."""
    title, exos, endos = _load(text)
    words = [word for formula in endos.values() for word in find_words(formula)]
    own = {
        name: exo
        for name, formula in endos.items()
        if (exo := formula.strip()) in exos and exo.lower() == f"{name}{OWN}".lower() and words.count(exo) == 1
    }
    joined = set(own.values())
    names = rename([*(exo for exo in exos if exo not in joined), *endos])
    declarations = [
        Declaration(names[exo], exogenous=True, label=_label(exo, names)) for exo in exos if exo not in joined
    ]
    for name, formula in endos.items():
        expression = None if name in own else _read(name, formula, names)
        declarations.append(Declaration(names[name], expression=expression, label=_label(name, names)))
    return Imported(build_boolean(declarations), title, notes=describe_renaming(names))


def _label(name: str, names: dict[str, str]) -> str | None:
    return make_label(name) if names[name] != name else None


def _read(name: str, formula: str, names: dict[str, str]) -> Any:
    try:
        return read_formula(formula, names, 1)
    except ParseError as error:
        raise ModelError(f"In the formula of {escape(name)}: {error.reason}.") from None


def _load(text: str) -> tuple[str, list[str], dict[str, str]]:
    """Take the file apart, and refuse what is not of its form."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        wrong = f"this is not JSON: {error.msg}"
        raise ParseError(wrong, line=error.lineno, column=error.colno, source="") from None
    except RecursionError:
        raise ModelError("The JSON is nested too deep for a causal model.") from None
    if not isinstance(document, dict):
        raise ModelError(f"Expected a JSON object with 'exos' and 'endos'; got {quote(document)}.")
    exos, endos = document.get("exos", []), document.get("endos")
    if not isinstance(exos, list) or not all(isinstance(exo, str) and WORD.fullmatch(exo) for exo in exos):
        raise ModelError("'exos' must be a list of names.")
    if not isinstance(endos, list) or not all(map(_is_endo, endos)):
        raise ModelError("'endos' must be a list of objects with a 'name' and a 'formula'.")
    formulas = {endo["name"]: endo["formula"] for endo in endos}
    if len(formulas) != len(endos) or len({*exos, *formulas}) != len(exos) + len(endos):
        raise ModelError("'exos' and 'endos' must have every name once.")
    title = document.get("name", "")
    return title if isinstance(title, str) else "", exos, formulas


def _is_endo(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("formula"), str)
        and isinstance(value.get("name"), str)
        and WORD.fullmatch(value["name"]) is not None
    )


def write_hp2sat(model: Model, title: str = "") -> str:
    """Write a Boolean model."""
    check_boolean(model, "HP2SAT")
    exos, endos = [], []
    for name in model.variables:
        if not WORD.fullmatch(name):
            raise ModelError(f"HP2SAT has names of letters, digits and '_'; rename {name}.")
        if name in model.exogenous:
            exos.append(name)
            continue
        own = f"{name}{OWN}"
        if name not in model.equations and own in model.ranges:
            raise ModelError(f"HP2SAT needs {own} for the root {name}, but the model has a variable of that name.")
        if name not in model.equations:
            exos.append(own)
        form = own if name not in model.equations else _formula(model, name)
        endos.append({"name": name, "formula": form})
    head = json.dumps({"name": title or "model", "exos": exos})[:-1]
    return head + ', "endos": [\n  ' + ",\n  ".join(map(json.dumps, endos)) + "\n]}\n"


def _formula(model: Model, name: str) -> str:
    return write_formula(boolean_form(model, name), negation="~", false="$false", true="$true")
