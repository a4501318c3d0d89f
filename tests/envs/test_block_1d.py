"""1-D Block Pushing: Example 2.1, its physics, and where its labels and the exact core's causes differ."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import actcause as ac
from actcause.envs.block_1d import BLOCK, FIRST, PUSHER, Array, Block1D, Step
from strategies import many

DOMAIN = Block1D()


def advance(states: Array, domain: Block1D = DOMAIN) -> Step:
    return domain.step(states, np.zeros((len(states), 0)))


def act(*positions: float) -> tuple[list[float], str, Step]:
    """Where pusher and block end, and the causes as a binary."""
    domain = Block1D(obstacles=len(positions) - 2)
    step = advance(np.reshape(positions, (1, -1, 1)).astype(float), domain)
    return step.states[0, : BLOCK + 1, 0].tolist(), "".join(str(int(b)) for b in step.cause[0]), step


def rollout(seed: int, worlds: int = 200, domain: Block1D = DOMAIN) -> list[tuple[Array, Step]]:
    generator = np.random.default_rng(seed)
    states = domain.reset(generator, worlds)
    taken = []
    for _ in range(domain.horizon):
        step = advance(states, domain)
        taken.append((states, step))
        states = step.states.copy()
        states[step.terminated] = domain.reset(generator, int(step.terminated.sum()))
    return taken


@pytest.mark.parametrize(
    ("positions", "following", "causes"),
    [
        ((49, 50, 20), [51, 52], "110"),  # Example 2.1
        ((49, 50, 90), [51, 52], "110"),
        ((48, 50, 20), [50, 51], "110"),  # the block is a unit away and gets what is left
        ((47, 50, 20), [49, 50], "010"),  # the pusher just comes to touch it
        ((49, 50, 52), [50, 51], "111"),  # stopped short
        ((49, 50, 53), [51, 52], "110"),  # the obstacle is just reached
        ((49, 50, 51), [49, 50], "111"),  # pinned
        ((51, 50, 20), [53, 50], "010"),  # the block is behind
        ((49, 50, 52, 51.5), [49.5, 50.5], "1101"),  # the nearer of two obstacles
        ((49, 50, 52, 52), [50, 51], "1111"),  # two obstacles in one place
        ((49, 50), [51, 52], "11"),
    ],
)
def test_the_block_is_pushed_until_the_pusher_stops_or_an_obstacle_is_met(
    positions: tuple[float, ...], following: list[float], causes: str
) -> None:
    assert act(*positions)[:2] == (following, causes)


def test_contacts_that_leave_the_block_in_its_place_are_reported_apart_and_end_the_episode() -> None:
    _, _, step = act(49, 50, 51)
    assert [bool(step.extra[key][0]) for key in ("moved", "pinned")] == [False, True]
    assert step.terminated[0]
    _, _, step = act(49, 50, 52)
    assert [bool(step.extra[key][0]) for key in ("moved", "pinned")] == [True, False]
    assert not step.terminated[0]


def test_the_episode_ends_at_the_end_of_the_world() -> None:
    assert act(98, 20, 50)[2].terminated[0]
    assert act(97, 98.5, 50)[2].terminated[0]
    assert not act(97, 20, 50)[2].terminated[0]


def test_on_a_grid_the_labels_are_the_functional_actual_causes_but_where_the_block_is_pinned() -> None:
    """The integer model of the same world, 16 places for each of the three; all 4,096 states."""
    size = 16

    def block(pusher: Array, block: Array, obstacle: Array) -> Array:
        before = np.where(block > pusher, block - pusher - 1, size)
        push = np.maximum(2 - before, 0)
        free = np.where(obstacle > block, obstacle - block - 1, size)
        following: Array = block + np.minimum(push, free)
        return following

    places = range(size)
    space = ac.StateSpace.from_function({"pusher": places, "block": places, "obstacle": places}, block, "next")
    found = ac.partitions(space, alpha_sufficiency=0.2, alpha_necessity=0.01)
    grid = np.array([list(space.state(i).values()) for i in range(len(space))], dtype=float)[:, :, None]
    step = advance(grid)
    assert step.states[:, BLOCK, 0].tolist() == [space.outcome_of(i) for i in range(len(space))]
    differ = set()
    for i, cause in enumerate(step.cause):
        binary = "".join(str(int(digit)) for digit in cause)
        if found.binaries(i) != (binary,):
            assert (binary, found.binaries(i)) == ("111", ("010",))
            differ.add(i)
    assert differ == set(np.flatnonzero(step.extra["pinned"]).tolist())
    pinned = {(b - p, o - b) for p, b, o in grid[sorted(differ), :, 0].astype(int).tolist()}
    assert pinned == {(1, 1), (2, 1)}


@given(seed=st.integers(0, 2**32 - 1), obstacles=st.integers(0, 5), reach=st.sampled_from([0.3, 2.0, 30.0]))
@many(120)
def test_nothing_overlaps_the_block_and_nothing_jumps_over_it(seed: int, obstacles: int, reach: float) -> None:
    domain = Block1D(obstacles=obstacles, reach=reach)
    low, high = domain.bounds
    for states, step in rollout(seed, worlds=50, domain=domain):
        before = np.delete(states[:, :, 0] - states[:, BLOCK], BLOCK, axis=1)
        after = np.delete(step.states[:, :, 0] - step.states[:, BLOCK], BLOCK, axis=1)
        ahead = before[:, 1:] > 0
        assert (np.abs(after) > 1 - 1e-6)[:, 1:].all()
        assert (after[:, 1:] > 0)[ahead].all()
        behind = before[:, 0] < 0
        assert (after[behind, 0] < -1 + 1e-6).all()
        assert (step.states[:, FIRST:] == states[:, FIRST:]).all()
        assert ((step.states >= low - 1e-9) & (step.states <= high + 1e-9)).all()


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_a_batch_gives_what_its_worlds_give_one_by_one(seed: int) -> None:
    for states, together in rollout(seed, worlds=5):
        kept = states.copy()
        for i in range(len(states)):
            alone = advance(states[i : i + 1])
            for field in ("seen", "states", "cause", "terminated"):
                assert (getattr(alone, field)[0] == getattr(together, field)[i]).all()
        assert (states == kept).all()


def test_the_same_seed_gives_the_same_rollout_and_a_pickled_copy_steps_alike() -> None:
    copy = pickle.loads(pickle.dumps(DOMAIN))
    assert copy == DOMAIN
    for one, other in zip(rollout(3), rollout(3, domain=copy), strict=True):
        assert (one[1].states == other[1].states).all()


def test_an_obstacle_moved_behind_the_block_matters_just_where_it_is_a_cause() -> None:
    for states, step in rollout(0, worlds=500):
        other = DOMAIN.intervene(states, "obstacle", np.array([-10.0]))
        differs = other[:, 0] != step.states[:, BLOCK, 0]
        assert (differs == step.cause[:, FIRST]).all()


def test_a_pusher_moved_far_away_matters_just_where_it_moved_the_block() -> None:
    for states, step in rollout(0, worlds=500):
        other = DOMAIN.intervene(states, "pusher", np.array([-500.0]))
        differs = other[:, 0] != step.states[:, BLOCK, 0]
        assert (differs == step.extra["moved"]).all()


def test_pushes_are_neither_rare_nor_the_rule() -> None:
    cause = np.concatenate([step.cause for _, step in rollout(0, worlds=2000)])
    assert 0.1 < cause[:, PUSHER].mean() < 0.5
    assert 0.005 < cause[:, FIRST].mean() < 0.1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"obstacles": -1}, "'obstacles' of block-1d must be 0 or more"),
        ({"reach": 0}, "'reach' of block-1d must be positive"),
        ({"body": 50}, "'body' of block-1d must be 0 to a quarter"),
    ],
)
def test_impossible_parameters_are_refused(wrong: dict[str, float], sentence: str) -> None:
    with pytest.raises(ac.QueryError, match=sentence):
        Block1D(**wrong)  # type: ignore[arg-type]
