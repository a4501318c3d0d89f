"""Boolean networks in the BNET format of BoolNet and PyBoolNet: a line `target, formula` for each variable.

A line `A, A` is an input: a root. A network without cycles is read as equations: the values to which it settles once
its inputs are held.
"""

import re
from collections.abc import Mapping

from ..core.expression import Expression
from ..core.model import Model
from ..core.parser import Declaration
from ..errors import ModelError, ParseError, escape
from .boolean_form import boolean_form, check_boolean
from .declared_ranges import build_boolean
from .formulas import find_words, read_formula, write_formula
from .imported import Imported
from .names import describe_renaming, make_label, rename

HEADER = re.compile(r"targets\s*,\s*(factors|functions)", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = frozenset({"true", "false", "targets"})


def read_bnet(text: str) -> Imported:
    """Read a Boolean network."""
    lines = _split(text)
    names = rename([*lines, *(word for _, _, formula in lines.values() for word in find_words(formula))])
    inputs = [word for word in names if word not in lines]
    formulas: dict[str, Expression | None] = dict.fromkeys(inputs)
    for target, (line, column, formula) in lines.items():
        formulas[target] = None if formula.strip() == target else read_formula(formula, names, line, column)
    _check_acyclic(lines, formulas)
    declarations = [
        Declaration(names[word], expression=formula, label=make_label(word) if names[word] != word else None)
        for word, formula in formulas.items()
    ]
    notes = list(describe_renaming(names))
    if inputs:
        notes.append(f"Without a line of their own, and so roots: {', '.join(inputs[:10])}.")
    return Imported(build_boolean(declarations), notes=tuple(notes))


def _split(text: str) -> dict[str, tuple[int, int, str]]:
    """Split a file into targets, each with its line, column and formula."""
    lines: dict[str, tuple[int, int, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0]
        if not content.strip() or (not lines and HEADER.fullmatch(content.strip())):
            continue
        target, comma, formula = content.partition(",")
        if not comma or not target.strip() or not formula.strip() or find_words(target) != [target.strip()]:
            wrong = "expected 'target, formula', such as 'CycE, E2F & !Rb'"
            raise ParseError(wrong, line=number, column=1, source=line)
        if target.strip() in lines:
            wrong = f"{target.strip()} has two lines, first line {lines[target.strip()][0]}"
            raise ParseError(wrong, line=number, column=1, source=line)
        lines[target.strip()] = number, len(target) + 2, formula
    if not lines:
        raise ParseError("the file has no line 'target, formula'", line=1, column=1, source="")
    return lines


def _check_acyclic(lines: Mapping[str, tuple[int, int, str]], formulas: Mapping[str, Expression | None]) -> None:
    cycle = find_cycle({word: find_words(lines[word][2]) if formulas[word] is not None else [] for word in formulas})
    if cycle:
        shown = " -> ".join(map(escape, cycle[:8])) + (" -> ..." if len(cycle) > 8 else "")
        line = lines[cycle[0]][0]
        wrong = f"the network has a cycle, {shown}, and equations cannot; unroll it over time first"
        raise ParseError(wrong, line=line, column=1, source="")


def find_cycle(parents: Mapping[str, list[str]]) -> list[str]:
    """Find a way from a variable back to itself along parents; empty where there is none.

    >>> find_cycle({"A": ["B"], "B": ["C"], "C": ["A"], "D": ["A"]})
    ['A', 'C', 'B', 'A']
    """
    done: set[str] = set()
    for start in parents:
        path, stack = dict[str, None](), [(start, iter(parents[start]))]
        while stack and start not in done:
            here, rest = stack[-1]
            path.setdefault(here)
            above = next((parent for parent in rest if parent not in done), None)
            if above is None:
                done.add(here)
                path.pop(here)
                stack.pop()
            elif above in path:
                way = list(path)[list(path).index(above) :]
                return [above, *reversed(way)]
            else:
                stack.append((above, iter(parents[above])))
    return []


def write_bnet(model: Model) -> str:
    """Write a Boolean model; a root is an input, a line `A, A`."""
    check_boolean(model, "BNET")
    lines = ["targets, factors"]
    for name in model.variables:
        if not WORD.fullmatch(name) or name in RESERVED:
            raise ModelError(f"BNET has names of letters, digits and '_'; rename {name}.")
        if name in model.exogenous:
            raise ModelError(f"BNET cannot say that {name} is exogenous; declare it as a root.")
        formula = name
        if name in model.equations:
            formula = write_formula(boolean_form(model, name), negation="!", false="0", true="1")
        lines.append(f"{name}, {formula}")
    return "\n".join([*lines, ""])
