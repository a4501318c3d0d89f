"""Mini-Breakout: its physics case by case, who is named as a cause, and what can never happen."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actcause import QueryError
from actcause.envs.breakout import ALIVE, BALL, FIRST, PADDLE, VX, VY, Array, Breakout, Step, X, Y

DOMAIN = Breakout()
CORNERS = ((3.0, 45.0), (27.0, 45.0), (27.0, 42.0))  # where blocks are out of the way
Pair = tuple[float, float]


def world(ball: Pair, velocity: Pair, *blocks: Pair, paddle: Pair = (15.0, 10.0)) -> Array:
    states = np.zeros((1, len(DOMAIN.factors), 5))
    states[0, PADDLE, :2] = paddle
    states[0, BALL, :4] = (*ball, *velocity)
    states[0, FIRST:, :2] = (*blocks, *CORNERS[len(blocks) :])
    states[0, FIRST:, ALIVE] = 1
    return states


def act(states: Array, move: float = 0, domain: Breakout = DOMAIN) -> tuple[list[float], set[str], Step]:
    """The ball's next place and velocity, and what besides itself caused it."""
    step = domain.step(states, np.array([[move]]))
    named = {factor for factor, is_cause in zip(domain.factors, step.cause[0], strict=True) if is_cause}
    assert "ball" in named
    return step.states[0, BALL, :4].tolist(), named - {"ball"}, step


def rollout(seed: int, policy: str = "random", worlds: int = 200, steps: int = 100) -> list[tuple[Array, Array, Step]]:
    """Steps of many worlds; those that have ended begin afresh."""
    generator = np.random.default_rng(seed)
    states = DOMAIN.reset(generator, worlds)
    taken = []
    for _ in range(steps):
        sampled = DOMAIN.sample_actions(generator, states)
        actions = sampled if policy == "random" else DOMAIN.scripted_actions(states)
        step = DOMAIN.step(states, actions)
        taken.append((states, actions, step))
        states = step.states.copy()
        states[step.terminated] = DOMAIN.reset(generator, int(step.terminated.sum()))
    return taken


def gather(taken: list[tuple[Array, Array, Step]]) -> tuple[Array, Array, Array, Array]:
    """All states, actions, outcomes and causes of a rollout."""
    return (
        np.concatenate([states for states, _, _ in taken]),
        np.concatenate([actions for _, actions, _ in taken]),
        np.concatenate([step.states[:, BALL, :4] for _, _, step in taken]),
        np.concatenate([step.cause for _, _, step in taken]),
    )


# -- physics, case by case ---------------------------------------------------------------------------


def test_a_free_ball_goes_by_its_velocity_and_explains_itself() -> None:
    assert act(world((10, 25), (1, -2)))[:2] == ([11, 23, 1, -2], set())


@pytest.mark.parametrize(
    ("offset", "velocity"),
    [
        (-4, (-1, 1)),
        (-1.76, (-1, 1)),
        (-1.75, (-1, 2)),  # a boundary belongs to the zone on its right
        (-1, (-1, 2)),
        (-0.01, (-1, 2)),
        (0, (1, 2)),
        (1, (1, 2)),
        (1.74, (1, 2)),
        (1.75, (1, 1)),
        (4, (1, 1)),
    ],
)
def test_the_paddle_has_four_zones(offset: float, velocity: Pair) -> None:
    inwards = -1 if offset > 0 else 1
    ball, named, _ = act(world((15 + offset, 13), (inwards, -1)))
    assert named == {"paddle"}
    assert ball == [15 + offset + velocity[0], 13 + velocity[1], *velocity]


@pytest.mark.parametrize("move", [-1, 0, 1])
def test_the_angle_is_that_of_where_the_paddle_stood_before_it_moved(move: float) -> None:
    ball, named, step = act(world((16, 13), (1, -1)), move)
    assert (ball, named) == ([17, 15, 1, 2], {"paddle"})
    assert step.states[0, PADDLE, :4].tolist() == [15 + 2 * move, 10, 2 * move, 0]


