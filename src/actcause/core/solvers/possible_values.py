"""Which values an expression can take while some of its variables are open, as clauses.

A variable that is open can be anything in its range; one that is settled has one value. `Possible` maps each value of
a variable, or of an expression, to the literal that says that it can occur; several may be true at once. The parts of
an expression in which no name occurs twice vary by themselves, so what can occur follows from what can occur in its
parts. A name that occurs twice is split first: one case for each of its values.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from math import prod

from ..arithmetic import Call, Negative, OperatorChain
from ..equation import Equation
from ..expression import Expression, Name, Number
from ..logic import COMPARISONS, And, Compare, IfElse, Not, Or
from ..model import Model
from ..ranges import grids
from .circuit import FALSE, NEW_BETWEEN_CHECKS, TRUE, Circuit, check_size, gather_literals

Possible = dict[int, int]
OpenWorld = Mapping[str, Possible]


class PossibleValues:
    """Writes what can occur into a circuit."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit

    def equation(self, model: Model, name: str, world: OpenWorld) -> Possible:
        """Return what the equation of `name` can give, inside the variable's range."""
        equation = model.equations[name]
        parents = {parent: world[parent] for parent in equation.parents}
        if all(list(possible.values()) == [TRUE] for possible in parents.values()):
            settled = {parent: next(iter(possible)) for parent, possible in parents.items()}
            return {model.equation_value(name, settled): TRUE}
        result = self._results(equation, world)
        allowed = set(model.ranges[name])
        return {value: literal for value, literal in result.items() if value in allowed}

    def formula(self, expression: Expression, world: OpenWorld) -> Possible:
        """Return what a formula such as an effect can be."""
        return self._results(Equation.from_expression(expression), world)

    def _results(self, equation: Equation, world: OpenWorld) -> Possible:
        if equation.expression is None or equation.facts is None or equation.facts.divides:
            return self._table(equation, world)
        if equation.facts.read_once:
            return self.values(equation.expression, world)
        return self._by_cases(equation.expression, world)

    def at_most_one(self, possible: Possible) -> int:
        """Return the literal that says that no two values can occur."""
        before, two = FALSE, []
        for literal in possible.values():
            two.append(self.circuit.conjunction([before, literal]))
            before = self.circuit.disjunction([before, literal])
        return -self.circuit.disjunction(two)

    def values(self, expression: Expression, world: OpenWorld) -> Possible:
        """Return what an expression in which no name occurs twice can be."""
        match expression:
            case Number(number):
                return {number: TRUE}
            case Name(name):
                return world[name]
            case Negative(operand):
                return {-value: literal for value, literal in self.values(operand, world).items()}
            case Not(operand):
                false, true = self._truths(operand, world)
                return self._truth(true, false)
            case And(operands):
                pairs = [self._truths(operand, world) for operand in operands]
                false = self.circuit.disjunction([false for false, _ in pairs])
                return self._truth(false, self.circuit.conjunction([true for _, true in pairs]))
            case Or(operands):
                pairs = [self._truths(operand, world) for operand in operands]
                true = self.circuit.disjunction([true for _, true in pairs])
                return self._truth(self.circuit.conjunction([false for false, _ in pairs]), true)
            case Compare(left, symbol, right):
                holds = COMPARISONS[symbol]
                sides = self.values(left, world), self.values(right, world)
                return self._combine(*sides, lambda a, b: int(holds(a, b)))
            case IfElse(then, condition, otherwise):
                false, true = self._truths(condition, world)
                branches = ((true, self.values(then, world)), (false, self.values(otherwise, world)))
                return self._merge(
                    (value, self.circuit.conjunction([taken, literal]))
                    for taken, branch in branches
                    for value, literal in branch.items()
                )
            case Call("abs", arguments):
                return self._merge((abs(value), literal) for value, literal in self.values(arguments[0], world).items())
            case OperatorChain() | Call():
                return expression.fold(lambda operand: self.values(operand, world), self._combine)
            case _:
                raise TypeError(f"no clauses for {type(expression).__name__}")

    def _truths(self, expression: Expression, world: OpenWorld) -> tuple[int, int]:
        """Return the literals that say that an expression can be false, and that it can be true."""
        possible = self.values(expression, world)
        return possible.get(0, FALSE), self.circuit.disjunction([lit for value, lit in possible.items() if value])

    def _truth(self, false: int, true: int) -> Possible:
        return {value: literal for value, literal in ((0, false), (1, true)) if literal != FALSE}

    def _combine(self, left: Possible, right: Possible, operation: Callable[[int, int], int]) -> Possible:
        check_size(len(left) * len(right))
        if len(left) * len(right) >= NEW_BETWEEN_CHECKS:
            self.circuit.check()
        return self._merge(
            (operation(a, b), self.circuit.conjunction([left[a], right[b]])) for a, b in product(left, right)
        )

    def _merge(self, pairs: Iterable[tuple[int, int]]) -> Possible:
        return {value: self.circuit.disjunction(literals) for value, literals in gather_literals(pairs).items()}

    def _by_cases(self, expression: Expression, world: OpenWorld) -> Possible:
        counts = Counter(node.name for node in expression.walk() if type(node) is Name)
        repeated = [name for name, count in counts.items() if count > 1]
        check_size(prod(len(world[name]) for name in repeated))
        pairs: list[tuple[int, int]] = []
        for case in product(*(world[name] for name in repeated)):
            self.circuit.check()
            chosen = dict(zip(repeated, case, strict=True))
            occurs = self.circuit.conjunction([world[name][value] for name, value in chosen.items()])
            split = {**world, **{name: {value: TRUE} for name, value in chosen.items()}}
            possible = self.values(expression, split)
            pairs += [(value, self.circuit.conjunction([occurs, literal])) for value, literal in possible.items()]
        return self._merge(pairs)

    def _table(self, equation: Equation, world: OpenWorld) -> Possible:
        parents = [world[parent] for parent in equation.parents]
        check_size(prod(map(len, parents)))
        pairs: list[tuple[int, int]] = []
        for columns in grids([tuple(parent) for parent in parents]):
            self.circuit.check()
            values = equation.array(dict(zip(equation.parents, columns, strict=True)))
            for row, value in zip(zip(*(c.tolist() for c in columns), strict=True), values.tolist(), strict=True):
                occurs = (parent[v] for parent, v in zip(parents, row, strict=True))
                pairs.append((value, self.circuit.conjunction(occurs)))
        return self._merge(pairs)
