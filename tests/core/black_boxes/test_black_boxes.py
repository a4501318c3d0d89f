"""Black boxes agree with the exhaustive solver of the equivalent model, count their calls, and say what they know."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause import BlackBox, Interval, Model, QueryError, Status
from actcause.core.black_boxes import descents
from actcause.core.definitions import Search
from actcause.core.equation import Equation
from strategies import many

EXACT = ("but-for", "modified-hp", "original-hp", "updated-hp", "direct", "strong")


class Table:
    """A random function as a table, which counts how often it is called."""

    def __init__(self, rng: Random, most_inputs: int = 4) -> None:
        count = rng.randint(1, most_inputs)
        self.ranges = {f"X{i}": tuple(range(rng.choice([2, 2, 3]))) for i in range(count)}
        share = rng.choice([0.2, 0.5, 0.8])
        self.rows = {values: int(rng.random() < share) for values in product(*self.ranges.values())}
        self.calls: list[tuple[int, ...]] = []

    def __call__(self, **inputs: int) -> int:
        self.calls.append(tuple(inputs[name] for name in self.ranges))
        return self.rows[self.calls[-1]]

    def many(self, **columns: np.ndarray) -> np.ndarray:
        return np.asarray([self(**{n: int(c[row]) for n, c in columns.items()}) for row in range(len(columns["X0"]))])

    def model(self) -> Model:
        equation = Equation(tuple(self.ranges), function=lambda *values: self.rows[values])
        return Model({**self.ranges, "Y": (0, 1)}, {"Y": equation})


def events(answer: Any) -> set[frozenset[tuple[str, Any]]]:
    return {frozenset(cause.event.items()) for cause in answer.causes}


@pytest.mark.parametrize("definition", EXACT)
@pytest.mark.parametrize("vectorized", [False, True])
@many(600)
@given(rng=st.randoms(use_true_random=True))
def test_causes_are_those_of_the_equivalent_model(definition: str, vectorized: bool, rng: Random) -> None:
    table = Table(rng)
    context = {name: rng.choice(values) for name, values in table.ranges.items()}
    box = BlackBox(table.many if vectorized else table, table.ranges, vectorized=vectorized)
    answer = ac.causes(box, context=context, effect="output == 1", definition=definition)
    oracle = ac.causes(table.model(), context=context, effect="Y == 1", definition=definition, solver="exhaustive")
    assert events(answer) == events(oracle)
    assert answer.status is Status.COMPLETE
    assert answer.proved_size == len(table.ranges)
    assert answer.error == 0
    assert all(cause.certainty == "proved" for cause in answer)
    assert answer.calls == len(table.calls) == len(set(table.calls))
    assert all(cause.replay() for cause in answer)


@many(400)
@given(rng=st.randoms(use_true_random=True))
def test_witnesses_are_witnesses_of_the_equivalent_model(rng: Random) -> None:
    """Played in the model, with what is sufficient looked at by the definition's own words."""
    table, definition = Table(rng), rng.choice(EXACT)
    context = {name: rng.choice(values) for name, values in table.ranges.items()}
    answer = ac.causes(BlackBox(table, table.ranges), context=context, effect="output == 1", definition=definition)
    query = ac.Query(table.model(), context, "Y == 1", definition)
    for cause in answer:
        witness = ac.Witness(cause.witness.changed, cause.witness.frozen, cause.witness.others)
        assert witness.replay(query)
        assert ac.DEFINITIONS[definition].sufficient(Search(query), cause.event, witness)


@pytest.mark.parametrize("definition", EXACT)
@many(400)
@given(rng=st.randoms(use_true_random=True))
def test_verdicts_are_those_of_the_equivalent_model(definition: str, rng: Random) -> None:
    table = Table(rng, most_inputs=3)
    context = {name: rng.choice(values) for name, values in table.ranges.items()}
    names = rng.sample(list(table.ranges), rng.randint(1, len(table.ranges)))
    event = {name: context[name] if rng.random() < 0.9 else rng.choice(table.ranges[name]) for name in names}
    question = {"context": context, "event": event, "definition": definition}
    verdict = ac.is_cause(BlackBox(table, table.ranges), effect="output == 1", **question)
    oracle = ac.is_cause(table.model(), effect="Y == 1", solver="exhaustive", **question)
    assert verdict.holds is oracle.holds
    assert verdict.certainty == "proved"
    assert verdict.sentence.endswith(".")
    assert verdict.witness is None or verdict.witness.replay(verdict.query)


