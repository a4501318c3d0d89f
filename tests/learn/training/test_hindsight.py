"""Which binary explains an observed outcome: a search finds what listing all binaries finds."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from actcause.learn.training import hindsight, masks
from actcause.learn.training.batches import FOLDS
from actcause.learn.training.hindsight import GRID, MaskErrors, discoveries, score_masks, steadiest_penalty

FACTORS, ROWS, PENALTY = 6, 200, 0.05


class Additive:
    """A model in which every factor moves a number of its own; the second fold's is off by a little."""

    def embedding(self, seen: Tensor) -> Tensor:
        return seen[..., 0]

    def __call__(self, embedded: Tensor, shown: Tensor) -> Tensor:
        predicted = shown * embedded.unsqueeze(1)
        predicted[1] += 0.01
        return predicted


class Says:
    """A binary network that says the same of a row whatever stands beside it."""

    def __init__(self, odds: Tensor) -> None:
        self.odds = odds

    def __call__(self, seen: Tensor, present: Tensor | None) -> Tensor:
        return self.odds.unsqueeze(0)


def case(own: int | None = 0, rows: int = ROWS, right: float = 0.7) -> dict[str, Any]:
    """States, outcomes of random true binaries, and a network that is right about most bits."""
    numbers = torch.Generator().manual_seed(0)
    inputs = 1 + torch.rand(rows, FACTORS, 1, generator=numbers)
    truth = (torch.rand(rows, FACTORS, generator=numbers) < 0.4).float()
    if own is not None:
        truth[:, own] = 1
    agrees = torch.rand(rows, FACTORS, generator=numbers) < right
    odds = torch.where(agrees, 2 * truth - 1, 1 - 2 * truth)
    return {"inputs": inputs, "target": truth * inputs[..., 0], "truth": truth, "odds": odds, "own": own}


def judge(given: dict[str, Any], present: Tensor | None = None) -> MaskErrors:
    return score_masks(
        Additive(), Says(given["odds"]), given["inputs"], given["target"], present, given["own"], PENALTY  # type: ignore[arg-type]
    )  # fmt: skip


