"""One world steps, bit for bit, as it does among thousands; and nothing solid overlaps however it is shaken."""

from __future__ import annotations

import numpy as np
import pytest

from actcause import envs
from actcause.envs.base import Domain, Step
from actcause.envs.physics import anywhere, gap, greater, lesser, nudge, unpack, where, worlds_where

WORLDS, STEPS = 40, 120
VARIANTS = [
    *((name, {}) for name in envs.names()),
    ("push", {"obstacles": 6, "arena": 6.0, "stride": 3.0}),
    ("push", {"walls_bind_block": True, "noise": 0.3}),
    ("break", {"blocks": 7, "noise": 0.4}),
    ("break", {"angles": ((-3, 2), (3, 2)), "paddle": (11.0, 3.0)}),
    ("block-1d", {"obstacles": 4, "size": 20.0, "noise": 0.5}),
    ("mover-1d", {"noise": 0.2}),
]


def same_bits(one: Step, many: Step, world: int) -> bool:
    pairs = [(getattr(one, name), getattr(many, name)) for name in ("seen", "states", "cause", "terminated")]
    pairs += [(one.extra[name], many.extra[name]) for name in many.extra]
    return all(left[0].tobytes() == right[world].tobytes() for left, right in pairs)


@pytest.mark.parametrize(("name", "parameters"), VARIANTS)
def test_one_world_steps_bit_for_bit_as_it_does_among_many(name: str, parameters: dict[str, object]) -> None:
    domain = envs.make(name, **parameters)
    generator = np.random.default_rng(0)
    states = domain.reset(generator, WORLDS)
    for step in range(STEPS):
        actions = domain.sample_actions(generator, states)
        if step % 2 and hasattr(domain, "scripted_actions"):  # more bounces than chance gives
            actions = domain.with_noise(generator, domain.scripted_actions(states))
        before = states.copy()
        many = domain.step(states, actions)
        assert (states == before).all()
        for world in range(WORLDS):
            one = domain.step(states[world : world + 1], actions[world : world + 1])
            assert same_bits(one, many, world)
        states = many.states.copy()
        ended = np.flatnonzero(many.terminated)
        states[ended] = domain.reset(generator, len(ended)) if len(ended) else states[ended]


def test_floats_and_arrays_give_the_same() -> None:
    values = [-1.5, 0.0, 2.0]
    array = np.array(values)
    assert [where(value < 0, 1.0, value) for value in values] == where(array < 0, 1.0, array).tolist()
    assert [lesser(value, 1.0) for value in values] == lesser(array, 1.0).tolist()
    assert [greater(value, 1.0) for value in values] == greater(array, 1.0).tolist()
    assert [gap(value, True, 0.5) for value in values] == gap(array, True, 0.5).tolist()
    assert anywhere(True)
    assert anywhere(array > 1)
    assert not anywhere(array > 2)
    assert worlds_where(array > 0).tolist() == [2]
    assert worlds_where(True) == slice(None)


def test_features_are_floats_of_one_world_and_views_of_many_that_nobody_can_write() -> None:
    states = np.arange(12.0).reshape(2, 3, 2)
    assert unpack(states[:1]) == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert unpack(states)[1][0].tolist() == [2.0, 8.0]
    with pytest.raises(ValueError, match="read-only"):
        unpack(states)[1][0] += 1


def test_a_nudge_ends_at_what_is_solid_and_at_the_bounds() -> None:
    bounds = ((-5.0, -5.0), (5.0, 5.0))
    body = ([3.0, 0.0], (1.0, 1.0), True)
    assert nudge([0.0, 0.0], [9.0, 0.0], [body], bounds) == [2.0, 0.0]
    assert nudge([0.0, 0.0], [-9.0, 9.0], [body], bounds) == [-5.0, 5.0]
    assert nudge([0.0, 0.0], [9.0, 0.0], [(body[0], body[1], False)], bounds) == [5.0, 0.0]
    assert nudge([0.0, 1.5], [9.0, 0.0], [body], bounds) == [5.0, 1.5]  # past it


# -- noise -----------------------------------------------------------------------------------------

NOISY = ["push", "break", "block-1d", "mover-1d"]


def roll_out(domain: Domain, worlds: int, steps: int) -> list[tuple[np.ndarray, np.ndarray, Step]]:
    generator = np.random.default_rng(3)
    states = domain.reset(generator, worlds)
    life = []
    for _ in range(steps):
        actions = domain.sample_actions(generator, states)
        step = domain.step(states, actions)
        life.append((states, actions, step))
        states = step.states.copy()
        ended = np.flatnonzero(step.terminated)
        if len(ended):
            states[ended] = domain.reset(generator, len(ended))
    return life


@pytest.mark.parametrize("name", NOISY)
def test_without_noise_nothing_more_is_drawn_and_noise_moves_the_outcome_alone_and_leaves_the_labels(name: str) -> None:
    still, noisy = envs.make(name), envs.make(name, noise=0.1)
    outcome = noisy.index(noisy.outcome)
    moved = 0
    for states, actions, step in roll_out(noisy, 300, 30):
        assert actions.shape[1] == noisy.action_size + noisy.noise_size
        bare = actions[:, : noisy.action_size]
        calm = still.step(states, bare)
        assert (noisy.step(states, bare).states == calm.states).all()  # no random numbers, no noise
        assert (step.cause == calm.cause).all()
        assert all((step.extra[key] == calm.extra[key]).all() for key in calm.extra)
        others = [i for i in range(len(noisy.factors)) if i != outcome and noisy.factors[i] not in ("target", "paddle")]
        assert (step.states[:, others] == calm.states[:, others]).all()
        moved += int((step.states[:, outcome] != calm.states[:, outcome]).any(axis=1).sum())
    assert moved > 0.8 * 300 * 30
    before = np.random.default_rng(5)
    drawn = still.sample_actions(before, states)
    assert drawn.shape[1] == still.action_size
    assert still.noise_size == 0