@many(400)
@given(rng=st.randoms(use_true_random=True))
def test_functional_causes_are_those_of_the_equivalent_model(rng: Random) -> None:
    table = Table(rng)
    context = {name: rng.choice(values) for name, values in table.ranges.items()}
    shares = {"alpha_sufficiency": rng.choice([0, 0.1, 0.3, 0.45]), "alpha_necessity": rng.choice([None, 0.2, 0.5])}
    question = {"context": context, "definition": "functional", **shares}
    answer = ac.causes(BlackBox(table, table.ranges), effect="output == 1", **question)
    oracle = ac.causes(table.model(), effect="Y == 1", **question)
    assert events(answer) == events(oracle)
    for cause in answer:
        assert ac.is_cause(BlackBox(table, table.ranges), effect="output == 1", event=cause.event, **question)


def rocks() -> BlackBox:
    def simulate(ST: int, BT: int, SH: int | None, BH: int | None) -> dict[str, int]:
        sh = ST if SH is None else SH
        bh = int(BT and not sh) if BH is None else BH
        return {"SH": sh, "BH": bh, "BS": int(sh or bh)}

    return BlackBox(simulate, {"ST": (0, 1), "BT": (0, 1)}, inner={"SH": (0, 1), "BH": (0, 1)})


def test_inner_variables_that_can_be_set_give_the_causes_of_the_whole_model() -> None:
    example = ac.examples.load("rock-throwing")
    for definition in ("but-for", "modified-hp"):
        question = {"context": {"ST": 1, "BT": 1}, "effect": "BS == 1", "definition": definition}
        answer = ac.causes(rocks(), **question)
        assert events(answer) == events(ac.causes(example.model, **question))
    assert str(answer.causes[0]) == (
        "ST=1 is a cause of (BS == 1): had ST been 0 while BH stayed 0, (BS == 1) would not have held."
    )


@pytest.mark.parametrize("vectorized", [False, True])
@many(300)
@given(rng=st.randoms(use_true_random=True))
def test_random_models_with_inner_variables_agree_with_the_oracle(vectorized: bool, rng: Random) -> None:
    names = ["A", "B", "C", "D"]
    tables = {
        name: {values: rng.randint(0, 1) for values in product((0, 1), repeat=place)}
        for place, name in enumerate([*names, "Y"])
        if place >= 2
    }

    def simulate(A: int, B: int, C: int | None, D: int | None) -> dict[str, int]:
        c = tables["C"][A, B] if C is None else int(C)
        d = tables["D"][A, B, c] if D is None else int(D)
        return {"C": c, "D": d, "Y": tables["Y"][A, B, c, d]}

    def many_rows(**columns: np.ndarray) -> dict[str, np.ndarray]:
        rows = [
            simulate(**{n: None if np.isnan(c[row]) else int(c[row]) for n, c in columns.items()})
            for row in range(len(columns["A"]))
        ]
        return {name: np.asarray([row[name] for row in rows]) for name in "CDY"}

    model = Model(
        dict.fromkeys("ABCDY", (0, 1)),
        {
            "C": lambda A, B: tables["C"][A, B],
            "D": lambda A, B, C: tables["D"][A, B, C],
            "Y": lambda A, B, C, D: tables["Y"][A, B, C, D],
        },
    )
    binary = (0, 1)
    context = {"A": rng.randint(0, 1), "B": rng.randint(0, 1)}
    box = BlackBox(
        many_rows if vectorized else simulate,
        {"A": binary, "B": binary},
        inner={"C": binary, "D": binary},
        vectorized=vectorized,
    )
    definition = rng.choice(["but-for", "modified-hp"])
    question = {"context": context, "effect": "Y == 1", "definition": definition}
    answer = ac.causes(box, **question)
    assert events(answer) == events(ac.causes(model, solver="exhaustive", **question))
    assert all(cause.replay() for cause in answer)


# -- budgets ---------------------------------------------------------------------------------------


def unanimous(**votes: int) -> bool:
    return sum(votes.values()) >= 6


VOTERS = {f"V{i}": (0, 1) for i in range(11)}
ALL_FOR = dict.fromkeys(VOTERS, 1)


