"""Random Vectors: pure and repeatable, healthy in every draw, and right about its causes."""

from __future__ import annotations

import importlib.util
import pickle
import re
import sys
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause.envs.random_vectors import (
    CALIBRATION_ROUNDS,
    CALIBRATION_WORLDS,
    PRESETS,
    RandomVectors,
    _calibrate_once,
    random_vectors,
)
from actcause.envs.relation import Relation
from actcause.errors import QueryError
from strategies import many

DIAMOND = (
    Relation(("root",), "left"),
    Relation(("root",), "right"),
    Relation(("left",), "y"),
    Relation(("right",), "y"),
)


def load_health() -> ModuleType:
    path = Path(__file__).parents[2] / "experiments" / "random_vectors_health.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


health = load_health()


def some_step(domain: RandomVectors, worlds: int, seed: int = 0, warm_up: int = 3) -> tuple[Any, Any]:
    """States a few steps into an episode, and actions."""
    generator = np.random.default_rng(seed)
    states = domain.reset(generator, worlds)
    for _ in range(warm_up):
        states = domain.step(states, domain.sample_actions(generator, states)).states
    return states, domain.sample_actions(generator, states)


# -- what the domains are made of --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "factors", "edges"),
    [
        ("1-in", "a1 y", "a1"),
        ("2-in", "a1 a2 y", "a1 a2"),
        ("3-in", "a1 a2 a3 y", "a1 a2 a3"),
        ("3-chain", "a1 a2 y", "a2"),
        ("3-m-in", "a1 a2 a3 y", "a1 a2 a3"),
        ("d-20", "a1 y", "a1"),
        ("tau-1", "a1 y", "a1"),
    ],
)
def test_the_presets_have_the_papers_graphs(name: str, factors: str, edges: str) -> None:
    domain = random_vectors(name)
    assert domain.factors == tuple(factors.split())
    assert domain.edges == tuple(edges.split())
    assert domain.outcome == "y"
    assert domain.dimensions == (20 if name == "d-20" else 4)
    assert domain.horizon == 50
    assert domain.action is None


def test_there_are_exactly_the_papers_seven_presets() -> None:
    assert list(PRESETS) == ["1-in", "2-in", "3-in", "3-chain", "3-m-in", "d-20", "tau-1"]


def test_features_are_numbered() -> None:
    domain = random_vectors("1-in", dimensions=3)
    assert domain.features == {"a1": ("x0", "x1", "x2"), "y": ("x0", "x1", "x2")}
    assert domain.width == 3


@pytest.mark.parametrize("name", PRESETS)
def test_arrays_have_the_documented_shapes_and_ranges(name: str) -> None:
    domain = random_vectors(name)
    states, actions = some_step(domain, 64)
    step = domain.step(states, actions)
    variables, d = len(domain.factors), domain.dimensions
    assert actions.shape == (64, (variables - 1) * d)
    assert step.states.shape == step.seen.shape == (64, variables, d)
    assert np.abs(actions).max() <= 1
    assert np.abs(step.states).max() <= 1
    assert step.cause.shape == (64, variables)
    assert step.cause.dtype == bool
    assert step.extra["fired"].shape == (64, len(domain.relations))
    assert not step.terminated.any()


# -- pure, vectorised, repeatable --------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_a_step_changes_neither_argument(name: str) -> None:
    domain = random_vectors(name)
    states, actions = some_step(domain, 16)
    before = states.copy(), actions.copy()
    states.flags.writeable = actions.flags.writeable = False
    step = domain.step(states, actions)
    assert np.array_equal(states, before[0])
    assert np.array_equal(actions, before[1])
    assert not np.shares_memory(step.seen, states)
    assert not np.shares_memory(step.states, states)


FIXED = {name: random_vectors(name, draw=5) for name in PRESETS}
FIXED["diamond"] = RandomVectors(DIAMOND, draw=5)
FIXED["noisy increments"] = RandomVectors(DIAMOND, draw=5, dynamics="increment", noise=0.1)


