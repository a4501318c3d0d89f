"""The judge is asked about models that are written down, not learned, so that every answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from actcause.learn.training.density import COMPONENTS, OutcomeColumns
from actcause.learn.training.sufficiency import Judge, Judged

COLUMNS = OutcomeColumns((0,), ())
SHARP = -6.0  # what a spread near the floor is before the softplus
MODELS = 2


class Tokens:
    @staticmethod
    def carry(rows: Tensor, own: Tensor) -> Tensor:
        return rows


class Known(nn.Module):
    """Predicts what a function says, for certain."""

    tokens = Tokens()

    def __init__(self, function: Callable[[Tensor], Tensor], noise: float = SHARP) -> None:
        super().__init__()
        self.function, self.noise = function, noise

    def forward(self, rows: Tensor, present: Tensor | None = None) -> Tensor:
        mean = self.function(rows)[..., None].expand(*rows.shape[:2], COMPONENTS)
        return torch.cat([mean, torch.full_like(mean, self.noise), torch.zeros_like(mean)], dim=-1)


class Spread(nn.Module):
    """Of the own state: it stays what it was with this chance; otherwise anything comes."""

    def __init__(self, chance: float) -> None:
        super().__init__()
        self.chance = chance

    def forward(self, own: Tensor) -> Tensor:
        mean = torch.zeros(*own.shape[:2], COMPONENTS)
        spread = torch.tensor([SHARP, 3.0, 3.0, 3.0]).expand_as(mean)
        weight = torch.tensor([self.chance, *[(1 - self.chance) / 3] * 3]).log().expand_as(mean)
        return torch.cat([mean, spread, weight], dim=-1)


def judge_world(
    function: Callable[[Tensor], Tensor], factors: int, chance: float = 0.5, rows: int = 200, **given: Any
) -> tuple[Tensor, Judged]:
    """Judge rows of uniform factors, of which the first is the outcome's own; they are (rows, factors, 1)."""
    generator = torch.Generator().manual_seed(0)
    others = torch.rand(2000, factors, 1, generator=generator) * 2 - 1
    inputs = torch.rand(rows, factors, 1, generator=generator) * 2 - 1
    judge = Judge(Known(function), Spread(chance), COLUMNS, others, None, 0, 0.5, MODELS)  # type: ignore[arg-type]
    target = function(inputs[None])[0, :, None]
    return inputs, judge.judge(inputs, None, target, **given)


def push(rows: Tensor) -> Tensor:
    """The second factor moves the outcome where it is positive; the third does nothing."""
    return torch.where(rows[..., 1, 0] > 0, 1 + rows[..., 1, 0], 0.0)


def test_a_cause_is_named_where_it_acts_and_nothing_where_it_does_not() -> None:
    inputs, judged = judge_world(push, 3)
    acts = inputs[:, 1, 0] > 0.1
    assert torch.equal(judged.binary[:, 0], torch.ones(len(inputs)))
    assert bool((judged.binary[acts, 1] == 1).all())
    assert bool((judged.binary[inputs[:, 1, 0] < 0, 1] == 0).all())
    assert not judged.binary[:, 2].any()


def test_what_seldom_happens_by_itself_is_no_event_all_the_same() -> None:
    """The own state's own outcome comes in one row of ten, and is still what the own state does."""
    often = 0.8

    def mostly(rows: Tensor) -> Tensor:
        return torch.where(rows[..., 1, 0] > -often, 2 + rows[..., 1, 0], 0.0)

    inputs, judged = judge_world(mostly, 2, chance=0.1)
    acts = inputs[:, 1, 0] > -often
    assert bool((judged.binary[~acts, 1] == 0).all())
    assert float(judged.binary[acts, 1].mean()) > 0.95


def test_two_factors_that_act_only_together_are_both_named() -> None:
    def both(rows: Tensor) -> Tensor:
        fires = (rows[..., 1, 0] > 0.2) & (rows[..., 2, 0] > 0.2)
        return torch.where(fires, 2 + rows[..., 1, 0] + rows[..., 2, 0], 0.0)

    inputs, judged = judge_world(both, 4, rows=600)
    fires = (inputs[:, 1, 0] > 0.2) & (inputs[:, 2, 0] > 0.2)
    assert int(fires.sum()) > 50
    named = judged.binary[fires][:, 1:].mean(dim=0)
    assert float(named[0]) > 0.95
    assert float(named[1]) > 0.95
    assert float(named[2]) == 0
    assert not judged.binary[~fires][:, 1:].any()