def judge_by_search(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> MaskErrors:
    with monkeypatch.context() as patched:
        patched.setattr(hindsight, "LISTED", 1)
        return judge(*arguments, **options)


def best(found: MaskErrors, penalty: float = PENALTY) -> Tensor:
    at = (found.error + penalty * found.length()).argmin(dim=0)
    return found.masks.gather(0, at.view(1, -1, 1).expand(1, -1, FACTORS))[0]


@pytest.mark.parametrize("own", [0, 3, None])
def test_a_search_finds_what_listing_finds(monkeypatch: pytest.MonkeyPatch, own: int | None) -> None:
    given = case(own)
    listed, found = judge(given), judge_by_search(monkeypatch, given)
    assert len(listed.masks) == 2 ** (FACTORS - (own is not None))
    assert len(found.masks) < len(listed.masks)
    assert torch.equal(best(listed), given["truth"])
    assert torch.equal(best(found), given["truth"])
    assert torch.equal(listed.marginal(PENALTY, 0.02, prior=0) > 0.5, given["truth"] > 0.5)
    assert torch.equal(found.marginal(PENALTY, 0.02, prior=0) > 0.5, given["truth"] > 0.5)


@pytest.mark.parametrize("search", [False, True])
def test_errors_are_those_of_the_binaries_beside_them(monkeypatch: pytest.MonkeyPatch, search: bool) -> None:
    given = case()
    found = judge_by_search(monkeypatch, given) if search else judge(given)
    shown = found.masks.expand(FOLDS, *found.masks.shape).clone()
    again = (Additive()(given["inputs"][..., 0].expand(FOLDS, -1, -1), shown) - given["target"]).abs().mean(-1).mean(0)
    tried_at_all = found.error.isfinite()
    assert torch.allclose(found.error[tried_at_all], again[tried_at_all])
    assert tried_at_all.any(dim=0).all()


def test_the_full_error_is_that_of_all_factors_however_binaries_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = case()
    wanted = ((1 - given["truth"]) * given["inputs"][..., 0]).mean(-1)
    for found in (judge(given), judge_by_search(monkeypatch, given)):
        assert torch.allclose(found.full, wanted, atol=0.011)
        assert torch.allclose(found.apart, torch.full((ROWS,), 0.01), atol=1e-6)


def test_a_search_counts_no_binary_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judge_by_search(monkeypatch, case(right=1.0))
    for row in range(ROWS):
        kept = [tuple(binary.tolist()) for binary in found.masks[found.error[:, row].isfinite(), row]]
        assert len(set(kept)) == len(kept)


def test_what_a_search_finds_for_a_row_does_not_depend_on_the_rows_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given = case(right=0.5)
    among = judge_by_search(monkeypatch, given).marginal(PENALTY, 0.5)
    for row in (0, 7, 55):
        alone = {name: value[row : row + 1] if isinstance(value, Tensor) else value for name, value in given.items()}
        assert torch.allclose(judge_by_search(monkeypatch, alone).marginal(PENALTY, 0.5)[0], among[row], atol=1e-5)


@pytest.mark.parametrize("search", [False, True])
def test_absent_factors_are_in_no_binary(monkeypatch: pytest.MonkeyPatch, search: bool) -> None:
    given = case()
    present = (torch.rand(ROWS, FACTORS, generator=torch.Generator().manual_seed(1)) < 0.6).float()
    present[:, 0] = 1
    given["target"] = given["target"] * present
    found = judge_by_search(monkeypatch, given, present=present) if search else judge(given, present=present)
    assert not (found.masks * (1 - present)).any()
    assert torch.equal(best(found), given["truth"] * present)


def test_the_networks_word_decides_where_errors_do_not() -> None:
    listed = masks.every(3, 0)
    assert listed is not None
    rows = listed.unsqueeze(1)
    odds = torch.tensor([[0.0, 3.0, -3.0]])
    error = torch.zeros(4, 1)
    found = MaskErrors(rows, error.expand(FOLDS, 4, 1), error, odds, error[0], error[0], 0)
    assert found.length()[:, 0].tolist() == [0, 1, 1, 2]
    assert found.marginal(0.0, 0.1, prior=1.0)[0].tolist() == pytest.approx([1, 0.953, 0.047], abs=0.001)
    assert found.marginal(0.0, 0.1, prior=0.0)[0].tolist() == pytest.approx([1, 0.5, 0.5])
    assert found.marginal(10.0, 0.1, prior=1.0)[0, 1] < 0.01


@pytest.mark.parametrize("own", [0, None])
def test_each_fold_names_the_binary_that_is_cheapest_by_its_own_model(own: int | None) -> None:
    given = case(own)
    found = judge(given)
    scored = [k for k in range(FACTORS) if k != own]
    first, second = found.by_fold(PENALTY)
    torch.testing.assert_close(first.float(), given["truth"][:, scored])
    assert first.shape == second.shape
    assert not found.by_fold(10.0).any()  # no factor is worth that


def test_discoveries_that_only_one_model_makes_count_against_a_penalty() -> None:
    # Two rows: in the first both models gain 1 by naming the factor, in the second only one gains, by 0.03.
    rows = torch.tensor([[[1.0, 0]], [[1, 1]]]).expand(2, 2, 2)
    each = torch.tensor([[[1.0, 0.03], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.03]]])
    found = MaskErrors(rows, each, each.mean(0), torch.zeros(2, 2), each[:, 1].mean(0), torch.zeros(2), 0)
    net = discoveries([found], 0.02)
    assert net == pytest.approx([0.25] * 7 + [0.5] * 2)  # 0.02 x 1.5 is where the second row's discovery ends
    assert steadiest_penalty(net, 0.02) == pytest.approx(0.02 * GRID[7])


def test_the_steadiest_penalty_is_the_nearest_at_which_both_models_agree() -> None:
    steady = [0.9] * len(GRID)
    assert steadiest_penalty(steady, 0.02) == pytest.approx(0.02)
    rising = [0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.9, 0.895, 0.9]
    assert steadiest_penalty(rising, 0.02) == pytest.approx(0.02 * GRID[6])
    falling = [0.9, 0.899, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert steadiest_penalty(falling, 0.02) == pytest.approx(0.02 * GRID[1])
