"""Files of other tools that come with the examples."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
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


def test_the_cell_cycle_rests_without_its_signal_and_goes_round_in_seven_steps_with_it() -> None:
    # Faure et al. 2006: one stable state (Rb, p27 and Cdh1 active), and one cycle of seven states under synchrony.
    network = formats.read(examples.path("mammalian-cell-cycle.bnet"), steps=1).model
    names = [name.removesuffix("@0") for name in network.roots if name.endswith("@0")]
    columns = np.indices((2,) * len(names)).reshape(len(names), -1)
    for signal, lengths in ((0, {1}), (1, {7})):
        contexts = {
            "CycD": np.array(signal),
            **{f"{name}@0": column for name, column in zip(names, columns, strict=True)},
        }
        after = network.evaluate_many(contexts)
        weights = 2 ** np.arange(len(names))[::-1]
        step = sum(int(weight) * after[f"{name}@1"] for weight, name in zip(weights, names, strict=True))
        state = np.arange(step.size)
        for _ in range(step.size):
            state = step[state]
        recurrent = set(state.tolist())
        assert {len(cycle_from(start, step)) for start in recurrent} == lengths
        assert len(recurrent) == max(lengths)
        if not signal:
            at_rest = format(recurrent.pop(), f"0{len(names)}b")
            assert {name for name, bit in zip(names, at_rest, strict=True) if bit == "1"} == {"Rb", "p27", "Cdh1"}


def cycle_from(start: int, step: Any) -> list[int]:
    states = [start]
    while (after := int(step[states[-1]])) != start:
        states.append(after)
    return states


def test_a_file_that_is_not_there_is_an_error_that_suggests_the_nearest() -> None:
    with pytest.raises(ac.QueryError, match=r"did you mean 'pressure-tank\.xml'"):
        examples.path("presure-tank.xml")