@many(160)
@given(st.sampled_from(sorted(FIXED)), st.integers(0, 2**32), st.integers(1, 40))
def test_a_batch_steps_exactly_as_one_world_after_the_other(name: str, seed: int, worlds: int) -> None:
    domain = FIXED[name]
    states, actions = some_step(domain, worlds, seed, warm_up=1)
    together = domain.step(states, actions)
    for i in range(worlds):
        alone = domain.step(states[i : i + 1], actions[i : i + 1])
        assert np.array_equal(alone.states[0], together.states[i])
        assert np.array_equal(alone.cause[0], together.cause[i])


@pytest.mark.parametrize("name", PRESETS)
def test_a_pickled_domain_keeps_its_parameters(name: str) -> None:
    fresh = random_vectors(name, draw=11)
    unbuilt = pickle.loads(pickle.dumps(fresh))
    states, actions = some_step(fresh, 8)
    built = pickle.loads(pickle.dumps(fresh))
    assert unbuilt == fresh == built
    assert hash(unbuilt) == hash(fresh)
    for copy in (unbuilt, built):
        assert np.array_equal(copy.step(states, actions).states, fresh.step(states, actions).states)


def test_a_draw_fixes_the_parameters_and_another_draw_changes_them() -> None:
    domain = random_vectors("2-in", draw=1)
    states, actions = some_step(domain, 8)
    _calibrate_once.cache_clear()
    following = domain.step(states, actions).states
    assert np.array_equal(random_vectors("2-in", draw=1).step(states, actions).states, following)
    assert not np.array_equal(random_vectors("2-in", draw=2).step(states, actions).states, following)


@pytest.mark.parametrize("name", PRESETS)
def test_a_domain_that_is_made_again_shares_parameters_that_would_come_out_the_same(name: str) -> None:
    one, other = random_vectors(name, draw=3), random_vectors(name, draw=3)
    assert one._parameters is other._parameters
    again = one._calibrate()
    for field in fields(again):
        assert np.array_equal(getattr(again, field.name), getattr(one._parameters, field.name))


def test_the_same_seed_gives_the_same_rollout() -> None:
    rollouts = [some_step(random_vectors("3-chain"), 8, seed=4) for _ in range(2)]
    assert all(np.array_equal(a, b) for a, b in zip(*rollouts, strict=True))


def test_a_domain_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        random_vectors("1-in").rate = 0.2  # type: ignore[misc]


def test_all_worlds_take_a_step_at_once_and_building_simulates_a_bounded_number_of_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps, advance = [], RandomVectors._advance
    monkeypatch.setattr(RandomVectors, "_advance", lambda *given: steps.append(len(given[2])) or advance(*given))
    _calibrate_once.cache_clear()
    domain = random_vectors("d-20", draw=123)
    some_step(domain, 2000, warm_up=50)
    built = [worlds for worlds in steps if worlds == CALIBRATION_WORLDS]
    assert 0 < len(built) <= CALIBRATION_ROUNDS * domain.horizon
    assert steps[len(built) :] == [2000] * 50


# -- healthy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_draws_are_alive_unsaturated_and_do_not_leak(name: str) -> None:
    measured = health.survey(name, health.QUICK)
    assert measured.misses(PRESETS[name].rate) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_twenty_draws_are_alive_unsaturated_and_do_not_leak(name: str) -> None:
    assert health.survey(name, health.Arguments()).misses(PRESETS[name].rate) == []


def test_the_leak_test_sees_a_leak() -> None:
    """Where the parents have no influence to speak of, the own value explains everything."""
    generator = np.random.default_rng(0)
    data = health.roll_out(random_vectors("1-in"), 100, generator)
    curved = np.sin(3 * data.states[:, :, -1]) * data.states[:, :, -1, ::-1]
    leaking = replace(data, following=curved)
    assert health.unexplained(leaking, 0, generator) < 0.05


def test_a_missed_bar_is_named() -> None:
    measured = health.Health(rate=(0.3, 0.5), spread=(0.1, 0.5), clipped=0.2, unexplained=0.1)
    assert measured.misses(0.5) == ["rate", "spread", "clip", "leak"]


