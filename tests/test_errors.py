"""Errors name the parameter that was wrong, and each front end writes it in its own words."""

from __future__ import annotations

import pickle

import pytest

import actcause as ac
from actcause.cli.options import name_option
from actcause.errors import ActCauseError, ModelError, ParseError, blaming

MODEL = ac.Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
ASKED = {"context": {"ST": 1, "BT": 1}, "effect": "BS == 1"}


@pytest.mark.parametrize(
    ("given", "parameter", "option"),
    [
        ({"context": "ST:1"}, "context", "--context, line 1, column 3: expected '=' after ST"),
        ({"effect": "BZ"}, "effect", "--effect, line 1, column 1: unknown variable 'BZ'"),
        ({"alpha_sufficiency": 2}, "alpha_sufficiency", "--alpha-sufficiency must be between 0 and 1; got 2."),
        ({"max_seconds": 0}, "max_seconds", "--max-seconds must be a positive number; got 0."),
        ({"max_causes": 0}, "max_causes", "--max-causes must be at least 1; got 0."),
        ({"solver": "{x}"}, "solver", "--solver must be one of auto, exhaustive; got '{x}'."),
        ({"definition": "{x}"}, "definition", "Unknown definition '{x}'; choose one of"),
    ],
)
def test_an_error_has_the_wrong_parameter_as_a_field(given: dict[str, object], parameter: str, option: str) -> None:
    with pytest.raises(ActCauseError) as raised:
        ac.causes(MODEL, **{**ASKED, **given})  # type: ignore[arg-type]
    assert raised.value.parameter == parameter
    assert raised.value.describe(name_option).startswith(option)
    assert str(raised.value).startswith(option.replace("--", "").replace("-", "_").split(" ")[0])


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("a\nB = C\nC = B", "B"),
        ("A in 0..9\nB = 1 // A", "B"),
        ("exogenous U\nA in 0..1 = 2 * U", "A"),
    ],
)
def test_an_error_of_a_model_has_the_variable_whose_line_is_wrong_as_a_field(text: str, variable: str) -> None:
    with pytest.raises(ModelError) as raised:
        ac.Model.from_text(text).check_equations()
    assert raised.value.variable == variable
    assert pickle.loads(pickle.dumps(raised.value)).variable == variable


def test_an_error_of_a_model_in_time_names_the_line_of_the_next_value() -> None:
    with pytest.raises(ModelError) as raised:
        ac.Model.from_text("x\nx'' = x").unrolled(2)
    assert raised.value.variable == "x''"


def test_a_message_without_a_parameter_is_taken_as_it_stands() -> None:
    assert str(ActCauseError("'{max_seconds}' is no variable")) == "'{max_seconds}' is no variable"


def test_a_value_that_describes_itself_speaks_in_the_same_words() -> None:
    error = ActCauseError("Nothing: {status}", status=ac.Status.OUT_OF_TIME)
    assert str(error) == "Nothing: The search ran out of time; raise max_seconds to go on."
    assert error.describe(name_option) == "Nothing: The search ran out of time; raise --max-seconds to go on."


def test_an_option_takes_a_value_or_is_a_flag_and_what_has_no_option_keeps_its_name() -> None:
    error = ActCauseError("{folder}: {resume:True}, {solver:auto} or {penalty}", folder="{run}")
    assert str(error) == "{run}: resume=True, solver='auto' or penalty"
    assert error.describe(name_option) == "{run}: --resume, --solver auto or penalty"


def test_errors_survive_the_way_to_another_process() -> None:
    with pytest.raises(ParseError) as raised, blaming("effect"):
        raise ParseError("no", line=1, column=2, source="x")
    for error in (raised.value, ActCauseError("{parameter} is {got}", parameter="seed", got=3)):
        copy = pickle.loads(pickle.dumps(error))
        assert copy.describe(name_option) == error.describe(name_option)
        assert copy.parameter == error.parameter
