"""Errors against true causes: every figure by a slow count of its own."""

from __future__ import annotations

import ast
import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn import LearnError
from actcause.learn import evaluation as metrics
from actcause.learn.evaluation import (
    auc,
    average_precision,
    balanced_error,
    bootstrap_interval,
    calibration,
    edge_error,
    error_by_kind,
    evaluate,
    exact_error,
    resampled,
    student_interval,
)

CONTRACT = {
    "edge_error", "exact_error", "auc", "average_precision", "false_positive_rate", "false_negative_rate",
    "per_factor", "trivial", "states", "resampled",
    "balanced_error", "caused_error", "uncaused_error", "exact_accuracy", "recall", "precision", "f1",
}  # fmt: skip


def recording(cause: object, mask: object = None, **extra: object) -> Transitions:
    truth = np.asarray(cause, dtype=bool)
    rows, factors = truth.shape
    state = np.random.default_rng(0).normal(size=(rows, factors, 1))
    return Transitions(
        factors=["own", *(f"f{k}" for k in range(1, factors))],
        state=state,
        outcome=np.arange(rows, dtype=float)[:, None],
        own="own",
        cause=truth,
        mask=mask,
        extra=extra,
    )


FOUR = recording([[1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 0]])
SAID = np.array([[1, 1, 1], [1, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)


def test_edge_error_is_the_share_of_wrong_bits_over_the_factors_in_question() -> None:
    assert edge_error(FOUR, SAID) == 2 / 8  # the own factor, wrong in the last row, does not count
    assert exact_error(FOUR, SAID) == 2 / 4


def test_factors_that_are_not_scored_do_not_count() -> None:
    data = collect("3-in", 500)
    off = np.array(data.cause)
    for k, name in enumerate(data.factors):
        if name not in data.edges:
            off[:, k] = ~off[:, k]
    assert edge_error(data, off) == 0


def test_absent_objects_do_not_count() -> None:
    mask = np.ones((4, 3), dtype=bool)
    mask[1:, 2] = False
    truth = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]], dtype=bool)
    said = np.array([[1, 1, 1], [1, 0, 1], [1, 0, 1], [1, 1, 1]], dtype=bool)
    data = recording(truth, mask)
    assert edge_error(data, said) == 2 / 5
    assert exact_error(data, said) == 2 / 4
    assert evaluate(said, data).per_factor["f2"].states == 1


def test_a_factor_that_is_never_present_has_no_scores() -> None:
    mask = np.ones((4, 3), dtype=bool)
    mask[:, 2] = False
    found = evaluate(SAID, recording(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]]), mask))
    assert set(found.per_factor) == {"f1"}


def slow_auc(truth: np.ndarray, score: np.ndarray) -> float:
    pairs = [(1.0 if a > b else 0.5 if a == b else 0.0) for a, b in product(score[truth], score[~truth])]
    return sum(pairs) / len(pairs)


def slow_average_precision(truth: np.ndarray, score: np.ndarray) -> float:
    total, recall = 0.0, 0.0
    for level in sorted(set(score.tolist()), reverse=True):
        named = [bool(t) for t, s in zip(truth, score, strict=True) if s >= level]
        reached = sum(named) / int(truth.sum())
        total += (reached - recall) * sum(named) / len(named)
        recall = reached
    return total


@pytest.mark.parametrize("levels", [2, 5, 1000])
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_auc_and_average_precision_agree_with_counting_pairs_whatever_the_ties(levels: int, rate: float) -> None:
    generator = np.random.default_rng([levels, int(100 * rate)])
    for size in (2, 3, 17, 120):
        truth = generator.random(size) < rate
        truth[:2] = [True, False]
        score = np.round((0.3 * truth + generator.random(size)) * levels) / levels
        assert auc(truth, score) == pytest.approx(slow_auc(truth, score), abs=1e-12)
        assert average_precision(truth, score) == pytest.approx(slow_average_precision(truth, score), abs=1e-12)


def test_undefined_figures_are_none_and_never_nan() -> None:
    assert auc([False, False], [0.1, 0.2]) is None
    assert auc([True, True], [0.1, 0.2]) is None
    assert average_precision([False, False], [0.1, 0.2]) is None
    nothing = recording([[1, 0], [1, 0], [1, 0]])
    document = evaluate(np.zeros((3, 2), dtype=bool), nothing).to_json()
    assert document["auc"] is None
    assert document["f1"] is None
    assert document["false_negative_rate"] is None
    assert document["false_positive_rate"] == 0
    assert "NaN" not in json.dumps(document)