def test_a_budget_ends_the_search_and_what_was_proved_is_kept() -> None:
    box = BlackBox(unanimous, VOTERS)
    answer = ac.causes(box, context=ALL_FOR, effect="output", max_calls=70)
    assert answer.status is Status.OUT_OF_CALLS
    assert answer.calls == 70
    assert answer.proved_size == 1
    assert "raise max_calls" in answer.sentence


def test_causes_of_many_inputs_are_found_from_above_long_before_all_smaller_ones_are_tried() -> None:
    box = BlackBox(lambda **votes: sum(votes.values()) >= 36, {f"V{i}": (0, 1) for i in range(40)})
    answer = ac.causes(box, context=dict.fromkeys(box.inputs, 1), effect="output", max_calls=1000)
    first = answer.causes[0]
    assert len(first.event) == 5
    assert first.certainty == "proved"
    assert first.replay()
    assert answer.calls < 300  # all sets of up to five of forty are 760,098


def test_a_change_too_large_to_be_taken_apart_is_reported_as_a_place_to_look() -> None:
    box = BlackBox(lambda **votes: any(votes.values()), {f"V{i}": (0, 1) for i in range(30)})
    answer = ac.causes(box, context=dict.fromkeys(box.inputs, 1), effect="output", max_calls=500)
    assert answer.status is Status.OUT_OF_CALLS
    assert not len(answer)
    assert set(answer.within) == set(box.inputs)
    assert "Some cause lies within" in answer.sentence


def test_causes_come_lazily_and_at_most_as_many_as_asked_for() -> None:
    box = BlackBox(lambda A, B, C: A and B and C, dict.fromkeys("ABC", (0, 1)))
    answer = ac.causes(box, context="A=1,B=1,C=1", effect="output", max_causes=2)
    assert dict(answer.causes[0].event) == {"A": 1}
    assert answer.calls == 2
    assert len(answer.causes) == 2
    assert answer.status is Status.MAX_CAUSES


def test_time_ends_the_search_too() -> None:
    answer = ac.causes(BlackBox(unanimous, VOTERS), context=ALL_FOR, effect="output", max_seconds=1e-9)
    assert answer.status is Status.OUT_OF_TIME


def test_a_vectorised_function_is_called_in_batches() -> None:
    batches = []

    def count(**votes: np.ndarray) -> np.ndarray:
        batches.append(len(votes["V0"]))
        return sum(votes.values()) >= 6

    answer = ac.causes(BlackBox(count, VOTERS, vectorized=True), context=ALL_FOR, effect="output")
    assert len(answer) == 462
    assert sum(batches) == answer.calls
    assert len(batches) == answer.statistics["batches"] < 30


# -- continuous inputs -----------------------------------------------------------------------------


def stopping(speed: float, friction: float, brake: int) -> dict[str, float]:
    return {"metres": speed**2 / (2 * 9.81 * friction * (1 if brake else 0.1))}


CAR = BlackBox(stopping, {"speed": Interval(0, 40), "friction": Interval(0.1, 1), "brake": (0, 1)})


def test_causes_with_continuous_ranges_are_found_and_their_witnesses_replay() -> None:
    answer = ac.causes(CAR, context={"speed": 20, "friction": 0.8, "brake": 0}, effect="metres > 30.5")
    assert events(answer) == {frozenset({("speed", 20.0)}), frozenset({("brake", 0)})}
    assert answer.status is Status.COMPLETE
    assert (answer.proved_size, answer.likely_size) == (0, 3)
    assert answer.error == 0.05
    assert "Likely (error at most 0.05)" in answer.sentence
    assert all(cause.replay() for cause in answer)


def test_a_joint_cause_of_continuous_inputs_is_minimal_only_likely() -> None:
    box = BlackBox(lambda a, b: a < 0.5 or b < 0.5, {"a": Interval(0, 1), "b": Interval(0, 1)})
    (cause,) = ac.causes(box, context={"a": 0.2, "b": 0.1}, effect="output").causes
    assert set(cause.event) == {"a", "b"}
    assert cause.certainty == "likely"
    assert str(cause).startswith("a=0.2 and b=0.1 together are probably a cause of (output)")


