"""The public contracts hold for everything of ours, and catch what breaks them."""

from collections.abc import Iterator

import pytest

import actcause as ac
from actcause.core.checks import check_definition, check_model, check_solver
from actcause.core.definitions import DEFINITIONS
from actcause.core.definitions.but_for import ButFor
from actcause.core.solvers import ENCODINGS, Exhaustive, SatSolver
from actcause.errors import ContractError


@pytest.mark.parametrize("name", ac.examples.names())
def test_every_example_is_a_sound_model(name):
    check_model(ac.examples.load(name).model)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_definition_keeps_its_contract(name):
    check_definition(DEFINITIONS[name])


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_fast_solver_keeps_its_contract(name):
    definition = DEFINITIONS[name]
    check_solver(lambda query: SatSolver(ENCODINGS[name], Exhaustive(definition)), definition)


def test_a_model_whose_equation_leaves_its_range_is_caught():
    with pytest.raises(ac.ModelError, match="outside"):
        check_model(ac.Model({"A": (0, 1), "B": (0, 1)}, {"B": lambda A: A + 1}))


def test_a_model_that_forgets_what_it_said_is_caught():
    calls = iter(range(1_000))
    fickle = ac.Model({"A": (0, 1), "B": (0, 1)}, {"B": lambda A: int(next(calls) % 5 == 0)})
    with pytest.raises(ContractError, match="disagree"):
        check_model(fickle)


def test_a_definition_whose_witness_undoes_nothing_is_caught():
    class Idle(ButFor):
        def witnesses(self, search, event) -> Iterator[ac.Witness]:
            yield ac.Witness(dict(event))

    with pytest.raises(ContractError, match="does not undo the effect"):
        check_definition(Idle())


def test_a_solver_of_another_definition_is_caught():
    updated, modified = DEFINITIONS["updated-hp"], DEFINITIONS["modified-hp"]
    with pytest.raises(ContractError, match="the oracle"):
        check_solver(lambda query: Exhaustive(updated), modified)
