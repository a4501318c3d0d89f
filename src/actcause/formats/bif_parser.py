"""The grammar of BIF: `network`, `variable` and `probability` blocks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import NoReturn

from ..errors import ParseError, escape, suggest

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"|[{}()\[\];,|]|[^\s{}()\[\];,|"]+|"', re.DOTALL)
NUMBER = re.compile(r"(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d{1,3})?")
TOLERANCE = Fraction(1, 100)  # by which the numbers of a row may miss 1: tables are printed with few digits
MAX_VARIABLES = 100_000
MAX_STATES = 1_000
END = ""


@dataclass
class Variable:
    """A variable: its states in the order of the file, and its properties."""

    states: tuple[str, ...]
    properties: tuple[str, ...] = ()
    label: str = ""


@dataclass
class Table:
    """What a variable's `probability` block says: rows by the parents' states, one for all, or a default."""

    name: str
    parents: tuple[str, ...]
    line: int
    entries: dict[tuple[str, ...], list[Fraction]] = field(default_factory=dict)
    table: list[Fraction] | None = None
    default: list[Fraction] | None = None

    def rows(self, variables: Mapping[str, Variable], states: int) -> dict[tuple[str, ...], list[Fraction]]:
        """Return a row of shares that sum to 1 for every assignment of the parents."""
        assignments = list(product(*(variables[parent].states for parent in self.parents)))
        rows = dict(self.entries)
        if self.table is not None:
            if len(self.table) != states * len(assignments):
                self.fail(f"the table of {self.name} needs {states * len(assignments)} numbers, got {len(self.table)}")
            # In `table` the states of the variable itself vary slowest.
            rows = {a: self.table[i :: len(assignments)] for i, a in enumerate(assignments)}
        for assignment in assignments:
            row = rows.get(assignment, self.default)
            if row is None:
                self.fail(f"the probability of {self.name} has no row for ({', '.join(assignment)})")
            if len(row) != states:
                self.fail(f"a row of {self.name} needs {states} numbers, got {len(row)}")
            total = sum(row, Fraction(0))
            if abs(total - 1) > TOLERANCE:
                self.fail(f"the numbers of a row of {self.name} must sum to 1, got {float(total):g}")
            rows[assignment] = [share / total for share in row]
        return rows

    def fail(self, message: str) -> NoReturn:
        raise ParseError(message, line=self.line, column=1, source="")


class BifParser:
    """Reads the blocks of a file one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = [match for match in TOKEN.finditer(text) if not match[0].startswith(("/*", "//"))]
        self.tokens = [match[0] for match in found] + [END]
        self.starts = [match.start() for match in found] + [len(text)]
        self.at = 0
        self.variables: dict[str, Variable] = {}
        self.tables: dict[str, Table] = {}

    def read(self) -> tuple[str, dict[str, Variable], dict[str, Table]]:
        """Return the network's name, its variables and their tables."""
        title = ""
        while self.tokens[self.at] != END:
            match self.tokens[self.at]:
                case "network":
                    self.at += 1
                    title = self.word("a name for the network") if self.tokens[self.at] != "{" else ""
                    self.properties()
                case "variable":
                    self.variable()
                case "probability":
                    self.probability()
                case _:
                    self.fail_expecting("'network', 'variable' or 'probability'")
        if not self.variables:
            self.fail("the file has no variable")
        return title, self.variables, self.tables

    # -- blocks --------------------------------------------------------------------------------

    def properties(self) -> list[str]:
        """Read a block of nothing but properties."""
        found = []
        self.take("{")
        while self.tokens[self.at] != "}":
            found.append(self.property())
        self.at += 1
        return found

    def property(self) -> str:
        if self.tokens[self.at] != "property":
            self.fail_expecting("'property' or '}'")
        self.at += 1
        words = []
        while self.tokens[self.at] not in (";", END):
            words.append(self.tokens[self.at].strip('"'))
            self.at += 1
        self.take(";")
        return " ".join(words)

    def variable(self) -> None:
        start = self.at
        self.at += 1
        name = self.word("a variable's name")
        if name in self.variables:
            self.fail(f"{name} is declared twice", start + 1)
        if len(self.variables) >= MAX_VARIABLES:
            self.fail(f"more than {MAX_VARIABLES:,} variables")
        states: tuple[str, ...] | None = None
        properties = []
        self.take("{")
        while self.tokens[self.at] != "}":
            if self.tokens[self.at] == "type":
                states = self.type()
            else:
                properties.append(self.property())
        self.at += 1
        if states is None:
            self.fail(f"{name} needs a type, such as 'type discrete [ 2 ] {{ no, yes }};'", start)
        labels = [text.partition(" ")[2] for text in properties if text.startswith("label ")]
        self.variables[name] = Variable(states, tuple(properties), labels[0] if labels else "")

    def type(self) -> tuple[str, ...]:
        self.at += 1
        self.take("discrete")
        self.take("[")
        count = self.tokens[self.at]
        if not (count.isdecimal() and count.isascii() and 0 < int(count[:9]) <= MAX_STATES):
            self.fail_expecting(f"a number of states from 1 to {MAX_STATES}")
        self.at += 1
        self.take("]")
        self.take("{")
        states = self.list("}", "a state")
        self.take(";")
        if len(states) != int(count):
            self.fail(f"{count} states were announced, got {len(states)}")
        if len(set(states)) != len(states):
            self.fail("a state stands twice")
        return tuple(states)

    def probability(self) -> None:
        line = self.position(self.at)[0]
        self.at += 1
        self.take("(")
        name = self.variable_name()
        if name in self.tables:
            self.fail(f"the probability of {name} is given twice", self.at - 1)
        parents = []
        if self.tokens[self.at] == "|":
            self.at += 1
            parents = [self.variable_name()]
            while self.tokens[self.at] == ",":
                self.at += 1
                parents.append(self.variable_name())
        self.take(")")
        table = Table(name, tuple(parents), line)
        self.take("{")
        while self.tokens[self.at] != "}":
            self.row(table)
        self.at += 1
        self.tables[name] = table

    def row(self, table: Table) -> None:
        token = self.tokens[self.at]
        if token == "property":
            self.property()
        elif token in ("table", "default"):
            self.at += 1
            setattr(table, token, self.numbers())
        elif token == "(":
            self.at += 1
            start = self.at
            states = self.list(")", "a state of a parent")
            expected = [self.variables[parent].states for parent in table.parents]
            if len(states) != len(expected):
                self.fail(f"expected a state for each of {len(expected)} parents, got {len(states)}", start)
            for state, known, parent in zip(states, expected, table.parents, strict=True):
                if state not in known:
                    self.fail(f"{parent} has no state '{escape(state[:40])}'{suggest(state, known)}", start)
            table.entries[tuple(states)] = self.numbers()
        else:
            self.fail_expecting("'table', 'default' or '(' with the parents' states")

    # -- parts ---------------------------------------------------------------------------------

    def numbers(self) -> list[Fraction]:
        found = []
        while self.tokens[self.at] != ";":
            if not NUMBER.fullmatch(self.tokens[self.at]):
                self.fail_expecting("a number or ';'")
            found.append(Fraction(self.tokens[self.at]))
            self.at += 1
            if self.tokens[self.at] == ",":
                self.at += 1
        self.at += 1
        return found

    def list(self, end: str, what: str) -> list[str]:
        words = [self.word(what)]
        while self.tokens[self.at] == ",":
            self.at += 1
            words.append(self.word(what))
        self.take(end)
        return words

    def word(self, what: str) -> str:
        token = self.tokens[self.at]
        if token in ("{", "}", "(", ")", "[", "]", ";", ",", "|", '"', END):
            self.fail_expecting(what)
        self.at += 1
        return token.strip('"')

    def variable_name(self) -> str:
        name = self.word("a variable's name")
        if name not in self.variables:
            self.fail(f"unknown variable '{escape(name[:60])}'{suggest(name, list(self.variables))}", self.at - 1)
        return name

    def take(self, token: str) -> None:
        if self.tokens[self.at] != token:
            self.fail_expecting(f"'{token}'")
        self.at += 1

    # -- errors --------------------------------------------------------------------------------

    def position(self, at: int) -> tuple[int, int]:
        before = self.text[: self.starts[at]]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        line, column = self.position(self.at if at is None else at)
        raise ParseError(message, line=line, column=column, source="")

    def fail_expecting(self, what: str) -> NoReturn:
        token = self.tokens[self.at]
        self.fail(f"expected {what}, got " + ("the end of the file" if token == END else f"'{escape(token[:40])}'"))