def test_the_document_holds_what_the_contract_names() -> None:
    document = json.loads(json.dumps(evaluate(SAID, FOUR).to_json()))
    assert set(document) >= CONTRACT
    assert set(document["trivial"]) == {"never", "always", "rate"}
    assert document["per_factor"]["f2"]["false_negative_rate"] == 1
    assert document["per_factor"]["f1"]["f1"] == 1
    assert document["states"] == 4
    assert document["resampled"] is False


def test_rates_of_errors_are_counted_over_their_own_kind() -> None:
    found = evaluate(SAID, FOUR)
    assert found.false_negative_rate == 1 / 2
    assert found.false_positive_rate == 1 / 6
    assert found.f1 == 2 / (2 + 1 + 1)


def test_trivial_rows_are_what_trivial_predictors_get() -> None:
    data = collect("3-in", 2000)
    found = evaluate(data.cause, data)
    shape = data.cause.shape
    assert found.trivial["never"] == pytest.approx(edge_error(data, np.zeros(shape, dtype=bool)))
    assert found.trivial["always"] == pytest.approx(edge_error(data, np.ones(shape, dtype=bool)))
    generator, rates = np.random.default_rng(0), list(data.rates().values())
    guesses = [edge_error(data, generator.random(shape) < rates) for _ in range(30)]
    assert found.trivial["rate"] == pytest.approx(np.mean(guesses), abs=0.01)


def test_probabilities_are_decided_by_the_threshold_and_ranked_as_they_are() -> None:
    said = np.array([[1, 0.8, 0.3], [1, 0.6, 0.1], [1, 0.1, 0.4], [1, 0, 0]])
    assert evaluate(said, FOUR).edge_error == 2 / 8
    assert evaluate(said, FOUR, threshold=0.7).edge_error == 1 / 8
    assert evaluate(said, FOUR, threshold=0.7).auc == evaluate(said, FOUR).auc


def test_resampling_keeps_all_rows_of_the_rarer_kind_and_as_many_others() -> None:
    data = collect("push", 3000)
    pusher = data.layout.index("pusher")
    half = resampled(data, seed=1)
    assert half.cause[:, pusher].sum() == data.cause[:, pusher].sum()
    assert half.cause[:, pusher].mean() == 0.5
    assert half == resampled(data, seed=1)
    assert half != resampled(data, seed=2)


def test_an_evaluation_resamples_answers_with_their_rows() -> None:
    data = collect("push", 3000)
    off = np.array(data.cause)
    off[:, data.layout.index("pusher")] = False
    plain, half = evaluate(off, data), evaluate(off, data, resample=True)
    assert half.resampled
    assert half.states == 2 * int(data.cause[:, data.layout.index("pusher")].sum())
    assert half.exact_error == 0.5
    assert half.per_factor["pusher"].edge_error == 0.5
    assert plain.exact_error < 0.15


def test_rows_of_one_kind_only_cannot_be_resampled() -> None:
    with pytest.raises(LearnError, match="in no row a factor in question is a cause"):
        resampled(recording([[1, 0], [1, 0]]))
    with pytest.raises(LearnError, match="in every row"):
        resampled(recording([[1, 1], [1, 1]]))


def test_pinned_contacts_are_left_out_where_a_contact_moved_the_block() -> None:
    data = collect("push", 20_000, seed=1)
    said = np.array(data.cause)
    said[data.extra["pinned"], data.layout.index("pusher")] = False
    found = evaluate(said, data)
    assert found.edge_error > 0
    assert found.moved == 0
    assert evaluate(SAID, FOUR).moved is None


def test_calibration_compares_what_was_said_with_how_often_it_was_true() -> None:
    generator = np.random.default_rng(0)
    chance = generator.random((20_000, 2))
    data = recording(generator.random((20_000, 2)) < chance)
    assert calibration(data, chance).error < 0.02
    over = calibration(data, chance**3)
    assert over.error > 0.15
    assert sum(over.states) == 20_000
    assert all(found > said for said, found in zip(over.said[1:-1], over.found[1:-1], strict=True))