def test_an_effect_that_hardly_any_value_undoes_is_missed_at_most_as_often_as_said() -> None:
    """A region of just the least share is to be missed in at most 1 - confidence of the searches."""
    missed = 0
    for seed in range(200):
        box = BlackBox(lambda x: not 0.7 < x < 0.75, {"x": Interval(0, 1)})
        asked = {"context": {"x": 0.2}, "effect": "output", "confidence": 0.8, "least_share": 0.05}
        missed += not len(ac.causes(box, seed=seed, **asked))
    assert 1 <= missed <= 40  # expected 200 * (0.95 ** 45) = 20: half of the error belongs to larger sets


def test_the_same_seed_gives_the_same_answer_whatever_the_budget() -> None:
    box = BlackBox(lambda x, y: x + y < 1.9, {"x": Interval(0, 1), "y": Interval(0, 1)})
    asked = {"context": {"x": 0.2, "y": 0.3}, "effect": "output"}
    assert ac.causes(box, **asked).to_json() == ac.causes(box, max_calls=5000, **asked).to_json()


def test_functional_shares_are_sampled_until_they_are_on_one_side_of_the_bound() -> None:
    box = BlackBox(
        lambda x, y, z: (x > 0.5 and y < 0.9) or z == 7,
        {"x": Interval(0, 1), "y": Interval(0, 1), "z": tuple(range(10))},
    )
    asked = {"context": {"x": 0.8, "y": 0.1, "z": 0}, "effect": "output", "definition": "functional"}
    answer = ac.causes(box, alpha_sufficiency=0.2, **asked)
    assert [dict(cause.event) for cause in answer] == [{"x": 0.8}]
    assert answer.causes[0].certainty == "likely"
    assert answer.error == 0.05
    verdict = ac.is_cause(box, event={"y": 0.1}, alpha_sufficiency=0.2, **asked)
    assert verdict.holds is False


def test_words_are_values_too_and_a_contrast_must_be_brought_about() -> None:
    def journey(sky: str, coat: str) -> dict[str, int]:
        return {"wet": 2 if sky == "hail" else int(sky == "rain" and coat == "none")}

    box = BlackBox(journey, {"sky": ("clear", "rain", "hail"), "coat": ("none", "long")})
    asked = {"context": "sky=rain, coat=none", "effect": "wet == 1"}
    assert events(ac.causes(box, **asked)) == {frozenset({("sky", "rain")}), frozenset({("coat", "none")})}
    (cause,) = ac.causes(box, contrast="wet == 2", **asked)
    assert dict(cause.witness.changed) == {"sky": "hail"}


def test_a_python_function_says_what_the_effect_is() -> None:
    box = BlackBox(lambda a: [a, a * 2], {"a": (0, 1, 2)})
    answer = ac.causes(box, context={"a": 2}, effect=lambda path: max(path) > 2)
    assert str(answer.causes[0]) == "a=2 is a cause of the effect: had a been 0, the effect would not have held."


def test_an_effect_that_did_not_happen_has_no_causes() -> None:
    answer = ac.causes(CAR, context={"speed": 1, "friction": 0.8, "brake": 1}, effect="metres > 30")
    assert not answer.causes
    assert answer.sentence == "(metres > 30) did not happen, so it has no cause."


# -- mistakes --------------------------------------------------------------------------------------


ASKED: dict[str, Any] = {"context": {"speed": 20, "friction": 0.8, "brake": 0}, "effect": "metres > 30"}


