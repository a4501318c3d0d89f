"""Binaries to try."""

from __future__ import annotations

import pytest
import torch

from actcause.learn.training import masks


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize(("factors", "own"), [(1, None), (3, None), (4, 0), (5, 4)])
def test_every_binary_is_listed_once_shortest_first_with_the_own_factor(factors: int, own: int | None) -> None:
    listed = masks.every(factors, own)
    assert listed is not None
    assert len({tuple(row) for row in listed.tolist()}) == len(listed) == 2 ** (factors - (own is not None))
    assert own is None or listed[:, own].all()
    length = listed.sum(dim=1)
    assert (length[1:] >= length[:-1]).all()


def test_too_many_binaries_are_not_listed() -> None:
    assert masks.every(6, 0) is None
    assert masks.every(5, None) is None
    assert masks.every(7, 0, most=64) is not None


def test_the_own_factor_alone_is_one_bit_or_none() -> None:
    assert masks.only(3, 1, torch.device("cpu")).tolist() == [0, 1, 0]
    assert masks.only(3, None, torch.device("cpu")).tolist() == [0, 0, 0]


def test_random_binaries_have_every_length_about_equally_often() -> None:
    drawn = masks.random((20_000, 5), 2, generator())
    assert drawn[:, 2].all()
    length = drawn.sum(dim=1).long() - 1
    share = torch.bincount(length, minlength=5) / len(length)
    assert share.tolist() == pytest.approx([0.2] * 5, abs=0.02)


@pytest.mark.parametrize("own", [0, 7, None])
def test_proposals_hold_the_own_factor_all_factors_the_networks_word_and_its_neighbours(own: int | None) -> None:
    factors, count = 8, 11
    odds = torch.randn(2, 30, factors, generator=generator()) * 3
    alone = masks.only(factors, own, torch.device("cpu"))
    found = masks.propose(odds, alone, own, count, generator())
    assert found.shape == (2, count, 30, factors)
    assert set(found.unique().tolist()) == {0.0, 1.0}
    said = (odds > 0).float()
    if own is not None:
        assert found[..., own].all()
        said[..., own] = 1
    assert torch.equal(found[:, 0], alone.expand(2, 30, factors))
    assert found[:, 1].all()
    assert torch.equal(found[:, 2], said)
    assert ((found[:, 7:] - said.unsqueeze(1)).abs().sum(dim=-1) == 1).all()


def test_samples_follow_the_network_but_never_wholly() -> None:
    odds = torch.full((1, 4000, 6), 20.0)
    odds[..., 3:] = -20.0
    found = masks.propose(odds, masks.only(6, 0, torch.device("cpu")), 0, 5, generator())
    sampled = found[:, 3].mean(dim=(0, 1))
    assert sampled.tolist() == pytest.approx([1, 0.95, 0.95, 0.05, 0.05, 0.05], abs=0.02)