def test_a_fast_ball_is_struck_from_further_above() -> None:
    assert act(world((15, 14), (1, -2)))[:2] == ([16, 16, 1, 2], {"paddle"})
    assert act(world((15, 15), (1, -2)))[:2] == ([16, 13, 1, -2], set())


def test_a_ball_that_only_touches_the_corner_of_the_paddle_falls_beside_it() -> None:
    assert act(world((19, 13), (1, -1)))[:2] == ([20, 12, 1, -1], set())
    assert act(world((19.5, 12), (1, -1)))[:2] == ([20.5, 11, 1, -1], set())


def test_a_ball_that_flies_into_the_side_of_the_paddle_is_sent_up_and_outwards() -> None:
    assert act(world((20, 11), (-1, -1)))[:2] == ([21, 12, 1, 1], {"paddle"})
    assert act(world((10, 11), (1, -1)))[:2] == ([9, 12, -1, 1], {"paddle"})


def test_a_ball_off_the_underside_of_the_paddle_goes_down_again() -> None:
    assert act(world((15, 7), (1, 1)))[:2] == ([16, 6, 1, -1], {"paddle"})


def test_a_ball_between_the_paddle_and_the_wall_slides_up_and_out() -> None:
    states = world((1, 9), (1, -1), paddle=(5.5, 10))
    rows = []
    for _ in range(5):
        ball, named, step = act(states)
        states = step.states
        rows.append((ball[1], "paddle" in named))
    assert rows == [(10, True), (11, True), (12, True), (13, True), (14, False)]


def test_the_paddle_moves_into_no_ball_beside_it() -> None:
    states = world((21, 11), (1, -1))
    ball, named, step = act(states, 1)
    assert (ball, named) == ([22, 10, 1, -1], set())
    assert step.states[0, PADDLE, X] == 17
    _, _, step = act(step.states, 1)
    assert step.states[0, PADDLE, X] == 18.5  # the ball is at 23 now, and the two touch at 4.5
    for move in (-1, 0, 1):
        assert act(states, move)[0] == ball


def test_the_paddle_passes_below_a_ball() -> None:
    assert act(world((20, 16), (-1, -1)), 1)[2].states[0, PADDLE, X] == 17


def test_the_paddle_stops_at_the_walls() -> None:
    assert act(world((10, 25), (1, -1), paddle=(4.5, 10)), -1)[2].states[0, PADDLE, :3].tolist() == [3.5, 10, -1]
    assert act(world((10, 25), (1, -1), paddle=(26.5, 10)), 1)[2].states[0, PADDLE, :3].tolist() == [26.5, 10, 0]


@pytest.mark.parametrize(("y", "vy"), [(37, 2), (38, 2), (38, 1), (43, -2), (42, -2), (42, -1)])
def test_a_ball_turns_off_a_brick_from_below_and_above_and_the_brick_is_gone(y: float, vy: float) -> None:
    ball, named, step = act(world((14, y), (1, vy), (15, 40)))
    assert (ball, named) == ([15, y - vy, 1, -vy], {"block1"})
    assert step.states[0, FIRST:, ALIVE].tolist() == [0, 1, 1]


def test_a_ball_that_only_comes_to_touch_a_brick_does_not_hit_it() -> None:
    assert act(world((14, 36), (1, 2), (15, 40)))[:2] == ([15, 38, 1, 2], set())


def test_the_side_of_a_brick_turns_the_ball_too() -> None:
    ball, named, _ = act(world((11, 40), (1, 1), (15, 40)))
    assert (ball, named) == ([12, 39, 1, -1], {"block1"})


def test_a_ball_past_the_edge_of_a_brick_flies_on() -> None:
    assert act(world((18.5, 37), (1, 2), (15, 40)))[:2] == ([19.5, 39, 1, 2], set())
    assert act(world((11, 38), (-1, 2), (15, 40)))[:2] == ([10, 40, -1, 2], set())


