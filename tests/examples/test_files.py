"""Files of other tools that come with the examples."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest

import actcause as ac
from actcause import examples, formats


def test_the_pressure_tank_is_the_same_in_both_forms() -> None:
    example = examples.load("pressure-tank")
    assert formats.read(examples.path("pressure-tank.xml")).model == example.model


def test_the_pressure_tank_has_the_handbooks_minimal_cut_sets() -> None:
    tank = formats.read(examples.path("pressure-tank.xml"))
    cuts = [{"T"}, {"K2"}, {"S", "S1"}, {"S", "K1"}, {"S", "R"}]
    for context in tank.model.contexts():
        failed = {name for name, value in context.items() if value}
        assert tank.model.evaluate(context)["E1"] == any(cut <= failed for cut in cuts)


def test_the_pressure_tank_ruptures_as_seldom_as_the_handbook_says() -> None:
    tank = formats.read(examples.path("pressure-tank.xml"))
    chance = sum(
        prod(tank.prior[name][value] for name, value in context.items())
        for context in tank.model.contexts()
        if tank.model.evaluate(context)["E1"]
    )
    assert float(chance) == pytest.approx(3.5e-5, rel=0.01)
    assert isinstance(chance, Fraction)


def test_a_file_that_is_not_there_is_an_error_that_suggests_the_nearest() -> None:
    with pytest.raises(ac.QueryError, match=r"did you mean 'pressure-tank\.xml'"):
        examples.path("presure-tank.xml")
