"""Long models: what is tried first there changes how soon one knows, not what one knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.solvers import long_models, narrow_models, networks, single_paths, sliced_contingency
from agreement import assert_same_verdict, events, questions
from strategies import many

DEFINITIONS = ("original-hp", "updated-hp", "strong")
TANK = """
demand in 0..1
level in 0..3 = 2
stuck
low = level < 2 and not stuck
pump = 0
pump' = low
level' = max(0, min(3, level + pump - demand))
alarm = 0
alarm' = alarm or level == 0
"""
CONTROLLER = """
demand in 0..2
leak
level in 0..20 = 10
stuck
reading = 0 if stuck else level
low = reading < 8
pump = 0
pump' = 1 if low else 0 if reading > 12 else pump
flow = 2 if pump else 0
level' = max(0, min(20, level + flow - demand - leak))
high = level >= 19
alarm = 0
alarm' = alarm or high
"""


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_models, "MANY", 1)
    monkeypatch.setattr(networks, "LONG", 1)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is narrow enough to be decided by going through it once."""
    monkeypatch.setattr(narrow_models, "MOST_CODES", 0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("definition", DEFINITIONS)
def test_the_verdicts_are_those_of_the_oracle(definition: str) -> None:
    @many(200)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        query = data.draw(questions(definition))
        assert_same_verdict(query, data.draw(events(query)))

    check()


@pytest.mark.usefixtures("always", "wide")
@pytest.mark.parametrize("probes", [0, 64])
def test_they_are_with_and_without_probes_where_actual_values_do_not_suffice(
    probes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the quick yes by modified Halpern-Pearl, slices have to decide it all."""
    monkeypatch.setattr(sliced_contingency, "MOST_PROBES", probes)
    monkeypatch.setattr(long_models.LongModelSolver, "_by_actual_values", lambda *arguments: None)

    @many(200)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        query = data.draw(questions(data.draw(st.sampled_from(("original-hp", "updated-hp")))))
        assert_same_verdict(query, data.draw(events(query)))

    check()


@pytest.mark.usefixtures("always", "wide")
@pytest.mark.parametrize("definition", DEFINITIONS)
def test_a_chain_is_a_witness_only_where_the_oracle_has_one(definition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the quick yes by modified Halpern-Pearl, single paths are looked for wherever they may be."""
    monkeypatch.setattr(long_models.LongModelSolver, "_by_actual_values", lambda *arguments: None)
    along = []
    find = single_paths.PathSearch.find
    monkeypatch.setattr(single_paths.PathSearch, "find", lambda self: along.append(find(self)) or along[-1])

    @many(200)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        query = data.draw(questions(definition))
        assert_same_verdict(query, data.draw(events(query)))

    check()
    assert any(along)


@pytest.mark.usefixtures("always")
def test_a_chain_past_parents_that_are_all_open_is_one_only_where_the_oracle_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if every table of an equation were too large, and as if every effect had very many values to follow from."""
    monkeypatch.setattr(long_models.LongModelSolver, "_by_actual_values", lambda *arguments: None)
    monkeypatch.setattr(long_models, "MANY_VALUES", 0)
    monkeypatch.setattr(single_paths.PathSearch, "most_settings", 0)
    monkeypatch.setattr(single_paths, "MOST_CELLS", 0)
    along = []
    find = single_paths.NetworkPaths.find
    monkeypatch.setattr(single_paths.NetworkPaths, "find", lambda self: along.append(find(self)) or along[-1])

    @many(400)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        query = data.draw(questions("strong"))
        assert_same_verdict(query, data.draw(events(query)))

    check()
    assert any(along)


@pytest.mark.usefixtures("always")
def test_a_contrast_that_names_the_context_leaves_it_out_of_the_network() -> None:
    model = ac.Model.from_text("exogenous U\nA\nY = A")
    asked = {"context": "U=1, A=1", "effect": "Y == 1", "contrast": "Y == 0 and U == 1", "event": "A=1"}
    for definition in DEFINITIONS:
        verdict = ac.is_cause(model, definition=definition, **asked)
        assert verdict.witness is not None
        assert "U" not in {*verdict.witness.network, *verdict.witness.intervention}
        assert verdict.witness.replay(verdict.query)


def test_wide_copies_are_judged_without_writing_all_their_values_as_clauses() -> None:
    """130 copies of a value, each of which alone would do: 1,001 values each, too many settings for any table."""
    names = [f"C{number}" for number in range(130)]
    lines = ["X in 0..1000", *(f"{name} in 0..1000 = X" for name in names)]
    lines.append("Y in 0..1 = " + " or ".join(f"{name} == 1000" for name in names))
    model = ac.Model.from_text("\n".join(lines))
    asked = {"context": {"X": 1000}, "effect": "Y == 1", "definition": "strong"}
    verdict = ac.is_cause(model, event="C0=1000", max_steps=1_000, **asked)
    assert verdict.holds
    assert verdict.statistics["solver_calls"] <= 2  # whether actual values suffice, asked by AC2a and by AC2b
    assert verdict.witness is not None
    assert verdict.witness.replay(verdict.query)


@pytest.mark.parametrize(
    ("text", "definition", "event", "holds"),
    [
        # D decides only while C does not, and C held at 0 is a contingency that nobody can use against it.
        ("A\nC\nD = A\nE = C or D", "original-hp", "A=1", True),
        ("A\nC\nD = A\nE = C or D", "updated-hp", "A=1", True),
        ("A\nC\nD = A\nE = C or D", "strong", "A=1", True),
        ("A\nC\nD = C and not A\nE = A or D", "strong", "C=1", False),
    ],
)
@pytest.mark.usefixtures("always", "wide")
def test_a_chain_sets_by_hand_what_else_bears_on_it(text: str, definition: str, event: str, holds: bool) -> None:
    model = ac.Model.from_text(text)
    asked = {"context": {"A": 1, "C": 1}, "effect": "E == 1", "event": event, "definition": definition}
    assert ac.is_cause(model, **asked).holds is holds is ac.is_cause(model, solver="exhaustive", **asked).holds


@pytest.mark.usefixtures("always", "wide")
@pytest.mark.parametrize("definition", DEFINITIONS)
def test_unrolled_models_are_judged_as_by_the_search_by_clauses(
    definition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ac.Model.from_text(TANK).unrolled(3)
    context = ac.Trace({"demand": 1, "stuck": [0, 1, 1, 1]}).context(model)
    asked = {"context": context, "effect": "alarm@3 == 1", "definition": definition}
    actual = model.evaluate(context)
    names = [name for name in model.endogenous if name != "alarm@3"]
    quick = {name: ac.is_cause(model, event={name: actual[name]}, **asked) for name in names}
    monkeypatch.setattr(long_models, "MANY", 10_000)
    for name, verdict in quick.items():
        slow = ac.is_cause(model, event={name: actual[name]}, **asked)
        assert (name, dict(verdict.conditions)) == (name, dict(slow.conditions))
        assert verdict.witness is None or verdict.witness.replay(verdict.query)
    assert {verdict.holds for verdict in quick.values()} == {True, False}


@pytest.mark.parametrize("definition", [*DEFINITIONS, "direct"])
def test_three_hundred_steps_of_a_controller_are_judged_with_little_effort(definition: str) -> None:
    model = ac.Model.from_text(TANK).unrolled(300)
    context = ac.Trace({"demand": 1, "stuck": [int(step > 290) for step in range(301)]}).context(model)
    asked = {"context": context, "effect": "alarm@300 == 1", "definition": definition, "max_steps": 2_000}
    actual = model.evaluate(context)
    assert long_models.is_long(ac.causes(model, **asked).query)
    for name in ("stuck@292", "stuck@300", "alarm@0", "level@150", "demand@0"):
        verdict = ac.is_cause(model, event={name: actual[name]}, **asked)
        assert verdict.holds is not None
        assert verdict.witness is None or verdict.witness.replay(verdict.query)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_a_few_steps_of_a_controller_are_judged_with_little_effort(definition: str) -> None:
    model = ac.Model.from_text(CONTROLLER).unrolled(18)
    context = ac.Trace({"demand": 1, "leak": 0, "stuck": [int(step >= 6) for step in range(19)]}).context(model)
    asked = {"context": context, "effect": "alarm@18 == 1", "definition": definition, "max_steps": 2_000}
    actual = model.evaluate(context)
    for name, holds in {"low@6": True, "pump@7": True, "reading@4": True, "demand@8": True, "stuck@3": False}.items():
        verdict = ac.is_cause(model, event={name: actual[name]}, **asked)
        assert (name, verdict.holds) == (name, holds)
        assert verdict.witness is None or verdict.witness.replay(verdict.query)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_a_difference_that_must_be_carried_far_is_found_along_a_path(definition: str) -> None:
    """The pump would have run on without the low mark, so that this needs a contingency, or a network."""
    model = ac.Model.from_text(CONTROLLER).unrolled(300)
    stuck = [int(step >= 288) for step in range(301)]
    context = ac.Trace({"demand": 1, "leak": 0, "stuck": stuck}).context(model)
    asked = {"context": context, "effect": "alarm@300 == 1", "event": "low@100=1"}
    assert model.evaluate(context)["low@100"] == 1
    assert not ac.is_cause(model, **asked)
    verdict = ac.is_cause(model, definition=definition, max_steps=10_000, **asked)
    assert verdict.holds
    assert verdict.witness is not None
    assert verdict.witness.replay(verdict.query)
    assert verdict.statistics["solver_calls"] <= 10


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_an_equation_of_very_many_parents_is_tried_in_few_ways(definition: str) -> None:
    """All 2 to the 129 choices of what is held would take for ever."""
    names = [f"X{number}" for number in range(130)]
    lines = [*(f"{name} in 0..9" for name in names), "Y = " + " or ".join(f"{name} > 5" for name in names)]
    model = ac.Model.from_text("\n".join(lines))
    asked = {"context": dict.fromkeys(names, 7), "effect": "Y == 1", "definition": definition}
    assert ac.is_cause(model, event="X0=7", max_steps=2_000, **asked)


@pytest.mark.parametrize(("count", "settings", "expected"), [(2, 4, 4), (129, 1, 1), (11, 2_048, 13)])
def test_what_is_held_is_chosen_in_all_ways_where_these_are_few(count: int, settings: int, expected: int) -> None:
    ways = list(single_paths._choose_held(count, settings))
    assert len(ways) == len(set(ways)) == expected
    assert ways[0] == (True,) * count