def test_the_health_command_prints_a_line_for_each_domain(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = health.Arguments(domains=("1-in", "tau-1"), draws=1, episodes=200)
    assert health.main(arguments) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["domain", "1-in", "tau-1"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["1-in", "3-chain", "3-in"])
def test_the_leak_tests_model_is_as_strong_as_a_network(name: str) -> None:
    generator = np.random.default_rng(0)
    data = health.roll_out(random_vectors(name), 800, generator)
    relation = len(PRESETS[name].relations) - 1
    inputs, targets = health.own_values(data, relation)
    network = network_error(inputs, targets, generator) / targets[2].var(axis=0).sum()
    assert health.unexplained(data, relation, generator) <= network + 0.01


def network_error(inputs: list[Any], targets: list[Any], generator: np.random.Generator) -> float:
    """The test error of two hidden layers of 64 trained by Adam, at the step that was best in validation."""
    sizes = [inputs[0].shape[1], 64, 64, targets[0].shape[1]]
    weights = [generator.normal(size=pair) / np.sqrt(pair[0]) for pair in pairwise(sizes)]
    weights += [np.zeros(size) for size in sizes[1:]]
    first, second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]

    def forward(x: Any) -> list[Any]:
        layers = [x]
        for i in range(3):
            x = layers[-1] @ weights[i] + weights[3 + i]
            layers.append(np.tanh(x) if i < 2 else x)
        return layers

    best = (np.inf, np.inf)
    for turn in range(1, 4001):
        rows = generator.integers(len(inputs[0]), size=512)
        layers = forward(inputs[0][rows])
        gradients: list[Any] = [None] * 6
        delta = (layers[-1] - targets[0][rows]) / len(rows)
        for i in (2, 1, 0):
            gradients[i], gradients[3 + i] = layers[i].T @ delta, delta.sum(axis=0)
            delta = (delta @ weights[i].T) * (1 - layers[i] ** 2)
        for i, gradient in enumerate(gradients):
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            scale = np.sqrt(second[i] / (1 - 0.999**turn)) + 1e-8
            weights[i] = weights[i] - 0.003 * 0.9995**turn * first[i] / (1 - 0.9**turn) / scale
        if turn % 200 == 0:
            errors = [((forward(inputs[p])[-1] - targets[p]) ** 2).sum(axis=1).mean() for p in (1, 2)]
            best = min(best, (errors[0], errors[1]))
    return best[1]


@pytest.mark.parametrize("rate", [0.03, 0.3, 0.9])
def test_edges_fire_at_the_rate_that_is_asked_for(rate: float) -> None:
    domain = RandomVectors(DIAMOND, rate=rate, draw=2)
    fired = health.roll_out(domain, 1000, np.random.default_rng(0)).fired
    assert np.allclose(fired.mean(axis=(0, 1)), rate, atol=0.02)


def test_a_rarer_edge_has_a_higher_threshold() -> None:
    """The paper says the opposite of its own equation: an erratum."""
    assert random_vectors("tau-1", draw=3).thresholds[0] > random_vectors("1-in", draw=3).thresholds[0]


# -- the true cause ----------------------------------------------------------------------------------


def fires(domain: RandomVectors, states: Any, actions: Any, factor: str) -> Any:
    return domain.step(states, actions).cause[:, domain.index(factor)]


@pytest.mark.parametrize("name", [*PRESETS, "diamond"])
def test_a_parent_matters_where_its_edge_fires_and_nowhere_else(name: str) -> None:
    domain = FIXED[name]
    states, actions = some_step(domain, 2000)
    observed = domain.step(states, actions).states[:, -1]
    for factor in domain.edges:
        values = np.random.default_rng(1).uniform(-1, 1, (len(states), domain.dimensions))
        changed = states.copy()
        changed[:, domain.index(factor)] = values
        before, after = fires(domain, states, actions, factor), fires(domain, changed, actions, factor)
        counterfactual = domain.intervene(states, factor, values, actions)
        differs = (counterfactual != observed).any(axis=1)
        clipped = (np.abs(observed) == 1).all(axis=1)
        assert not differs[~before & ~after].any()
        assert differs[before & ~clipped].all()
        assert before.any()
        assert (~before & ~after).any()


