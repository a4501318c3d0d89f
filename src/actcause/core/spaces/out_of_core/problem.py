"""What is asked of every state of a space, and how a part of the space is built without the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from ....errors import QueryError, TooLargeError, blaming
from ...counting import read_outcome
from ...expression import Array, Expression, Name
from ...model import Model
from ...query import as_share
from ...ranges import pick_rows
from ...text import parse_formula
from ..preimages import HALF
from ..state_space import StateSpace

# A share's numerator (up to 10**9) times a number of assignments stays an exact 64-bit integer.
MOST_ASSIGNMENTS = 1 << 32
# States times variables from which on parts are better than the whole, which takes half a GiB or more there.
LARGE = 1 << 24


def large(model: Model) -> bool:
    """Return whether a model has so many states that they had better be solved in parts."""
    return model.context_count * len(model.variables) > LARGE


def divisible(alpha_sufficiency: float | Fraction | str | None) -> bool:
    """Return whether states can be solved in parts: they do not compete where this share is under 1/2."""
    share = as_share("alpha_sufficiency", alpha_sufficiency)
    return share is not None and share < HALF


@dataclass(frozen=True, eq=False)
class Problem:
    """A model, the formula of its outcome, a restriction of its contexts, and the shares (sufficiency under 1/2).

    Contexts are numbered, the last root varying fastest. `inputs` are the state variables that the outcome reads when
    all of them are set by hand, `exogenous` the roots that it reads and that no intervention sets.
    """

    model: Model
    outcome: str
    formula: Expression
    where: Expression | None
    sufficiency: Fraction
    necessity: Fraction | None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        own = set(self.formula.names())
        return tuple(name for name in self.model.endogenous if name not in own)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name in self.variables if name in self._read)

    @cached_property
    def exogenous(self) -> tuple[str, ...]:
        return tuple(name for name in self.model.roots if name in self._read and name not in self.variables)

    @cached_property
    def _read(self) -> set[str]:
        return self.model.reads(self.formula.names(), set(self.variables))

    @cached_property
    def influential(self) -> set[str]:
        """The variables that can change the outcome at all."""
        return self.model.ancestors(self.formula.names())

    @property
    def kinds(self) -> int:
        """How many outcomes there are at most."""
        if isinstance(self.formula, Name):
            return len(self.model.ranges[self.formula.name])
        return 2 if self.formula.boolean else MOST_ASSIGNMENTS

    def assignments(self, names: Sequence[str]) -> int:
        """Count the assignments of these variables."""
        return prod(len(self.model.ranges[name]) for name in names)

    def find_kept(self, held: set[str]) -> tuple[str, ...]:
        """Return what keeps its values when these state variables are held, of what the outcome reads."""
        return (*self.exogenous, *(name for name in self.inputs if name in held))

    def find_varied(self, kept: Sequence[str]) -> tuple[str, ...]:
        """Return what takes all its values while these are kept."""
        return tuple(name for name in self.inputs if name not in kept)

    def columns(self, names: Sequence[str], numbers: Array) -> dict[str, Array]:
        r"""Return the assignments of these numbers, the last variable varying fastest.

        >>> from actcause import Model
        >>> problem = Problem.of(Model.from_text("A in 0..2\nB\nC = A and B"), "C", None, Fraction(0), None)
        >>> {name: column.tolist() for name, column in problem.columns(("A", "B"), np.arange(2, 5)).items()}
        {'A': [1, 1, 2], 'B': [0, 1, 0]}
        """
        tables = [np.asarray(self.model.ranges[name], dtype=np.int64) for name in names]
        return dict(zip(names, pick_rows(tables, numbers), strict=True))

    def number(self, context: Mapping[str, int]) -> int:
        """Return the number of a context."""
        number = 0
        for name, value in self.model.check_context(context).items():
            values = self.model.ranges[name]
            number = number * len(values) + values.index(value)
        return number

    def results(self, columns: Mapping[str, Array], shape: tuple[int, ...]) -> Array:
        """Return the outcome when what it reads is set by these columns, which broadcast to the shape."""
        return read_outcome(self.model, self.formula, self.exogenous, columns, shape)

    @classmethod
    def of(
        cls,
        model: Model,
        outcome: str | Expression,
        where: str | Expression | None,
        sufficiency: Fraction | None,
        necessity: Fraction | None,
    ) -> Problem:
        """Put a problem together, if it can be solved part by part."""
        if sufficiency is None or sufficiency >= HALF:
            raise QueryError(
                "States are independent of each other only where {parameter} is under 1/2; "
                "give one, or use a space that fits in memory.",
                parameter="alpha_sufficiency",
            )
        with blaming("outcome"):
            formula = parse_formula(outcome, model.ranges) if isinstance(outcome, str) else outcome
        with blaming("where"):
            kept = parse_formula(where, model.ranges) if isinstance(where, str) else where
            if kept is not None:
                model.check_formula(kept)
        # One context is enough to have everything else checked.
        first = {name: model.ranges[name][0] for name in model.roots}
        space = StateSpace.from_model(model, formula, context=first)
        name = outcome if isinstance(outcome, str) and outcome in model.ranges else space.outcome
        problem = cls(model, name, formula, kept, sufficiency, necessity)
        read = problem.assignments((*problem.exogenous, *problem.inputs))
        if max(read, model.context_count) > MOST_ASSIGNMENTS:
            raise TooLargeError(
                f"The outcome reads {read:,} combinations of values in {model.context_count:,} contexts; "
                f"at most {MOST_ASSIGNMENTS:,} of each are looked at. Use smaller ranges or fewer roots."
            )
        return problem
