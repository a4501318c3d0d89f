"""Models in time: what unrolling gives, against a few independent lines; ranges, mistakes, words."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.parser import Declaration
from actcause.core.steps import hint_name, split_step
from agreement import ORACLE_STEPS
from strategies import expressions, many

TANK = """
    valve "the valve"
    level in 0..9 = 3
    level' = max(0, min(9, level + 2 * valve - drain))
    drain
    alarm = level >= 8
"""


# -- an independent simulation -------------------------------------------------------------------


def simulate(lines: dict[str, Callable[..., int]], roots: dict[str, int], steps: int) -> dict[str, int]:
    """Run a model of one step again and again; `lines` are Python functions of the values of a step."""
    world: dict[str, int] = {}
    before: dict[str, int] = {}
    for step in range(steps + 1):
        now: dict[str, int] = {}

        def value(name: str) -> int:
            if name not in now:  # noqa: B023
                line = lines.get(f"{name}'") if step and f"{name}'" in lines else lines.get(name)  # noqa: B023
                of_before = before if step and f"{name}'" in lines else None  # noqa: B023
                if line is None:
                    now[name] = roots[f"{name}@{step}"]  # noqa: B023
                else:
                    now[name] = line(value if of_before is None else read_next(of_before))  # noqa: B023
            return now[name]  # noqa: B023

        def read_next(old: dict[str, int]) -> Callable[[str], int]:
            return lambda name: value(name[:-1]) if name.endswith("'") else old[name]  # noqa: B023

        for name in {line.removesuffix("'") for line in [*lines, *(root.split("@")[0] for root in roots)]}:
            value(name)
        world |= {f"{name}@{step}": value for name, value in now.items()}
        before = now
    return world


@st.composite
def timed_models(draw: st.DrawFn) -> ac.Model:
    """A model of one step: inputs, states with a first value or without, and what follows from both."""
    inputs, states, derived = ["I", "J"][: draw(st.integers(1, 2))], ["X", "Y"][: draw(st.integers(1, 2))], ["D"]
    lines = [Declaration(name) for name in inputs]
    known = [*inputs, *states]
    for name in states:
        first = draw(st.sampled_from([None, ac.Model.from_text(f"A = {draw(st.integers(0, 1))}")]))
        lines.append(Declaration(name, (0, 1), None if first is None else first.equations["A"].expression))
    for name in derived[: draw(st.integers(0, 1))]:
        lines.append(Declaration(name, (0, 1), draw(expressions(known, arithmetic=False))))
        known = [*known, name]
    new: list[str] = []
    for name in states:
        lines.append(Declaration(f"{name}'", (0, 1), draw(expressions([*known, *new], arithmetic=False))))
        new.append(f"{name}'")
    return ac.Model.from_declarations(lines)


def as_functions(model: ac.Model) -> dict[str, Callable[..., int]]:
    def function(name: str) -> Callable[..., int]:
        equation = model.equations[name]
        return lambda value: int(equation.value({parent: value(parent) for parent in equation.parents}) != 0)

    return {name: function(name) for name in model.equations}


@many(200)
@given(timed_models(), st.integers(0, 3), st.randoms(use_true_random=False))
def test_unrolled_models_give_what_a_simulation_gives(model: ac.Model, steps: int, rng: object) -> None:
    unrolled = model.unrolled(steps)
    roots = {name: rng.choice(unrolled.ranges[name]) for name in unrolled.roots}  # type: ignore[attr-defined]
    try:
        values = unrolled.evaluate(roots)
    except ac.ModelError:
        assume(False)  # an equation such as `X + 1` of 0 and 1
    assert values == simulate(as_functions(model), roots, steps)
    assert ac.Model.from_text(unrolled.to_text()) == unrolled


@pytest.mark.parametrize("definition", ["but-for", "modified-hp", "updated-hp", "strong"])
@many(60)
@given(data=st.data())
def test_causes_in_time_are_those_of_brute_force(definition: str, data: st.DataObject) -> None:
    model = data.draw(timed_models())
    steps = data.draw(st.integers(1, 2))
    unrolled = model.unrolled(steps)
    assume(len(unrolled.variables) <= 12)
    context = {name: data.draw(st.sampled_from(unrolled.ranges[name])) for name in unrolled.roots}
    last = data.draw(st.sampled_from([name for name in unrolled.variables if split_step(name)[1] == steps]))
    try:
        effect = f"{last} == {unrolled.evaluate(context)[last]}"
        asked = {"context": context, "effect": effect, "definition": definition}
        oracle = ac.causes(unrolled, solver="exhaustive", max_steps=ORACLE_STEPS, **asked)
        expected = {frozenset(cause.event.items()) for cause in oracle}
    except ac.ModelError:
        assume(False)
    assume(oracle.status is ac.Status.COMPLETE)
    found = list(ac.causes(unrolled, **asked))
    assert {frozenset(cause.event.items()) for cause in found} == expected
    assert all(cause.witness.replay(cause.query) for cause in found)


# -- what is written -------------------------------------------------------------------------------


def test_a_next_value_is_read_from_the_step_before_and_everything_else_from_its_own() -> None:
    assert str(ac.Model.from_text(TANK).unrolled(1)) == (
        'valve@0 "the valve"\nlevel@0 in 0..9 = 3\ndrain@0\nalarm@0 = level@0 >= 8\n'
        'valve@1 "the valve"\nlevel@1 = max(0, min(9, level@0 + 2 * valve@0 - drain@0))\ndrain@1\n'
        "alarm@1 = level@1 >= 8"
    )


def test_primes_read_back_and_models_pickle() -> None:
    model = ac.Model.from_text(TANK)
    assert ac.Model.from_text(str(model)) == model
    unrolled = model.unrolled(3)
    assert pickle.loads(pickle.dumps(unrolled)) == unrolled


def test_next_values_may_read_next_values_and_roots_may_have_free_ones() -> None:
    model = ac.Model.from_text("a = 0\na'\nb = 1\nb' = a' and b")
    assert str(model.unrolled(2)) == (
        "a@0 in {0, 1} = 0\nb@0 in {0, 1} = 1\na@1\nb@1 = a@1 and b@0\na@2\nb@2 = a@2 and b@1"
    )


def test_constant_roots_stay_one_variable() -> None:
    model = ac.Model.from_text("k in 0..2\nn in 0..2 = 0\nn' = min(n + k, 2)")
    assert str(model.unrolled(2, constant=["k"])) == (
        "k in 0..2\nn@0 in 0..2 = 0\nn@1 = min(n@0 + k, 2)\nn@2 = min(n@1 + k, 2)"
    )
    for name in ("n", "z"):
        with pytest.raises(ac.QueryError, match="constant must name roots without a next value"):
            model.unrolled(2, constant=[name])


def test_exogenous_inputs_are_never_causes_at_any_step() -> None:
    model = ac.Model.from_text("exogenous u\nx = 0\nx' = u").unrolled(2)
    assert model.exogenous == ("u@0", "u@1", "u@2")
    assert "x@1" in model.endogenous


def test_python_functions_are_unrolled_too() -> None:
    model = ac.Model({"go": (0, 1), "n": (0, 1, 2)}, {"n'": lambda n, go: min(n + go, 2)})
    assert model.unrolled(2).evaluate({"go@0": 1, "go@1": 1, "go@2": 0, "n@0": 0})["n@2"] == 2


def test_a_range_is_what_is_reached_in_any_number_of_steps_and_is_found_once() -> None:
    model = ac.Model.from_text("n = 0\nn' = (n + 1) % 5\nlate = n > 3").unrolled(9)
    assert model.ranges["n@0"] is model.ranges["n@9"] == (0, 1, 2, 3, 4)
    assert model.ranges["late@1"] == (0, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A\nB = not A", "has no next values, so it has no time"),
        ("n = 0\nn' = n + 1", "The values of n grow with time, to 0..200 and on; declare its range"),
        ("n = 2\nn' = n * n", "The values of n grow with time"),
        ("y' = 1", "y' is the next value of y, which is not declared"),
        ("y' = y", "unknown variable 'y'; y' is its next value, so declare its first one too, such as 'y = 0'"),
        ("a\na' = a\nb = a'", "The equation of b reads a', a value of the next step"),
        ("a\na' = a\na'' = a", "a'' has more than one prime"),
        ("x\nx' in 0..3 = x + x", "x is in {0, 1}, and x' in 0..3; give both one range"),
        ("x@0\nx@1 = x@0", "has the variable x@0, so it is unrolled already"),
    ],
)
def test_what_cannot_be_unrolled_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ac.ModelError) as caught:
        ac.Model.from_text(text).unrolled(3)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_steps_are_bounded() -> None:
    for steps in (-1, True, 2.0, 10**9):
        with pytest.raises(ac.QueryError, match="steps must be a whole number from 0 to 49999 for 4 variables"):
            ac.Model.from_text(TANK).unrolled(steps)  # type: ignore[arg-type]


def test_an_equation_that_leaves_its_range_is_named_once_with_its_prime() -> None:
    model = ac.Model.from_text("n in 0..9 = 0\nn' = n + 1").unrolled(3)
    with pytest.raises(ac.ModelError, match=r"The equation of n' gives 10 at n=9, outside 0..9; .* keep n' inside"):
        ac.causes(model, context={}, effect="n@3 == 3")


# -- words -----------------------------------------------------------------------------------------


def test_sentences_say_when() -> None:
    model = ac.Model.from_text(TANK).unrolled(3)
    context = {name: int(name.startswith("valve")) for name in model.roots}
    asked = {"context": context, "effect": "alarm@3 == 1"}
    assert str(ac.is_cause(model, event="valve@1=1", **asked)) == (
        "The valve valve=1 at step 1 is a cause of alarm=1 at step 3: "
        "had valve been 0 at step 1, alarm would have been 0 at step 3."
    )
    assert "actually drain=0 at step 2" in str(ac.is_cause(model, event="drain@2=1", **asked))


def test_a_name_without_its_step_is_told_to_have_one_and_the_other_way_round() -> None:
    model = ac.Model.from_text(TANK)
    unrolled = model.unrolled(2)
    context = dict.fromkeys(unrolled.roots, 0)
    with pytest.raises(ac.ModelError, match="it has a value at each step: write 'alarm@2' for that at step 2"):
        ac.causes(unrolled, context=context, effect="alarm == 1")
    with pytest.raises(ac.ModelError, match=r"unroll the model over at least 7 steps, as model.unrolled\(7\)"):
        ac.causes(model, context={"valve": 1, "drain": 0}, effect="alarm@7 == 1")
    assert hint_name("alrm@1", ["alarm@0", "alarm@1"]) == "; did you mean 'alarm@1'?"


def test_contrast_and_normality_take_steps() -> None:
    model = ac.Model.from_text(TANK).unrolled(2)
    context = {name: int(name.startswith("valve")) for name in model.roots}
    asked = {"context": context, "effect": "level@2 == 7"}
    contrasted = ac.causes(model, contrast="level@2 == 6", **asked)
    assert {"drain@1": 0} in [dict(cause.event) for cause in contrasted]
    assert {"valve@1": 1} not in [dict(cause.event) for cause in contrasted]
    normal = ac.causes(model, normality=["drain@1 == 0", "valve@1 == 1"], **asked)
    assert {"valve@0": 1} in [dict(cause.event) for cause in normal]
    assert {"valve@1": 1} not in [dict(cause.event) for cause in normal]
    everywhere = ac.causes(model, normality=["valve == 1"], **asked)
    assert everywhere.query.to_json()["normality"]["rules"] == ["valve@0 == 1", "valve@1 == 1", "valve@2 == 1"]
    assert not any(name.startswith("valve") for cause in everywhere for name in cause.event)
