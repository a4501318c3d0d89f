"""Several seeds of one learner, and the best of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actcause.data import collect
from actcause.learn import Counterfactual, LearnError, Never, RunError, compare_seeds, fit_best, load, train_run
from actcause.learn.runs import summary, train
from actcause.learn.training_source import TrainingSource

SHORT = {"steps": 30, "width": 8, "batch": 32, "device": "cpu"}


def test_seeds_are_trained_side_by_side_and_the_one_that_errs_least_is_best() -> None:
    data = collect("2-in", 600, seed=1)
    found = fit_best(Counterfactual(seed=4, **SHORT), data, 3)
    assert [one.seed for one in found.learners] == [4, 5, 6]
    first, second = (one.predict_proba(data) for one in found.learners[:2])
    assert not np.array_equal(first, second)
    assert found.criterion == "held_error"
    assert found.scores[found.best.seed] == min(found.scores.values())
    assert 0 <= found.difference <= found.most <= 1


def test_true_causes_do_not_matter_to_the_choice() -> None:
    data = collect("2-in", 600, seed=1)
    learners = fit_best(Counterfactual(**SHORT), data, 2).learners
    wrong = data.replaced(cause=~data.cause)
    for other in (data.replaced(cause=None), wrong):
        assert compare_seeds(learners, other).to_json() == compare_seeds(learners, data).to_json()


def test_disagreement_with_hindsight_goes_before_errors_and_a_collapse_is_kept_last() -> None:
    data = collect("1-in", 500)
    learners = list(fit_best(Counterfactual(**SHORT), data, 3).learners)
    for one, value in zip(learners, (0.3, 0.1, 0.0), strict=True):
        one.learned_ |= {"disagreement": value, "held_error": -value, "shares": {"a1": 0.4}}
    assert compare_seeds(learners, data).best is learners[2]
    learners[2].learned_["shares"] = {"a1": 0.0}
    found = compare_seeds(learners, data)
    assert (found.criterion, found.best) == ("disagreement", learners[1])
    assert "Seed 1 is kept, by disagreement without labels (0: 0.3000, 1: 0.1000, 2: 0.0000)" in str(found)


def test_a_method_without_a_figure_keeps_the_first_seed() -> None:
    found = fit_best(Never(), collect("1-in", 500), 3)
    assert (found.criterion, found.best.seed, found.difference) == (None, 0, 0)
    assert not found.notes
    assert "the first of 3" in str(found)


def test_seeds_that_say_different_things_are_noted() -> None:
    data = collect("1-in", 500)
    learners = fit_best(Counterfactual(**SHORT), data, 2).learners
    learners[0].threshold_, learners[1].threshold_ = 0.0, 1.0
    found = compare_seeds(learners, data)
    assert found.difference == 1
    assert "differ in 100.0% of the edges" in found.notes[0]


@pytest.mark.parametrize("seeds", [0, 65, 1.5, True])
def test_a_number_of_seeds_that_makes_no_sense_is_refused(seeds: object) -> None:
    with pytest.raises(LearnError, match="must be an integer from 1 to 64"):
        fit_best(Never(), collect("1-in", 500), seeds)  # type: ignore[arg-type]


def test_a_run_of_several_seeds_keeps_the_best_and_says_how_they_differ(tmp_path: Path) -> None:
    source = TrainingSource("1-in", frames=600)
    run = train_run(Counterfactual(**SHORT), source, tmp_path / "run", seeds=3)
    assert run.seeds is not None
    assert run.learner is run.seeds.best
    assert summary(tmp_path / "run")["seeds"] == [0, 1, 2]
    kept = load(tmp_path / "run", device="cpu")
    assert kept.seed == run.learner.seed
    assert kept.learned_["seeds"]["kept"] == kept.seed
    data = source.read(0)
    assert np.array_equal(kept.predict(data), run.learner.predict(data))
    with pytest.raises(RunError, match="begun with other seeds"):
        train(Counterfactual(**SHORT), data, tmp_path / "run", seeds=2, resume=True)


def test_a_run_of_several_seeds_goes_on_where_it_stopped(tmp_path: Path) -> None:
    data = collect("1-in", 600)
    whole = train(Counterfactual(**SHORT), data, tmp_path / "whole", seeds=2)
    steps: list[int] = []

    def interrupt(moment: object) -> None:
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(Counterfactual(**SHORT), data, tmp_path / "cut", seeds=2, callback=interrupt, every=0.0)
    again = train(Counterfactual(**SHORT), data, tmp_path / "cut", seeds=2, resume=True)
    assert again.learner.seed == whole.learner.seed
    assert np.array_equal(again.learner.predict_proba(data), whole.learner.predict_proba(data))