@pytest.mark.parametrize("noise", [0.05, 0.5, 3.0])
def test_noise_lets_no_boxes_of_push_overlap(noise: float) -> None:
    domain = envs.make("push", noise=noise)
    solid = [domain.index(factor) for factor in domain.factors if factor not in ("action", "target")]
    low, high = domain.bounds
    for _, _, step in roll_out(domain, 500, 60):
        places = step.states[:, solid, :2]
        apart = np.abs(places[:, :, None] - places[:, None]).max(axis=3) >= domain.box - 1e-6  # type: ignore[attr-defined]
        assert (apart | np.eye(len(solid), dtype=bool)).all()
        assert (step.states >= low - 1e-6).all()
        assert (step.states <= high + 1e-6).all()


@pytest.mark.parametrize("noise", [0.05, 0.5, 3.0])
def test_noise_lets_no_ball_of_break_into_paddle_block_or_wall(noise: float) -> None:
    domain = envs.Breakout(noise=noise)
    for _, _, step in roll_out(domain, 500, 150):
        ball = step.states[:, 2]
        for position, size in ((1, domain.paddle), *((i, domain.block) for i in range(3, 6))):
            body = step.states[:, position]
            reach = (np.array(size) + domain.ball) / 2
            there = np.ones(len(body), dtype=bool) if position == 1 else body[:, 4] > 0
            assert (~there | (np.abs(body[:, :2] - ball[:, :2]) >= reach - 1e-6).any(axis=1)).all()
        assert (ball[:, 0] >= 1 - 1e-6).all()
        assert (ball[:, 0] <= 29 + 1e-6).all()
        assert (ball[:, 1] <= 49 + 1e-6).all()


def test_noise_takes_the_block_of_block_1d_over_nothing_and_keeps_the_mover_on_its_field() -> None:
    line = envs.Block1D(noise=2.0, obstacles=2, size=20.0)
    for states, _, step in roll_out(line, 500, 40):
        before, after = states[:, 2:, 0] - states[:, 1, 0, None], step.states[:, 2:, 0] - step.states[:, 1, 0, None]
        assert (np.sign(before) == np.sign(after)).all()
        assert (np.abs(step.states[:, [0, 2, 3], 0] - step.states[:, 1, 0, None]) >= 1 - 1e-6).all()
    mover = envs.Mover1D(noise=5.0)
    for states, _, step in roll_out(mover, 500, 20):
        assert (
            np.round(step.states[:, 0, 0]) == envs.Mover1D().step(np.round(states), np.zeros((500, 0))).states[:, 0, 0]
        ).all()


@pytest.mark.parametrize("name", NOISY)
def test_noise_is_a_number_of_at_least_0_and_an_action_of_another_width_is_refused(name: str) -> None:
    for wrong in (-1, "much", True, float("nan")):
        with pytest.raises(envs.base.QueryError, match=f"'noise' of {name} must be 0 or more"):
            envs.make(name, noise=wrong)
    domain = envs.make(name)
    states = domain.reset(np.random.default_rng(0), 3)
    with pytest.raises(envs.base.QueryError, match=f"An action of {name} has {domain.action_size} numbers"):
        domain.step(states, np.zeros((3, 7)))


def test_an_intervention_keeps_the_noise_that_it_is_given() -> None:
    domain = envs.make("push", noise=0.2)
    generator = np.random.default_rng(0)
    states = domain.reset(generator, 200)
    actions = domain.sample_actions(generator, states)
    step = domain.step(states, actions)
    block = domain.index("block")
    same = domain.intervene(states, "pusher", states[:, domain.index("pusher"), :2], actions)
    assert (same == step.states[:, block, :2]).all()
    rested = domain.intervene(states, "action", np.zeros(2), actions)
    assert (rested != states[:, block, :2]).any(axis=1).mean() > 0.9  # the noise is still there
    assert (domain.intervene(step.seen, "action", np.zeros(2)) == states[:, block, :2]).all()


# -- classes ---------------------------------------------------------------------------------------


def test_blocks_are_of_one_class_and_obstacles_too_and_other_factors_each_of_their_own() -> None:
    assert [envs.make("break").classes[name] for name in ("ball", "block1", "block3")] == ["ball", "block", "block"]
    assert [envs.make("push").classes[name] for name in ("block", "obstacle2")] == ["block", "obstacle"]
    assert envs.make("block-1d", obstacles=2).classes["obstacle2"] == "obstacle"
    assert envs.make("3-in").classes == {"a1": "a1", "a2": "a2", "a3": "a3", "y": "y"}


@pytest.mark.parametrize("name", envs.names())
def test_factors_of_one_class_have_the_same_features(name: str) -> None:
    domain = envs.make(name)
    assert tuple(domain.classes) == domain.factors
    for one in domain.factors:
        for other in domain.factors:
            if domain.classes[one] == domain.classes[other]:
                assert domain.features[one] == domain.features[other]
