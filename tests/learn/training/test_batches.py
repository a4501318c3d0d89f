"""Rows on the device, their folds, and which of them a step sees."""

from __future__ import annotations

import numpy as np
import torch

from actcause.data import collect
from actcause.learn.training.batches import FOLDS, DeviceRows, Sampler, folds_of, seed_of
from actcause.learn.training.encoding import Encoder
from actcause.learn.training.layers import beside_own

CPU = torch.device("cpu")


def sampler(seeds: list[int], pools: list[list[torch.Tensor]], stage: str = "em", size: int = 6) -> Sampler:
    return Sampler(pools, size, seeds, stage)


def two_folds(start: int, rows: int = 100) -> list[list[torch.Tensor]]:
    return [[torch.arange(start, start + rows, 2)], [torch.arange(start + 1, start + rows, 2)]]


def test_no_episode_is_in_both_folds_and_either_has_half_of_them() -> None:
    episode = np.repeat(np.arange(40), 5)
    fold = folds_of(episode, 200, seed=3)
    assert all(len(set(fold[episode == each])) == 1 for each in range(40))
    assert fold.mean() == 0.5
    np.testing.assert_array_equal(fold, folds_of(episode, 200, seed=3))
    assert (fold != folds_of(episode, 200, seed=4)).any()


def test_rows_without_episodes_are_folded_one_by_one() -> None:
    assert folds_of(None, 100, seed=0).sum() == 50


def test_a_seed_of_several_parts_depends_on_each_of_them() -> None:
    seeds = [seed_of(0, "a", 1), seed_of(1, "a", 1), seed_of(0, "b", 1), seed_of(0, "a", 2), seed_of("a", 0, 1)]
    assert len(set(seeds)) == len(seeds)
    assert seed_of(0, "a", 1) == seeds[0]
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_groups_hold_each_row_once_in_its_run_and_fold() -> None:
    data = collect("1-in", 300)
    encoded = Encoder.fit(data).encode(data)
    folds = [folds_of(data.episode, 300, seed) for seed in (0, 1)]
    rows = DeviceRows.load([encoded, encoded], folds, 1, CPU)
    groups = rows.groups()
    assert len(groups) == 2 * FOLDS
    assert sorted(torch.cat(groups).tolist()) == list(range(600))
    assert rows.replica(1) == slice(300, 600)
    for replica in range(2):
        for fold in range(FOLDS):
            group = groups[FOLDS * replica + fold] - 300 * replica
            np.testing.assert_array_equal(folds[replica][group], fold)


def test_presence_is_known_for_all_runs_if_it_is_for_one() -> None:
    data = collect("1-in", 100)
    encoder = Encoder.fit(data)
    mask = np.ones((100, 2), dtype=bool)
    mask[:10, 0] = False
    parts = [encoder.encode(data), encoder.encode(data.replaced(mask=mask, cause=None))]
    rows = DeviceRows.load(parts, [np.zeros(100, dtype=int)] * 2, 1, CPU)
    assert rows.present is not None
    assert rows.present[:100].all()
    assert rows.present[100:].sum() == 190


def test_a_factor_is_seen_beside_the_outcomes_own() -> None:
    inputs = torch.arange(12.0).reshape(2, 3, 2)
    seen = beside_own(inputs, own=1)
    assert seen.shape == (2, 3, 4)
    assert torch.equal(seen[..., :2], inputs)
    assert all(torch.equal(seen[:, k, 2:], inputs[:, 1]) for k in range(3))
    assert beside_own(inputs, None) is inputs


def test_a_step_sees_rows_of_its_own_group_only() -> None:
    pools = two_folds(0) + two_folds(100)
    drawn = sampler([1, 1, 2, 2], pools).draw(0, 50)
    assert drawn.shape == (50, 4, 6)
    for group, (pool,) in enumerate(pools):
        assert set(drawn[:, group].flatten().tolist()) <= set(pool.tolist())


def test_strata_are_shown_in_equal_parts_and_empty_ones_not_at_all() -> None:
    rare, common, none = torch.arange(3), torch.arange(3, 100), torch.arange(0)
    drawn = sampler([0, 0], [[rare, common], [none, common]]).draw(0, 20)
    assert ((drawn[:, 0] < 3).sum(dim=1) == 3).all()
    assert (drawn[:, 1] >= 3).all()


def test_rows_drawn_depend_on_seed_stage_chunk_and_fold_and_on_nothing_else() -> None:
    pools = two_folds(0)
    drawn = sampler([5, 5], pools).draw(2, 50)
    assert torch.equal(drawn, sampler([5, 5], pools).draw(2, 50))
    others = [
        sampler([6, 6], pools).draw(2, 50),
        sampler([5, 5], pools, "distil").draw(2, 50),
        sampler([5, 5], pools).draw(3, 50),
    ]
    assert not any(torch.equal(drawn, other) for other in others)
    assert not torch.equal(drawn[:, 0] // 2, drawn[:, 1] // 2)


def test_training_two_runs_together_leaves_each_runs_sampling_unchanged() -> None:
    alone = sampler([7, 7], two_folds(0)).draw(0, 50)
    together = sampler([3, 3, 7, 7], two_folds(0) + two_folds(100)).draw(0, 50)
    assert torch.equal(together[:, FOLDS:] - 100, alone)
