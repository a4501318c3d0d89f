"""The style of HP2SAT's files."""

from __future__ import annotations

import json

import pytest

import actcause as ac
from actcause.formats import export, parse


def test_rock_throwing_is_written_with_an_exogenous_variable_for_each_root() -> None:
    rocks = ac.examples.load("rock-throwing")
    written = json.loads(export(rocks.model, "hp2sat", title="rocks"))
    assert written["name"] == "rocks"
    assert set(written["exos"]) == {"ST_exo", "BT_exo"}
    formulas = {endo["name"]: endo["formula"] for endo in written["endos"]}
    assert formulas == {"ST": "ST_exo", "BT": "BT_exo", "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"}


def test_an_exogenous_variable_that_is_shared_stays_one() -> None:
    text = {"exos": ["A_exo", "U"], "endos": [{"name": "A", "formula": "A_exo"}, {"name": "1", "formula": "~U & A"}]}
    model = parse(json.dumps(text), "hp2sat").model
    assert model.to_text() == 'exogenous U\nA\n_1 "1" = not U and A'
    text["endos"][1]["formula"] = "~U & A_exo"  # type: ignore[index]
    assert parse(json.dumps(text), "hp2sat").model.exogenous == ("A_exo", "U")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "this is not JSON"),
        ("[]", "Expected a JSON object with 'exos' and 'endos'"),
        ('{"endos": [{"name": "A"}]}', "'endos' must be a list of objects with a 'name' and a 'formula'"),
        ('{"exos": 3, "endos": []}', "'exos' must be a list of names"),
        ('{"exos": ["A"], "endos": [{"name": "A", "formula": "A"}]}', "every name once"),
        ('{"exos": [], "endos": [{"name": "A", "formula": "B"}]}', "In the formula of A: unknown name 'B'"),
        ('{"exos": ["B"], "endos": [{"name": "A", "formula": "B &"}]}', "In the formula of A"),
        ('{"exos": ["B"], "endos": [{"name": "A", "formula": "B => B"}]}', "In the formula of A"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ac.ModelError) as caught:
        parse(text, "hp2sat")
    assert said in str(caught.value)