@pytest.mark.parametrize("name", [*PRESETS, "diamond"])
def test_what_is_no_parent_of_the_outcome_never_matters_within_a_step(name: str) -> None:
    domain = FIXED[name]
    states, actions = some_step(domain, 500)
    observed = domain.step(states, actions)
    for factor in set(domain.factors) - {*domain.edges, domain.outcome}:
        values = np.random.default_rng(1).uniform(-1, 1, (len(states), domain.dimensions))
        assert np.array_equal(domain.intervene(states, factor, values, actions), observed.states[:, -1])
        assert not observed.cause[:, domain.index(factor)].any()


def test_the_outcomes_own_value_is_always_a_cause() -> None:
    domain = random_vectors("3-in")
    assert domain.step(*some_step(domain, 100)).cause[:, domain.index("y")].all()


def test_inputs_do_not_reach_the_outcome_within_the_step() -> None:
    domain = random_vectors("3-chain")
    states, actions = some_step(domain, 100)
    following = domain.step(states, -actions).states
    assert np.array_equal(following[:, -1], domain.step(states, actions).states[:, -1])
    assert not np.array_equal(following[:, 1], domain.step(states, actions).states[:, 1])


def test_parents_of_a_joint_relation_are_causes_together() -> None:
    domain = random_vectors("3-m-in")
    cause = domain.step(*some_step(domain, 500)).cause
    assert (cause[:, 0] == cause[:, 1]).all()
    assert (cause[:, 0] == cause[:, 2]).all()
    assert 0 < cause[:, 0].mean() < 1


def test_separate_relations_fire_independently() -> None:
    domain = random_vectors("2-in")
    cause = domain.step(*some_step(domain, 2000)).cause[:, :2]
    assert {tuple(row) for row in cause.tolist()} == {(a, b) for a in (False, True) for b in (False, True)}


def test_without_interaction_the_chains_outcome_is_zero() -> None:
    domain = random_vectors("3-chain")
    step = domain.step(*some_step(domain, 500))
    fired = step.cause[:, domain.index("a2")]
    assert (step.states[~fired, -1] == 0).all()
    assert (step.states[fired, -1] != 0).any(axis=1).all()


# -- graphs of one's own -----------------------------------------------------------------------------


def test_a_diamond_has_the_causes_of_its_last_edges() -> None:
    domain = FIXED["diamond"]
    assert domain.factors == ("root", "left", "right", "y")
    assert domain.edges == ("left", "right")
    step = domain.step(*some_step(domain, 300))
    assert np.array_equal(step.cause[:, [1, 2]], step.extra["fired"][:, [2, 3]])


def test_a_parent_of_two_relations_is_a_cause_where_either_fires() -> None:
    domain = RandomVectors((Relation(("a", "b"), "y"), Relation(("a",), "y")))
    step = domain.step(*some_step(domain, 500))
    assert np.array_equal(step.cause[:, domain.index("a")], step.extra["fired"].any(axis=1))
    assert np.array_equal(step.cause[:, domain.index("b")], step.extra["fired"][:, 0])


def test_relations_may_form_a_cycle_through_time() -> None:
    domain = RandomVectors((Relation(("a",), "y"), Relation(("y",), "b"), Relation(("b",), "a")), draw=1)
    fired = health.roll_out(domain, 500, np.random.default_rng(0)).fired
    assert np.allclose(fired.mean(axis=(0, 1)), 0.5, atol=0.05)


def test_another_variable_can_be_the_outcome() -> None:
    domain = RandomVectors(DIAMOND, outcome_name="left")
    assert domain.factors == ("root", "right", "y", "left")
    assert domain.edges == ("root",)


def test_relations_may_come_in_a_list() -> None:
    domain = RandomVectors([Relation(["a"], "y")])  # type: ignore[arg-type]
    assert domain == RandomVectors((Relation(("a",), "y"),))


