"""Random questions, and what must agree when a fast solver and the oracle answer them."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice, product
from random import Random

from hypothesis import assume, event
from hypothesis import strategies as st

from actcause import DEFINITIONS, Model, Query, Status, Verdict, Witness, causes, is_cause
from actcause.core.arithmetic import OperatorChain
from actcause.core.definitions import Search
from actcause.core.equation import Equation, vectorized
from actcause.core.expression import Expression, Name, Number
from actcause.core.logic import And, Compare, Not, Or
from actcause.core.parser import Declaration
from strategies import contexts, models, random_expression, reachable

WITH_CONTINGENCIES = ("original-hp", "updated-hp")
WITH_OTHERS = ("direct", "strong")
# Past this many evaluations of the oracle an example is left out.
ORACLE_STEPS = 12_000


# -- random questions ------------------------------------------------------------------------------


@st.composite
def questions(draw: st.DrawFn, definition: str, max_endogenous: int = 6) -> Query:
    """A query about a random model whose effect, nearly always, happened."""
    rng = draw(st.randoms(use_true_random=True))
    if rng.random() < 0.6:  # Hypothesis likes models small, where causes are single variables
        model = connected_model(rng, rng.randint(4, max_endogenous))
        context = {name: rng.choice([1, rng.choice(model.ranges[name])]) for name in model.roots}
    else:
        model = draw(models(max_endogenous=max_endogenous))
        context = draw(contexts(model))
    return Query(as_callables(model, rng), context, random_effect(rng, model, context), definition)


def connected_model(rng: Random, size: int) -> Model:
    """A model whose last variable follows from all others, by equations that offer more than one way."""
    exogenous = rng.choice([0, 0, 1])
    roots = rng.randint(1, max(1, size - 2))
    ranges: dict[str, tuple[int, ...]] = {}
    lines = []
    for name in [*(f"U{i}" for i in range(exogenous)), *(f"R{i}" for i in range(roots))]:
        ranges[name] = tuple(range(rng.choice([2, 2, 2, 3])))
        lines.append(Declaration(name, ranges[name], exogenous=name.startswith("U")))
    unread = list(ranges)
    for index in range(size - roots):
        last = index == size - roots - 1
        fresh = unread if last else rng.sample(unread, min(len(unread), rng.choice([1, 2])))
        parents = sorted({*fresh, *rng.sample(list(ranges), min(len(ranges), rng.choice([0, 1, 1, 2])))})
        expression = draw_equation(rng, parents, ranges)
        reached = reachable(expression, ranges)
        unread = [*(name for name in unread if name not in parents), f"V{index}"]
        wider = rng.random() < 0.15 and len(reached) < 3
        ranges[f"V{index}"] = (*reached, reached[-1] + 1) if wider else reached
        lines.append(Declaration(f"V{index}", ranges[f"V{index}"] if wider else None, expression))
    return Model.from_declarations(lines)


def draw_equation(rng: Random, parents: list[str], ranges: dict[str, tuple[int, ...]]) -> Expression:
    """Mostly thresholds and disjunctions, which make for causes of several variables; at most three values."""
    for _ in range(20):
        kind = rng.random()
        if kind < 0.3:
            terms = tuple(("+", Name(name)) for name in parents[1:])
            total = OperatorChain(Name(parents[0]), terms) if terms else Name(parents[0])
            expression: Expression = Compare(total, rng.choice([">=", "!="]), Number(rng.randint(1, len(parents))))
        elif kind < 0.5 and len(parents) > 1:
            literals = tuple(Not(Name(name)) if rng.random() < 0.2 else Name(name) for name in parents)
            expression = rng.choice([Or, Or, And])(literals)
        else:
            expression = random_expression(rng, parents, len(parents) + rng.randint(0, 2))
        if 1 < len(reachable(expression, ranges)) <= 3:
            return expression
    return Compare(Name(parents[0]), "!=", Number(0))


def as_callables(model: Model, rng: Random) -> Model:
    """The same model, in one of three cases with Python functions in place of its expressions."""
    if rng.random() < 0.67:
        return model
    equations: dict[str, Equation] = {}
    for name, equation in model.equations.items():
        assert equation.expression is not None
        by_array = rng.random() < 0.5
        function = _function(equation.parents, equation.expression, by_array)
        equations[name] = Equation(equation.parents, function=function, vectorized=by_array)
    return Model(model.ranges, equations, exogenous=model.exogenous)


def _function(parents: tuple[str, ...], expression: Expression, by_array: bool):
    def function(*values):
        env = dict(zip(parents, values, strict=True))
        return expression.array(env) if by_array else expression.value(env)

    return vectorized(function) if by_array else function


def random_effect(rng: Random, model: Model, context: dict[str, int]) -> Expression:
    """One value of one variable, or a formula over one to three of them, exogenous ones too."""
    actual = model.evaluate(context)
    late = [name for name in model.order if name in model.equations] or list(model.endogenous)
    kind = rng.random()
    if kind < 0.55:
        name = rng.choice([late[-1], late[-1], rng.choice(late)])
        return Compare(Name(name), "==", Number(actual[name]))
    names = rng.sample(late[-3:], min(len(late), rng.randint(1, 2)))
    if kind > 0.75:
        names = [*names, rng.choice(model.variables)]
    formula = random_expression(rng, names, rng.randint(len(names), len(names) + 2))
    return formula if formula.value(actual) or rng.random() < 0.02 else Not(formula)


@st.composite
def events(draw: st.DrawFn, query: Query) -> dict[str, int]:
    """One to three variables, any but exogenous ones, mostly at their actual values."""
    rng = draw(st.randoms(use_true_random=True))
    pool = query.relevant if query.relevant and rng.random() < 0.8 else query.model.endogenous
    names = rng.sample(pool, min(len(pool), rng.choice([1, 1, 2, 2, 3])))
    return {name: query.actual[name] if rng.random() < 0.96 else rng.choice(query.model.ranges[name]) for name in names}


# -- what must agree -------------------------------------------------------------------------------


def ask(query: Query, solver: str, max_steps: int | None = None):
    return causes(**query.arguments, solver=solver, max_steps=max_steps)


def judge(query: Query, chosen: dict[str, int], solver: str, max_steps: int | None = None) -> Verdict:
    return is_cause(**query.arguments, event=chosen, solver=solver, max_steps=max_steps)


def assert_same_causes(query: Query) -> None:
    oracle = ask(query, "exhaustive", ORACLE_STEPS)
    assume(oracle.status is Status.COMPLETE)
    fast = ask(query, "auto")
    found = [frozenset(cause.event.items()) for cause in fast]
    expected = {frozenset(cause.event.items()) for cause in oracle}
    event(f"the largest cause has {max(map(len, expected), default=0)} variables")
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert fast.status is Status.COMPLETE
    for cause in chain(fast, oracle):
        assert_witness(query, cause.event, cause.witness)


def assert_same_verdict(query: Query, chosen: dict[str, int]) -> None:
    oracle = judge(query, chosen, "exhaustive", ORACLE_STEPS)
    assume(oracle.status is Status.COMPLETE)
    fast = judge(query, chosen, "auto")
    event(f"{len(chosen)} variables, {oracle.failed or 'a cause'}")
    assert dict(fast.conditions) == dict(oracle.conditions)
    assert (fast.holds, fast.failed, fast.status) == (oracle.holds, oracle.failed, Status.COMPLETE)
    for verdict in (fast, oracle):
        assert (verdict.witness is not None) == (verdict.conditions["AC2a"] is True)
        if verdict.witness is not None:
            assert_witness(query, chosen, verdict.witness, sufficient=verdict.conditions["AC2b"] is True)
        assert (verdict.smaller is not None) == (verdict.conditions["AC3"] is False)
        if verdict.smaller is not None:
            assert set(verdict.smaller) < set(chosen)
            assert judge(query, dict(verdict.smaller), "exhaustive").holds


def assert_witness(query: Query, chosen: dict[str, int], witness: Witness, *, sufficient: bool = True) -> None:
    """The witness undoes the effect, has the definition's shape, and is sufficient by its own words."""
    assert witness.replay(query)
    assert set(witness.changed) == set(chosen)
    assert not set(chosen) & {*witness.frozen, *witness.others, *witness.network}
    assert not {*witness.frozen, *witness.others, *witness.network} & set(query.model.exogenous)
    if query.definition == "but-for":
        assert not witness.frozen
    if query.definition not in WITH_CONTINGENCIES:
        assert all(query.actual[name] == value for name, value in witness.frozen.items())
    if query.definition == "but-for":
        assert all(query.actual[name] != value for name, value in witness.changed.items())
    if query.definition in WITH_OTHERS:
        follow = set(query.contrasted_variables)
        assert not set(witness.frozen) & {*witness.others, *witness.network}
        placed = {*witness.frozen, *witness.others, *witness.network}
        unplaced = set(query.relevant) - follow - set(chosen) - placed
        assert placed <= set(query.relevant)
        assert_bears_on_nothing(query, witness, sorted(unplaced))
        assert query.definition == "strong" or not set(witness.frozen) & set(query.effect_variables)
    else:
        assert not witness.others
    if query.definition != "strong":
        assert not witness.network
    if sufficient:
        assert DEFINITIONS[query.definition].sufficient(Search(query), chosen, witness)


def assert_bears_on_nothing(query: Query, witness: Witness, names: list[str]) -> None:
    """What the witness leaves out may have any values: the effect is undone all the same."""
    for values in islice(product(*(query.model.ranges[name] for name in names)), 64):
        changed = replace(witness, others={**witness.others, **dict(zip(names, values, strict=True))})
        assert changed.replay(query)
