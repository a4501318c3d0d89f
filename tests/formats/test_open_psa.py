"""Fault trees in Open-PSA's XML: what is read, what is refused, and that nothing outside is touched."""

from __future__ import annotations

from fractions import Fraction

import pytest

import actcause as ac
from actcause.formats import export, parse

TANK = """<?xml version="1.0"?>
<!DOCTYPE opsa-mef>
<opsa-mef>
  <define-fault-tree name="tank">
    <define-gate name="top"><label>the rupture</label>
      <or><basic-event name="T"/><gate name="over-pressure"/></or></define-gate>
    <define-gate name="over-pressure"><atleast min="2">
      <event name="A"/><event name="B"/><not><event name="C"/></not></atleast></define-gate>
    <define-house-event name="C"><constant value="true"/></define-house-event>
  </define-fault-tree>
  <model-data>
    <define-basic-event name="T"><float value="5e-6"/></define-basic-event>
    <define-basic-event name="A"><parameter name="rate"/></define-basic-event>
    <define-basic-event name="B"><exponential><float value="1"/><float value="2"/></exponential></define-basic-event>
    <define-parameter name="rate"><float value="0.25"/></define-parameter>
  </model-data>
</opsa-mef>
"""


def tree(*lines: str, inside: str = "") -> str:
    return f"<opsa-mef>{inside}<define-fault-tree name='t'>{''.join(lines)}</define-fault-tree></opsa-mef>"


def gate(formula: str, name: str = "top") -> str:
    return f"<define-gate name='{name}'>{formula}</define-gate>"


def test_gates_events_and_houses_become_variables() -> None:
    imported = parse(TANK, "open-psa")
    model = imported.model
    assert set(model.roots) == {"T", "A", "B"}
    assert model.labels["top"] == "the rupture"
    assert model.evaluate({"T": 0, "A": 1, "B": 1}) == {
        "top": 1, "over_pressure": 1, "C": 1, "T": 0, "A": 1, "B": 1
    }  # fmt: skip
    assert model.evaluate({"T": 0, "A": 1, "B": 0})["top"] == 0
    assert model.evaluate({"T": 0, "A": 1, "B": 0}, do={"C": 0})["top"] == 1
    assert imported.title == "tank"


def test_probabilities_are_exact_and_what_is_left_out_is_said() -> None:
    imported = parse(TANK, "open-psa")
    assert imported.prior["T"] == {0: 1 - Fraction(5, 10**6), 1: Fraction(5, 10**6)}
    assert imported.prior["A"] == {0: Fraction(3, 4), 1: Fraction(1, 4)}
    assert "B" not in imported.prior
    assert any("over-pressure is over_pressure" in note for note in imported.notes)
    assert any("no plain numbers, and so left out: 1" in note for note in imported.notes)


def test_a_prior_is_written_and_read_back() -> None:
    model = ac.Model.from_text("A\nB\nC = A + B >= 1")
    written = export(model, "open-psa", prior={"A": {0: Fraction(99, 100), 1: Fraction(1, 100)}})
    assert '<atleast min="1">' in written
    assert parse(written, "open-psa").prior == {"A": {0: Fraction(99, 100), 1: Fraction(1, 100)}}


@pytest.mark.parametrize(("least", "constant"), [(0, "true"), (3, "false")])
def test_a_count_that_is_always_or_never_reached_is_written_as_a_constant(least: int, constant: str) -> None:
    written = export(ac.Model.from_text(f"A\nB\nC in {{0, 1}} = A + B >= {least}"), "open-psa")
    assert f'<constant value="{constant}"/>' in written
    assert "atleast" not in written
    assert {parse(written, "open-psa").model.evaluate({"A": 1, "B": b})["C"] for b in (0, 1)} == {int(least == 0)}


@pytest.mark.parametrize(
    ("formula", "truths"),
    [
        ("<and><event name='A'/><event name='B'/></and>", "0001"),
        ("<or><event name='A'/><event name='B'/></or>", "0111"),
        ("<nand><event name='A'/><event name='B'/></nand>", "1110"),
        ("<nor><event name='A'/><event name='B'/></nor>", "1000"),
        ("<xor><event name='A'/><event name='B'/></xor>", "0110"),
        ("<iff><event name='A'/><event name='B'/></iff>", "1001"),
        ("<imply><event name='A'/><event name='B'/></imply>", "1101"),
        ("<cardinality min='1' max='1'><event name='A'/><event name='B'/></cardinality>", "0110"),
        ("<or><and><event name='A'/></and><not><or><event name='B'/><constant value='false'/></or></not></or>", "1011"),
        ("<xor><xor><event name='A'/><event name='B'/></xor><event name='B'/></xor>", "0011"),
    ],
)
def test_every_connective_means_what_it_says(formula: str, truths: str) -> None:
    model = parse(tree(gate(formula)), "open-psa").model
    assert "".join(str(model.evaluate({"A": a, "B": b})["top"]) for a in (0, 1) for b in (0, 1)) == truths


