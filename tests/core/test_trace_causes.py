"""Chains of models in time: from an event back to inputs and first values."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.chain import ChainLink
from strategies import many, random_expression

TANK = ac.examples.load("overflowing-tank")


def test_a_chain_goes_back_to_inputs_and_leaves_out_what_made_no_difference() -> None:
    chain = ac.trace_causes(TANK.model, context=TANK.context, event="alarm@5")
    assert chain.factor == "alarm"
    assert chain.step == 5
    assert chain.links[-1] == ChainLink(5, "alarm", ("level",))
    assert ("stuck", 3) in chain.actions
    assert ("stuck", 2) not in chain.actions  # the pump would have run anyway
    assert ("stuck", 5) not in chain.actions
    assert chain.initial == ("level",)
    assert str(chain).startswith("alarm at step 5 (alarm 0 to 1): because of level at step 5.")
    assert chain.to_json()["sentence"] == str(chain)


def test_late_preemption_ends_in_the_throw_that_hit() -> None:
    rocks = ac.examples.load("rock-throwing-in-time")
    chain = ac.trace_causes(rocks.model, context=rocks.context, event="BS@2")
    assert ("ST", 0) in chain.actions
    assert ("BT", 0) not in chain.actions
    assert str(chain).splitlines()[0] == "BS at step 2: because of ST at step 0."


def test_a_state_goes_on_by_itself_and_a_first_value_has_nothing_behind_it() -> None:
    model = ac.Model.from_text("go\nn in 0..3 = 1\nn' = 3 if go else n").unrolled(3)
    context = {"go@0": 0, "go@1": 1, "go@2": 0, "go@3": 0}
    chain = ac.trace_causes(model, context=context, event="n@3")
    assert chain.links[0] == ChainLink(1, "n", ("go",))
    assert chain.actions[0] == ("go", 1)
    first = ac.trace_causes(model, context=context, event="n@0")
    assert (first.links, first.initial) == ((), ("n",))


def test_the_definition_is_chosen_and_python_functions_have_chains() -> None:
    ranges = {"a": (0, 1), "b": (0, 1), "x": (0, 1)}
    model = ac.Model(ranges, {"x'": lambda a, b: a or b, "y": lambda x: x}).unrolled(2)
    context = dict.fromkeys(model.roots, 1)
    assert set(ac.trace_causes(model, context=context, event="y@2").actions) == {("a", 1), ("b", 1)}
    assert ac.trace_causes(model, context={**context, "b@1": 0}, event="y@2", definition="but-for").actions == (
        ("a", 1),
    )


def test_a_thousand_steps_are_traced_since_states_come_back() -> None:
    model = ac.Model.from_text("push\nn = 0\nn' = (n + push) % 3\nlit = n == 0").unrolled(1000)
    chain = ac.trace_causes(model, context=dict.fromkeys(model.roots, 1), event="lit@999")
    assert len(chain.actions) == 999


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("alarm", "event must name a variable at a step, such as 'alarm@7'; got 'alarm'; it has a value at each step"),
        ("alarm@9", "unroll the model over at least 9 steps"),
        (7, "event must name a variable at a step, such as 'alarm@7'; got 7."),
    ],
)
def test_an_event_without_its_step_is_refused(event: str, said: str) -> None:
    with pytest.raises(ac.QueryError) as caught:
        ac.trace_causes(TANK.model, context=TANK.context, event=event)
    assert said in str(caught.value)


@pytest.mark.parametrize("definition", ["but-for", "modified-hp", "updated-hp", "strong"])
@many(160)
@given(st.randoms(use_true_random=True))
def test_every_link_is_what_the_oracle_says_of_one_step(definition: str, rng: Random) -> None:
    """The chain once more: each step by itself, asked by a definition's own words, from the event back."""
    names, inputs, steps = ["I", "J", "X", "Z"], {"I", "J"}, 3
    lines = [f"{name}' = ({random_expression(rng, rng.sample(names, 3), 4)}) != 0" for name in ("X", "Z")]
    model = ac.Model.from_text("\n".join([*names, *lines]))
    unrolled, one = model.unrolled(steps), model.unrolled(1)
    context = {root: rng.randint(0, 1) for root in unrolled.roots}
    actual = unrolled.evaluate(context)

    def find_causes(now: int, outcome: str) -> set[str]:
        before = {root: actual[f"{root[:-2]}@{now + int(root[-1])}"] for root in one.roots}
        effect = f"{outcome}@1 == {actual[f'{outcome}@{now + 1}']}"
        answer = ac.causes(one, context=before, effect=effect, definition=definition, solver="exhaustive")
        events = [set(cause.event) for cause in answer]
        return {name[:-2] for event in events if all(name.endswith("@0") for name in event) for name in event}

    links, actions, behind = {}, set(), {"X"}
    for now in reversed(range(steps)):
        found = {outcome: find_causes(now, outcome) for outcome in behind}
        links |= {(now, outcome): named - {outcome} for outcome, named in found.items() if named - {outcome}}
        before = set().union(*found.values())
        actions |= {(name, now) for name in before & inputs}
        behind = before - inputs
    chain = ac.trace_causes(unrolled, context=context, event=f"X@{steps}", definition=definition)
    assert {(link.step, link.outcome): set(link.causes) for link in chain.links} == links
    assert set(chain.actions) == actions
    assert set(chain.initial) == behind