@pytest.mark.parametrize(
    ("seeds", "level", "standard_errors"), [(2, 0.95, 12.706), (5, 0.95, 2.776), (6, 0.99, 4.032), (31, 0.9, 1.697)]
)
def test_students_interval_has_the_width_that_tables_give(seeds: int, level: float, standard_errors: float) -> None:
    values = np.random.default_rng(seeds).random(seeds).tolist()
    found = student_interval(values, level)
    wanted = standard_errors * np.std(values, ddof=1) / math.sqrt(seeds)
    assert found.high - found.mean == pytest.approx(wanted, rel=2e-4)
    assert found.mean - found.low == pytest.approx(wanted, rel=2e-4)


def test_the_bootstrap_interval_is_inside_the_values_and_repeats() -> None:
    values = [0.01, 0.02, 0.02, 0.05, 0.03]
    interval = bootstrap_interval(values)
    assert min(values) <= interval.low < interval.mean < interval.high <= max(values)
    assert interval == bootstrap_interval(values)


@pytest.mark.parametrize("values", [[0.1], [], [0.1, math.nan]])
def test_an_interval_needs_two_seeds(values: list[float]) -> None:
    for interval in (student_interval, bootstrap_interval):
        with pytest.raises(LearnError, match="needs a number for each of two seeds"):
            interval(values)


def test_data_without_truth_cannot_be_scored() -> None:
    for score in (edge_error, exact_error, evaluate):
        arguments = (SAID, FOUR.replaced(cause=None)) if score is evaluate else (FOUR.replaced(cause=None), SAID)
        with pytest.raises(LearnError, match="hold no true causes"):
            score(*arguments)


def test_answers_of_another_shape_or_kind_are_refused() -> None:
    with pytest.raises(LearnError, match=r"shape \(4, 3\)"):
        edge_error(FOUR, SAID[:, :2])
    with pytest.raises(LearnError, match="decisions, not of probabilities"):
        edge_error(FOUR, SAID.astype(float))
    with pytest.raises(LearnError, match="or NaN"):
        evaluate(np.full((4, 3), np.nan), FOUR)


def test_metrics_need_no_torch() -> None:
    tree = ast.walk(ast.parse(Path(metrics.__file__).read_text(encoding="utf-8")))
    imported = {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}
    assert "numpy" in imported
    assert "torch" not in imported


def test_recall_and_precision_are_counted_factor_by_factor() -> None:
    found = evaluate(SAID, FOUR)
    assert (found.recall, found.precision) == (1 / 2, 1 / 2)
    assert (found.per_factor["f1"].recall, found.per_factor["f1"].precision) == (1, 1)
    assert (found.per_factor["f2"].recall, found.per_factor["f2"].precision) == (0, 0)
    nothing = evaluate(np.zeros((4, 3), dtype=bool), FOUR)
    assert (nothing.recall, nothing.precision) == (0, None)


def test_the_balanced_error_is_the_mean_over_states_with_and_without_a_cause() -> None:
    assert error_by_kind(FOUR, SAID) == (2 / 4, 0)
    assert balanced_error(FOUR, SAID) == 1 / 4
    assert error_by_kind(recording([[1, 0], [1, 0]]), np.ones((2, 2), dtype=bool)) == (None, 1)
    assert balanced_error(recording([[1, 0], [1, 0]]), np.ones((2, 2), dtype=bool)) == 1
    found = evaluate(SAID, FOUR)
    assert (found.balanced_error, found.caused_error, found.uncaused_error) == (1 / 4, 2 / 4, 0)
    assert (found.exact_error, found.exact_accuracy) == (2 / 4, 2 / 4)


def test_rare_causes_that_are_all_missed_are_seen_although_the_edge_error_is_small() -> None:
    rare = recording([[1, k == 0, 0] for k in range(200)])
    blind = evaluate(np.tile([True, False, False], (200, 1)), rare)
    assert blind.edge_error < 0.003
    assert blind.balanced_error == 0.25
    assert "MISSED: f1 in 100%" in str(blind).splitlines()[-1]
    assert "MISSED" not in str(evaluate(rare.cause, rare))


def test_an_evaluation_prints_as_a_table() -> None:
    table = str(evaluate(SAID, FOUR)).splitlines()
    assert table[0].split() == ["error", "recall", "precis.", "F1", "AUC", "AP", "rate"]
    assert [line.split()[0] for line in table[1:-1]] == ["f1", "f2", "all", "never", "always", "rate"]
    assert table[1].split()[1:4] == ["0.00%", "1.000", "1.000"]
    assert table[-1].startswith("Balanced error 25.00% (states with a cause 50.00%, without 0.00%); whole sets right")