# -- options -----------------------------------------------------------------------------------------


def test_increments_are_small_steps() -> None:
    domain = random_vectors("2-in", dynamics="increment")
    states, actions = some_step(domain, 200)
    step = domain.step(states, actions)
    assert 0 < np.abs(step.states - states).max() <= 0.02 * (1 + domain.drive)
    assert 0.3 < step.cause[:, :2].mean() < 0.7


def test_noise_is_an_input_to_the_outcome() -> None:
    quiet, noisy = random_vectors("1-in"), random_vectors("1-in", noise=0.05, rate=0.5)
    states, actions = some_step(noisy, 300)
    assert actions.shape == (300, 8)
    assert quiet.sample_actions(np.random.default_rng(0), states).shape == (300, 4)
    moved = noisy.step(states, actions).states - noisy.step(states, actions * ([1] * 4 + [0] * 4)).states
    assert (moved[:, 0] == 0).all()
    assert 0.04 < np.abs(moved[:, 1]).max() <= 0.05 + 1e-12


# -- mistakes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Relation(("y", "a"), "y"), "'y' is a parent of itself"),
        (lambda: Relation("a1", "y"), r"a tuple of names, such as \('a1',\). Got 'a1'"),
        (lambda: Relation(("a", 3), "y"), "a tuple of names"),
        (lambda: Relation(3, "y"), "a tuple of names"),
        (lambda: RandomVectors(3), r"Give relations as \(Relation"),
        (lambda: Relation((), "y"), "no parents; give it at least one"),
        (lambda: Relation(("a", "a"), "y"), "names a parent twice"),
        (lambda: Relation(("a b",), "y"), "a word such as 'a1'"),
        (lambda: RandomVectors(((("a",), "y"),)), r"Give relations as \(Relation"),
        (lambda: RandomVectors((Relation(("a",), "Y"),)), "'y' occurs in no relation; did you mean 'Y'?"),
        (lambda: RandomVectors(()), "'y' occurs in no relation"),
        (lambda: RandomVectors((Relation(("y",), "a"),)), "No relation has the outcome 'y' as its target"),
        (lambda: RandomVectors((Relation(("a", "b"), "y"), Relation(("b", "a"), "y"))), "leave one out"),
        (lambda: random_vectors("1-in", rate=1), "strictly between 0 and 1. Got 1"),
        (lambda: random_vectors("1-in", rate=float("nan")), "'rate' must be a number"),
        (lambda: random_vectors("1-in", dimensions=0), "integer of at least 1. Got 0"),
        (lambda: random_vectors("1-in", dimensions=True), "integer of at least 1. Got True"),
        (lambda: random_vectors("1-in", draw=-1), "'draw' must be an integer of at least 0. Got -1"),
        (lambda: random_vectors("1-in", noise=-0.1), "'noise' must be a number of at least 0"),
        (lambda: random_vectors("1-in", drive="much"), "'drive' must be a number"),
        (lambda: random_vectors("1-in", dynamics="jump"), "'replace' or 'increment'. Got 'jump'"),
        (lambda: random_vectors("1-inn"), "Unknown Random Vectors domain '1-inn'; did you mean"),
        (lambda: random_vectors("1-in", rates=0.5), "Unknown parameter 'rates' .*did you mean 'rate'?"),
        (lambda: random_vectors("1-in").index("a2"), "Unknown factor 'a2'"),
        (lambda: random_vectors("1-in").step(np.zeros((5, 2, 4)), np.zeros((5, 8))), r"actions \(worlds, 4\)"),
        (lambda: random_vectors("1-in").step(np.zeros((5, 3, 4)), np.zeros((5, 4))), r"shape \(worlds, 2, 4\)"),
    ],
)
def test_a_mistake_gets_one_clear_sentence(build: Any, sentence: str) -> None:
    with pytest.raises(QueryError, match=sentence) as caught:
        build()
    assert re.search(r"[.?]$", str(caught.value))
    assert "\n" not in str(caught.value)