def test_a_way_that_cuts_a_corner_of_a_brick_hits_it_though_neither_end_does() -> None:
    states = world((11.3, 36.5), (1, 2), (15, 39))
    states[0, BALL, VX : VY + 1] = (0.8, 2)
    assert act(states)[1] == {"block1"}
    cut = world((18.3, 36.6), (1, 1), (15, 39))  # at its end 19.3: beside; at its beginning: below
    assert act(cut)[1] == set()
    cut[0, BALL, VX : VY + 1] = (1, 4)
    assert act(cut)[1] == {"block1"}
    assert np.abs(cut[0, BALL, X] + 1 - 15) > 3.5


def test_a_brick_that_was_hit_is_no_longer_there() -> None:
    states = world((15, 36), (1, 2), (15, 39))
    states[0, FIRST, ALIVE] = 0
    assert act(states)[:2] == ([16, 38, 1, 2], set())


def test_two_bricks_that_are_hit_at_once_both_vanish_and_are_both_causes() -> None:
    ball, named, step = act(world((15, 36), (1, 2), (12.5, 39), (17.5, 39)))
    assert (ball, named) == ([16, 34, 1, -2], {"block1", "block2"})
    assert step.states[0, FIRST:, ALIVE].tolist() == [0, 0, 1]


def test_of_two_bricks_in_the_way_the_nearer_is_hit() -> None:
    ball, named, step = act(world((15, 36), (1, 2), (18, 39.5), (13, 39)))
    assert (ball, named) == ([16, 34, 1, -2], {"block2"})
    assert step.states[0, FIRST:, ALIVE].tolist() == [1, 0, 1]


def test_a_ball_between_two_bricks_waits_for_a_step_and_hits_the_other_next() -> None:
    ball, named, step = act(world((15, 36), (1, 1), (15, 38), (15, 34)))
    assert (ball, named) == ([15, 36, 1, -1], {"block1", "block2"})
    assert step.states[0, FIRST:, ALIVE].tolist() == [0, 1, 1]
    ball, named, step = act(step.states)
    assert (ball, named) == ([16, 37, 1, 1], {"block2"})
    assert step.states[0, FIRST:, ALIVE].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("ball", "velocity", "following"),
    [
        ((1, 25), (-1, -2), [2, 23, 1, -2]),
        ((29, 25), (1, 2), [28, 27, -1, 2]),
        ((2, 25), (-1, -1), [1, 24, -1, -1]),  # it only comes to touch
        ((15, 49), (1, 1), [16, 48, 1, -1]),
        ((15, 48), (1, 2), [16, 46, 1, -2]),
        ((1, 49), (-1, 2), [2, 47, 1, -2]),  # a corner turns both
        ((29, 49), (1, 1), [28, 48, -1, -1]),
    ],
)
def test_walls_turn_what_points_through_them_and_are_no_causes(
    ball: Pair, velocity: Pair, following: list[float]
) -> None:
    assert act(world(ball, velocity, (15, 31)))[:2] == (following, set())


def test_a_wall_and_a_brick_turn_the_ball_in_one_step() -> None:
    assert act(world((1, 36), (-1, 2), (3, 39)))[:2] == ([2, 34, 1, -2], {"block1"})


def test_a_ball_between_a_brick_and_the_top_keeps_its_height_for_a_step() -> None:
    ball, named, step = act(world((15, 49), (1, 2), (15, 46)))
    assert (ball, named) == ([16, 49, 1, -2], {"block1"})
    assert act(step.states)[:2] == ([17, 47, 1, -2], set())


def test_the_episode_ends_when_the_ball_reaches_the_bottom() -> None:
    ball, _, step = act(world((3, 2), (1, -1)))
    assert (ball[1], bool(step.terminated[0])) == (1, True)
    assert not act(world((3, 3), (1, -1)))[2].terminated[0]
    assert act(world((3, 2), (1, -2)))[0] == [4, 0, 1, -2]


