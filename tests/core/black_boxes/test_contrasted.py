"""Why this rather than that, of black boxes: the causes are those of the equivalent model, by every definition."""

from __future__ import annotations

import json
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause import BlackBox, Interval, Model, Status
from actcause.core.black_boxes import descents
from actcause.core.black_boxes.contrasted import find_minimal_transversals
from actcause.core.definitions import Search
from actcause.core.equation import Equation
from strategies import many

WITH_OTHERS = ("original-hp", "updated-hp", "direct", "strong")
EXACT = ("but-for", "modified-hp", *WITH_OTHERS)
NEITHER, EFFECT, CONTRAST = 0, 1, 2


class Table:
    """A random function with three outcomes, as a table that counts how often it is called."""

    def __init__(self, rng: Random, most_inputs: int = 4) -> None:
        count = rng.randint(1, most_inputs)
        self.ranges = {f"X{i}": tuple(range(rng.choice([1, 2, 2, 2, 3]))) for i in range(count)}
        weights = rng.choice([(1, 1, 1), (1, 4, 1), (4, 4, 1), (6, 1, 1), (0, 2, 1)])
        self.rows = {values: rng.choices((0, 1, 2), weights)[0] for values in product(*self.ranges.values())}
        self.context = {name: rng.choice(values) for name, values in self.ranges.items()}
        if rng.random() < 0.95:
            self.rows[tuple(self.context.values())] = EFFECT
        self.calls: list[tuple[int, ...]] = []

    def __call__(self, **inputs: int) -> int:
        self.calls.append(tuple(inputs[name] for name in self.ranges))
        return self.rows[self.calls[-1]]

    def many(self, **columns: np.ndarray) -> np.ndarray:
        return np.asarray([self(**{n: int(c[row]) for n, c in columns.items()}) for row in range(len(columns["X0"]))])

    def box(self, *, vectorized: bool = False) -> BlackBox:
        return BlackBox(self.many if vectorized else self, self.ranges, vectorized=vectorized)

    def model(self) -> Model:
        equation = Equation(tuple(self.ranges), function=lambda *values: self.rows[values])
        return Model({**self.ranges, "Y": (0, 1, 2)}, {"Y": equation})


def ask_box(table: Table, definition: str, *, vectorized: bool = False, **more: Any) -> Any:
    asked = {"context": table.context, "effect": "output == 1", "contrast": "output == 2", "definition": definition}
    return ac.causes(table.box(vectorized=vectorized), **asked, **more)


def ask_model(table: Table, definition: str, **more: Any) -> Any:
    asked = {"context": table.context, "effect": "Y == 1", "contrast": "Y == 2", "definition": definition}
    return ac.causes(table.model(), **asked, **more)


def events(answer: Any) -> set[frozenset[tuple[str, Any]]]:
    return {frozenset(cause.event.items()) for cause in answer.causes}


@pytest.mark.parametrize("definition", EXACT)
@pytest.mark.parametrize("vectorized", [False, True])
@many(800)
@given(rng=st.randoms(use_true_random=True))
def test_causes_are_those_of_the_equivalent_model(definition: str, vectorized: bool, rng: Random) -> None:
    table = Table(rng)
    answer = ask_box(table, definition, vectorized=vectorized)
    assert events(answer) == events(ask_model(table, definition, solver="exhaustive"))
    assert len(answer) == len(events(answer))
    assert answer.status is Status.COMPLETE
    assert answer.proved_size == len(table.ranges)
    assert answer.error == 0
    assert not answer.undecided
    assert all(cause.certainty == "proved" for cause in answer)
    assert answer.calls == len(table.calls) == len(set(table.calls))
    assert all(cause.replay() for cause in answer)


@pytest.mark.parametrize("definition", EXACT)
@many(300)
@given(rng=st.randoms(use_true_random=True))
def test_descents_find_nothing_but_causes(definition: str, rng: Random) -> None:
    """With descents from the start, even where there are few worlds, answers stay those of the oracle."""
    table = Table(rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descents, "FEW", 0)
        assert events(ask_box(table, definition)) == events(ask_model(table, definition, solver="exhaustive"))


@many(600)
@given(rng=st.randoms(use_true_random=True))
def test_witnesses_are_witnesses_of_the_equivalent_model(rng: Random) -> None:
    """Played in the model, with what is sufficient looked at by the definition's own words."""
    table, definition = Table(rng), rng.choice(EXACT)
    query = ac.Query(table.model(), table.context, "Y == 1", definition, contrast="Y == 2")
    for cause in ask_box(table, definition):
        witness = ac.Witness(cause.witness.changed, cause.witness.frozen, cause.witness.others)
        assert witness.replay(query)
        assert ac.DEFINITIONS[definition].sufficient(Search(query), cause.event, witness)


