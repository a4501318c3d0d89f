"""Boolean networks in the BNET format of BoolNet and PyBoolNet: a line `target, formula` for each variable.

A line `A, A` is an input: a root. A network without cycles is read as equations: the values to which it settles once
its inputs are held. One with cycles has no such values: a line gives the next value of its variable, and the network is
unrolled over synchronous steps.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from ..core.expression import Expression
from ..core.model import Model
from ..core.parser import Declaration
from ..core.steps import PRIME
from ..errors import ModelError, ParseError, escape
from .boolean_form import boolean_form, check_boolean
from .declared_ranges import build_boolean
from .formulas import find_words, read_formula, write_formula
from .imported import Imported
from .names import describe_renaming, make_label, rename

HEADER = re.compile(r"targets\s*,\s*(factors|functions)", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = frozenset({"true", "false", "targets"})


def read_bnet(text: str, steps: int | None = None) -> Imported:
    """Read a Boolean network; with `steps`, unroll so many synchronous steps."""
    lines = _split(text)
    words = [*lines, *(word for _, _, formula in lines.values() for word in find_words(formula))]
    inputs = {word: None for word in words if word not in lines or lines[word][2].strip() == word}
    network = _Network({word: line for word, line in lines.items() if word not in inputs}, list(inputs))
    if steps is None:
        network.check_acyclic()
    model, names = network.build() if steps is None else network.unroll(steps)
    notes = list(describe_renaming(names))
    mentioned = [word for word in inputs if word not in lines]
    if mentioned:
        notes.append(f"Without a line of their own, and so roots: {', '.join(mentioned[:10])}.")
    if steps is not None:
        notes.append("The number after @ is the step; step 0 is the first state, and inputs stay as they are.")
    return Imported(model, notes=tuple(notes))


@dataclass(frozen=True)
class _Network:
    """The lines of a file without those of inputs, and the inputs."""

    lines: Mapping[str, tuple[int, int, str]]
    inputs: list[str]

    def build(self) -> tuple[Model, dict[str, str]]:
        """Build the equations of a network without cycles."""
        names = rename([*self.inputs, *self.lines])
        declarations = [_declare(word, names[word]) for word in self.inputs]
        for word, (line, column, formula) in self.lines.items():
            declarations.append(_declare(word, names[word], read_formula(formula, names, line, column)))
        return build_boolean(declarations), names

    def unroll(self, steps: int) -> tuple[Model, dict[str, str]]:
        """Build a model of one step, in which a line gives the next value of its variable, and unroll it."""
        names = rename([*self.inputs, *self.lines], timeless=True)
        declarations = [_declare(word, names[word]) for word in (*self.inputs, *self.lines)]
        for word, (line, column, formula) in self.lines.items():
            declarations.append(Declaration(names[word] + PRIME, expression=read_formula(formula, names, line, column)))
        return build_boolean(declarations).unrolled(steps, constant=[names[word] for word in self.inputs]), names

    def check_acyclic(self) -> None:
        """Refuse a network whose equations would go round."""
        above = {word: find_words(formula) for word, (_, _, formula) in self.lines.items()}
        cycle = find_cycle({word: [one for one in parents if one in above] for word, parents in above.items()})
        if cycle:
            shown = " -> ".join(map(escape, cycle[:8])) + (" -> ..." if len(cycle) > 8 else "")
            wrong = f"the network has a cycle, {shown}; unroll it with steps=N (in the shell --steps N)"
            raise ParseError(wrong, line=self.lines[cycle[0]][0], column=1, source="")


def _declare(word: str, name: str, expression: Expression | None = None) -> Declaration:
    """Declare a variable; a word that had to be changed is kept as its label."""
    return Declaration(name, expression=expression, label=make_label(word) if word != name else None)


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


def find_cycle(parents: Mapping[str, list[str]]) -> list[str]:
    """Find a way from a variable back to itself along parents; empty where there is none.

    >>> find_cycle({"A": ["B"], "B": ["C"], "C": ["A"], "D": ["A"]})
    ['A', 'C', 'B', 'A']
    """
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
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
