"""From equations to clauses: one SAT formula that may hold several copies of a model.

A *domain* is what a variable, or any expression, can be in one copy: a mapping from each value to the
literal that says it has this value, exactly one of which is true. Constants fold away as the formula
is built, so a model in which most variables cannot change costs next to nothing. Arithmetic is never
turned into bits: `P + 2` has the literals of `P`, under other values. `Sat` solves what was written, under the
budget of a search.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Any

from ..arithmetic import Call, Negative, OperatorChain
from ..definitions import Search
from ..equation import Equation
from ..expression import Expression, Name, Number
from ..facts import facts
from ..logic import COMPARISONS, And, Compare, IfElse, Not, Or
from ..model import Model
from ..ranges import grids

TRUE, FALSE = 1, -1
Domain = dict[int, int]
World = dict[str, Domain]
LARGEST_TABLE = 1 << 17
NEW_BETWEEN_CHECKS = 1 << 12  # literals, a power of two
# Between two checks of the time a solver has at most so many of these. Propagations are bounded too, since a few
# conflicts may take long in a formula of millions of clauses.
CONFLICTS = 2_000
PROPAGATIONS = 1_000_000
LEAST_PASSES = 8  # over all variables: each call must get somewhere
CLAUSES = 100_000  # that are handed over at once

Check = Callable[[], None]


class TooManyClausesError(Exception):
    """An equation whose clauses would not fit; the caller falls back to another way of searching."""


class Circuit:
    """Clauses under construction. Literal 1 is true. `check` is called now and then, and may end the construction."""

    def __init__(self, check: Check = lambda: None) -> None:
        self.check = check
        # Gates are tuples, which the garbage collector, unlike lists, need not look through again and again.
        self.clauses: list[Sequence[int]] = [[TRUE]]
        self.top = TRUE
        self._gates: dict[tuple[int, ...], int] = {}

    # -- literals --------------------------------------------------------------------------------

    def new(self) -> int:
        self.top += 1
        if not self.top % NEW_BETWEEN_CHECKS:
            self.check()
        return self.top

    def add(self, clause: Iterable[int]) -> None:
        """Add a clause; true literals make it vanish, false ones drop out."""
        kept = [literal for literal in clause if literal != FALSE]
        if TRUE not in kept:
            self.clauses.append(kept)

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return a literal that is true exactly if all of these are."""
        kept = {*literals}
        kept.discard(TRUE)
        if not kept:
            return TRUE
        if FALSE in kept or len({*map(abs, kept)}) < len(kept):  # the second: a literal and its negation
            return FALSE
        if len(kept) == 1:
            return kept.pop()
        key = tuple(sorted(kept))
        gate = self._gates.get(key)
        if gate is None:
            gate = self._gates[key] = self.new()
            self.clauses += [(-gate, literal) for literal in key]
            self.clauses.append((gate, *[-literal for literal in key]))
        return gate

    def disjunction(self, literals: Iterable[int]) -> int:
        return -self.conjunction([-literal for literal in literals])

    def choice(self, condition: int, then: int, otherwise: int) -> int:
        """Return a literal for `then if condition else otherwise`."""
        if condition == TRUE or then == otherwise:
            return then
        if condition == FALSE:
            return otherwise
        return self.conjunction([self.disjunction([-condition, then]), self.disjunction([condition, otherwise])])

    # -- domains ---------------------------------------------------------------------------------

    def free(self, values: Sequence[int]) -> Domain:
        """Return a domain that may take any of the values."""
        if len(values) == 1:
            return {values[0]: TRUE}
        if len(values) == 2:
            literal = self.new()
            return {values[0]: -literal, values[1]: literal}
        domain = {value: self.new() for value in values}
        self.add(domain.values())
        self.clauses += at_most_one(list(domain.values()), self.new)
        return domain

    def same_if(self, condition: int, left: Domain, right: Domain, *, except_for: int | None = None) -> None:
        """Require that `left` is `right` where `condition` holds, unless `left` has the excepted value."""
        if condition == FALSE:
            return
        for value, literal in left.items():
            if value != except_for:
                self.add([-condition, -literal, right.get(value, FALSE)])

    def merge(self, pairs: Iterable[tuple[int, int]]) -> Domain:
        """Return the domain that has a value wherever one of its (value, literal) pairs is true."""
        gathered = gather_literals(pairs)
        if len(gathered) == 1:
            return {next(iter(gathered)): TRUE}
        if len(gathered) == 2:
            (low, first), (high, _) = sorted(gathered.items())
            literal = self.disjunction(first)
            return {low: literal, high: -literal}
        return {value: self.disjunction(literals) for value, literals in gathered.items()}

    # -- expressions -----------------------------------------------------------------------------

    def truth(self, expression: Expression, world: Mapping[str, Domain]) -> int:
        """Return the literal that says the expression is not 0."""
        match expression:
            case Number(number):
                return TRUE if number else FALSE
            case Name(name):
                return _nonzero(world[name])
            case Not(operand):
                return -self.truth(operand, world)
            case And(operands):
                return self.conjunction(self._truths(operands, world, 1))
            case Or(operands):
                return -self.conjunction(self._truths(operands, world, -1))
            case Compare(Name(name), "==", Number(number)):  # no gate is needed
                return world[name].get(number, FALSE)
            case Compare(left, symbol, right):
                return self._comparison(self.domain(left, world), symbol, self.domain(right, world))
            case IfElse(then, condition, otherwise) if expression.boolean:
                return self.choice(self.truth(condition, world), self.truth(then, world), self.truth(otherwise, world))
            case _:
                return _nonzero(self.domain(expression, world))

    def formula(self, expression: Expression, world: Mapping[str, Domain]) -> int:
        """Return the literal that says an effect holds; write one that divides out, so that its guards count."""
        if facts(expression).divides:
            return _nonzero(self._table(Equation.from_expression(expression), world))
        return self.truth(expression, world)

    def _truths(self, operands: Sequence[Expression], world: Mapping[str, Domain], sign: int) -> list[int]:
        """Write the literals of many operands, times `sign`; names and their negations without a further call."""
        literals = []
        for operand in operands:
            kind = type(operand)
            if kind is Name:
                literal = _nonzero(world[operand.name])  # type: ignore[attr-defined]
            elif kind is Not and type(operand.operand) is Name:  # type: ignore[attr-defined]
                literal = -_nonzero(world[operand.operand.name])  # type: ignore[attr-defined]
            else:
                literal = self.truth(operand, world)
            if sign * literal == FALSE:
                return [FALSE]
            literals.append(sign * literal)
        return literals

    def _comparison(self, left: Domain, symbol: str, right: Domain) -> int:
        compare = COMPARISONS[symbol]
        if len(left) > 1 and len(right) > 1:
            if symbol in ("==", "!="):
                same = self.disjunction(
                    [self.conjunction([left[value], right[value]]) for value in left if value in right]
                )
                return same if symbol == "==" else -same
            check_size(len(left) * len(right))
        # The fewer alternatives are spelled out; where one side is constant, no gate is needed at all.
        holding = [(a, b) for a, b in product(left, right) if compare(a, b)]
        failing = len(left) * len(right) - len(holding)
        if failing < len(holding):
            pairs = [(a, b) for a, b in product(left, right) if not compare(a, b)]
            return -self.disjunction([self.conjunction([left[a], right[b]]) for a, b in pairs])
        return self.disjunction([self.conjunction([left[a], right[b]]) for a, b in holding])

    def domain(self, expression: Expression, world: Mapping[str, Domain]) -> Domain:
        """Return the domain of an expression."""
        match expression:
            case Number(number):
                return {number: TRUE}
            case Name(name):
                return world[name]
            case Negative(operand):
                return {-value: literal for value, literal in self.domain(operand, world).items()}
            case Call("abs", arguments):
                return self.merge((abs(v), lit) for v, lit in self.domain(arguments[0], world).items())
            case OperatorChain() | Call():
                return expression.fold(lambda operand: self.domain(operand, world), self._combine)
            case IfElse(then, condition, otherwise) if not expression.boolean:
                decides = self.truth(condition, world)
                if decides in (TRUE, FALSE):
                    return self.domain(then if decides == TRUE else otherwise, world)
                yes, no = self.domain(then, world), self.domain(otherwise, world)
                values = yes.keys() | no.keys()
                return self.merge(
                    (value, self.choice(decides, yes.get(value, FALSE), no.get(value, FALSE))) for value in values
                )
            case _:
                literal = self.truth(expression, world)
                if literal in (TRUE, FALSE):
                    return {int(literal == TRUE): TRUE}
                return {0: -literal, 1: literal}

    def _combine(self, left: Domain, right: Domain, operation: Callable[[int, int], int]) -> Domain:
        check_size(len(left) * len(right))
        if len(left) * len(right) >= NEW_BETWEEN_CHECKS:
            self.check()
        return self.merge((operation(a, b), self.conjunction([left[a], right[b]])) for a, b in product(left, right))

    # -- equations -------------------------------------------------------------------------------

    def equation(self, model: Model, name: str, world: Mapping[str, Domain]) -> Domain:
        """Return the domain of what the equation of `name` gives in this world, inside the variable's range."""
        equation = model.equations[name]
        if all(len(world[parent]) == 1 for parent in equation.parents):
            settled = {parent: next(iter(world[parent])) for parent in equation.parents}
            return {model.equation_value(name, settled): TRUE}
        if equation.expression is not None and equation.facts is not None and not equation.facts.divides:
            result = self.domain(equation.expression, world)
        else:
            result = self._table(equation, world)
        allowed = model.ranges[name]
        if not result.keys() <= set(allowed):
            # Values that no assignment gives, found because the parts were looked at one by one: the
            # model was checked to stay inside its ranges before anything was asked of it.
            for value in result.keys() - set(allowed):
                self.add([-result[value]])
            result = {value: literal for value, literal in result.items() if value in set(allowed)}
        return result

    def _table(self, equation: Equation, world: Mapping[str, Domain]) -> Domain:
        """Return the domain of a Python function: one clause for each combination of its parents."""
        parents = [world[parent] for parent in equation.parents]
        check_size(prod(map(len, parents)))
        ranges = [tuple(parent) for parent in parents]
        rows: list[tuple[tuple[int, ...], int]] = []
        for columns in grids(ranges):
            self.check()
            values = equation.array(dict(zip(equation.parents, columns, strict=True)))
            rows += zip(zip(*(c.tolist() for c in columns), strict=True), values.tolist(), strict=True)
        result = self.free(sorted({value for _, value in rows}))
        for row, value in rows:
            self.add([*(-parent[v] for parent, v in zip(parents, row, strict=True)), result[value]])
        return result