@pytest.mark.parametrize("definition", EXACT)
@many(500)
@given(rng=st.randoms(use_true_random=True))
def test_verdicts_are_those_of_the_equivalent_model(definition: str, rng: Random) -> None:
    table = Table(rng, most_inputs=3)
    names = rng.sample(list(table.ranges), rng.randint(1, len(table.ranges)))
    event = {name: table.context[name] if rng.random() < 0.9 else rng.choice(table.ranges[name]) for name in names}
    question = {"context": table.context, "event": event, "definition": definition}
    verdict = ac.is_cause(table.box(), effect="output == 1", contrast="output == 2", **question)
    oracle = ac.is_cause(table.model(), effect="Y == 1", contrast="Y == 2", solver="exhaustive", **question)
    assert verdict.holds is oracle.holds
    assert verdict.certainty == "proved"
    assert verdict.sentence.endswith(".")
    assert verdict.witness is None or verdict.witness.replay(verdict.query)


@many(500)
@given(rng=st.randoms(use_true_random=True))
def test_functional_causes_are_those_of_the_equivalent_model(rng: Random) -> None:
    table = Table(rng)
    shares = {"alpha_sufficiency": rng.choice([0, 0.1, 0.3, 0.45]), "alpha_necessity": rng.choice([None, 0.2, 0.5])}
    answer = ask_box(table, "functional", **shares)
    assert events(answer) == events(ask_model(table, "functional", **shares))
    for cause in answer:
        assert cause.replay()


@pytest.mark.parametrize("definition", EXACT)
@many(200)
@given(rng=st.randoms(use_true_random=True))
def test_with_the_negated_effect_as_contrast_nothing_changes(definition: str, rng: Random) -> None:
    table = Table(rng)
    asked = {"context": table.context, "effect": "output == 1", "definition": definition}
    plain, rather = ac.causes(table.box(), **asked), ac.causes(table.box(), **asked, contrast="output != 1")
    assert events(plain) == events(rather)


@pytest.mark.parametrize("definition", EXACT)
@many(300)
@given(rng=st.randoms(use_true_random=True))
def test_whatever_the_budget_nothing_wrong_is_said(definition: str, rng: Random) -> None:
    """What is reported is a cause, what is proved is so, and of what is undecided at least a part is a cause."""
    table = Table(rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descents, "FEW", rng.choice([0, 512]))
        answer = ask_box(table, definition, max_calls=rng.randint(1, 40))
    oracle = {frozenset(dict(event)) for event in events(ask_model(table, definition, solver="exhaustive"))}
    found = {frozenset(cause.event) for cause in answer}
    assert found <= oracle
    assert answer.calls <= 40
    assert all(cause.replay() for cause in answer)
    for names in answer.undecided:
        assert any(cause <= set(names) for cause in oracle)
    if answer.proved_size == len(table.ranges):
        assert found == oracle
    if definition in ("but-for", "modified-hp"):
        assert all(cause in found for cause in oracle if len(cause) <= answer.proved_size)


# -- several inputs together -----------------------------------------------------------------------


def dim(left: int, right: int) -> int:
    """Bright, flickering with one lamp, dark with none."""
    return 1 if left and right else 2 if not left and not right else 0


@pytest.mark.parametrize("definition", EXACT)
def test_two_inputs_together_can_be_the_cause_of_this_rather_than_that(definition: str) -> None:
    box = BlackBox(dim, {"left": (0, 1), "right": (0, 1)})
    asked = {"context": "left=1, right=1", "effect": "output == 1", "contrast": "output == 2", "definition": definition}
    (cause,) = ac.causes(box, **asked)
    assert dict(cause.event) == {"left": 1, "right": 1}
    assert str(cause) == (
        "left=1 and right=1 together are a cause of (output == 1) rather than (output == 2): "
        "had left been 0 and right been 0, (output == 2) would have held."
    )
    assert ac.is_cause(box, **asked, event="left=1, right=1").certainty == "proved"
    assert ac.is_cause(box, **asked, event="left=1").holds is False


