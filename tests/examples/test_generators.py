"""Families of trees: their top event happens, and what is known about them comes out."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.examples import Example, attack_tree, binary_tree, fault_tree


def causes(example: Example, definition: str = "modified-hp", solver: str = "auto") -> set[frozenset[str]]:
    asked = {"context": example.context, "effect": example.effect}
    return {frozenset(c.event) for c in ac.causes(example.model, definition=definition, solver=solver, **asked)}


@given(st.integers(2, 40), st.integers(0, 100), st.booleans())
def test_the_top_event_of_a_fault_tree_happened(events: int, seed: int, priority: bool) -> None:
    tree = fault_tree(events, seed=seed, priority=priority)
    assert tree.outcome == "T"
    assert tree.model.evaluate(tree.context)["T"] == 1
    assert set(tree.model.ancestors(["T"])) == set(tree.model.variables)
    assert fault_tree(events, seed=seed, priority=priority).text == tree.text


def test_priority_changes_how_the_top_event_comes_about_and_not_whether() -> None:
    plain, ordered = (fault_tree(5, seed=7, priority=priority).model for priority in (False, True))
    assert len(ordered.variables) > len(plain.variables)
    assert all(plain.evaluate(context)["T"] == ordered.evaluate(context)["T"] for context in plain.contexts())


@pytest.mark.parametrize("priority", [False, True])
def test_the_oracle_agrees_on_small_fault_trees(priority: bool) -> None:
    for seed in range(8):
        tree = fault_tree(4, seed=seed, priority=priority)
        assert causes(tree) == causes(tree, solver="exhaustive")


def test_a_tree_of_or_gates_blames_all_leaves_together_and_one_of_and_gates_each() -> None:
    leaves = frozenset(binary_tree(3).context)
    assert leaves in causes(binary_tree(3))
    assert {frozenset({leaf}) for leaf in leaves} <= causes(binary_tree(3, gate="and"))


def test_the_first_attacker_forestalls_the_others() -> None:
    squad = attack_tree(2)
    found = causes(squad)
    assert not any(name.endswith("2") for event in found for name in event if not name.startswith("Earlier"))
    assert frozenset({"Enters1", "Led1"}) in found


def test_an_example_that_was_made_survives_pickling() -> None:
    tree = fault_tree(5, seed=3)
    again = pickle.loads(pickle.dumps(tree))
    assert (again.text, again.context, again.effect) == (tree.text, tree.context, tree.effect)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fault_tree(1), "events must be a whole number from 2 to 100000; got 1"),
        (lambda: fault_tree(5, shared=2), "shared must be a share from 0 to 1; got 2"),
        (lambda: binary_tree(3, gate="nor"), "gate must be 'or' or 'and'; got 'nor'"),
        (lambda: binary_tree(60), "depth must be a whole number from 1 to 16; got 60"),
        (lambda: attack_tree("2"), "attackers must be a whole number from 1 to 2000; got '2'"),  # type: ignore[arg-type]
    ],
)
def test_a_size_that_cannot_be_is_refused(make: object, said: str) -> None:
    with pytest.raises(ac.QueryError, match=said):
        make()  # type: ignore[operator]
