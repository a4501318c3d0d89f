"""Atari Breakout: what is read from its memory, and whether its labels are true."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.worlds import make
from actcause.worlds.breakout_game import COLUMNS, FIRE, LEFT, LOST, NOOP, RIGHT, ROWS, BreakoutGame

ale_py = pytest.importorskip("ale_py")
roms = pytest.importorskip("ale_py.roms")


@pytest.fixture(scope="module")
def recording() -> Transitions:
    return collect("ale-breakout", 1000, seed=0)


@pytest.fixture
def game() -> BreakoutGame:
    game = BreakoutGame(ale_py, roms, seed=1)
    game.start()
    game.step(FIRE)
    for _ in range(10):  # in which the game builds its wall
        game.step(NOOP)
    return game


def column(data: Transitions, factor: str, feature: str) -> np.ndarray:
    return data.state[:, data.layout.index(factor), data.features[factor].index(feature)]


def test_bricks_are_read_from_the_bits_that_draw_them(game: BreakoutGame) -> None:
    assert game.read_bricks().shape == (COLUMNS, ROWS)
    drawn = np.random.default_rng(0).random((COLUMNS, ROWS)) < 0.5
    game.put_bricks(dict(enumerate(drawn)))
    assert np.array_equal(game.read_bricks(), drawn)
    game.step(NOOP)
    seen = game._ale.getScreenGrayscale()[59:95:6, 8:152:4] > 0  # both halves of every brick
    assert np.array_equal(seen.T.reshape(COLUMNS, 2, ROWS), np.repeat(drawn[:, None], 2, axis=1))


def test_a_state_that_is_gone_back_to_plays_on_alike(game: BreakoutGame) -> None:
    saved = game.save()
    first = game.step(RIGHT)
    game.step(LEFT)
    game.restore(saved)
    assert np.array_equal(game.step(RIGHT), first)


def test_a_paddle_that_is_put_away_is_where_the_ball_is_not(game: BreakoutGame) -> None:
    assert game.step(NOOP, paddle=0)[:, 2].max() < 110
    assert game.step(NOOP, paddle=255)[:, 2].min() > 150


def test_a_column_is_a_cause_where_a_brick_of_it_vanished(recording: Transitions) -> None:
    assert recording.cause is not None
    columns = recording.edges[2:]
    label = recording.cause[:, 3:]
    assert label.sum() >= 10
    vanished = np.stack([recording.extra[f"contact.{name}"] for name in columns], axis=1)
    assert not (label & ~vanished).any()


def test_a_ball_that_turned_upwards_was_turned_by_the_paddle_or_had_turned_before(recording: Transitions) -> None:
    assert recording.cause is not None
    turned = recording.extra["contact.paddle"]
    label = recording.cause[:, 1]
    assert label.sum() >= 10
    assert not (label & ~turned).any()
    late = turned & ~label
    assert late.sum() < 0.1 * turned.sum()


def test_the_action_is_a_cause_only_with_the_paddle(recording: Transitions) -> None:
    assert recording.cause is not None
    assert recording.cause[:, 0].any()
    assert not (recording.cause[:, 0] & ~recording.cause[:, 1]).any()


def test_a_ball_that_nothing_turned_follows_from_its_own_state(recording: Transitions) -> None:
    assert recording.cause is not None
    followers = defaultdict(set)
    for row in np.flatnonzero(recording.cause.sum(axis=1) == 1):
        followers[tuple(recording.state[row, 2, :6])].add(tuple(recording.outcome[row]))
    ambiguous = sum(len(outcomes) > 1 for outcomes in followers.values())
    assert ambiguous < 0.01 * len(followers)


def test_an_episode_is_one_ball(recording: Transitions) -> None:
    assert recording.episode is not None
    same = recording.episode[1:] == recording.episode[:-1]
    assert np.array_equal(recording.state[1:][same, 2, :4], recording.outcome[:-1][same])
    assert (recording.outcome[:, 1] != LOST).all()
    assert set(column(recording, "action", "move")) == {NOOP, RIGHT, LEFT}


def test_columns_lie_beside_each_other_and_share_a_class(recording: Transitions) -> None:
    places = [column(recording, name, "x")[0] for name in recording.edges[2:]]
    assert np.array_equal(np.diff(places), np.full(COLUMNS - 1, 8))
    assert {recording.metadata["classes"][name] for name in recording.edges[2:]} == {"column"}


def test_every_label_makes_a_difference_when_it_is_taken_away() -> None:
    data = collect(make("ale-breakout", check=True), 60, seed=0)
    assert data.cause is not None
    for factor in data.edges:
        label, differs = data.cause[:, data.layout.index(factor)], data.extra[f"differs.{factor}"]
        assert not (label & ~differs).any(), factor
        if factor != "action":  # another action may catch a ball that was missed
            assert not (differs & ~label).any(), factor