@pytest.mark.parametrize("definition", WITH_OTHERS)
def test_a_joint_cause_is_reported_only_when_nothing_smaller_can_turn_up(definition: str) -> None:
    """left and right bring it about together, each undoes the effect; but with third, left does not need right."""

    def run(left: int, right: int, third: int) -> int:
        if left:
            return 1 if right else 0
        return 2 if not right or not third else 0

    box = BlackBox(run, dict.fromkeys(("left", "right", "third"), (0, 1)))
    asked = {
        "context": "left=1, right=1, third=1",
        "effect": "output == 1",
        "contrast": "output == 2",
        "definition": definition,
    }
    early = ac.causes(box, **asked, max_calls=5)
    assert early.status is Status.OUT_OF_CALLS
    assert not len(early)
    assert early.undecided == (("left", "right"),)
    assert "Undecided: left with right." in early.sentence
    assert "Some cause lies within left and right." in early.sentence
    assert [dict(cause.event) for cause in ac.causes(box, **asked)] == [{"left": 1}]
    verdict = ac.is_cause(box, **asked, event="left=1, right=1")
    assert str(verdict).endswith("left=1 is enough (AC3).")


@pytest.mark.parametrize("definition", WITH_OTHERS)
def test_of_many_inputs_single_causes_are_found_from_above(definition: str) -> None:
    """Five of forty votes have to change; more than that brings the contrast about."""

    def count(**votes: int) -> int:
        return 1 if sum(votes.values()) >= 36 else 2

    box = BlackBox(count, {f"V{i}": (0, 1) for i in range(40)})
    asked = {"context": dict.fromkeys(box.inputs, 1), "effect": "output == 1", "contrast": "output == 2"}
    first = ac.causes(box, **asked, definition=definition, max_calls=2000).causes[0]
    assert len(first.event) == 1
    assert first.certainty == "proved"
    assert first.replay()


def test_by_original_hp_single_causes_are_found_in_changes_of_any_size() -> None:
    """Twenty of forty votes have to change at once, far too many for all parts of such a change to be looked at."""
    box = BlackBox(lambda **votes: 1 if sum(votes.values()) > 20 else 2, {f"V{i}": (0, 1) for i in range(40)})
    asked = {"context": dict.fromkeys(box.inputs, 1), "effect": "output == 1", "contrast": "output == 2"}
    answer = ac.causes(box, **asked, definition="original-hp", max_calls=2000)
    assert len(answer) == 40
    assert all(cause.replay() for cause in answer)


# -- continuous inputs -----------------------------------------------------------------------------


def brake(speed: float, pedal: float) -> dict[str, float]:
    """How far one goes on; the wheels lock where the pedal is pressed hard."""
    return {"metres": speed * (1 - pedal) if pedal < 0.9 else speed}


CAR = BlackBox(brake, {"speed": Interval(0, 40), "pedal": Interval(0, 1)})
DROVE = {"context": {"speed": 30, "pedal": 0.1}, "effect": "metres > 20", "contrast": "metres < 1"}


@pytest.mark.parametrize("definition", EXACT)
def test_continuous_inputs_bring_the_contrast_about_too(definition: str) -> None:
    answer = ac.causes(CAR, **DROVE, definition=definition)
    assert {tuple(cause.event) for cause in answer} == {("speed",)}
    assert all(cause.replay() for cause in answer)
    assert (answer.likely_size, answer.error) == (2, 0.05)
    assert "rather than (metres < 1)" in answer.sentence


@pytest.mark.parametrize("definition", WITH_OTHERS)
def test_a_joint_cause_of_continuous_inputs_is_likely(definition: str) -> None:
    """Both have to be high for the contrast, and either being high undoes the effect."""
    box = BlackBox(
        lambda a, b: 2 if a > 0.5 and b > 0.5 else 0 if a > 0.5 or b > 0.5 else 1,
        {"a": Interval(0, 1), "b": Interval(0, 1)},
    )
    asked = {"context": {"a": 0.2, "b": 0.1}, "effect": "output == 1", "contrast": "output == 2"}
    answer = ac.causes(box, **asked, definition=definition)
    (cause,) = answer
    assert set(cause.event) == {"a", "b"}
    assert cause.certainty == "likely"
    assert cause.replay()
    assert answer.proved_size == 0
    assert str(cause).startswith("a=0.2 and b=0.1 together are probably a cause of (output == 1) rather than")


@pytest.mark.parametrize("definition", WITH_OTHERS)
def test_what_hardly_any_value_shows_is_missed_at_most_as_often_as_said(definition: str) -> None:
    """b is a cause only where a is in a region of just the least share, and b in half of its range."""
    missed = 0
    for seed in range(100):
        box = BlackBox(lambda a, b: 2 if 0.7 < a < 0.8 and b > 0.5 else 1, {"a": Interval(0, 1), "b": Interval(0, 1)})
        asked = {"context": {"a": 0.2, "b": 0.1}, "effect": "output == 1", "contrast": "output == 2"}
        shares = {"confidence": 0.6, "least_share": 0.05}
        found = {
            name
            for cause in ac.causes(box, **asked, **shares, seed=seed, definition=definition)
            for name in cause.event
        }
        missed += found != {"a", "b"}
    assert missed <= 40


