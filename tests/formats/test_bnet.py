"""Boolean networks: inputs, formulas, cycles."""

from __future__ import annotations

import pytest

import actcause as ac
from actcause.formats import export, parse
from actcause.formats.bnet import find_cycle


def test_a_network_without_cycles_is_a_model() -> None:
    imported = parse("targets, factors\n# inputs\nA, A\nC, (A & !B) | 0\nD-1, !C  # last\n", "bnet")
    assert imported.model.to_text() == 'A\nB\nC = A and not B or 0\nD_1 "D-1" = not C'
    assert imported.notes[-1] == "Without a line of their own, and so roots: B."


def test_a_network_with_cycles_is_unrolled_over_steps() -> None:
    imported = parse("IN, IN\nA, !B\nB, A & IN", "bnet", steps=2)
    assert imported.model.to_text() == (
        "IN\nA@0\nB@0\nA@1 = not B@0\nB@1 = A@0 and IN\nA@2 = not B@1\nB@2 = A@1 and IN"
    )
    assert "step 0 is the first state" in imported.notes[-1]


def test_names_with_marks_of_time_lose_them_where_time_is_unrolled() -> None:
    model = parse("A', A'\nA, !A | A'", "bnet", steps=1).model
    assert model.to_text() == 'A_ "A\'"\nA@0\nA@1 = not A@0 or A_'


@pytest.mark.parametrize("steps", [-1, True, "2", 10**9])
def test_steps_are_a_whole_number_within_bounds(steps: object) -> None:
    with pytest.raises(ac.QueryError, match="steps must be a whole number from 0 to 199999 for 1 variables"):
        parse("A, !A", "bnet", steps=steps)  # type: ignore[arg-type]
    with pytest.raises(ac.QueryError, match="steps is for model text and Boolean networks"):
        parse("<opsa-mef/>", "open-psa", steps=2)


def test_a_model_is_written_with_its_inputs() -> None:
    model = ac.Model.from_text("A\nB\nC = A + B >= 2\nD = 1 if A != B else C")
    assert export(model, "bnet") == (
        "targets, factors\nA, A\nB, B\nC, A & B\nD, (A & !B | !A & B) & 1 | !(A & !B | !A & B) & C\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line 'target, formula'"),
        ("A B", "line 1, column 1: expected 'target, formula'"),
        ("A, A\nA, B", "line 2, column 1: A has two lines, first line 1"),
        ("A, B &", "line 1"),
        ("A, B +", "line 1"),
        ("A, B and C", "line 1, column 6: expected an operator, such as & or |, before 'and'"),
        ("A, (B) C", "expected an operator, such as & or |, before 'C'"),
        ("A & B, C", "expected 'target, formula'"),
        ("A, B\nB, C\nC, A | B", "cycle, "),
        ("A, !A", "cycle, A -> A; unroll it with steps=N (in the shell --steps N)"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ac.ModelError) as caught:
        parse(text, "bnet")
    assert said in str(caught.value)


def test_a_long_way_round_is_found_without_recursion() -> None:
    size = 5000
    parents = {f"x{i}": [f"x{(i + 1) % size}"] for i in range(size)}
    assert len(find_cycle(parents)) == size + 1
    parents["x4999"] = []
    assert find_cycle(parents) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [("A in 0..2", "A is in 0..2"), ("m'\nB = m'", "rename m'"), ("exogenous U\nA = U", "U is exogenous")],
)
def test_what_the_format_cannot_hold_is_said(text: str, said: str) -> None:
    with pytest.raises(ac.ModelError, match=said):
        export(ac.Model.from_text(text), "bnet")
