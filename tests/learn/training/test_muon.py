from __future__ import annotations

import torch

from actcause.learn.training.muon import THIN, Muon, orthogonalise


def test_singular_values_come_near_to_one_whatever_they_were() -> None:
    generator = torch.Generator().manual_seed(0)
    matrices = torch.randn(3, 24, 40, generator=generator) * torch.logspace(-3, 3, 3).view(3, 1, 1)
    values = torch.linalg.svdvals(orthogonalise(matrices))
    assert float(values.min()) > 0.3
    assert float(values.max()) < 1.4


def test_a_tall_matrix_is_treated_as_its_transpose() -> None:
    matrix = torch.randn(1, 40, 24, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(orthogonalise(matrix), orthogonalise(matrix.mT).mT, atol=1e-5)


def test_it_fits_a_linear_map_whose_directions_differ_by_a_thousand() -> None:
    generator = torch.Generator().manual_seed(0)
    wanted = torch.diag(torch.logspace(0, -3, THIN)).unsqueeze(0)
    rows = torch.randn(1, 512, THIN, generator=generator)
    weight = torch.nn.Parameter(torch.zeros(1, THIN, THIN))
    bias = torch.nn.Parameter(torch.ones(1, 1, THIN))
    optimiser = Muon([{"params": [weight]}, {"params": [bias]}], 0.01)
    for step in range(300):
        for group in optimiser.param_groups:
            group["lr"] = 0.01 * (1 - step / 300)
        optimiser.zero_grad()
        (rows @ weight + bias - rows @ wanted).square().sum().backward()
        optimiser.step()
    assert float((weight.detach() - wanted).abs().max()) < 0.02
    assert float(bias.detach().abs().max()) < 0.05


def test_decay_shrinks_only_the_group_that_has_it() -> None:
    one, two = (torch.nn.Parameter(torch.ones(1, THIN, THIN)) for _ in range(2))
    optimiser = Muon([{"params": [one], "weight_decay": 0.5}, {"params": [two]}], 0.1)
    for parameter in (one, two):
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    assert torch.allclose(one, torch.full_like(one, 0.95))
    assert torch.equal(two, torch.ones_like(two))


def test_groups_do_not_mix() -> None:
    def train(copies: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(1)
        start = torch.randn(1, THIN, THIN, generator=generator)
        goal = torch.randn(1, THIN, THIN, generator=generator)
        weight = torch.nn.Parameter(start.repeat(copies, 1, 1))
        optimiser = Muon([{"params": [weight]}], 0.01)
        for _ in range(5):
            optimiser.zero_grad()
            scale = torch.logspace(0, 2, copies).view(-1, 1, 1)
            (scale * (weight - goal).square()).sum().backward()
            optimiser.step()
        return weight.detach()[0]

    assert torch.allclose(train(1), train(3), atol=1e-5)
