from __future__ import annotations

import math

import pytest
import torch

from actcause.learn.training.density import COMPONENTS, Density, OutcomeColumns, OutcomeValues, pass_chance

COLUMNS = OutcomeColumns((0, 3), (slice(1, 3),))


def one_component(mean: float, spread: float, rows: int = 1) -> Density:
    """A mixture of which one component has all the weight."""
    weight = torch.full((rows, COMPONENTS), -1e9)
    weight[:, 0] = 0
    return Density(torch.full((rows, COMPONENTS, 1), mean), torch.full((rows, COMPONENTS, 1), spread), weight, ())


def value(number: float) -> OutcomeValues:
    return OutcomeValues(torch.tensor([[number]]), ())


def test_outputs_are_read_as_mixture_and_categories() -> None:
    density = COLUMNS.read(torch.randn(5, COLUMNS.outputs))
    assert density.mean is not None
    assert density.mean.shape == (5, COMPONENTS, 2)
    assert [chance.shape for chance in density.chances] == [(5, 2)]
    assert torch.allclose(density.chances[0].exp().sum(-1), torch.ones(5))


def test_a_target_is_read_as_values_and_categories() -> None:
    outcome = COLUMNS.outcome(torch.tensor([[0.5, 0.0, 1.0, 2.0]]))
    assert outcome.values is not None
    assert outcome.values.tolist() == [[0.5, 2.0]]
    assert [category.tolist() for category in outcome.categories] == [[1]]


def test_likelihood_is_that_of_a_gaussian_but_for_a_constant() -> None:
    density = one_component(1.0, 2.0)
    expected = -0.5 * 0.25 - math.log(2.0)
    assert float(density.log_likelihood(value(2.0))) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("features", [1, 2, 3, 4, 5, 6])
def test_the_chance_to_pass_is_that_of_the_chi_squared_distribution(features: int) -> None:
    apart = torch.linspace(0.1, 20, 50)
    exact = torch.special.gammaincc(torch.tensor(features / 2), apart / 2)
    assert torch.allclose(pass_chance(apart, features), exact, atol=0.02)


def test_agreement_falls_with_distance_and_rises_with_tolerance() -> None:
    density = one_component(0.0, 0.1)
    near, far = (float(density.agreement(value(x), torch.tensor([[0.1]]), 1.0)) for x in (0.05, 1.0))
    tolerant = float(density.agreement(value(1.0), torch.tensor([[1.0]]), 1.0))
    assert near > 0.5 > tolerant > far
    assert far < 1e-6


def mixture(means: list[float], weights: list[float], spread: float = 0.1, models: int = 1) -> Density:
    """Components at these places; those that are left over weigh nothing."""
    rest = COMPONENTS - len(means)
    mean = torch.tensor([*means, *[0.0] * rest]).reshape(1, 1, -1, 1).expand(models, -1, -1, -1)
    weight = torch.tensor([*weights, *[1e-9] * rest]).log().reshape(1, 1, -1).expand(models, -1, -1)
    return Density(mean, torch.full_like(mean, spread), weight, ())


def fit(density: Density, number: float, limit: float = 0.2, rare: float = 0.03) -> float:
    """Score an outcome by the part that it belongs to."""
    outcome = OutcomeValues(torch.tensor([[[number]]]), ())
    part = density.find_part(outcome, torch.tensor([[[limit]]]), rare, 0.01)
    return float(part.log_likelihood(outcome, 1.0, 0.01)[0, 0])


def test_an_outcome_belongs_to_sharp_components_only_and_to_none_that_is_rare() -> None:
    assert fit(mixture([1.0], [1.0]), 1.0) > fit(mixture([1.0], [1.0]), 1.1) > -math.inf
    assert fit(mixture([1.0], [1.0]), 1.3) == -math.inf
    assert fit(mixture([1.0], [1.0], spread=0.5), 1.0) == -math.inf
    rarely = mixture([0.0], [0.02], spread=0.1)
    assert fit(rarely, 0.0, rare=0.01) > 1
    assert fit(rarely, 0.0, rare=0.03) == -math.inf


def test_what_comes_less_often_than_another_sharp_outcome_is_not_what_comes_by_itself() -> None:
    switch = mixture([0.0, 5.0], [0.7, 0.3])
    assert fit(switch, 0.0) > 1
    assert fit(switch, 5.0) == -math.inf


def test_components_of_one_part_count_as_one_and_are_not_rivals() -> None:
    split = mixture([-0.05, 0.05, 5.0], [0.3, 0.3, 0.4])
    assert fit(split, 0.0) == pytest.approx(fit(mixture([0.0], [1.0]), 0.0), abs=0.01)


def test_how_far_models_lie_apart_does_not_speak_against_an_outcome() -> None:
    together, apart = mixture([0.1], [1.0], models=2), mixture([0.1], [1.0], models=2)
    shifted = apart.mean.clone() if apart.mean is not None else torch.zeros(0)
    shifted[1] = -0.1
    assert fit(Density(shifted, apart.spread, apart.weight, ()), 0.0) > fit(together, 0.0)


def test_predictions_diverge_where_they_differ_and_not_where_only_their_sharpness_does() -> None:
    sharp, blunt, elsewhere = one_component(1.0, 0.1), one_component(1.0, 0.11), one_component(3.0, 0.1)
    assert float(sharp.diverge(sharp, 0.05)) == pytest.approx(0, abs=1e-6)
    assert abs(float(sharp.diverge(blunt, 0.05))) < 0.1
    assert float(sharp.diverge(elsewhere, 0.05)) > 10


def test_the_component_that_an_outcome_came_from_is_found() -> None:
    mean = torch.tensor([[[0.0], [5.0], [0.0], [0.0]]])
    weight = torch.tensor([[0.9, 0.1, 1e-9, 1e-9]]).log()
    density = Density(mean, torch.full((1, COMPONENTS, 1), 0.1), weight, ())
    likeliest, _ = density.likeliest()
    came, _ = density.likeliest(value(4.8))
    assert likeliest.values is not None
    assert came.values is not None
    assert (float(likeliest.values), float(came.values)) == (0.0, 5.0)
