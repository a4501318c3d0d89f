"""Bayesian networks in the Interchange Format (BIF): structure with tables.

A table that is certain, all 0 and 1, becomes an equation. A variable without parents becomes a root, its table the
prior. Every other table becomes an equation with one more parent, an exogenous root of noise. Its values are the parts
into which the cumulative probabilities of all rows cut the interval from 0 to 1; in a row, the variable has the value
in whose interval the noise lies. Each row then has exactly its probabilities. This is one of many models with these
tables (the one in which higher noise never gives an earlier value), and counterfactuals depend on that choice.
"""

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, product
from math import prod

from ..core.expression import Number
from ..core.parser import Declaration
from ..errors import ModelError
from .bif_parser import BifParser, Table, Variable
from .declared_ranges import build_model
from .imported import Imported
from .names import describe_renaming, make_label, rename
from .tables import MAX_ROWS, express

TRUTHS = {"true": 1, "false": 0, "yes": 1, "no": 0, "on": 1, "off": 0, "t": 1, "f": 0, "present": 1, "absent": 0}
# The properties by which our own files mark what is never a cause, and what no context sets.
EXOGENOUS, CONSTANT = "exogenous", "constant"
MAX_NOISE = 1_000  # values of one noise
NOISE = "noise_"


def read_bif(text: str) -> Imported:
    """Read a network."""
    title, variables, tables = BifParser(text).read()
    return _BifReader(title, variables, tables).build()


@dataclass
class _BifReader:
    title: str
    variables: dict[str, Variable]
    tables: dict[str, Table]
    notes: list[str] = field(default_factory=list)
    prior: dict[str, dict[int, Fraction]] = field(default_factory=dict)
    noisy: list[str] = field(default_factory=list)

    def build(self) -> Imported:
        self.names = rename(self.variables)
        self.codes = {name: _encode(variable.states) for name, variable in self.variables.items()}
        declarations = [line for name in self.variables for line in self._declare(name)]
        for name, variable in self.variables.items():
            code = self.codes[name]
            if [str(value) for value in code] != list(variable.states):
                values = ", ".join(f"{value} is {state}" for value, state in zip(code, variable.states, strict=True))
                self.notes.append(f"In {self.names[name]}: {values}.")
        if self.noisy:
            self.notes.append(
                f"Tables that are not certain: {len(self.noisy)}; each has a root of noise, such as {self.noisy[0]}, "
                f"and higher noise never gives an earlier value."
            )
        notes = (*describe_renaming(self.names), *self.notes)
        return Imported(build_model(declarations), self.title, self.prior, notes)

    def _declare(self, name: str) -> list[Declaration]:
        variable, code = self.variables[name], self.codes[name]
        label = variable.label or (name if self.names[name] != name else "")
        plain = Declaration(self.names[name], tuple(sorted(code)), label=make_label(label))
        table = self.tables.get(name)
        if table is None:
            raise ModelError(f"There is no probability of {name}; add 'probability ( {name} ) {{ ... }}'.")
        rows = self._rows(name, table)
        if not table.parents and CONSTANT in variable.properties and 1 in rows[0]:
            return [replace(plain, expression=Number(code[rows[0].index(Fraction(1))]))]
        if not table.parents:
            self.prior[plain.name] = dict(sorted(zip(code, rows[0], strict=True)))
            return [replace(plain, exogenous=EXOGENOUS in variable.properties)]
        parents = {self.names[parent]: sorted(self.codes[parent]) for parent in table.parents}
        if not all(1 in row for row in rows):
            noise, values = self._add_noise(name, rows)
            parts = range(len(self.prior[noise]))
            table_with_noise = express([*parents, noise], [*parents.values(), parts], values)
            return [Declaration(noise, tuple(parts), exogenous=True), replace(plain, expression=table_with_noise)]
        certain = [code[row.index(Fraction(1))] for row in rows]
        return [replace(plain, expression=express(list(parents), list(parents.values()), certain))]

    def _add_noise(self, name: str, rows: list[list[Fraction]]) -> tuple[str, list[int]]:
        """Cut the interval from 0 to 1 where any row does; return the noise's name, and the values by row and part."""
        sums = [list(accumulate(row)) for row in rows]
        ends = sorted({end for row in sums for end in row if end > 0})
        if len(ends) > MAX_NOISE or len(ends) * len(rows) > MAX_ROWS:
            raise ModelError(
                f"The table of {name} needs a noise of {len(ends):,} values in {len(rows):,} rows; at most "
                f"{MAX_NOISE:,} values and {MAX_ROWS:,} of both together are read."
            )
        noise = _find_free_name(NOISE + self.names[name], set(self.names.values()))
        self.noisy.append(noise)
        starts = [Fraction(0), *ends[:-1]]
        self.prior[noise] = {part: end - start for part, (start, end) in enumerate(zip(starts, ends, strict=True))}
        code = self.codes[name]
        return noise, [code[bisect_right(row, start)] for row in sums for start in starts]

    def _rows(self, name: str, table: Table) -> list[list[Fraction]]:
        """List the rows in the order of the parents' sorted codes, each with the states in the order of the file."""
        states = len(self.variables[name].states)
        parents = [self.variables[parent] for parent in table.parents]
        count = prod(len(parent.states) for parent in parents)
        if count * states > MAX_ROWS:
            raise ModelError(f"The table of {name} has {count * states:,} entries; at most {MAX_ROWS:,} are read.")
        given = table.rows(self.variables, states)
        order = [
            [s for _, s in sorted(zip(self.codes[p], self.variables[p].states, strict=True))] for p in table.parents
        ]
        return [given[assignment] for assignment in product(*order)]


def _encode(states: tuple[str, ...]) -> list[int]:
    """Give states their values: numbers are themselves, truths 0 and 1, others are counted."""
    try:
        numbers = [int(state) for state in states]
        if len(set(numbers)) == len(numbers):
            return numbers
    except ValueError:
        pass
    truths = [TRUTHS.get(state.lower()) for state in states]
    if len(states) == 2 and None not in truths and len(set(truths)) == 2:
        return [truth for truth in truths if truth is not None]
    return list(range(len(states)))


def _find_free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