def test_the_episode_ends_when_the_last_brick_is_hit() -> None:
    states = world((15, 36), (1, 2), (15, 39))
    assert not act(states)[2].terminated[0]
    states[0, FIRST + 1 :, ALIVE] = 0
    assert act(states)[2].terminated[0]


# -- what holds always -------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(["random", "scripted"]))
@settings(max_examples=12)
def test_no_two_solid_bodies_ever_overlap_and_nothing_tunnels(seed: int, policy: str) -> None:
    reach = np.array([(4.5, 2.5), (0.0, 0.0), *([(3.5, 2.0)] * 3)]) - 1e-6
    for states, _, step in rollout(seed, policy, worlds=150, steps=150):
        ball = step.states[:, BALL]
        there = step.states[:, PADDLE:, ALIVE] > 0
        there[:, 0] = True

        def inside(at: Array, bodies: Array, there: Array) -> Array:
            overlap: Array = (np.abs(bodies - at[:, None]) < reach).all(axis=2) & there
            return overlap

        assert not inside(ball[:, :2], step.states[:, PADDLE:, :2], there).any()
        for share in np.linspace(0, 1, 17):  # past the paddle where it was, and the blocks that are left
            way = states[:, BALL, :2] + share * (ball[:, :2] - states[:, BALL, :2])
            assert not inside(way, states[:, PADDLE:, :2], there).any()
        assert (np.abs(step.states[:, PADDLE, X] - 15) <= 11.5).all()
        assert (np.abs(ball[:, X] - 15) <= 14).all()
        assert (ball[:, Y] <= 49).all()
        assert (np.abs(ball[:, VX]) == 1).all()
        assert np.isin(np.abs(ball[:, VY]), (1, 2)).all()
        assert (np.abs(step.states[:, PADDLE, X] - states[:, PADDLE, X]) <= 2).all()


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_a_batch_gives_what_its_worlds_give_one_by_one(seed: int) -> None:
    for states, actions, together in rollout(seed, worlds=20, steps=40):
        for i in range(len(states)):
            alone = DOMAIN.step(states[i : i + 1], actions[i : i + 1])
            for field in ("seen", "states", "cause", "terminated"):
                assert (getattr(alone, field)[0] == getattr(together, field)[i]).all()


def test_a_step_changes_neither_argument() -> None:
    for states, actions, _ in rollout(0, worlds=50, steps=40):
        kept = states.copy(), actions.copy()
        states.flags.writeable = actions.flags.writeable = False
        DOMAIN.step(states, actions)
        DOMAIN.scripted_actions(states)
        assert (states == kept[0]).all()
        assert (actions == kept[1]).all()


def test_the_same_seed_gives_the_same_rollout_and_a_pickled_copy_steps_alike() -> None:
    copy = pickle.loads(pickle.dumps(DOMAIN))
    assert copy == DOMAIN
    assert hash(copy) == hash(DOMAIN)
    for one, other in zip(rollout(3), rollout(3), strict=True):
        assert (one[2].states == other[2].states).all()
        assert (copy.step(*one[:2]).states == one[2].states).all()


def test_recordings_stay_inside_the_bounds() -> None:
    low, high = DOMAIN.bounds
    for _, _, step in rollout(1):
        for shown in (step.seen, step.states):
            assert (shown >= low).all()
            assert (shown <= high).all()


def test_a_game_begins_as_the_paper_says() -> None:
    states = DOMAIN.reset(np.random.default_rng(0), 2000)
    assert (states[:, PADDLE, :2] == (15, 10)).all()
    assert set(states[:, BALL, Y]) == set(range(22, 29))
    assert set(states[:, BALL, X]) == set(range(1, 30))
    assert set(states[:, BALL, VX]) == {-1, 1}
    assert set(states[:, BALL, VY]) == {-1}
    blocks = states[:, FIRST:, :2]
    assert set(blocks[:, :, 0].ravel()) == set(range(3, 28))
    assert set(blocks[:, :, 1].ravel()) == set(range(30, 46))
    assert ((np.abs(blocks[:, :, None] - blocks[:, None]) < (5, 2)).all(axis=3) == np.eye(3, dtype=bool)).all()


