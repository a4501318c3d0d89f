"""Hypothesis strategies: random formulas, small acyclic models, their contexts and interventions.

Models are small enough for the exhaustive oracle, their equations are seldom constant, and every
value an equation can take is in the variable's range.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from random import Random

from hypothesis import settings
from hypothesis import strategies as st

from actcause.core.arithmetic import Call, Negative, OperatorChain
from actcause.core.expression import Expression, Name, Number
from actcause.core.logic import COMPARISONS, And, Compare, IfElse, Not, Or
from actcause.core.model import Model
from actcause.core.parser import Declaration

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") in ("thorough", "campaign")


def many(examples: int) -> settings:
    """Look at this many examples in `make test-slow` and in campaigns, and at an eighth of them otherwise."""
    return settings(max_examples=examples if THOROUGH else max(examples // 8, 10))


LABELS = st.text(st.characters(exclude_characters='"\n', exclude_categories=("Cs",)), max_size=12)
NONZERO = st.sampled_from([1, 2, 3, -2]).map(Number)


def expressions(names: Sequence[str], *, arithmetic: bool = True, max_leaves: int = 6) -> st.SearchStrategy[Expression]:
    """Formulas over `names`, as the parser would build them; they never divide by zero.

    Without `arithmetic` they are made of comparisons with numbers and of `not`, `and`, `or`, `if`.
    """
    return _expressions(tuple(names), arithmetic, max_leaves)


@lru_cache  # building a recursive strategy takes longer than drawing from it
def _expressions(names: tuple[str, ...], arithmetic: bool, max_leaves: int) -> st.SearchStrategy[Expression]:
    name = st.sampled_from(names).map(Name)
    number = st.integers(0, 3).map(Number)
    symbol = st.sampled_from(sorted(COMPARISONS))
    literal = st.one_of(name, name, st.builds(Compare, name, symbol, number))
    leaves = st.one_of(literal, literal, literal, st.integers(-2, 3).map(Number)) if arithmetic else literal
    return st.recursive(leaves, lambda inner: _compound(inner, symbol, arithmetic), max_leaves=max_leaves)


def _compound(
    inner: st.SearchStrategy[Expression], symbol: st.SearchStrategy[str], arithmetic: bool
) -> st.SearchStrategy[Expression]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    logic = [
        st.builds(Not, inner),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(IfElse, inner, inner, inner),
        st.builds(Compare, inner, symbol, inner),
    ]
    if not arithmetic:
        return st.one_of(logic)
    sums = st.lists(st.tuples(st.sampled_from("+-"), inner), min_size=1, max_size=2)
    times = st.tuples(st.just("*"), inner)
    divisions = st.tuples(st.sampled_from(["//", "%"]), NONZERO)
    products = st.lists(st.one_of(times, divisions), min_size=1, max_size=2)
    return st.one_of(
        *logic,
        st.builds(OperatorChain, inner, sums.map(tuple)),
        st.builds(OperatorChain, inner, products.map(tuple)),
        inner.filter(lambda node: not isinstance(node, Number)).map(Negative),  # '-2' is read as a number
        st.builds(Call, st.sampled_from(["min", "max"]), several),
        inner.map(lambda node: Call("abs", (node,))),
    )


@st.composite
def models(
    draw: st.DrawFn,
    *,
    max_endogenous: int = 5,
    max_exogenous: int = 2,
    max_range: int = 3,
    allow_exogenous: bool = True,
    arithmetic: bool = True,
    labels: bool = False,
) -> Model:
    """Models of 2 to `max_endogenous` variables that can be causes, roots among them, and some that cannot.

    Roots are called A, B, ...; variables with equations V1, V2, ...; exogenous ones U1, U2. No range
    holds more than `max_range` values; `max_range=2` gives binary models. The sizes shrink; the rest
    comes from a seeded generator, since Hypothesis' own draws of equations repeat themselves.
    """
    size = draw(st.integers(2, max_endogenous))
    exogenous = draw(st.integers(0, max_exogenous)) if allow_exogenous else 0
    roots = draw(st.integers(0 if exogenous else 1, size - 1))
    rng = draw(st.randoms(use_true_random=True))
    label = st.one_of(st.none(), LABELS) if labels else st.none()
    ranges: dict[str, tuple[int, ...]] = {}
    lines: list[Declaration] = []
    for name in [*(f"U{i}" for i in range(1, exogenous + 1)), *(chr(ord("A") + i) for i in range(roots))]:
        ranges[name] = tuple(range(rng.choice([2, rng.randint(2, max_range)])))
        lines.append(Declaration(name, ranges[name], exogenous=name.startswith("U"), label=draw(label)))
    for index in range(1, size - roots + 1):
        parents = rng.sample(sorted(ranges), min(len(ranges), rng.choice([1, 2, 2, 3])))
        expression, reached = _equation(rng, parents, ranges, arithmetic, max_range)
        wider = (*reached, reached[-1] + 1)
        declared = rng.choice([None, None, reached, wider if len(wider) <= max_range else reached])
        ranges[f"V{index}"] = declared or reached
        lines.append(Declaration(f"V{index}", declared, expression, label=draw(label)))
    if rng.random() < 0.3:
        rng.shuffle(lines)  # text may use a variable before it declares it
    return Model.from_declarations(lines)


def _equation(
    rng: Random, parents: Sequence[str], ranges: Mapping[str, tuple[int, ...]], arithmetic: bool, max_range: int
) -> tuple[Expression, tuple[int, ...]]:
    """An equation with at least two and at most `max_range` values, and these."""
    for _ in range(20):
        expression = random_expression(rng, parents, rng.randint(len(parents), len(parents) + 2), arithmetic=arithmetic)
        reached = reachable(expression, ranges)
        if len(reached) > max_range:
            lowest, highest = Number(reached[1]), Number(reached[1] + max_range - 1)
            expression = Call("max", (lowest, Call("min", (highest, expression))))
            reached = reachable(expression, ranges)
        if len(reached) > 1:
            return expression, reached
    return Name(parents[0]), ranges[parents[0]]


def random_expression(rng: Random, names: Sequence[str], leaves: int, *, arithmetic: bool = True) -> Expression:
    """A formula with this many leaves, each name among them if they are enough."""
    if leaves <= 1:
        name = Name(rng.choice(names))
        kind = rng.random()
        if kind < 0.7:
            return name
        if kind < 0.8:
            return Not(name)
        return Compare(name, rng.choice(sorted(COMPARISONS)), Number(rng.randint(0, 2)))
    kinds = ["and", "and", "or", "or", "not", "compare"] + ["if"] * (2 * (leaves > 2))
    if arithmetic:
        kinds += ["sum", "sum", "product", "division", "min", "max", "abs", "negative"]
    kind = rng.choice(kinds)
    count = {"if": 3, "not": 1, "abs": 1, "negative": 1, "division": 1}.get(kind, 2)
    pool = list(names)
    rng.shuffle(pool)
    parts = []
    for index in range(count):
        share = leaves // count + (index < leaves % count)
        some = pool[index * len(pool) // count : (index + 1) * len(pool) // count] or pool
        parts.append(random_expression(rng, some, share - (count == 1), arithmetic=arithmetic))
    return _joined(rng, kind, parts)


def _joined(rng: Random, kind: str, parts: list[Expression]) -> Expression:
    match kind:
        case "and":
            return And(tuple(parts))
        case "or":
            return Or(tuple(parts))
        case "not":
            return Not(parts[0])
        case "compare":
            return Compare(parts[0], rng.choice(sorted(COMPARISONS)), parts[1])
        case "if":
            return IfElse(parts[0], parts[1], parts[2])
        case "sum":
            return OperatorChain(parts[0], ((rng.choice("+-"), parts[1]),))
        case "product":
            return OperatorChain(parts[0], (("*", parts[1]),))
        case "division":
            return OperatorChain(parts[0], ((rng.choice(["//", "%"]), Number(rng.choice([2, 3, -2]))),))
        case "negative":
            return Negative(parts[0])
        case _:
            return Call(kind, tuple(parts))


def reachable(expression: Expression, ranges: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Every value of an expression, by trying all values of its names."""
    names = expression.names()
    assignments = product(*(ranges[name] for name in names))
    return tuple(sorted({expression.value(dict(zip(names, values, strict=True))) for values in assignments}))


def contexts(model: Model) -> st.SearchStrategy[dict[str, int]]:
    """A value for each root."""
    return st.fixed_dictionaries({name: st.sampled_from(model.ranges[name]) for name in model.roots})


def interventions(model: Model) -> st.SearchStrategy[dict[str, int]]:
    """Values for some of the variables that are not exogenous."""
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(model.ranges[name]) for name in model.endogenous})