def at_most_one(literals: Sequence[int], new: Callable[[], int]) -> list[list[int]]:
    """Write clauses that let at most one literal be true: pairs for a few, a ladder of `new` literals for many."""
    if len(literals) <= 5:
        return [[-first, -second] for first, second in combinations(literals, 2)]
    clauses = []
    before = literals[0]  # true once one of the literals so far is
    for literal in literals[1:]:
        after = new()
        clauses += [[-before, -literal], [-before, after], [-literal, after]]
        before = after
    return clauses


def gather_literals(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Gather the literals of each value from (value, literal) pairs; false ones drop out."""
    gathered: dict[int, list[int]] = {}
    for value, literal in pairs:
        if literal != FALSE:
            gathered.setdefault(value, []).append(literal)
    return gathered


def constant(value: int) -> Domain:
    """Return the domain of something that cannot change."""
    return {value: TRUE}


def _nonzero(domain: Domain) -> int:
    return -domain.get(0, FALSE)


def check_size(size: int) -> None:
    """Refuse a table or a product that would not fit into clauses."""
    if size > LARGEST_TABLE:
        raise TooManyClausesError


class Sat:
    """An incremental SAT solver fed from a `Circuit`; each call is a step of the search."""

    def __init__(self, search: Search, circuit: Circuit) -> None:
        from pysat.solvers import Glucose4

        self.search = search
        self.circuit = circuit
        self._fed = 0
        self._solver: Any = Glucose4(incr=False)
        self._values: list[int] = []

    def close(self) -> None:
        if self._solver is not None:
            self._solver.delete()
            self._solver = None

    def prefer(self, literals: Iterable[int]) -> None:
        """Try these literals first where nothing decides otherwise."""
        self._solver.set_phases(list(literals))

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """Decide whether the circuit's clauses can be met; the budget of the search can end it."""
        given = self._begin(assumptions)
        if given is None:
            return False
        if self.search.remaining is None:
            satisfiable = self._solver.solve(assumptions=given)
        else:
            satisfiable = solve_with_checks(self._solver, given, self.search.check_time)
        return self._end(bool(satisfiable))

    def try_to_solve(self, assumptions: Sequence[int], conflicts: int) -> bool | None:
        """Decide whether the clauses can be met; None if that takes more conflicts than these."""
        given = self._begin(assumptions)
        if given is None:
            return False
        satisfiable = solve_with_checks(self._solver, given, self.search.check_time, conflicts)
        return None if satisfiable is None else self._end(satisfiable)

    def _begin(self, assumptions: Sequence[int]) -> list[int] | None:
        """Feed what was written since, and return what to assume; None if that is false."""
        clauses = self.circuit.clauses
        if self._fed < len(clauses):
            add_with_checks(self._solver, clauses[self._fed :], self.search.check_time)
            self._fed = len(clauses)
        self.search.step("solver_calls")
        given = [literal for literal in assumptions if literal != TRUE]
        return None if FALSE in given else given

    def _end(self, satisfiable: bool) -> bool:
        if satisfiable:
            self._values = self._solver.get_model()
        return satisfiable

    def true(self, literal: int) -> bool:
        """Return whether the literal is true in the last solution."""
        variable = abs(literal)
        positive = variable <= len(self._values) and self._values[variable - 1] > 0
        return positive == (literal > 0)

    def value(self, domain: Domain) -> int:
        """Return the value of a domain in the last solution."""
        for value, literal in domain.items():
            if self.true(literal):
                return value
        raise LookupError("no value of the domain is true in the last solution")


def solve_with_checks(
    solver: Any, assumptions: Sequence[int], check: Check, conflicts: int | None = None
) -> bool | None:
    """Decide whether a solver's clauses can be met, and call `check` each time that it pauses.

    A solver that is called again goes on with all that it has learned. With `conflicts`, None is returned if it takes
    more conflicts than these.
    """
    propagations = max(PROPAGATIONS, LEAST_PASSES * solver.nof_vars())
    most = None if conflicts is None else solver.accum_stats()["conflicts"] + conflicts
    while True:
        solver.conf_budget(CONFLICTS if conflicts is None else min(CONFLICTS, conflicts))
        solver.prop_budget(propagations)
        satisfiable: bool | None = solver.solve_limited(assumptions=assumptions)
        check()
        if satisfiable is not None:
            return satisfiable
        if most is not None and solver.accum_stats()["conflicts"] >= most:
            return None


def add_with_checks(solver: Any, clauses: Sequence[Sequence[int]], check: Check) -> None:
    """Hand clauses to a solver, many at once, and call `check` in between."""
    for first in range(0, len(clauses), CLAUSES):
        solver.append_formula(clauses[first : first + CLAUSES], no_return=True)
        if first:
            check()
