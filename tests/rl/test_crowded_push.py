"""Bodies that drift by themselves: when they move the block, when they turn, and who has a part in it."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.envs.push import BLOCK, FIRST, PUSHER, Push
from actcause.rl.crowded_push import SPEED, draw_motion, step_crowd


def place(domain, pusher, block, *bodies):
    states = domain.reset(np.random.default_rng(0), 1)
    for at, where in ((PUSHER, pusher), (BLOCK, block), *enumerate(bodies, start=FIRST)):
        states[0, at, :2] = where
    return states


def test_without_bodies_a_step_is_that_of_push():
    domain = Push(obstacles=0)
    states = domain.reset(np.random.default_rng(0), 500)
    actions = domain.sample_actions(np.random.default_rng(1), states)
    crowd, plain = step_crowd(domain, states, np.zeros((500, 0, 2)), actions), domain.step(states, actions)
    assert np.array_equal(crowd.states, plain.states)
    assert np.array_equal(crowd.touched, plain.cause[:, PUSHER])


@pytest.mark.parametrize(
    ("pusher", "block", "body", "motion", "action", "moved", "touched", "after"),
    [
        ((8, 8), (3.2, 2), (2, 2), (0.5, 0), (0, 0), 0.3, False, (-0.5, 0)),  # the body hits the block and turns
        ((8, 8), (6, 2), (2, 2), (0.5, 0), (0, 0), 0.0, False, (0.5, 0)),  # the body is far and goes on
        ((8, 8), (6, 2), (0.7, 2), (-0.5, 0), (0, 0), 0.0, False, (0.5, 0)),  # the body meets the wall
        ((2, 2), (3.2, 2), (6, 6), (0.5, 0), (1, 0), 0.8, True, (0.5, 0)),  # the pusher pushes the block
        ((4.3, 2), (3.2, 2), (2, 2), (0.5, 0), (0, 0), 0.1, True, (-0.5, 0)),  # the pusher stops a block that was hit
        ((4, 2), (8, 8), (2.7, 2), (0.5, 0), (0, 0), 0.0, False, (-0.5, 0)),  # the body meets the pusher
    ],
)
def test_who_moves_the_block(pusher, block, body, motion, action, moved, touched, after):
    domain = Push(obstacles=1, arena=9.0)
    states = place(domain, pusher, block, body)
    taken = step_crowd(domain, states, np.array([[motion]], dtype=float), np.array([action], dtype=float))
    assert taken.states[0, BLOCK, 0] - block[0] == pytest.approx(moved)
    assert taken.touched.tolist() == [touched]
    assert taken.motion[0, 0].tolist() == pytest.approx(list(after))


def test_nothing_passed_in_is_changed_and_bodies_keep_their_speed():
    domain = Push(obstacles=3, arena=7.0)
    states = domain.reset(np.random.default_rng(0), 200)
    motion = draw_motion(domain, np.random.default_rng(1), 200)
    before = states.copy(), motion.copy()
    taken = step_crowd(domain, states, motion, np.random.default_rng(2).uniform(-1, 1, (200, 2)))
    assert np.array_equal(states, before[0])
    assert np.array_equal(motion, before[1])
    assert np.array_equal(np.abs(taken.motion), np.abs(motion))
    assert np.abs(motion).max() <= SPEED
    assert (taken.motion != motion).any()