def test_shares_of_functional_causes_are_about_the_contrast_for_necessity_alone() -> None:
    def run(x: float, y: float) -> int:
        return 1 if x < 0.4 else 2 if x < 0.6 else 0

    box = BlackBox(run, {"x": Interval(0, 1), "y": Interval(0, 1)})
    asked = {"context": {"x": 0.2, "y": 0.1}, "effect": "output == 1", "definition": "functional"}
    asked |= {"alpha_sufficiency": 0.2, "alpha_necessity": 0.4}
    assert [set(cause.event) for cause in ac.causes(box, **asked)] == [{"x"}]
    assert not len(ac.causes(box, **asked, contrast="output == 2"))
    verdict = ac.is_cause(box, **{**asked, "alpha_necessity": 0.1}, contrast="output == 2", event={"x": 0.2})
    assert verdict.holds
    assert verdict.witness is not None
    assert 0.4 <= verdict.witness.changed["x"] < 0.6


# -- what else is asked ----------------------------------------------------------------------------


@pytest.mark.parametrize("definition", WITH_OTHERS)
def test_words_and_python_functions_say_what_happened_instead(definition: str) -> None:
    def journey(sky: str, coat: str) -> str:
        return {"clear": "dry", "rain": "wet" if coat == "none" else "dry", "hail": "hurt"}[sky]

    box = BlackBox(journey, {"sky": ("clear", "rain", "hail"), "coat": ("none", "long")})
    asked = {"context": "sky=rain, coat=none", "effect": lambda came: came == "wet", "definition": definition}
    assert {tuple(cause.event) for cause in ac.causes(box, **asked)} == {("sky",), ("coat",)}
    (cause,) = ac.causes(box, **asked, contrast=lambda came: came == "hurt")
    assert str(cause).startswith("sky=rain is a cause of the effect rather than the contrast: had sky been hail")
    assert str(cause).endswith(", the contrast would have held.")


@pytest.mark.parametrize("definition", [*EXACT, "functional"])
def test_answers_and_verdicts_are_json_documents(definition: str) -> None:
    box = BlackBox(dim, {"left": (0, 1), "right": (0, 1)})
    asked = {"context": "left=1, right=1", "effect": "output == 1", "contrast": "output == 2", "definition": definition}
    asked |= {"alpha_sufficiency": 0} if definition == "functional" else {}
    answer = json.loads(json.dumps(ac.causes(box, **asked).to_json()))
    assert answer["contrast"] == "output == 2"
    assert [cause["event"] for cause in answer["causes"]] == [{"left": 1, "right": 1}]
    assert answer["undecided"] == []
    verdict = json.loads(json.dumps(ac.is_cause(box, **asked, event="left=1").to_json()))
    assert verdict["holds"] is False
    assert verdict["contrast"] == "output == 2"


@pytest.mark.parametrize("definition", [*EXACT, "functional"])
def test_a_contrast_that_turns_out_not_to_rule_the_effect_out_is_refused(definition: str) -> None:
    box = BlackBox(lambda a: a, {"a": (1, 2)})
    asked = {"context": "a=1", "effect": "output >= 1", "contrast": "output == 2", "definition": definition}
    asked |= {"alpha_sufficiency": 0.4} if definition == "functional" else {}
    with pytest.raises(ac.QueryError) as refused:
        len(ac.causes(box, **asked))
    assert str(refused.value) == "contrast must rule the effect out; both hold at a=2."
    assert refused.value.parameter == "contrast"


@pytest.mark.parametrize("definition", EXACT)
def test_an_effect_that_did_not_happen_has_no_causes(definition: str) -> None:
    box = BlackBox(dim, {"left": (0, 1), "right": (0, 1)})
    asked = {"context": "left=1, right=0", "effect": "output == 1", "contrast": "output == 2", "definition": definition}
    assert ac.causes(box, **asked).sentence == "(output == 1) did not happen, so it has no cause."


@many(200)
@given(sets=st.lists(st.frozensets(st.sampled_from("ABCDE"), min_size=1), min_size=1, max_size=5))
def test_minimal_transversals_are_the_smallest_sets_that_meet_all(sets: list[frozenset[str]]) -> None:
    every = [frozenset(n for n, on in zip("ABCDE", bits, strict=True) if on) for bits in product((0, 1), repeat=5)]
    meeting = [one for one in every if all(one & given for given in sets)]
    smallest = {one for one in meeting if not any(other < one for other in meeting)}
    found = find_minimal_transversals(sets)
    assert set(found) == smallest
    assert len(found) == len(smallest)
