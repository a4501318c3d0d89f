"""Random models with odd ranges: negative values, wide gaps, a single value, exogenous variables in every formula."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from actcause import ActCauseError, Model, ModelError, Normality, Query
from strategies import random_expression

VALUES = (-1_000_003, -7, -3, -2, -1, 0, 1, 2, 3, 5, 9, 100, 999_983)
WIDEST = 5


@st.composite
def odd_models(draw: st.DrawFn, max_equations: int = 3) -> Model:
    """Up to two exogenous variables, one or two roots, and equations that jump from one value to another."""
    rng = draw(st.randoms(use_true_random=True))
    for _ in range(20):
        try:
            model = Model.from_text(_write_model(rng, max_equations))
        except ModelError:  # too many values
            continue
        if max(map(len, model.ranges.values())) <= WIDEST:
            return model
    assume(False)
    raise AssertionError


def _write_model(rng: Random, max_equations: int) -> str:
    names = [*(f"U{i}" for i in range(rng.choice([0, 1, 1, 2]))), *(f"R{i}" for i in range(rng.randint(1, 2)))]
    lines = []
    for name in names:
        values = ", ".join(map(str, rng.sample(VALUES, rng.choice([1, 2, 2, 3]))))
        lines.append(f"{'exogenous ' if name.startswith('U') else ''}{name} in {{{values}}}")
    for index in range(rng.randint(1, max_equations)):
        parents = rng.sample(names, min(len(names), rng.randint(1, 3)))
        formula = random_expression(rng, parents, rng.randint(len(parents), len(parents) + 2))
        one, two, three = rng.sample(VALUES, 3)
        equation = rng.choice(
            [
                f"{one} if {formula} else {two}",
                f"{one} if {formula} > {three} else ({two} if {formula} < 0 else {three})",
                f"max({min(one, two)}, min({max(one, two)}, {formula}))",
                f"{formula}",
            ]
        )
        lines.append(f"V{index} = {equation}")
        names.append(f"V{index}")
    return "\n".join(lines)


def odd_formula(rng: Random, model: Model, names: Sequence[str]) -> str:
    """A formula over these variables, exogenous ones too, that may compare one with a value of its range."""
    formula = str(random_expression(rng, names, len(names) + rng.randint(0, 1)))
    name = rng.choice(names)
    compared = f"{name} {rng.choice(['==', '!=', '<', '>='])} {rng.choice(model.ranges[name])}"
    return rng.choice([formula, f"({formula}) {rng.choice(['and', 'or'])} {compared}"])


@st.composite
def odd_questions(draw: st.DrawFn, definition: str, *, normality: bool = True) -> Query:
    """What caused something over one to three variables, often with a contrast and with rules of what is normal."""
    model = draw(odd_models())
    rng = draw(st.randoms(use_true_random=True))
    context = {name: rng.choice(model.ranges[name]) for name in model.roots}
    names = rng.sample(model.variables, rng.randint(1, min(3, len(model.variables))))
    try:
        effect = odd_formula(rng, model, names)
        if not Query(model, context, effect).happened:
            effect = f"not ({effect})"
        asked: dict[str, object] = {}
        if rng.random() < 0.6:
            two = rng.sample(model.variables, min(2, len(model.variables)))
            asked["contrast"] = f"not ({effect}) and ({odd_formula(rng, model, two)})"
        if normality and rng.random() < 0.5:
            rules = [odd_formula(rng, model, [rng.choice(model.variables)]) for _ in range(rng.randint(1, 2))]
            asked["normality"] = Normality(rules, order=rng.choice(["inclusion", "count"]))
        return Query(model, context, effect, definition, **asked)  # type: ignore[arg-type]
    except ActCauseError:  # a formula divides by zero, or can never hold
        assume(False)
        raise
