"""Bayesian networks: states, tables, and the noise of tables that are not certain."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.formats import export, parse
from strategies import many

HEAD = """network sprinkler { property author "us" ; }
// a comment
variable rain { type discrete [ 2 ] { no, yes }; }
variable season { type discrete [ 3 ] { dry, mild, wet }; }
"""
WET = (
    HEAD
    + """
variable wet { type discrete [ 2 ] { yes, no }; property label "the wet lawn" ; }
probability ( season ) { table 0.2, 0.5, 0.3; }
probability ( rain | season ) { (dry) 0.9, 0.1; (mild) 0.5, 0.5; (wet) 0.25, 0.75; }
probability ( wet | rain, season ) { default 0.0, 1.0; (yes, mild) 1.0, 0.0; (yes, wet) 1, 0; }
"""
)


def test_certain_tables_become_equations_and_others_get_noise() -> None:
    imported = parse(WET, "bif")
    model = imported.model
    assert set(model.parents("rain")) == {"season", "noise_rain"}
    assert str(model.equations["wet"].expression) == "rain and season != 0"
    assert model.exogenous == ("noise_rain",)
    assert model.ranges["season"] == (0, 1, 2)
    assert model.labels["wet"] == "the wet lawn"
    assert [model.evaluate({"season": 1, "noise_rain": n})["rain"] for n in range(4)] == [0, 0, 1, 1]
    assert model.evaluate({"season": 1, "noise_rain": 3})["wet"] == 1
    assert model.evaluate({"season": 0, "noise_rain": 3})["wet"] == 0
    assert imported.prior["season"] == {0: Fraction(1, 5), 1: Fraction(1, 2), 2: Fraction(3, 10)}
    assert imported.prior["noise_rain"] == {
        0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(2, 5), 3: Fraction(1, 10)
    }  # fmt: skip
    assert "In season: 0 is dry, 1 is mild, 2 is wet." in imported.notes


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, list[list[int]]]:
    """A variable's number of states, and rows of weights for a parent of three."""
    states = draw(st.integers(2, 3))
    row = st.lists(st.integers(0, 4), min_size=states, max_size=states).filter(any)
    return states, draw(st.lists(row, min_size=3, max_size=3))


@many(200)
@given(tables())
def test_the_noise_gives_every_row_exactly_its_probabilities(given_table: tuple[int, list[list[int]]]) -> None:
    states, weights = given_table
    rows = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    shown = " ".join(f"({i}) {', '.join(repr(float(share)) for share in row)};" for i, row in enumerate(rows))
    text = (
        "variable p { type discrete [ 3 ] { 0, 1, 2 }; } "
        f"variable x {{ type discrete [ {states} ] {{ {', '.join(map(str, range(states)))} }}; }} "
        f"probability ( p ) {{ table 0.5, 0.25, 0.25; }} probability ( x | p ) {{ {shown} }}"
    )
    imported = parse(text, "bif")
    model, prior = imported.model, imported.prior
    assert all(sum(of.values()) == 1 for of in prior.values())
    for p, row in enumerate(rows):
        noises = [name for name in model.roots if name != "p"]
        total = [Fraction(0)] * states
        for values in product(*(model.ranges[name] for name in noises)):
            context = dict(zip(noises, values, strict=True))
            total[model.evaluate({"p": p, **context})["x"]] += prod(
                (prior[name][value] for name, value in context.items()), start=Fraction(1)
            )
        assert all(abs(one - other) < Fraction(1, 10**9) for one, other in zip(total, row, strict=True))


def test_a_table_in_one_list_has_the_variables_own_state_vary_slowest() -> None:
    text = HEAD + "probability ( season ) { table 0.2 0.5 0.3; } probability ( rain | season ) { table 1 0 0  0 1 1; }"
    model = parse(text, "bif").model
    assert [model.evaluate({"season": s})["rain"] for s in range(3)] == [0, 1, 1]


def test_a_constant_is_written_and_read_as_one() -> None:
    model = ac.Model.from_text("A in {2, 5}\nB in {0, 1} = 1\nC = A + B")
    assert parse(export(model, "bif"), "bif").model.roots == ("A",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file has no variable"),
        ("network x", "line 1, column 10: expected '{', got the end of the file"),
        ("variable x { }", "x needs a type"),
        ("variable x { type discrete [ 2 ] { a }; }", "2 states were announced, got 1"),
        ("variable x { type discrete [ 2 ] { a, a }; }", "a state stands twice"),
        ("variable x { type continuous; }", "expected 'discrete', got 'continuous'"),
        (HEAD + "variable rain { }", "line 5, column 10: rain is declared twice"),
        (HEAD, "There is no probability of rain"),
        (HEAD + "probability ( ran ) { }", "unknown variable 'ran'; did you mean 'rain'?"),
        (HEAD + "probability ( rain ) { table 0.5, 0.1; }", "must sum to 1, got 0.6"),
        (HEAD + "probability ( rain ) { table 0.5; }", "needs 2 numbers, got 1"),
        (HEAD + "probability ( rain ) { table x; }", "expected a number or ';', got 'x'"),
        (HEAD + "probability ( rain ) { table 1 0; } probability ( season | rain ) { (no) 1 0 0; }",
         "the probability of season has no row for (yes)"),
        (HEAD + "probability ( rain ) { table 1 0; } probability ( season | rain ) { (maybe) 1 0 0; }",
         "rain has no state 'maybe'"),
        (HEAD + "probability ( rain | season ) { default 1 0; (wet) 0 1; } "
         "probability ( season | rain ) { (no) 1 0 0; (yes) 0 0 1; }",
         "cycle"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ac.ModelError) as caught:
        parse(text, "bif")
    assert said in str(caught.value)


def test_a_table_that_is_too_large_is_refused_before_it_is_made() -> None:
    votes = "\n".join(f"V{i}" for i in range(30))
    model = ac.Model.from_text(f"{votes}\nW = {' + '.join(f'V{i}' for i in range(30))} > 15")
    with pytest.raises(ac.ModelError, match="a table of 1,073,741,824 rows"):
        export(model, "bif")