def test_names_in_components_are_found_from_inside_out() -> None:
    part = "<define-component name='{0}'>{1}<define-basic-event name='x' role='private'/></define-component>"
    inner = gate("<not><event name='x'/></not>", "{0}")
    text = tree(
        gate("<or><gate name='p'/><gate name='q'/></or>"),
        part.format("one", inner.format("p")),
        part.format("two", inner.format("q")),
    )
    model = parse(text, "open-psa").model
    assert model.parents("p") == ("t_one_x",)
    assert model.parents("q") == ("t_two_x",)
    assert model.labels["t_one_x"] == "t.one.x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this is not XML: no element found"),
        ("<opsa-mef>", "this is not XML"),
        ("<fault-tree/>", "whose root is <opsa-mef>, got <fault-tree>"),
        (tree(), "the file defines no gate"),
        (tree(gate("<gate name='nope'/>")), "the gate nope is not defined"),
        (tree(gate("<event name='A'/>"), gate("<event name='A'/>")), "top is defined twice"),
        (tree(gate("<event name='A'/>"), "<define-component name='c'>" + gate("<event name='A'/>")
              + "</define-component>"), "top is defined twice"),
        (tree(gate("<gate name='x'/>"), "<define-component name='c' role='private'>" + gate("<event name='A'/>", "x")
              + "</define-component>"), "the gate x is not defined"),
        (tree(gate("<event/>")), "<event> needs a name"),
        (tree(gate("")), "expected one formula for top, got 0"),
        (tree(gate("<maybe><event name='A'/></maybe>")), "expected a formula, got <maybe>"),
        (tree(gate("<not><event name='A'/><event name='B'/></not>")), "<not> takes 1, got 2"),
        (tree(gate("<atleast><event name='A'/></atleast>")), "<atleast> needs min as a whole number"),
        (tree(gate("<atleast min='3'><event name='A'/><event name='B'/></atleast>")), "<atleast> asks for 3 of 2"),
        (tree(gate("<basic-event name='top'/>")), "top is a gate, not a basic-event"),
        (tree(gate("<gate name='top'/>")), "cycle"),
        (tree("<define-CCF-group name='c'/>", gate("<event name='A'/>")), "a group of common causes"),
        (tree("<define-basic-event name='A'><float value='2'/></define-basic-event>", gate("<event name='A'/>")),
         "must be from 0 to 1; got 2"),
        (tree("<define-basic-event name='A'><float value='much'/></define-basic-event>", gate("<event name='A'/>")),
         "expected a number, got 'much'"),
        (tree(gate("<not>" * 60 + "<event name='A'/>" + "</not>" * 60)), "nested deeper than 40"),
        ("<opsa-mef>" + "<define-fault-tree name='x'>" * 300, "nested deeper than 200"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ac.ModelError) as caught:
        parse(text, "open-psa")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))


@pytest.mark.parametrize(
    "doctype",
    [
        f'<!DOCTYPE opsa-mef [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE opsa-mef [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE opsa-mef [<!ENTITY % outer SYSTEM "http://127.0.0.1:1/x.dtd"> %outer;]>',
        '<!DOCTYPE opsa-mef SYSTEM "http://127.0.0.1:1/x.dtd">',
        '<!DOCTYPE opsa-mef PUBLIC "-//x" "file:///etc/passwd">',
    ],
)
def test_entities_and_outside_declarations_are_never_read(doctype: str) -> None:
    text = f"{doctype}<opsa-mef><define-fault-tree name='&l11;'/></opsa-mef>"
    with pytest.raises(ac.ParseError, match="DOCTYPE with declarations or an address is not read"):
        parse(text, "open-psa")


def test_a_model_that_is_not_boolean_is_not_exported() -> None:
    with pytest.raises(ac.ModelError, match=r"Open-PSA has variables that are 0 or 1, but A is in 0\.\.2"):
        export(ac.Model.from_text("A in 0..2\nB = A == 1"), "open-psa")
    with pytest.raises(ac.ModelError, match="rename m'"):
        export(ac.Model.from_text("m\nm' = not m"), "open-psa")