def test_of_two_that_each_suffice_one_is_enough() -> None:
    def either(rows: Tensor) -> Tensor:
        fires = (rows[..., 1, 0] > 0.8) | (rows[..., 2, 0] > 0.8)
        return torch.where(fires, 3.0, 0.0)

    inputs, judged = judge_world(either, 3, chance=0.8, rows=4000)
    twice = (inputs[:, 1, 0] > 0.8) & (inputs[:, 2, 0] > 0.8)
    assert int(twice.sum()) > 25
    assert float((judged.binary[twice][:, 1:].sum(dim=1) == 1).float().mean()) > 0.95


def test_a_factor_that_would_act_itself_is_no_cause_of_what_another_did() -> None:
    """Either of two moves the outcome by its own value, in half of the states: the first goes before the second."""

    def race(rows: Tensor) -> Tensor:
        one, two = rows[..., 1, 0], rows[..., 2, 0]
        return torch.where(one > 0, 2 + one, torch.where(two > 0, -2 - two, 0.0))

    inputs, judged = judge_world(race, 3, chance=0.25, rows=600)
    second = (inputs[:, 1, 0] < 0) & (inputs[:, 2, 0] > 0.1)
    assert float(judged.binary[second, 2].mean()) > 0.95
    assert float(judged.binary[second, 1].mean()) < 0.05


def test_what_is_given_half_of_the_time_is_needed_all_the_same() -> None:
    """A motor drives by its own speed where there is power, as there is in half of all rows."""

    def drive(rows: Tensor) -> Tensor:
        motor, power = rows[..., 1, 0], rows[..., 2, 0]
        return torch.where((motor > 0.5) & (power > 0), 2 + 4 * motor, 0.0)

    inputs, judged = judge_world(drive, 4, chance=0.75, rows=1200)
    driven = (inputs[:, 1, 0] > 0.5) & (inputs[:, 2, 0] > 0)
    assert int(driven.sum()) > 50
    motor, power, idle = judged.binary[driven][:, 1:].mean(dim=0).tolist()
    assert motor > 0.95
    assert power > 0.65  # a few draws of a half are often more than a half: networks learn what is named mostly
    assert idle == 0
    assert not judged.binary[~driven][:, 1:].any()


def test_of_outcomes_that_come_by_turns_none_comes_by_itself() -> None:
    """A step in one of four ways, each as often as another."""

    def step(rows: Tensor) -> Tensor:
        return torch.floor(2 * rows[..., 1, 0] + 2)

    inputs, judged = judge_world(step, 3, chance=0.01)
    ways = step(inputs[None])[0]
    for way in range(4):
        assert float(judged.binary[ways == way, 1].mean()) > 0.95
    assert not judged.binary[:, 2].any()


def test_an_outcome_that_nothing_predicts_is_judged_by_what_is_likely() -> None:
    generator = torch.Generator().manual_seed(0)
    rows = torch.rand(500, 2, 1, generator=generator) * 2 - 1
    judge = Judge(Known(push), Spread(0.5), COLUMNS, rows, None, 0, 0.5, MODELS)  # type: ignore[arg-type]
    judged = judge.judge(rows, None, torch.full((500, 1), 40.0))
    likely = judge.judge(rows, None, None)
    assert float(judged.passed.max()) < 0.01
    assert torch.equal(judged.binary, likely.binary)


def test_an_absent_factor_is_never_named() -> None:
    generator = torch.Generator().manual_seed(0)
    rows = torch.rand(300, 2, 1, generator=generator) * 2 - 1
    present = torch.ones(300, 2)
    present[:150, 1] = 0
    judge = Judge(Known(push), Spread(0.5), COLUMNS, rows, present, 0, 0.5, MODELS)  # type: ignore[arg-type]
    judged = judge.judge(rows, present, push(rows[None])[0, :, None])
    assert not judged.binary[:150, 1].any()
    assert judged.binary[150:, 1].any()


@pytest.mark.parametrize("seed", [1, 2])
def test_chance_hardly_changes_the_answers(seed: int) -> None:
    _, one = judge_world(push, 3)
    _, two = judge_world(push, 3, seed=seed)
    assert float((one.binary != two.binary).float().mean()) < 0.01
