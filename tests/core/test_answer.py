"""Answers as values: what they say in words and in JSON, and what they refuse."""

from __future__ import annotations

import json

import pytest

from actcause import (
    DEFINITIONS,
    Model,
    ModelError,
    Query,
    Replay,
    Status,
    Witness,
    causes,
    examples,
    is_cause,
)

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
    assert str(nothing) == "BS=0 has no cause by 'modified-hp'. It did not happen: actually BS=1."
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