@pytest.mark.parametrize(
    ("given", "parameter", "words"),
    [
        ({"context": {"speed": 20, "friction": 0.8}}, "context", "must set every input; brake is missing"),
        ({"context": "speed=20"}, "context", "must set every input; friction and brake are missing"),
        (
            {"effect": "metres // 0 == 1"},
            None,
            "cannot be evaluated at speed=20, friction=0.8, brake=0: division by zero",
        ),
        ({"context": {"spead": 20}}, "context", "Unknown input 'spead' in context; did you mean 'speed'?"),
        ({"context": {"speed": 90, "friction": 0.8, "brake": 0}}, "context", "must be a number from 0 to 40; got 90"),
        ({"context": "speed"}, "context", "assignments such as 'speed=90, brake=0'; got 'speed'"),
        ({"context": 3}, "context", "must be a mapping"),
        ({"effect": "metre > 30"}, "effect", "which the function does not return; did you mean 'metres'?"),
        ({"effect": "metres >"}, "effect", "effect, line 1"),
        ({"effect": 3}, "effect", "must be a formula such as 'crash == 1' or a Python function; got 3"),
        ({"effect": lambda outputs: "yes"}, "effect", "must return True or False; it returned 'yes'"),
        ({"effect": lambda outputs: outputs["x"]}, "effect", "failed on what came out"),
        ({"definition": "modified"}, "definition", "Unknown definition 'modified'; did you mean 'modified-hp'?"),
        ({"definition": "functional"}, "alpha_sufficiency", "must be given and below 1/2"),
        ({"max_calls": 0}, "max_calls", "max_calls must be a positive number; got 0."),
        ({"max_causes": 0}, "max_causes", "must be at least 1"),
        ({"confidence": 1}, "confidence", "must be between 0 and 1; got 1"),
        ({"least_share": 0}, "least_share", "must be between 0 and 1; got 0"),
        ({"seed": -1}, "seed", "whole number of at least 0"),
        ({"solver": "exhaustive"}, "solver", "cannot be asked of a BlackBox, only of a Model"),
        ({"normality": "speed == 0"}, "normality", "cannot be asked of a BlackBox"),
        ({"contrast": "metres > 3"}, "contrast", "must rule the effect out"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_parameter(given: dict[str, Any], parameter: str, words: str) -> None:
    with pytest.raises(ac.ActCauseError) as raised:
        len(ac.causes(CAR, **{**ASKED, **given}))
    assert raised.value.parameter == parameter
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("function", "vectorized", "words"),
    [
        (lambda a: 1 / a, False, "The function failed at a=0 (ZeroDivisionError: division by zero)"),
        (lambda a: float("nan") if a == 0 else 1, False, "The function returned nan for 'output' at a=0"),
        (lambda a: "crash" if a == 0 else 1, False, "The function returned 'crash' for 'output' at a=0"),
        (lambda a: a + None, False, "The function failed at a=1 (TypeError:"),
        (lambda a: 1, True, "must return 1 values of output, one for each row; it returned an array of shape ()"),
        (lambda a: {"x": 1} if a == 0 else 1, False, "The function returned no 'output' at a=0"),
        (lambda a: sys.exit(3), False, "The function failed at a=1 (SystemExit: 3)"),
    ],
)
def test_a_function_that_fails_is_one_sentence_too(function: Any, vectorized: bool, words: str) -> None:
    with pytest.raises(QueryError) as raised:
        len(ac.causes(BlackBox(function, {"a": (0, 1, 2)}, vectorized=vectorized), context={"a": 1}, effect="output"))
    assert raised.value.parameter == "function"
    assert words in str(raised.value)


async def wait_for(a: int) -> int:
    return a


def test_a_number_too_large_for_decimals_is_one_sentence() -> None:
    box = BlackBox(lambda a: 10**400 * a, {"a": (0, 1)})
    with pytest.raises(QueryError, match=r"'output \* 0\.5 > 1' cannot be evaluated at a=1: int too large"):
        ac.causes(box, context="a=1", effect="output * 0.5 > 1")
    assert len(ac.causes(box, context="a=1", effect="output > 0.5")) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((3, {"a": (0, 1)}), "A black box needs a function; got 3."),
        ((len, {}), "at least one input"),
        ((len, {"a": ()}), "The range of a is empty"),
        ((len, {"a": 3}), "must be a list of values or an Interval; got 3"),
        ((len, {"not": (0, 1)}), "must be a word such as 'brake'"),
        ((len, {"a": (float("nan"),)}), "must hold numbers or words; got nan"),
        ((len, {"a": (1, float("inf"))}), "must hold numbers or words; got inf"),
        ((wait_for, {"a": (0, 1)}), "The function is asynchronous"),
        ((len, {"a": ([],)}), "must hold numbers or words; got []"),
        ((len, 3), "The inputs must map names to ranges"),
    ],
)
def test_a_box_is_checked_when_it_is_built(arguments: tuple[Any, Any], words: str) -> None:
    with pytest.raises(ac.ModelError) as raised:
        BlackBox(*arguments)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda b: 1, "The function takes no input 'a'; it takes b."),
        (lambda: 1, "The function takes no input 'a'; it takes none."),
        (lambda a, b: 1, "The function takes b, which is no input here; give it a range."),
        (lambda a, b, *, c: 1, "The function takes b and c, which are no input here; give each a range."),
        (abs, "The function takes inputs by their place; wrap it in one that takes them by name."),
    ],
)
def test_a_function_that_takes_other_inputs_is_refused_before_it_is_run(function: Any, words: str) -> None:
    with pytest.raises(ac.ModelError) as raised:
        BlackBox(function, {"a": (0, 1)})
    assert str(raised.value) == words
    assert BlackBox(lambda **given: given["a"], {"a": (0, 1)})({"a": 1}) == {"output": 1}


