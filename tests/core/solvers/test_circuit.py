"""The clauses of an expression say what its evaluation says, assignment by assignment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysat.solvers import Glucose4

from actcause import Model, Status, causes, is_cause, vectorized
from actcause.core.equation import Equation
from actcause.core.expression import Expression
from actcause.core.solvers import ENCODINGS, TooManyClausesError
from actcause.core.solvers.circuit import FALSE, LARGEST_TABLE, TRUE, Circuit, Domain, World, constant
from strategies import expressions, many, models, random_expression

RANGES: dict[str, tuple[int, ...]] = {"A": (0, 1), "B": (0, 1, 2), "C": (-1, 0, 2), "D": (1, 2)}
NAMES = tuple(RANGES)


def assignments(ranges: Mapping[str, tuple[int, ...]]) -> Iterator[dict[str, int]]:
    for values in product(*ranges.values()):
        yield dict(zip(ranges, values, strict=True))


def assert_encodes(circuit: Circuit, world: World, literal: int, expected: Callable[[dict[str, int]], bool]) -> None:
    """Under every assignment of the world the clauses can be met, and force the literal to be as expected."""
    with Glucose4(bootstrap_with=circuit.clauses) as solver:
        for values in assignments({name: tuple(domain) for name, domain in world.items()}):
            given_values = [world[name][value] for name, value in values.items()]
            sign = 1 if expected(values) else -1
            assert solver.solve(assumptions=[*given_values, sign * literal])
            assert not solver.solve(assumptions=[*given_values, -sign * literal])


def assert_domain(circuit: Circuit, world: World, domain: Domain, value: Callable[[dict[str, int]], int]) -> None:
    """Under every assignment exactly the literal of the value is true, and no value is missing."""
    with Glucose4(bootstrap_with=circuit.clauses) as solver:
        for values in assignments({name: tuple(domain) for name, domain in world.items()}):
            given_values = [world[name][v] for name, v in values.items()]
            right = value(values)
            assert right in domain
            signs = [literal if v == right else -literal for v, literal in domain.items()]
            assert solver.solve(assumptions=[*given_values, *signs])
            for forced in signs:
                assert not solver.solve(assumptions=[*given_values, -forced])


def free_world(circuit: Circuit, fixed: Mapping[str, int] | None = None) -> World:
    fixed = fixed or {}
    return {name: constant(fixed[name]) if name in fixed else circuit.free(values) for name, values in RANGES.items()}


@given(expression=expressions(NAMES))
@many(300)
def test_a_truth_literal_is_the_truth_of_the_expression(expression: Expression) -> None:
    circuit = Circuit()
    world = free_world(circuit)
    assert_encodes(circuit, world, circuit.truth(expression, world), lambda env: bool(expression.value(env)))


@given(expression=expressions(NAMES))
def test_a_domain_has_the_literal_of_each_value_of_the_expression(expression: Expression) -> None:
    circuit = Circuit()
    world = free_world(circuit)
    assert_domain(circuit, world, circuit.domain(expression, world), expression.value)


@given(seed=st.integers(0, 2**32))
@many(150)
def test_larger_formulas_with_some_variables_settled_are_encoded_right(seed: int) -> None:
    rng = Random(seed)
    expression = random_expression(rng, NAMES, rng.randint(4, 10))
    circuit = Circuit()
    fixed = {name: rng.choice(values) for name, values in RANGES.items() if rng.random() < 0.3}
    world = free_world(circuit, fixed)
    assert_encodes(circuit, world, circuit.truth(expression, world), lambda env: bool(expression.value(env)))
    assert_domain(circuit, world, circuit.domain(expression, world), expression.value)


@given(data=st.data())
def test_an_expression_of_settled_variables_folds_to_a_constant(data: st.DataObject) -> None:
    expression = data.draw(expressions(NAMES))
    env = {name: data.draw(st.sampled_from(values)) for name, values in RANGES.items()}
    circuit = Circuit()
    world = free_world(circuit, env)
    assert circuit.domain(expression, world) == {expression.value(env): TRUE}
    assert circuit.truth(expression, world) == (TRUE if expression.value(env) else FALSE)
    assert circuit.clauses == [[TRUE]]


@given(model=models(), by_array=st.booleans())
def test_an_equation_is_encoded_alike_as_an_expression_and_as_the_table_of_a_function(
    model: Model, by_array: bool
) -> None:
    for name, equation in model.equations.items():
        expression, parents = equation.expression, equation.parents
        assert expression is not None
        ranges = {parent: model.ranges[parent] for parent in parents}

        def compute(*values, expression=expression, parents=parents):
            env = dict(zip(parents, values, strict=True))
            return expression.array(env) if by_array else expression.value(env)

        function = _with_parameters(compute, parents, by_array)
        by_table = Model({**ranges, name: model.ranges[name]}, {name: function})
        for asked in (model, by_table):
            circuit = Circuit()
            world = {parent: circuit.free(values) for parent, values in ranges.items()}
            assert_domain(circuit, world, circuit.equation(asked, name, world), expression.value)


def _with_parameters(function: Callable[..., int], names: tuple[str, ...], by_array: bool) -> Callable[..., int]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return vectorized(function) if by_array else function


@pytest.mark.parametrize("size", range(1, 13))
def test_a_free_domain_takes_each_of_its_values_and_only_one_at_a_time(size: int) -> None:
    circuit = Circuit()
    domain = circuit.free(tuple(range(size)))
    literals = list(domain.values())
    with Glucose4(bootstrap_with=circuit.clauses) as solver:
        for literal in literals:
            assert solver.solve(assumptions=[literal])
        assert not solver.solve(assumptions=[-literal for literal in literals])
        for index, first in enumerate(literals):
            assert not any(solver.solve(assumptions=[first, second]) for second in literals[index + 1 :])


def test_gates_that_say_the_same_are_made_once() -> None:
    circuit = Circuit()
    a, b = circuit.new(), circuit.new()
    assert circuit.conjunction([a, b]) == circuit.conjunction([b, a, TRUE, a]) == -circuit.disjunction([-a, -b])
    assert circuit.conjunction([a, -a]) == FALSE
    assert circuit.conjunction([a, FALSE]) == FALSE
    assert circuit.conjunction([]) == TRUE
    assert circuit.conjunction([a]) == a
    assert circuit.choice(TRUE, a, b) == circuit.choice(b, a, a) == a
    assert circuit.choice(FALSE, a, b) == b


@pytest.mark.parametrize("condition", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_choice_is_one_branch_or_the_other(condition: tuple[int, int]) -> None:
    circuit = Circuit()
    literals = [circuit.new() for _ in range(3)]
    chosen = circuit.choice(*literals)
    with Glucose4(bootstrap_with=circuit.clauses) as solver:
        for first in (0, 1):
            values = (first, *condition)
            signs = [literal if value else -literal for literal, value in zip(literals, values, strict=True)]
            expected = values[1] if first else values[2]
            assert solver.solve(assumptions=[*signs, chosen if expected else -chosen])
            assert not solver.solve(assumptions=[*signs, -chosen if expected else chosen])


# -- too large -------------------------------------------------------------------------------------

WIDE = range(60)  # 60 ** 3 > LARGEST_TABLE


def wide_function() -> Model:
    equation = Equation(("A", "B", "C"), function=lambda a, b, c: (a + b + c) % 7 == 3, vectorized=True)
    return Model({"A": WIDE, "B": WIDE, "C": WIDE, "Y": (0, 1)}, {"Y": equation})


def test_a_table_that_is_too_large_says_so_instead_of_filling_the_memory() -> None:
    model = wide_function()
    assert len(WIDE) ** 3 > LARGEST_TABLE
    circuit = Circuit()
    world = {name: circuit.free(tuple(WIDE)) for name in "ABC"}
    with pytest.raises(TooManyClausesError):
        circuit.equation(model, "Y", world)


@pytest.mark.parametrize("text", ["A + B", "A < B", "max(A, B)", "A * B == 6"])
def test_arithmetic_on_two_wide_ranges_is_too_large_too(text: str) -> None:
    model = Model.from_text(f"A in 0..999\nB in 0..999\nY in 0..998001 = {text}")
    circuit = Circuit()
    world = {name: circuit.free(model.ranges[name]) for name in "AB"}
    with pytest.raises(TooManyClausesError):
        circuit.equation(model, "Y", world)


def test_equality_of_two_wide_ranges_is_not_too_large() -> None:
    model = Model.from_text("A in 0..999\nB in 0..999\nY = A == B")
    circuit = Circuit()
    world = {name: circuit.free(model.ranges[name]) for name in "AB"}
    domain = circuit.equation(model, "Y", world)
    with Glucose4(bootstrap_with=circuit.clauses) as solver:
        assert solver.solve(assumptions=[world["A"][7], world["B"][7], domain[1]])
        assert not solver.solve(assumptions=[world["A"][7], world["B"][8], domain[1]])


@pytest.mark.parametrize("definition", ENCODINGS)
def test_a_function_too_large_for_clauses_is_answered_by_the_oracle(definition: str) -> None:
    question = {"context": {"A": 1, "B": 1, "C": 1}, "effect": "Y", "definition": definition}
    answer = causes(wide_function(), **question, max_causes=3, max_steps=50_000)
    assert [dict(cause.event) for cause in answer] == [{"A": 1}, {"B": 1}, {"C": 1}]
    assert answer.status in (Status.COMPLETE, Status.MAX_CAUSES)
    assert answer.statistics["solver_calls"] == 0
    assert answer.statistics["evaluations"] > 0


@pytest.mark.parametrize("definition", ENCODINGS)
def test_an_event_too_large_for_clauses_is_judged_by_the_oracle(definition: str) -> None:
    verdict = is_cause(
        wide_function(), context={"A": 1, "B": 1, "C": 1}, effect="Y", event="A=1, B=1, C=1", definition=definition
    )
    assert verdict.failed == "AC3"
    assert verdict.status is Status.COMPLETE
    assert len(verdict.smaller or ()) == 1
    assert verdict.statistics["solver_calls"] == 0