# -- causes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_non_trivial_causes_make_up_one_to_three_percent_of_steps(seed: int) -> None:
    cause = gather(rollout(seed, worlds=1000, steps=200))[3]
    edges = [DOMAIN.index(factor) for factor in DOMAIN.edges]
    assert 0.01 < cause[:, edges].any(axis=1).mean() < 0.03
    assert cause[:, BALL].all()
    assert not cause[:, 0].any()


def test_the_ball_bounces_independently_of_the_action() -> None:
    states, actions, outcome, _ = gather(rollout(0, worlds=500))
    for move in (-1.0, 0.0, 1.0):
        assert (DOMAIN.intervene(states, "action", np.array([move]), actions) == outcome).all()


def _with(states: Array, index: int, values: Array) -> Array:
    changed = states.copy()
    changed[:, index, : values.shape[1]] = values
    return changed


@pytest.mark.parametrize("factor", DOMAIN.edges)
@pytest.mark.parametrize("place", [(-50.0, 10.0), (15.0, 500.0)])
def test_a_paddle_or_brick_far_away_changes_the_ball_just_where_it_is_the_cause(factor: str, place: Pair) -> None:
    states, actions, outcome, cause = gather(rollout(0, "scripted", worlds=500, steps=200))
    index = DOMAIN.index(factor)
    values = states[:, index, : len(DOMAIN.features[factor])].copy()
    values[:, :2] = place
    other = DOMAIN.intervene(states, factor, values, actions)
    differs = (other != outcome).any(axis=1)
    assert not differs[~cause[:, index]].any()
    # A brick behind this one would have been hit in its place, with the same outcome.
    preempted = DOMAIN.step(_with(states, index, values), actions).cause[:, FIRST:].any(axis=1)
    assert (cause[:, index] & preempted).sum() < 0.05 * cause[:, index].sum()
    assert differs[cause[:, index] & ~preempted].all()


def test_a_brick_vanishes_where_it_was_hit_and_is_then_a_cause() -> None:
    for states, _, step in rollout(0, "scripted", worlds=300):
        gone = states[:, FIRST:, ALIVE] > step.states[:, FIRST:, ALIVE]
        assert step.cause[:, FIRST:][gone].all()


def test_the_scripted_policy_never_loses_the_ball() -> None:
    won = 0
    for _, _, step in rollout(0, "scripted", worlds=300, steps=400):
        assert (step.states[:, BALL, Y] > 1).all()
        won += step.terminated.sum()
    assert won > 300


# -- parameters --------------------------------------------------------------------------------------


def test_the_number_of_blocks_gives_the_factors() -> None:
    assert Breakout(blocks=1).factors == ("action", "paddle", "ball", "block1")
    assert DOMAIN.edges == ("paddle", "block1", "block2", "block3")
    assert (DOMAIN.outcome, DOMAIN.action, DOMAIN.width) == ("ball", "action", 5)
    assert Breakout(blocks=8).reset(np.random.default_rng(0), 10).shape == (10, 11, 5)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"blocks": 0}, "'blocks' of break must be 1 or more"),
        ({"angles": ((1, -1),)}, "'angles' of break must be one or more velocities upwards"),
        ({"ball": (40, 2)}, r"'ball' of break must be \(width, height\)"),
        ({"block_rows": (20, 45)}, r"'block_rows' of break must be \(low, high\)"),
    ],
)
def test_impossible_parameters_are_refused(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(QueryError, match=sentence):
        Breakout(**wrong)  # type: ignore[arg-type]


def test_blocks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(QueryError, match="do not fit"):
        Breakout(blocks=7, block_rows=(30, 30)).reset(np.random.default_rng(0), 1)
