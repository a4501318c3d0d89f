"""Probabilities that mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.learn.training.calibration import calibration_error, temperature_of
from actcause.learn.training.networks import to_probabilities


def test_the_calibration_error_compares_what_was_said_with_what_came_true() -> None:
    chance = torch.rand(50_000, generator=torch.Generator().manual_seed(0))
    came = (torch.rand(50_000, generator=torch.Generator().manual_seed(1)) < chance).float()
    assert calibration_error(chance, came) < 0.02
    assert calibration_error(0.5 + (chance - 0.5) / 4, came) == pytest.approx(3 / 16, abs=0.02)


def test_bins_without_rows_count_for_nothing_and_certainty_has_one() -> None:
    error = calibration_error(torch.tensor([0.0, 1.0, 1.0]), torch.tensor([0.0, 1.0, 0.0]))
    assert error == pytest.approx(1 / 3)


@pytest.mark.parametrize("over", [0.25, 1.0, 4.0])
def test_the_temperature_undoes_too_much_or_too_little_confidence(over: float) -> None:
    odds = torch.randn(20_000, generator=torch.Generator().manual_seed(0)) * 2
    came = (torch.rand(20_000, generator=torch.Generator().manual_seed(1)) < torch.sigmoid(odds)).float()
    assert temperature_of(odds * over, came) == pytest.approx(over, rel=0.2)


def test_extreme_log_odds_are_probabilities_still() -> None:
    found = to_probabilities(np.array([-1e6, 0.0, 1e6]), 0.125)
    assert found.tolist() == pytest.approx([0, 0.5, 1])
    assert np.isfinite(found).all()
