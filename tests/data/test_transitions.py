"""The value: what is refused when it is built, its parts, its standardisation."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause.data import DataError, Layout, Standardiser, Transitions, concatenate
from actcause.errors import ActCauseError

ONE = {"ball": ["x"], "paddle": ["x"], "action": ["x"]}


def arguments(**changes: Any) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    made: dict[str, Any] = {
        "factors": ["ball", "paddle", "action"],
        "features": {"ball": ["x", "vx"], "paddle": ["x"], "action": ["move"]},
        "state": generator.normal(size=(12, 3, 2)) * np.array([[1, 1], [1, 0], [1, 0]]),
        "outcome": generator.normal(size=(12, 2)),
        "own": "ball",
        "cause": generator.random((12, 3)) < 0.5,
        "episode": np.repeat([0, 1, 2, 3], 3),
    }
    return made | changes


def data(**changes: Any) -> Transitions:
    return Transitions(**arguments(**changes))


def test_plain_arrays_become_transitions_in_one_call() -> None:
    made = Transitions(factors=("a", "b"), state=np.zeros((2, 2, 3)), outcome=[[0, 1], [1, 0]], own="b")
    assert made.features == {"a": ("x0", "x1", "x2"), "b": ("x0", "x1", "x2")}
    assert made.outcome_features == ("x0", "x1")
    assert (made.outcome_factor, made.edges, made.cause, made.episode) == ("b", ("a",), None, None)


def test_without_an_own_factor_every_factor_is_an_edge_and_the_change_is_the_outcome() -> None:
    made = Transitions(factors=["a", "b"], state=np.zeros((2, 2, 1)), outcome=[[0.0], [1.0]])
    assert (made.own, made.outcome_factor, made.outcome_features, made.edges) == (None, "outcome", ("y0",), ("a", "b"))
    assert np.array_equal(made.change, made.outcome)


def test_the_change_is_taken_by_the_name_of_the_feature() -> None:
    made = data(outcome_features=["vx", "spin"])
    assert np.allclose(made.change[:, 0], made.outcome[:, 0] - made.state[:, 0, 1])
    assert np.array_equal(made.change[:, 1], made.outcome[:, 1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"state": np.zeros((12, 3))}, r"state must be of shape .* Got \(12, 3\) instead; state\[:, :, None\]"),
        ({"state": np.zeros((0, 3, 2)), "outcome": np.zeros((0, 2))}, "at least one row"),
        ({"state": np.zeros((12, 3, 0))}, "without a single feature"),
        ({"state": np.zeros((12, 2, 2))}, "3 factors are named, but the state holds 2"),
        ({"state": np.zeros((12, 3, 1))}, "'ball' has 2 features, but the state holds 1"),
        ({"state": [["a"]]}, "must be numbers"),
        ({"state": np.array([[[None]]])}, "must be numbers"),
        ({"outcome": np.zeros((11, 2))}, r"outcome must be of shape \(12, 2\)"),
        ({"outcome": np.ones((12, 3))}, "name them with outcome_features"),
        ({"outcome": np.ones((12, 2))}, "the same in all 12 rows"),
        ({"outcome_features": ["x"]}, "1 outcome features are named, but the outcome holds 2"),
        ({"own": "bal"}, "Unknown factor 'bal' .own.; did you mean 'ball'?"),
        ({"own": None, "outcome_factor": "ball"}, "say own='ball'"),
        ({"edges": ["padle"]}, "did you mean 'paddle'?"),
        ({"factors": ["ball", "ball", "action"]}, "'ball' is named twice"),
        ({"factors": "abc"}, "must be a list of names"),
        ({"factors": ["ball", 3, "action"]}, "must be printable text. Got 3"),
        ({"factors": ["next", "paddle", "action"]}, "cannot be called 'next'"),
        ({"factors": ["a.b", "paddle", "action"]}, "cannot be called 'a.b'"),
        ({"features": {"ball": ["x", "vx"], "paddle": ["x"]}}, "features of 'action' are not named"),
        ({"features": {"bal": ["x"]}}, "did you mean 'ball'?"),
        ({"features": {"ball": ["x", "x"], "paddle": ["x"], "action": ["m"]}}, "'x' is named twice"),
        ({"features": ONE, "outcome_features": "xy"}, "list of names"),
        ({"features": ONE, "outcome_features": ["x", "y"]}, "name them"),
        ({"cause": np.zeros((12, 2), dtype=bool)}, r"cause must be of shape \(12, 3\)"),
        ({"cause": np.full((12, 3), 0.5)}, "cause must be true or false .* Got .*0.5"),
        ({"cause": np.full((12, 3), "yes")}, "cause must be true or false"),
        ({"episode": np.zeros(11, dtype=int)}, "one integer for each of the 12 rows"),
        ({"episode": np.zeros(12)}, "one integer for each of the 12 rows"),
        ({"extra": {"pinned": np.zeros((12, 2))}}, "Extra values must be one number"),
        ({"metadata": {"a": object()}}, "what JSON can hold"),
        ({"mask": np.zeros((12, 3), dtype=bool)}, "'ball' is absent in row 0"),
        ({"mask": np.tile([True, False, True], (12, 1)), "cause": np.ones((12, 3))}, "named as a cause there"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as refused:
        data(**changes)
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, ActCauseError)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_with_its_place(value: float) -> None:
    state, outcome = arguments()["state"], arguments()["outcome"]
    state[5, 0, 1] = value
    with pytest.raises(DataError, match=f"ball.vx is {value} in row 5"):
        data(state=state)
    outcome[7, 1] = value
    with pytest.raises(DataError, match=f"next.ball.vx is {value} in row 7"):
        data(outcome=outcome)


def test_a_factor_that_never_changes_is_noted_and_padding_is_not() -> None:
    state = arguments()["state"]
    state[:, 1] = [3.0, 0.0]
    assert data(state=state).notes == ("'paddle' never changes, so nothing can be learned about it from these rows.",)
    assert data().notes == ()


def test_scattered_episodes_are_noted_and_split_all_the_same() -> None:
    made = data(episode=np.tile([0, 1, 2, 3], 3))
    assert made.notes == ("The rows of an episode do not all stand next to one another.",)
    first, second = made.split(0.5)
    assert not set(first.episode) & set(second.episode)  # type: ignore[arg-type]


def test_the_truth_may_come_as_zeros_and_ones() -> None:
    assert data(cause=arguments()["cause"].astype(int)) == data()


def test_an_absent_object_counts_as_zero_whatever_the_array_holds_there() -> None:
    state, mask = arguments()["state"], np.ones((12, 3), dtype=bool)
    mask[4:, 1] = False
    state[4:, 1] = np.nan
    made = data(state=state, mask=mask, cause=None)
    assert not made.state[4:, 1].any()
    assert np.isnan(state[4:, 1]).all()  # the caller's array is untouched


def test_what_is_built_cannot_be_changed() -> None:
    made = data(extra={"pinned": np.zeros(12)})
    for array in (made.state, made.outcome, made.cause, made.episode, made.change, made.extra["pinned"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1  # type: ignore[index]
    with pytest.raises(AttributeError):
        made.state = made.state  # type: ignore[misc]
    with pytest.raises(TypeError):
        made.features["ball"] = ()  # type: ignore[index]
    with pytest.raises(TypeError):
        made.metadata["a"] = 1  # type: ignore[index]
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


def test_arrays_are_not_copied() -> None:
    given_arrays = arguments()
    assert np.shares_memory(Transitions(**given_arrays).state, given_arrays["state"])
    assert given_arrays["state"].flags.writeable


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_is_kept(dtype: type) -> None:
    made = data(state=arguments()["state"].astype(dtype), outcome=arguments()["outcome"].astype(dtype))
    assert made.state.dtype == made.outcome.dtype == made.subset([1, 2]).state.dtype == dtype


def test_equality_looks_at_everything() -> None:
    assert data() == data()
    other = arguments()["state"]
    other[3, 0, 0] += 1
    changed = [{"state": other}, {"cause": None}, {"episode": None}, {"edges": ["paddle"]}, {"metadata": {"seed": 1}}]
    assert all(data() != data(**each) for each in changed)
    assert data() != data(extra={"pinned": np.zeros(12)})
    assert data() != 3


def test_copies_and_pickles_are_equal_and_locked() -> None:
    made = data(extra={"pinned": np.zeros(12, dtype=bool)}, metadata={"domain": "break"})
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert not again.state.flags.writeable
        assert again.layout.index("paddle") == 1


def test_the_repr_says_what_it_holds() -> None:
    assert repr(data()) == (
        "<Transitions: 12 rows in 4 episodes of ball, paddle, action; outcome ball, true causes known>"
    )
    many = Transitions(factors=[f"a{i}" for i in range(10)], state=np.zeros((1, 10, 1)), outcome=[[0]])
    assert "a7 and 2 more" in repr(many)


@pytest.mark.parametrize("index", [slice(2, 5), [2, 3, 4], np.arange(12) // 3 == 1, np.array([4, 2])])
def test_a_subset_holds_the_rows_that_were_asked_for(index: Any) -> None:
    made = data(mask=np.ones((12, 3), dtype=bool), extra={"n": np.arange(12)})
    part = made.subset(index)
    for name in ("state", "outcome", "cause", "mask", "episode"):
        assert np.array_equal(getattr(part, name), getattr(made, name)[index])
    assert np.array_equal(part.extra["n"], np.arange(12)[index])
    assert part.layout == made.layout


@pytest.mark.parametrize("index", [[], [99], np.zeros(12, dtype=bool), np.zeros(5, dtype=bool), [0.5], [[1]]])
def test_a_selection_that_does_not_fit_is_refused(index: Any) -> None:
    with pytest.raises(DataError, match=r"selection|selected"):
        data().subset(index)


@given(
    lengths=st.lists(st.integers(1, 6), min_size=2, max_size=12),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 9),
)
def test_a_split_keeps_every_episode_whole_and_every_row_once(lengths: list[int], share: float, seed: int) -> None:
    episode = np.repeat(np.arange(len(lengths)) * 7, lengths)
    rows = len(episode)
    made = Transitions(
        factors=["a"], state=np.arange(rows)[:, None, None], outcome=np.arange(rows)[:, None], episode=episode
    )
    first, second = made.split(share, seed=seed)
    assert not set(first.episode) & set(second.episode)  # type: ignore[arg-type]
    assert sorted([*first.state.ravel(), *second.state.ravel()]) == list(range(rows))
    assert made.split(share, seed=seed) == (first, second)
    folds = made.folds(2, seed=seed)
    assert sorted(np.concatenate([fold.state.ravel() for _, fold in folds])) == list(range(rows))
    assert all(not set(rest.episode) & set(fold.episode) for rest, fold in folds)  # type: ignore[arg-type]


def test_without_episodes_rows_are_split_and_the_unit_says_so() -> None:
    made = data(episode=None)
    assert (made.unit, data().unit) == ("row", "episode")
    assert [len(part) for part in made.split(0.75)] == [9, 3]


def test_a_split_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(DataError, match="there is 1; replaced"):
        data(episode=np.zeros(12, dtype=int)).split()
    with pytest.raises(DataError, match="9 parts need at least 9 episodes"):
        data().folds(9)
    for share in (0, 1, "half", 2.0):
        with pytest.raises(DataError, match="between 0 and 1"):
            data().split(share)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="at least 2"):
        data().folds(1)


def test_rates_count_true_causes_where_the_object_is_there() -> None:
    cause = np.zeros((12, 3), dtype=bool)
    cause[:3, 1] = True
    assert data(cause=cause).rates() == {"ball": 0, "paddle": 0.25, "action": 0}
    mask = np.ones((12, 3), dtype=bool)
    mask[6:, 1] = False
    assert data(cause=cause, mask=mask).rates()["paddle"] == 0.5
    assert data(cause=None).rates() == {}


def test_a_standardiser_looks_at_training_data_only() -> None:
    made = data()
    train, test = made.split(0.5)
    standardiser = train.standardiser()
    scaled = standardiser.transform(train)
    assert np.allclose(scaled.state.mean(axis=0), 0, atol=1e-12)
    assert np.allclose(scaled.state.std(axis=0), [[1, 1], [1, 0], [1, 0]])
    wild = test.replaced(state=test.state * 1000)
    assert np.allclose(standardiser.transform(wild).state, (wild.state - standardiser.mean) / standardiser.scale)
    assert np.allclose(scaled.change, train.change / standardiser.outcome_scale)
    assert np.allclose(standardiser.restore_outcome(scaled.outcome), train.outcome)


def test_constant_features_and_absent_objects_are_left_alone() -> None:
    state, mask = arguments()["state"], np.ones((12, 3), dtype=bool)
    state[:, 2, 0] = 4.0
    mask[::2, 1] = False
    made = data(state=state, mask=mask, cause=None)
    standardiser = made.standardiser()
    scaled = standardiser.transform(made)
    assert np.array_equal(scaled.state[:, 2], made.state[:, 2])
    assert not scaled.state[::2, 1].any()
    assert np.isclose(scaled.state[1::2, 1, 0].std(), 1)


def test_a_standardiser_fitted_on_batches_is_that_of_the_whole() -> None:
    made = data()
    whole, parts = made.standardiser(), Standardiser.fit(made.subset(slice(i, i + 5)) for i in (0, 5, 10))
    for name, values in whole.to_json().items():
        assert np.allclose(values, parts.to_json()[name])
    again = Standardiser.from_json(made.layout, whole.to_json())
    assert again.transform(made) == whole.transform(made)


def test_a_standardiser_refuses_what_it_was_not_fitted_for() -> None:
    standardiser = data().standardiser()
    with pytest.raises(DataError, match="fitted on"):
        standardiser.transform(data(edges=["paddle"]))
    with pytest.raises(DataError, match="at least one row"):
        Standardiser.fit([])
    with pytest.raises(DataError, match="Not a description"):
        Standardiser.from_json(data().layout, {})
    with pytest.raises(DataError, match="other shapes"):
        Standardiser.from_json(data().layout, standardiser.to_json() | {"mean": [[0.0]]})


def test_an_outcome_that_moves_while_its_own_previous_value_does_not_is_scaled_too() -> None:
    made = Transitions(factors=["a"], state=np.full((3, 1, 1), 5.0), outcome=[[5.0], [9.0], [5.0]], own="a")
    scaled = made.standardiser().transform(made)
    assert np.isclose(scaled.outcome.std(), 1)
    assert np.allclose(scaled.change, made.change / made.outcome.std())


def test_parts_put_together_are_the_whole() -> None:
    made = data(mask=np.ones((12, 3), dtype=bool), extra={"n": np.arange(12)})
    assert concatenate([made.subset(slice(0, 5)), made.subset(slice(5, 12))]) == made
    with pytest.raises(DataError, match="same factors"):
        concatenate([made, data()])
    with pytest.raises(DataError, match="at least one part"):
        concatenate([])


def test_only_arrays_and_metadata_can_be_replaced() -> None:
    assert data().replaced(episode=None).episode is None
    with pytest.raises(DataError, match="'colour' cannot be replaced"):
        data().replaced(colour=1)


def test_a_layout_without_arrays_needs_names() -> None:
    with pytest.raises(DataError, match="features must be named"):
        Layout.build(["a"])
    with pytest.raises(DataError, match="outcome's features must be named"):
        Layout.build(["a"], {"a": ["x"]})
    assert hash(data().layout) == hash(data().layout)


def test_the_value_needs_numpy_alone() -> None:
    program = (
        "import sys\n"
        "for heavy in ('pyarrow', 'gymnasium', 'torch', 'pandas', 'minari'): sys.modules[heavy] = None\n"
        "from actcause.data import Transitions\n"
        "t = Transitions(factors=['a'], state=[[[1.0]], [[2.0]]], outcome=[[1.0], [2.0]])\n"
        "t.split(0.5)[0].standardiser()\n"
        "try: t.save('never.parquet')\n"
        "except ImportError as missing: print(missing)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'actcause[data]'" in ran.stdout
