"""From data to fitted learners: the split, the device, and what cannot be learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from actcause.data import DataError, Transitions, collect
from actcause.learn import Always, LearnError, Never, fit_many, make
from actcause.learn.training.loop import TrainingProgress
from actcause.learn.training.networks import find_device
from actcause.learn.training.replica import prepare_replica, split_of

TINY = {"steps": 20, "width": 8, "layers": 1, "batch": 16, "device": "cpu"}


def recording(rows: int = 400, **others: Any) -> Transitions:
    state = np.random.default_rng(0).normal(size=(rows, 2, 1))
    outcome = state[:, 0] + np.where(state[:, 1] > 0, state[:, 1], 0)
    return Transitions(factors=["block", "push"], state=state, outcome=outcome, own="block", **others)


# -- the split -------------------------------------------------------------------------------------


def test_no_episode_is_both_learned_from_and_held_out() -> None:
    data = recording(episode=np.arange(400) // 10)
    replica = prepare_replica(Never(held_out=0.2), data)
    assert replica.train.episode is not None
    assert replica.held.episode is not None
    assert not set(replica.train.episode) & set(replica.held.episode)
    assert (len(replica.train), len(replica.held)) == (320, 80)
    assert (len(replica.encoded), len(replica.held_encoded)) == (320, 80)


def test_the_seed_chooses_what_is_held_out() -> None:
    data = recording(episode=np.arange(400) // 10)
    first, same, other = (split_of(data, 0.2, seed)[1] for seed in (0, 0, 1))
    assert first == same
    assert first != other


@pytest.mark.parametrize("episode", [None, np.zeros(400, dtype=int), np.arange(400) // 100])
def test_with_few_episodes_blocks_of_neighbouring_rows_are_held_out(episode: Any) -> None:
    data = recording(episode=episode)
    marked = data.replaced(extra={"row": np.arange(400)})
    _, held = split_of(marked, 0.1, 0)
    assert len(held) == 40
    assert np.count_nonzero(np.diff(held.extra["row"]) != 1) <= 1  # two blocks of 20


def test_the_encoder_is_fitted_on_training_rows_alone() -> None:
    data = recording(episode=np.arange(400) // 10)
    replica = prepare_replica(Never(), data)
    np.testing.assert_allclose(replica.encoded.inputs[:, :, 0].mean(axis=0), 0, atol=1e-5)
    assert np.abs(replica.held_encoded.inputs[:, :, 0].mean(axis=0)).max() > 1e-3


# -- what cannot be learned from -------------------------------------------------------------------


def refuse(call: Any, match: str) -> None:
    with pytest.raises(LearnError, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_values_that_are_not_numbers_never_come_so_far() -> None:
    state = np.array(recording().state)
    state[3, 1, 0] = np.inf  # what is NaN is absent
    with pytest.raises(DataError, match=r"push\.x0 is inf in row 3"):
        recording().replaced(state=state)


def test_one_factor_is_refused() -> None:
    state = np.random.default_rng(0).normal(size=(400, 1, 1))
    data = Transitions(factors=["block"], state=state, outcome=state[:, 0] ** 2, own="block")
    refuse(lambda: Never().fit(data), "There must be a factor besides the outcome's own 'block'")


def test_an_outcome_that_never_changes_is_refused() -> None:
    data = recording()
    still = data.replaced(outcome=np.array(data.state[:, 0]))
    refuse(lambda: Never().fit(still), "The outcome 'block' never changes")
    with pytest.raises(DataError, match="nothing to explain"):
        Transitions(factors=["a", "b"], state=data.state, outcome=np.zeros((400, 1)))


def test_ten_rows_are_refused() -> None:
    refuse(lambda: Never().fit(recording().subset(slice(0, 10))), "at least 100 rows to learn from. Got 10")


def test_what_is_no_recording_is_refused() -> None:
    refuse(lambda: Never().fit(np.zeros((400, 2, 1))), "must be Transitions")  # type: ignore[arg-type]


def test_cuda_without_cuda_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refuse(lambda: Never(device="cuda").fit(recording()), "'cuda' is not available here; say device='cpu' or 'auto'")
    assert find_device("auto").type == "cpu"


@pytest.mark.parametrize("name", ["cuda:x", "meta", "nonsense"])
def test_a_device_that_does_not_exist_is_refused(name: str) -> None:
    refuse(lambda: find_device(name), "must be auto, cpu or cuda")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("seed", -1),
        ("seed", True),
        ("seed", 1.5),
        ("held_out", 0.0),
        ("held_out", 0.95),
        ("held_out", "some"),
        ("max_seconds", 0.0),
        ("max_seconds", "3"),
        ("device", "tpu"),
        ("device", 3),
    ],
)
def test_options_that_make_no_sense_are_refused_by_one_template(option: str, value: object) -> None:
    learner = Never(**{option: value})  # type: ignore[arg-type]
    refuse(lambda: learner.fit(recording()), rf"The '{option}' parameter of Never must be .*\. Got {value!r} instead\.")


def test_metadata_that_means_something_else_is_refused_in_a_sentence() -> None:
    refuse(lambda: Never().fit(recording(metadata={"classes": 5})), "classes must be a mapping")
    refuse(lambda: Never().fit(recording(metadata={"categorical": "push"})), "Categorical features must be a list")


# -- several at once -------------------------------------------------------------------------------


def test_learners_are_fitted_together_only_if_they_differ_in_seeds_alone() -> None:
    data = recording()
    refuse(lambda: fit_many([], []), "Got 0 learners")
    refuse(lambda: fit_many([Never()], [data, data]), "Got 1 learners and 2 recordings")
    refuse(lambda: fit_many([Never(), Always()], [data, data]), "of one kind")
    refuse(lambda: fit_many([Never(), Never(held_out=0.2)], [data, data]), "differ in their seeds only")
    refuse(lambda: fit_many([Never(), Never(seed=1)], [data, collect("1-in", 400)]), "same factors and features")


def test_one_learner_among_several_keeps_its_own_rows() -> None:
    data, other = recording(), recording(300)
    one, two = fit_many([Never(seed=0), Never(seed=1)], [data, other])
    assert one.predict(data).shape == (400, 2)
    assert two.learned_["effective_rows"] < one.learned_["effective_rows"] <= 400


# -- the training ------------------------------------------------------------------------------------


def test_few_independent_rows_are_noted() -> None:
    (note,) = [note for note in Never().fit(recording()).notes_ if "independent" in note]
    assert "360 rows are worth about" in note
    assert "record more" in note
    many = np.random.default_rng(0).normal(size=(3000, 2, 1))
    data = Transitions(factors=["a", "b"], state=many, outcome=many[:, 0] * many[:, 1], own="a")
    assert Never().fit(data).notes_ == ()


def test_a_callback_is_told_of_the_course_and_a_time_budget_ends_it() -> None:
    told: list[TrainingProgress] = []
    learner = make("grad", **TINY, max_seconds=1e-9)
    learner.fit(recording(), callback=told.append)
    assert len(told) == 1
    assert any("stopped before its end" in note for note in learner.notes_)
    assert learner.predict(recording()).shape == (400, 2)


def test_an_error_in_a_callback_is_not_swallowed() -> None:
    def fail(moment: TrainingProgress) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        make("grad", **TINY).fit(recording(), callback=fail)


def test_fitting_leaves_the_callers_random_numbers_alone() -> None:
    before = torch.get_rng_state()
    make("grad", **TINY, max_seconds=1e-9).fit(recording())
    assert torch.equal(before, torch.get_rng_state())


def test_a_copy_of_a_factor_is_noted() -> None:
    data = collect("1-in", 1000, seed=3)
    state = np.concatenate([data.state, 2 * data.state[:, :1] + 1], axis=1)
    copied = Transitions(factors=["a1", "y", "again"], state=state, outcome=data.outcome, own="y", episode=data.episode)
    assert any("'a1' and 'again' hold the same" in note for note in Never().fit(copied).notes_)
    assert not any("hold the same" in note for note in Never().fit(data).notes_)
