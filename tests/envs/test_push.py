"""2D Pushing: its physics case by case, who is named as a cause, and what can never happen."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actcause import QueryError
from actcause.envs.push import BLOCK, FIRST, PUSHER, TARGET, Array, Push, Step

DOMAIN = Push()
AWAY = (100.0, 100.0)


def world(pusher: tuple[float, float], block: tuple[float, float], *obstacles: tuple[float, float]) -> Array:
    states = np.zeros((1, len(DOMAIN.factors), 3))
    states[0, PUSHER, :2] = pusher
    states[0, BLOCK, :2] = block
    states[0, TARGET, :2] = AWAY
    states[0, FIRST:, :2] = AWAY
    states[0, FIRST : FIRST + len(obstacles), :2] = np.reshape(obstacles, (-1, 2))
    return states


def act(states: Array, dx: float, dy: float, domain: Push = DOMAIN) -> tuple[list[float], list[float], set[str], Step]:
    """Where pusher and block end, and the causes."""
    step = domain.step(states, np.array([[dx, dy]]))
    named = {factor for factor, is_cause in zip(domain.factors, step.cause[0], strict=True) if is_cause}
    places = [[round(float(v), 9) for v in step.states[0, i, :2]] for i in (PUSHER, BLOCK)]
    return places[0], places[1], named, step


def rollout(seed: int, worlds: int = 200, steps: int = 20, domain: Push = DOMAIN) -> list[tuple[Array, Array, Step]]:
    generator = np.random.default_rng(seed)
    states = domain.reset(generator, worlds)
    taken = []
    for _ in range(steps):
        actions = domain.sample_actions(generator, states)
        taken.append((states, actions, domain.step(states, actions)))
        states = taken[-1][2].states
    return taken


def gather(taken: list[tuple[Array, Array, Step]]) -> tuple[Array, Array, Array, Array]:
    """All states, actions, outcomes and causes of a rollout."""
    return (
        np.concatenate([states for states, _, _ in taken]),
        np.concatenate([actions for _, actions, _ in taken]),
        np.concatenate([step.states[:, BLOCK, :2] for _, _, step in taken]),
        np.concatenate([step.cause for _, _, step in taken]),
    )


# -- physics, case by case ---------------------------------------------------------------------------


def test_a_free_pusher_goes_where_it_wants_and_the_block_explains_itself() -> None:
    pusher, block, named, _ = act(world((1, 1), (4, 4)), 0.5, -0.25)
    assert (pusher, block, named) == ([1.5, 0.75], [4, 4], {"block"})


def test_a_head_on_push_moves_the_block_by_what_is_left_of_the_way() -> None:
    pusher, block, named, step = act(world((1, 2), (2.4, 2.3)), 1, 0)
    assert (pusher, block, named) == ([2, 2], [3, 2.3], {"action", "pusher", "block"})
    assert step.extra["moved"][0]
    assert not step.extra["pinned"][0]


@pytest.mark.parametrize(("dx", "dy"), [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_a_push_works_alike_in_all_four_directions(dx: float, dy: float) -> None:
    pusher, block, named, _ = act(world((2.5 - dx, 2.5 - dy), (2.5, 2.5)), dx, dy)
    assert (pusher, block) == ([2.5, 2.5], [2.5 + dx, 2.5 + dy])
    assert named == {"action", "pusher", "block"}


def test_coming_to_rest_against_the_block_is_no_contact() -> None:
    pusher, block, named, _ = act(world((1, 2), (3, 2)), 1, 0)
    assert (pusher, block, named) == ([2, 2], [3, 2], {"block"})


def test_passing_corner_to_corner_is_no_contact() -> None:
    pusher, block, named, _ = act(world((1, 1), (2, 2)), 0, -0.5)
    assert (pusher, block, named) == ([1, 0.5], [2, 2], {"block"})
    pusher, block, named, _ = act(world((1, 1), (1.5, 2)), 1, 0)
    assert (pusher, block, named) == ([2, 1], [1.5, 2], {"block"})


def test_a_diagonal_move_goes_along_x_first_and_then_pushes_along_y() -> None:
    pusher, block, named, _ = act(world((1, 1), (2, 2.5)), 1, 1)
    assert (pusher, block, named) == ([2, 2], [2, 3], {"action", "pusher", "block"})


def test_a_pusher_slides_along_an_obstacle() -> None:
    pusher, block, named, _ = act(world((1, 2), (4, 4), (2.3, 2.4)), 1, 0.5)
    assert (pusher, block, named) == ([1.3, 2.5], [4, 4], {"block"})


def test_a_pusher_slides_along_the_block_that_it_pushes() -> None:
    pusher, block, _, _ = act(world((1, 2), (2, 2)), 0.5, 0.5)
    assert (pusher, block) == ([1.5, 2.5], [2.5, 2])


def test_an_obstacle_stops_the_block_and_the_block_the_pusher() -> None:
    pusher, block, named, step = act(world((1, 2), (2, 2), (3.25, 2.5)), 1, 0)
    assert (pusher, block, named) == ([1.25, 2], [2.25, 2], {"action", "pusher", "block", "obstacle1"})
    assert step.extra["moved"][0]


def test_a_pinned_block_stays_and_the_contact_is_reported_apart() -> None:
    pusher, block, named, step = act(world((1, 2), (2, 2), (3, 2)), 1, 0)
    assert (pusher, block, named) == ([1, 2], [2, 2], {"action", "pusher", "block", "obstacle1"})
    assert step.extra["pinned"][0]
    assert not step.extra["moved"][0]


def test_of_two_obstacles_the_first_in_the_way_is_the_cause() -> None:
    _, block, named, _ = act(world((1, 2), (2, 2), (3.5, 2.4), (3.25, 1.6)), 1, 0)
    assert (block, named) == ([2.25, 2], {"action", "pusher", "block", "obstacle2"})


def test_two_obstacles_at_the_same_distance_are_both_causes() -> None:
    _, block, named, _ = act(world((1, 2), (2, 2), (3.25, 2.5), (3.25, 1.5)), 1, 0)
    assert (block, named) == ([2.25, 2], {"action", "pusher", "block", "obstacle1", "obstacle2"})


def test_an_obstacle_that_the_block_just_reaches_did_not_stop_it() -> None:
    _, block, named, _ = act(world((1, 2), (2, 2), (4, 2)), 1, 0)
    assert (block, named) == ([3, 2], {"action", "pusher", "block"})


def test_an_obstacle_that_keeps_the_pusher_from_the_block_is_not_named() -> None:
    pusher, block, named, _ = act(world((1, 2), (2.6, 2.9), (2.2, 1.2)), 1, 0)
    assert (pusher, block, named) == ([1.2, 2], [2.6, 2.9], {"block"})


def test_walls_stop_the_pusher_and_it_slides_along_them() -> None:
    pusher, _, named, _ = act(world((4.2, 2), (1, 4)), 1, 0.5)
    assert (pusher, named) == ([4.5, 2.5], {"block"})
    pusher, _, _, _ = act(world((0.7, 0.7), (1, 4)), -1, -1)
    assert pusher == [0.5, 0.5]


def test_the_arena_does_not_bind_the_block_unless_asked_to() -> None:
    states = world((3.5, 2), (4.5, 2))
    assert act(states, 1, 0)[:2] == ([4.5, 2], [5.5, 2])
    pusher, block, named, step = act(states, 1, 0, Push(walls_bind_block=True))
    assert (pusher, block, named) == ([3.5, 2], [4.5, 2], {"action", "pusher", "block"})
    assert step.extra["pinned"][0]


def test_a_wall_that_is_nearer_than_an_obstacle_takes_its_place_as_what_stops_the_block() -> None:
    states = world((3, 2), (4, 2), (6, 2))
    assert act(states, 1, 0, Push(walls_bind_block=True, stride=2))[2] == {"action", "pusher", "block"}
    assert "obstacle1" in act(states, 1, 0, Push(stride=2))[2]


def test_the_target_stops_nothing_and_shows_when_the_block_is_on_it() -> None:
    states = world((1, 2), (2, 2))
    states[0, TARGET, :2] = (3, 2.2)
    _, block, named, step = act(states, 1, 0)
    assert (block, named) == ([3, 2], {"action", "pusher", "block"})
    assert step.states[0, TARGET, 2] == 1
    assert act(states, 0.2, 0)[3].states[0, TARGET, 2] == 0


def test_actions_beyond_the_range_are_cut_and_recorded_as_they_were_carried_out() -> None:
    pusher, _, _, step = act(world((2.5, 2.5), AWAY), 5, 0)
    assert pusher == [3.5, 2.5]
    assert step.seen[0, 0].tolist() == [1, 0, 0]


# -- what holds always -------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), obstacles=st.integers(0, 4), stride=st.sampled_from([0.5, 1.0, 6.0]))
@settings(max_examples=15)
def test_no_two_solid_boxes_ever_overlap_and_nothing_tunnels(seed: int, obstacles: int, stride: float) -> None:
    domain = Push(obstacles=obstacles, stride=stride)
    for states, _, step in rollout(seed, worlds=100, domain=domain):
        places = step.states[:, [PUSHER, BLOCK, *range(FIRST, len(domain.factors))], :2]
        apart = np.abs(places[:, :, None] - places[:, None]).max(axis=3) + 2 * np.eye(obstacles + 2)
        assert (apart > 1 - 1e-6).all()
        assert (np.abs(step.states[:, PUSHER, :2] - 2.5) <= 2 + 1e-9).all()
        assert (step.states[:, TARGET:, :2] == states[:, TARGET:, :2]).all()
        for body in (PUSHER, BLOCK):  # along x, then along y, past every obstacle
            begin, end = states[:, body, :2], step.states[:, body, :2]
            corner = np.stack([end[:, 0], begin[:, 1]], axis=1)
            for share in np.linspace(0, 1, 30):
                for way in (begin + share * (corner - begin), corner + share * (end - corner)):
                    beside = np.abs(states[:, FIRST:, :2] - way[:, None]).max(axis=2, initial=0)
                    assert (beside > 1 - 1e-6).all()
        before = states[:, BLOCK, 0] - states[:, PUSHER, 0]
        after = step.states[:, BLOCK, 0] - step.states[:, PUSHER, 0]
        level = np.abs(states[:, BLOCK, 1] - states[:, PUSHER, 1]) < 1 - 1e-6
        assert (np.sign(before) == np.sign(after))[level].all()  # the pusher does not jump over the block


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_a_batch_gives_what_its_worlds_give_one_by_one(seed: int) -> None:
    for states, actions, together in rollout(seed, worlds=25, steps=3):
        for i in range(len(states)):
            alone = DOMAIN.step(states[i : i + 1], actions[i : i + 1])
            for field in ("seen", "states", "cause", "terminated"):
                assert (getattr(alone, field)[0] == getattr(together, field)[i]).all()
            assert all(alone.extra[key][0] == together.extra[key][i] for key in together.extra)


def test_a_step_changes_neither_argument() -> None:
    for states, actions, _ in rollout(0, worlds=50, steps=3):
        kept = states.copy(), actions.copy()
        states.flags.writeable = actions.flags.writeable = False
        DOMAIN.step(states, actions)
        assert (states == kept[0]).all()
        assert (actions == kept[1]).all()


def test_the_same_seed_gives_the_same_rollout_and_a_pickled_copy_steps_alike() -> None:
    copy = pickle.loads(pickle.dumps(DOMAIN))
    assert copy == DOMAIN
    for one, other in zip(rollout(3), rollout(3, domain=copy), strict=True):
        assert (one[1] == other[1]).all()
        assert (one[2].states == other[2].states).all()


def test_recordings_stay_inside_the_bounds() -> None:
    low, high = DOMAIN.bounds
    for _, _, step in rollout(1):
        for shown in (step.seen, step.states):
            assert (shown >= low - 1e-9).all()
            assert (shown <= high + 1e-9).all()


def test_boxes_begin_apart_and_inside_the_arena() -> None:
    states = Push(obstacles=6, margin=0.0).reset(np.random.default_rng(0), 500)
    places = np.delete(states[:, PUSHER:, :2], TARGET - PUSHER, axis=1)
    apart = np.abs(places[:, :, None] - places[:, None]).max(axis=3) + 2 * np.eye(8)
    assert (apart >= 1).all()
    assert (np.abs(states[:, PUSHER:, :2] - 2.5) <= 2).all()


# -- causes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_contacts_make_up_eight_to_ten_percent_of_steps(seed: int) -> None:
    _, _, _, cause = gather(rollout(seed, worlds=5000))
    assert 0.08 < cause[:, PUSHER].mean() < 0.10
    assert 0.005 < cause[:, FIRST:].any(axis=1).mean() < 0.05


def test_a_contact_moves_the_block_or_is_pinned_and_without_one_it_stays() -> None:
    pinned = contacts = 0
    for states, _, step in rollout(0, worlds=2000):
        contact = step.cause[:, PUSHER]
        shifted = (step.states[:, BLOCK, :2] != states[:, BLOCK, :2]).any(axis=1)
        assert (step.extra["moved"] == (contact & shifted)).all()
        assert (step.extra["pinned"] == (contact & ~shifted)).all()
        assert not shifted[~contact].any()
        assert (step.cause[:, 0] == contact).all()
        pinned, contacts = pinned + step.extra["pinned"].sum(), contacts + contact.sum()
    assert 0.05 < pinned / contacts < 0.2


def test_an_obstacle_that_is_no_cause_may_be_anywhere_else_unless_it_stops_the_pusher() -> None:
    states, actions, outcome, cause = gather(rollout(0, worlds=1000))
    alone = states.copy()
    alone[:, BLOCK, :2] = AWAY
    for i, factor in enumerate(DOMAIN.factors[FIRST:], FIRST):
        cleared = alone.copy()
        cleared[:, i, :2] = -50
        way = [DOMAIN.step(start, actions).states[:, PUSHER] for start in (alone, cleared)]
        spectator = ~cause[:, i] & (np.abs(way[0] - way[1]).max(axis=1) < 1e-9)
        assert spectator.mean() > 0.7
        for place in ((-50.0, -50.0), (50.0, 3.0)):
            other = DOMAIN.intervene(states, factor, np.array(place), actions)
            assert np.abs(other - outcome)[spectator].max() < 1e-9


def test_without_the_one_obstacle_that_is_a_cause_the_block_ends_elsewhere() -> None:
    states, actions, outcome, cause = gather(rollout(0, worlds=1000))
    for i, factor in enumerate(DOMAIN.factors[FIRST:], FIRST):
        only = cause[:, i] & (cause[:, FIRST:].sum(axis=1) == 1)
        assert only.sum() > 20
        other = DOMAIN.intervene(states, factor, np.array([-50.0, -50.0]), actions)
        assert (np.abs(other - outcome)[only].max(axis=1) > 1e-9).all()


@pytest.mark.parametrize(("factor", "value"), [("action", (0.0, 0.0)), ("pusher", (50.0, 50.0))])
def test_action_and_pusher_matter_where_the_block_was_moved_and_nowhere_else(
    factor: str, value: tuple[float, float]
) -> None:
    states, actions, outcome, _ = gather(rollout(0, worlds=500))
    other = DOMAIN.intervene(states, factor, np.array(value), actions)
    moved = (outcome != states[:, BLOCK, :2]).any(axis=1)
    assert ((other != outcome).any(axis=1) == moved).all()


# -- parameters --------------------------------------------------------------------------------------


def test_the_number_of_obstacles_gives_the_factors() -> None:
    assert Push(obstacles=1).factors == ("action", "pusher", "block", "target", "obstacle1")
    assert DOMAIN.edges == ("action", "pusher", "obstacle1", "obstacle2", "obstacle3")
    assert (DOMAIN.outcome, DOMAIN.action, DOMAIN.width) == ("block", "action", 3)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"obstacles": -1}, "'obstacles' of push must be 0 or more"),
        ({"stride": 0}, "'stride' of push must be positive"),
        ({"margin": 3}, "leaves no room"),
    ],
)
def test_impossible_parameters_are_refused(wrong: dict[str, float], sentence: str) -> None:
    with pytest.raises(QueryError, match=sentence):
        Push(**wrong)  # type: ignore[arg-type]


def test_too_many_obstacles_are_refused_when_they_do_not_fit() -> None:
    with pytest.raises(QueryError, match="do not fit"):
        Push(obstacles=24).reset(np.random.default_rng(0), 2)


def test_what_a_step_has_seen_holds_the_action_that_an_intervention_needs():
    generator = np.random.default_rng(4)
    states = DOMAIN.reset(generator, 500)
    actions = DOMAIN.sample_actions(generator, states)
    seen, far = DOMAIN.step(states, actions).seen, np.array([-50.0, -50.0])
    assert np.array_equal(DOMAIN.intervene(seen, "pusher", far), DOMAIN.intervene(states, "pusher", far, actions))
