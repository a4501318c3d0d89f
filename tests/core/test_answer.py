"""Questions and answers as values: what they say in words and in JSON, and what they refuse."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause import (
    DEFINITIONS,
    ActCauseError,
    Model,
    ModelError,
    ParseError,
    Query,
    QueryError,
    Replay,
    Status,
    Witness,
    causes,
    examples,
    is_cause,
)
from actcause.core.answer import as_share, find_pinned_value
from actcause.core.text import parse_formula

TEXT = "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH"
ROCKS = Model.from_text(TEXT)
BOTH_THROW = {"ST": 1, "BT": 1}
ASKED = {"context": BOTH_THROW, "effect": "BS == 1"}
TOLD = examples.load("rock-throwing")


def sentence(event: str, definition: str, model: Model = ROCKS, effect: str = "BS == 1", **options) -> str:
    verdict = is_cause(model, context=BOTH_THROW, effect=effect, event=event, definition=definition, **options)
    assert str(verdict) == verdict.sentence
    return verdict.sentence


# -- sentences -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "exhaustive"])
@pytest.mark.parametrize(
    ("event", "definition", "expected"),
    [
        ("ST=1", "modified-hp", "ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0."),
        ("SH=1", "modified-hp", "SH=1 is a cause of BS=1: had SH been 0 while BH stayed 0, BS would have been 0."),
        (
            "ST=1, BT=1",
            "but-for",
            "ST=1 and BT=1 together are a cause of BS=1: had ST been 0 and BT been 0, BS would have been 0.",
        ),
        ("ST=1", "updated-hp", "ST=1 is a cause of BS=1: had ST been 0 with BT set to 0, BS would have been 0."),
        (
            "BT=1",
            "modified-hp",
            "BT=1 is not a cause of BS=1: "
            "no change of it that the definition allows would have undone the effect (AC2a).",
        ),
        (
            "BT=1",
            "updated-hp",
            "BT=1 is not a cause of BS=1: "
            "it is not sufficient under any conditions in which changing it undoes the effect (AC2b).",
        ),
        (
            "ST=1, BT=1",
            "modified-hp",
            "ST=1 and BT=1 together are not a cause of BS=1: ST=1 is enough (AC3).",
        ),
        ("BT=0", "modified-hp", "BT=0 is not a cause of BS=1: actually BT=1 (AC1)."),
        (
            "ST=0, BH=1",
            "direct",
            "ST=0 and BH=1 together are not a cause of BS=1: actually ST=1 and BH=0 (AC1).",
        ),
    ],
)
def test_a_verdict_reads_as_a_sentence(event: str, definition: str, expected: str, solver: str) -> None:
    assert sentence(event, definition, solver=solver) == expected


def test_an_effect_that_did_not_happen_is_said_to_be_so() -> None:
    assert (
        sentence("ST=1", "modified-hp", effect="BS == 0") == "ST=1 is not a cause of BS=0: BS=0 did not happen (AC1)."
    )


def test_a_label_opens_the_sentence() -> None:
    question = {"context": TOLD.context, "effect": TOLD.effect}
    assert str(is_cause(TOLD.model, **question, event="ST=1")) == (
        "Suzy's throw ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0."
    )
    labelled = Model.from_text('A "the switch"\nB "the lamp" = A')
    assert str(is_cause(labelled, context="A=1", effect="B", event="A=1")) == (
        "The switch A=1 is a cause of B=1: had A been 0, B would have been 0."
    )
    assert str(is_cause(labelled, context="A=1", effect="B", event="A=1, B=1")) == (
        "The switch A=1 and the lamp B=1 together are not a cause of B=1: A=1 is enough (AC3)."
    )


def test_an_effect_that_is_a_formula_is_quoted() -> None:
    assert sentence("ST=1", "but-for", effect="BS and not BH") == (
        "ST=1 is a cause of (BS and not BH): had ST been 0, (BS and not BH) would not have held."
    )


def test_what_is_set_beside_the_event_is_said() -> None:
    said = sentence("SH=1", "direct", solver="exhaustive")
    assert said == "SH=1 is a cause of BS=1: had SH been 0 and ST=0, BT=0 and BH=0, BS would have been 0."


def test_a_long_event_and_a_long_witness_are_cut_short() -> None:
    names = [f"A{i}" for i in range(12)]
    model = Model.from_text("\n".join([*names, f"B = {' or '.join(names)}"]))
    context = dict.fromkeys(names, 1)
    verdict = is_cause(model, context=context, effect="B", event=context, definition="but-for")
    assert verdict.holds
    eight = ", ".join(f"A{i}=1" for i in range(8))
    assert str(verdict).startswith(f"{eight} and 4 more together are a cause of B=1: had A0 been 0, ")


def test_a_verdict_that_ran_out_says_so() -> None:
    assert sentence("ST=1, BT=1", "modified-hp", max_steps=1) == (
        "It is not known whether ST=1 and BT=1 together are a cause of BS=1. "
        "The search ran out of steps; raise max_steps to go on."
    )


def test_a_counterfactual_that_is_cut_short_says_how_much_more_was_changed() -> None:
    names = [f"A{i}" for i in range(12)]
    model = Model.from_text("\n".join([*names, f"B = {' or '.join(names)}"]))
    context = dict.fromkeys(names, 1)
    said = is_cause(model, context=context, effect="B", event=context, definition="but-for").sentence
    assert "4 more" in said.split(": had ")[1]


def test_an_answer_reads_as_one_sentence_for_each_cause() -> None:
    answer = causes(ROCKS, **ASKED)
    assert str(answer) == (
        "ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0.\n"
        "SH=1 is a cause of BS=1: had SH been 0 while BH stayed 0, BS would have been 0."
    )
    assert [str(cause) for cause in answer] == str(answer).split("\n")
    nothing = causes(ROCKS, context=BOTH_THROW, effect="BS == 0")
    assert str(nothing) == "BS=0 has no cause by 'modified-hp'. It did not happen."
    assert str(causes(ROCKS, context=BOTH_THROW, effect="BS < 2")) == "(BS < 2) has no cause by 'modified-hp'."


def test_an_answer_of_many_causes_shows_the_first_five() -> None:
    voters = [f"V{i}" for i in range(7)]
    model = Model.from_text("\n".join([*voters, f"W = {' + '.join(voters)} >= 4"]))
    lines = str(causes(model, context=dict.fromkeys(voters, 1), effect="W", definition="updated-hp")).split("\n")
    assert len(lines) == 6
    assert lines[-1] == "… and more."


# -- JSON ------------------------------------------------------------------------------------------

CONTRACT = ("definition", "context", "state", "effect", "conditions", "witness", "causes", "status")


def test_a_verdict_in_json_has_the_keys_of_the_contract() -> None:
    found = is_cause(ROCKS, **ASKED, event={"ST": 1}).to_json()
    assert set(CONTRACT) | {"holds"} <= set(found)
    assert json.loads(json.dumps(found)) == found
    assert found["definition"] == "modified-hp"
    assert found["context"] == BOTH_THROW
    assert found["state"] == {"ST": 1, "BT": 1, "SH": 1, "BH": 0, "BS": 1}
    assert found["effect"] == "BS == 1"
    assert found["holds"] is True
    assert found["conditions"] == {"AC1": True, "AC2a": True, "AC2b": True, "AC3": True}
    assert found["witness"] == {"changed": {"ST": 0}, "frozen": {"BH": 0}}
    assert found["causes"] == [{"event": {"ST": 1}, "witness": found["witness"]}]
    assert found["status"] == "complete"


def test_a_no_in_json_names_the_condition_that_failed() -> None:
    found = is_cause(ROCKS, **ASKED, event="BT=1").to_json()
    assert found["holds"] is False
    assert found["failed"] == "AC2a"
    assert found["conditions"] == {"AC1": True, "AC2a": False, "AC2b": None, "AC3": True}
    assert found["witness"] is None
    assert found["causes"] == []


def test_a_verdict_that_ran_out_is_null_in_json() -> None:
    found = is_cause(ROCKS, **ASKED, event="ST=1", max_steps=1).to_json()
    assert found["holds"] is None
    assert found["status"] == "out-of-steps"
    assert found["causes"] == []


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_an_answer_in_json_has_the_keys_of_the_contract(definition: str) -> None:
    found = causes(ROCKS, **ASKED, definition=definition).to_json()
    assert set(CONTRACT) <= set(found)
    assert json.loads(json.dumps(found)) == found
    assert found["definition"] == definition
    assert found["causes"]
    for cause in found["causes"]:
        assert {"event", "witness"} <= set(cause)
        assert {"changed", "frozen"} <= set(cause["witness"])


def test_the_state_in_json_leaves_exogenous_variables_to_the_context() -> None:
    model = Model.from_text("exogenous U\nA = U\nB = A")
    found = is_cause(model, context="U=1", effect="B", event="A=1").to_json()
    assert found["state"] == {"A": 1, "B": 1}
    assert found["context"] == {"U": 1}


# -- shares ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "share"),
    [
        (None, None),
        (0, Fraction(0)),
        (1, Fraction(1)),
        (1.0, Fraction(1)),
        (0.2, Fraction(1, 5)),
        (2 / 3, Fraction(2, 3)),
        (0.1 + 0.2, Fraction(3, 10)),
        (1 - 0.9, Fraction(1, 10)),
        ("2/3", Fraction(2, 3)),
        ("0.4", Fraction(2, 5)),
        (Fraction(1, 7), Fraction(1, 7)),
    ],
)
def test_a_share_is_read_as_the_fraction_that_is_meant(value: object, share: Fraction | None) -> None:
    assert as_share("alpha_sufficiency", value) == share  # type: ignore[arg-type]


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_share_of_small_terms_survives_the_way_through_a_float(one: int, other: int) -> None:
    share = Fraction(min(one, other), max(one, other))
    assert as_share("alpha_necessity", float(share)) == share


@pytest.mark.parametrize("value", [-0.1, 1.5, "3/2", "x", "", "1/0", [1], float("nan"), float("inf"), 1j])
def test_what_is_not_a_share_is_refused_by_name(value: object) -> None:
    with pytest.raises(QueryError, match=r"^alpha_necessity must be (a number )?between 0 and 1; got .+\.$"):
        as_share("alpha_necessity", value)  # type: ignore[arg-type]


def test_a_query_keeps_its_shares_exact() -> None:
    query = Query(ROCKS, BOTH_THROW, "BS", "functional", 2 / 3, "0.01")  # type: ignore[arg-type]
    assert (query.alpha_sufficiency, query.alpha_necessity) == (Fraction(2, 3), Fraction(1, 100))


# -- queries ---------------------------------------------------------------------------------------


def test_a_query_knows_what_happened_and_what_can_be_a_cause() -> None:
    model = Model.from_text("exogenous U\nA = U\nB\nC = A or B\nD = C\nE = B")
    query = Query(model, {"U": 1, "B": 0}, "C == 1")
    assert query.actual == {"U": 1, "A": 1, "B": 0, "C": 1, "D": 1, "E": 0}
    assert query.state == {"A": 1, "B": 0, "C": 1, "D": 1, "E": 0}
    assert query.happened
    assert query.effect_variables == ("C",)
    assert query.relevant == ("A", "B", "C")
    assert query.candidates == ("A", "B")


def test_a_query_and_what_answers_it_cannot_be_changed() -> None:
    query = Query(ROCKS, BOTH_THROW, "BS")
    verdict = is_cause(ROCKS, **ASKED, event="ST=1")
    for value, name in ((query, "effect"), (verdict, "event"), (verdict.witness, "changed")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)


def test_a_query_does_not_change_nor_keep_the_context_it_was_given() -> None:
    context = {"ST": True, "BT": 1}
    query = Query(ROCKS, context, "BS")
    context["ST"] = False
    assert query.context == {"ST": 1, "BT": 1}
    assert query.actual["BS"] == 1


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (("A = 1", {}, "A"), QueryError, "The model must be a Model; got str. Use Model.from_text."),
        ((ROCKS, {"ST": 1}, "BS"), ModelError, "The context must set every root; missing: BT."),
        ((ROCKS, {"ST": 1, "BT": 2}, "BS"), ModelError, "BT must be in {0, 1}; got 2."),
        ((ROCKS, {**BOTH_THROW, "SH": 1}, "BS"), ModelError, "The context sets SH, which has an equation"),
        ((ROCKS, BOTH_THROW, "BS =="), ParseError, "line 1, column"),
        ((ROCKS, BOTH_THROW, "BZ"), ParseError, "unknown variable 'BZ'"),
        ((ROCKS, BOTH_THROW, 7), QueryError, "The effect must be a formula such as 'BS == 1'; got 7."),
        ((ROCKS, BOTH_THROW, None), QueryError, "The effect must be a formula such as 'BS == 1'; got None."),
    ],
)
def test_a_query_that_cannot_be_asked_is_refused_in_one_sentence(
    arguments: tuple, error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as refused:
        Query(*arguments)
    assert isinstance(refused.value, ActCauseError)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({}, "The event must be a non-empty mapping such as {'ST': 1}; got {}."),
        (None, "The event must be a non-empty mapping such as {'ST': 1}; got None."),
        ([("ST", 1)], "The event must be a non-empty mapping such as {'ST': 1}; got [('ST', 1)]."),
        ({"ST": 2}, "ST must be in {0, 1}; got 2."),
        ({"SX": 1}, "Unknown variable 'SX' in the event; did you mean 'ST'?"),
        ("ST=2", "ST"),
        ("ST", "line 1"),
    ],
)
def test_an_event_that_cannot_be_judged_is_refused_in_one_sentence(event: object, said: str) -> None:
    with pytest.raises(ActCauseError) as refused:
        Query(ROCKS, BOTH_THROW, "BS").check_event(event)  # type: ignore[arg-type]
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("effect", "pinned"),
    [
        ("BS == 1", ("BS", 1)),
        ("1 == BS", ("BS", 1)),
        ("BS", ("BS", 1)),
        ("not BS", ("BS", 0)),
        ("not T", ("T", 0)),
        ("T == 2", ("T", 2)),
        ("T", None),
        ("T != 2", None),
        ("BS and T", None),
        ("T == BS", None),
        ("not not BS", None),
        ("1", None),
    ],
)
def test_an_effect_is_pinned_if_it_is_one_value_of_one_variable(effect: str, pinned: tuple[str, int] | None) -> None:
    model = Model.from_text("BS\nT in 0..2")
    assert find_pinned_value(parse_formula(effect, model.ranges), model) == pinned


# -- witnesses -------------------------------------------------------------------------------------


def test_a_replay_is_true_if_the_effect_went_away() -> None:
    query = Query(ROCKS, BOTH_THROW, "BS == 1")
    undone = Witness({"ST": 0}, {"BH": 0}).replay(query)
    assert undone
    assert undone == Replay({"ST": 0, "BT": 1, "SH": 0, "BH": 0, "BS": 0}, effect=False)
    kept = Witness({"ST": 0}).replay(query)
    assert not kept
    assert kept.effect
    assert kept.values["BH"] == 1


def test_a_witness_puts_the_change_above_all_else_that_it_sets() -> None:
    witness = Witness({"A": 1}, frozen={"B": 2}, others={"C": 3}, network=("D",))
    assert witness.intervention == {"A": 1, "B": 2, "C": 3}
    assert witness.to_json() == {"changed": {"A": 1}, "frozen": {"B": 2}, "others": {"C": 3}, "network": ["D"]}
    assert Witness({"A": 1}).to_json() == {"changed": {"A": 1}, "frozen": {}}


def test_a_witness_that_sets_what_is_not_there_is_refused_when_replayed() -> None:
    query = Query(ROCKS, BOTH_THROW, "BS == 1")
    with pytest.raises(ModelError, match="did you mean 'ST'"):
        Witness({"STT": 0}).replay(query)
    with pytest.raises(ModelError, match="must be in"):
        Witness({"ST": 5}).replay(query)


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_sentence(status: Status) -> None:
    assert Status(status.value) is status
    assert status.sentence.endswith(".")