def test_with_a_contrast_the_sentence_names_what_would_have_come_about() -> None:
    fast = {"context": {"speed": 20, "friction": 0.8, "brake": 0}, "effect": "metres > 30", "contrast": "metres < 20"}
    said = str(ac.is_cause(CAR, **fast, event="speed=20"))
    assert said.endswith("(metres > 30) rather than (metres < 20): had speed been 0, (metres < 20) would have held.")


def test_an_interval_has_finite_ends_in_order() -> None:
    for ends, words in (((1, 0), "low < high"), ((0, float("inf")), "finite"), (("a", 1), "finite")):
        with pytest.raises(ac.ModelError, match=words):
            Interval(*ends)


def test_models_and_boxes_refuse_what_is_the_others() -> None:
    model = Model.from_text("A\nB = A")
    with pytest.raises(QueryError, match="max_calls cannot be asked of a model, only of a BlackBox"):
        ac.causes(model, context="A=1", effect="B", max_calls=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_cals'"):
        ac.causes(model, context="A=1", effect="B", max_cals=3)  # type: ignore[call-overload]
    with pytest.raises(QueryError, match="With inner variables a black box is searched by"):
        ac.causes(rocks(), context="ST=1,BT=1", effect="BS", definition="direct")
    with pytest.raises(ac.ModelError, match="an input and an inner variable"):
        BlackBox(len, {"a": (0, 1)}, inner={"a": (0, 1)})
    with pytest.raises(QueryError, match="every inner variable; 'b' is missing"):
        ac.causes(BlackBox(lambda a, b: {"a": a}, {"a": (0, 1)}, inner={"b": (0, 1)}), context="a=1", effect="a")


@pytest.mark.parametrize("definition", [*EXACT, "functional"])
def test_every_answer_and_verdict_is_a_json_document(definition: str) -> None:
    box = BlackBox(lambda A, B: A and B, {"A": (0, 1), "B": (0, 1)})
    asked = {"context": "A=1,B=1", "effect": "output", "definition": definition}
    asked |= {"alpha_sufficiency": 0.4} if definition == "functional" else {}
    answer = json.loads(json.dumps(ac.causes(box, **asked).to_json()))
    assert answer["status"] == "complete"
    assert answer["statistics"]["calls"] <= 4
    verdict = json.loads(json.dumps(ac.is_cause(box, event="A=1", **asked).to_json()))
    assert verdict["certainty"] == "proved"


def test_fractions_and_values_of_numpy_are_written_in_json_too() -> None:
    box = BlackBox(lambda a, b: a > 0 and b, {"a": (Fraction(-1, 2), Fraction(1, 2)), "b": np.asarray([False, True])})
    answer = ac.causes(box, context={"a": Fraction(1, 2), "b": True}, effect="output")
    document = json.loads(json.dumps(answer.to_json()))
    assert [cause["event"] for cause in document["causes"]] == [{"a": "1/2"}, {"b": True}]


def test_small_functions_are_swept_without_descents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descents.Descents, "shrunk_changes", lambda self, known: pytest.fail("descended"))
    box = BlackBox(lambda A, B, C: A or B or C, dict.fromkeys("ABC", (0, 1)))
    assert len(ac.causes(box, context="A=1,B=1,C=1", effect="output").causes[0].event) == 3


@pytest.mark.parametrize("definition", EXACT)
@many(120)
@given(rng=st.randoms(use_true_random=True))
def test_descents_find_nothing_but_causes(definition: str, rng: Random) -> None:
    """With descents from the start, even where there are few worlds, answers stay those of the oracle."""
    table = Table(rng)
    context = {name: rng.choice(values) for name, values in table.ranges.items()}
    oracle = ac.causes(table.model(), context=context, effect="Y == 1", definition=definition, solver="exhaustive")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descents, "FEW", 0)
        answer = ac.causes(BlackBox(table, table.ranges), context=context, effect="output == 1", definition=definition)
        assert events(answer) == events(oracle)
