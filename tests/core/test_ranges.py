"""Ranges that are not given: what equations reach."""

import numpy as np
import pytest
from hypothesis import given

from actcause.core.model import Model
from actcause.core.ranges import format_range, grids
from actcause.errors import ModelError
from strategies import models, reachable


def refusal(build, *arguments, **options):
    with pytest.raises(ModelError) as caught:
        build(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A\nY = not A", (0, 1)),
        ("A in 0..5\nY = A", (0, 1, 2, 3, 4, 5)),
        ("A in 0..5\nY = 2 * A", (0, 2, 4, 6, 8, 10)),
        ("A\nB\nY = A + B", (0, 1, 2)),
        ("A\nY = A - A", (0,)),
        ("A\nY = A and not A", (0,)),
        ("A in 1..3\nY = A or 0", (1,)),
        ("A in 0..9\nY = A * A % 10", (0, 1, 4, 5, 6, 9)),
        ("A in 0..3\nY = 7 // A if A else -1", (-1, 2, 3, 7)),
        ("A in {-3, 5}\nY = abs(A) + -A", (0, 6)),
        ("A\nB in 4..5\nY = B if A else 9", (4, 5, 9)),
        ("A in 0..999999\nY = A < 5", (0, 1)),
        ("Y = 3", (3,)),
        ("A in 0..99999\nB in 0..99999\nY = A == B", (0, 1)),
    ],
)
def test_a_range_that_is_not_given_is_what_the_equation_reaches(text, expected):
    assert Model.from_text(text).ranges["Y"] == expected


@given(models())
def test_inferred_ranges_are_exactly_the_values_reached(model):
    for name, equation in model.equations.items():
        if f"{name} in " not in str(model):
            assert model.ranges[name] == reachable(equation.expression, model.ranges)


def test_the_range_of_a_million_combinations_is_inferred():
    model = Model.from_text(
        "P in 0..1000\nX in 0..1000\nY = P+2 if P==499 and X != 501 else P+2 if P == 500 and X != 501 "
        "and X != 502 else 501 if P==500 and X==502 else 500"
    )
    assert model.ranges["Y"] == (500, 501, 502)


def test_a_vote_of_thousands_is_inferred():
    votes = [f"V{i}" for i in range(3_000)]
    model = Model.from_text("\n".join(votes) + "\nCount = " + " + ".join(votes) + "\nPassed = Count > 1500")
    assert model.ranges["Count"] == tuple(range(3_001))
    assert model.ranges["Passed"] == (0, 1)


def test_a_range_too_large_to_infer_must_be_declared():
    text = "A in 0..99999\nB in 0..99999\nY{} = A * B - A"
    assert refusal(Model.from_text, text.format("")) == (
        "The range of Y takes too much work to infer from all values of its parents; "
        "declare it, for instance 'Y in 0..10 = ...'."
    )
    assert Model.from_text(text.format(" in 0..10")).evaluate({"A": 2, "B": 3})["Y"] == 4


def test_an_equation_with_too_many_values_is_refused():
    assert "takes more than 1000000 values; use smaller ranges" in refusal(
        Model.from_text, "A in 0..1999\nB in 0..999\nY = A * 1000 + B + 0 * A"
    )


def test_values_beyond_sixty_two_bits_are_refused_when_the_model_is_built():
    assert refusal(Model.from_text, "A in 0..999999\nY in {0, 1} = A * A * A * A") == (
        "In the equation of Y: the values of an expression could pass 2**62; use smaller ranges"
    )


def test_ranges_print_as_they_are_written():
    assert format_range((0, 1)) == "{0, 1}"
    assert format_range((0, 1, 2)) == "0..2"
    assert format_range((-1, 0, 1)) == "-1..1"
    assert format_range((0, 2)) == "{0, 2}"
    assert format_range((5,)) == "{5}"


def test_grids_list_every_combination_the_last_varying_fastest():
    columns = [np.concatenate(parts) for parts in zip(*grids([(0, 1), (5, 6, 7)], chunk=4), strict=True)]
    assert [column.tolist() for column in columns] == [[0, 0, 0, 1, 1, 1], [5, 6, 7, 5, 6, 7]]
