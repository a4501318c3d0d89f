"""Questions as values: what they know, and what they refuse."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause import ActCauseError, Model, ModelError, ParseError, Query, QueryError, is_cause
from actcause.core.query import as_share, find_pinned_value
from actcause.core.text import parse_formula

ROCKS = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
BOTH_THROW = {"ST": 1, "BT": 1}
ASKED = {"context": BOTH_THROW, "effect": "BS == 1"}


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
