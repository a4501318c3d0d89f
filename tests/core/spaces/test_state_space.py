"""Whole state spaces: counting agrees with the definitions' own words, and bad input is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.counting import MAX_CELLS
from actcause.core.definitions import DEFINITIONS, Search
from strategies import models

ALPHAS = st.sampled_from(
    [None, Fraction(0), Fraction(1, 5), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
)


@given(st.data(), models(max_endogenous=4, max_range=3), ALPHAS, ALPHAS)
def test_counting_gives_what_the_definition_says_of_each_state(data, model, sufficiency, necessity):
    assume(model.context_count <= 12)
    outcome = data.draw(st.sampled_from(model.endogenous))
    assume(len(model.endogenous) > 1)
    space = ac.StateSpace.from_model(model, outcome)
    definition = DEFINITIONS["functional"]
    mask = data.draw(st.integers(1, 2 ** len(space.variables) - 1))
    necessary, sufficient = space.necessary(mask, necessity), space.sufficient(mask, sufficiency)
    for index, context in enumerate(model.contexts()):
        query = ac.Query(
            model, context, f"{outcome} == {space.outcome_of(index)}", "functional", sufficiency, necessity
        )
        search = Search(query)
        event = {name: query.actual[name] for name in space.names(mask)}
        assert query.state.items() >= space.state(index).items()
        assert bool(necessary[index]) == any(True for _ in definition.witnesses(search, event))
        assert bool(sufficient[index]) == definition.sufficient(search, event, ac.Witness({}))


@given(st.data(), models(max_endogenous=4, max_range=3, allow_exogenous=False))
def test_groups_are_the_states_that_agree(data, model):
    assume(len(model.endogenous) > 1)
    assume(model.endogenous[-1] in model.equations)
    space = ac.StateSpace.from_model(model, model.endogenous[-1])
    mask = data.draw(st.integers(0, 2 ** len(space.variables) - 1))
    key, width = space.groups(mask)
    names = space.names(mask)
    seen = {}
    for index in range(len(space)):
        state = space.state(index)
        assert seen.setdefault(int(key[index]), tuple(state[n] for n in names)) == tuple(state[n] for n in names)
    assert len(set(seen.values())) == len(seen) <= width


def test_a_table_that_lists_every_state_once_is_as_good_as_its_model():
    example = ac.examples.load("mover-1d")
    model = ac.StateSpace.from_model(example.model, example.outcome)
    rows = [model.state(i) for i in range(len(model))]
    columns = {name: [row[name] for row in rows] for name in model.variables}
    table = ac.StateSpace.from_table(columns, [model.outcome_of(i) for i in range(len(model))])
    for mask in (1, 2, 3):
        for alpha in (None, Fraction(2, 5), Fraction(1, 10)):
            assert (model.necessary(mask, alpha) == table.necessary(mask, alpha)).all()
            assert (model.sufficient(mask, alpha) == table.sufficient(mask, alpha)).all()


def test_how_often_a_state_was_seen_decides_what_it_costs():
    states = {"A": [0, 0, 1, 1], "B": [0, 1, 0, 1]}
    outcome = [0, 1, 1, 1]  # A or B
    often = ac.partitions(ac.StateSpace.from_table(states, outcome, weights=[1, 1, 1, 10]), alpha_sufficiency=1)
    plain = ac.partitions(ac.StateSpace.from_table(states, outcome), alpha_sufficiency=1)
    assert (plain.cost, plain.count) == (5, 2)
    assert often.cost == 3 + 2 * 10


def test_rows_that_repeat_are_counted():
    once = ac.StateSpace.from_table({"A": [0, 1, 1]}, [0, 1, 1])
    assert len(once) == 2
    assert once.weights.tolist() == [1, 2]


def test_a_function_of_arrays_needs_no_model():
    space = ac.StateSpace.from_function({"m": range(4), "o": range(3)}, lambda m, o: m + (o != m + 1))
    assert ac.partitions(space, alpha_sufficiency=0.4).cost == 14


def test_a_formula_can_be_the_outcome():
    model = ac.Model.from_text("A in 0..2\nB in 0..2\nC = A + B")
    space = ac.StateSpace.from_model(model, "C >= 2")
    assert space.outcome_range == (0, 1)
    assert space.variables == ("A", "B")


def test_where_keeps_the_contexts_in_which_a_formula_holds():
    model = ac.Model.from_text("A\nB\nC = A and B")
    assert len(ac.StateSpace.from_model(model, "C", where="A == 1 or C == 0")) == 4
    assert len(ac.StateSpace.from_model(model, "C", where="A == 1")) == 2


def test_states_of_different_backgrounds_do_not_contradict_each_other():
    model = ac.Model.from_text("exogenous U\nA\nY = A if U else not A")
    found = ac.partitions(model, "Y", alpha_sufficiency=0)
    assert (found.cost, found.count) == (4, 1)
    assert all(pair.check() for pair in found)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda m: ac.StateSpace.from_model(m, "D"), "unknown variable 'D'"),
        (lambda m: ac.StateSpace.from_model(m, "U"), "U is exogenous"),
        (lambda m: ac.StateSpace.from_model(m, 3), "must be a variable or a formula"),
        (lambda m: ac.StateSpace.from_model(m, "C", where="A == 5"), "No context satisfies"),
        (lambda m: ac.StateSpace.from_table({}, []), "at least one column"),
        (lambda m: ac.StateSpace.from_table({"A": []}, []), "must be one-dimensional and hold integers"),
        (lambda m: ac.StateSpace.from_table({"A": np.zeros(0, int)}, np.zeros(0, int)), "empty"),
        (lambda m: ac.StateSpace.from_table({"A": [0, 1]}, [0]), "2 rows"),
        (lambda m: ac.StateSpace.from_table({"A": [0.5]}, [0]), "hold integers"),
        (lambda m: ac.StateSpace.from_table({"A": [0, 0]}, [0, 1]), "occurs with outcomes"),
        (lambda m: ac.StateSpace.from_table({"A": [0]}, [0], weights=[0]), "positive integer"),
        (lambda m: ac.StateSpace.from_model(m, "C").find({"A": 7}), "must be in"),
        (lambda m: ac.StateSpace.from_model(m, "C").find({"Z": 0}), "Unknown state variable"),
        (lambda m: ac.StateSpace.from_model(m, "C").mask_of("01012"), "digits"),
        (lambda m: ac.partitions(ac.StateSpace.from_model(m, "C"), outcome="C"), "has its outcome already"),
        (lambda m: ac.partitions(m), "which variable is the outcome"),
        (lambda m: ac.partitions(m, "C", alpha_sufficiency=2), "between 0 and 1"),
        (lambda m: ac.partitions(m, "C", solver="magic"), "'auto' or 'algorithm-0'"),
        (lambda m: ac.partitions(m, "C", max_seconds=0), "must be a positive number"),
    ],
)
def test_a_mistake_gets_one_clear_sentence(build, message):
    model = ac.Model.from_text("exogenous U\nA\nB\nC = (A and B) or U")
    with pytest.raises(ac.ActCauseError, match=message) as caught:
        build(model)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [None, 0, 0.2, 1])
def test_an_outcome_that_reads_nothing_has_no_cause(share):
    found = ac.partitions(ac.Model.from_text("A\nY = 1"), "Y", alpha_sufficiency=share)
    assert (found.cost, found.count, found.binaries({"A": 0})) == (0, 1, ("0",))


def test_a_model_without_roots_has_no_space_of_states():
    with pytest.raises(ac.QueryError, match="has no roots"):
        ac.StateSpace.from_model(ac.Model.from_text("A = 1\nB = A"), "B")


def test_a_space_knows_the_context_of_each_state_and_what_undoes_it():
    space = ac.StateSpace.from_model(ac.Model.from_text("A\nB = not A\nC = A or B"), "C", where="A == 1")
    assert {name: column.tolist() for name, column in space.contexts.items()} == {"A": [1]}
    count, total = space.undoing(space.mask(["A"]))
    assert (count.tolist(), total) == ([0], 2)


def test_many_outcomes_take_no_more_room_than_states():
    """With every variable held there is nothing to count; a table of states by outcomes would not fit."""
    space = ac.StateSpace.from_function({"A": range(600), "B": range(600)}, lambda a, b: 600 * a + b)
    count, total = space.undoing(3)
    assert (int(count.sum()), total) == (0, 1)


def test_a_space_that_would_not_fit_is_refused_before_it_is_built():
    roots = [f"R{i}" for i in range(40)]
    model = ac.Model.from_text("\n".join(roots) + "\nY = " + " and ".join(roots))
    assert model.context_count * len(model.variables) > MAX_CELLS
    with pytest.raises(ac.QueryError, match="1099511627776 contexts"):
        ac.partitions(model, "Y")
