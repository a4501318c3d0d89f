import sys

import numpy as np
import pytest

from actcause.envs import make
from actcause.envs.canvas import AGENT, FIELD, GOAL, INK, OUTCOME, PREDICTED, THING, TRUE, Window, rgb
from actcause.envs.drawing import SCENES, draw, factor_names
from actcause.errors import MissingExtraError, QueryError

PUSH = [[0.5, 0, 0], [1.0, 2.5, 0], [2.0, 2.5, 0], [4.0, 4.0, 0], [4.0, 1.0, 0], [1.0, 4.2, 0], [0.6, 0.6, 0]]
BREAK = [
    [1, 0, 0, 0, 0],
    [15, 10, 0, 0, 0],
    [8, 25, 1, -1, 0],
    [10, 40, 0, 0, 1],
    [20, 40, 0, 0, 0],
    [20, 44, 0, 0, 1],
]
REACTOR = [
    *([0.8, 0, 0], [0.8, 0.8, 0], [0.2, 0, 0], [0.3, 0, 0], [0.5, 0.8, 0.1]),
    *([0.99, 0.5, 0], [0.1, 0.5, 0], [0.2, 0.5, 0], [0.3, 0.5, 0]),
]
WORLDS = {
    "push": PUSH,
    "break": BREAK,
    "block-1d": [[49], [50], [52]],
    "mover-1d": [[0], [1]],
    "reactor": REACTOR,
}


def find_colour(picture, colour):
    """Where the picture has exactly this colour."""
    return (picture == rgb(colour)).all(axis=2)


def middle(picture, colour):
    """Column and row of the middle of what has this colour."""
    rows, columns = np.nonzero(find_colour(picture, colour))
    return (columns.min() + columns.max()) / 2, (rows.min() + rows.max()) / 2


def walls(picture):
    """Left, top, right and bottom of the longest dark lines."""
    dark = find_colour(picture, INK)
    rows, columns = np.flatnonzero(dark.sum(axis=1) > 200), np.flatnonzero(dark.sum(axis=0) > 200)
    return columns.min(), rows.min(), columns.max(), rows.max()


def overlay(picture, colour):
    """How many pixels below the legend have this colour."""
    return int(find_colour(picture, colour)[44:].sum())


@pytest.mark.parametrize("size", [480, 700])
def test_push_shows_every_box_where_it_is_in_the_arena(size):
    picture = draw(make("push"), PUSH, size=size)
    left, top, right, bottom = walls(picture)
    for (x, y, _), colour in zip(PUSH[1:], (AGENT, OUTCOME, FIELD, THING, THING, THING), strict=True):
        column, row = left + (right - left) * x / 5, bottom - (bottom - top) * y / 5
        assert tuple(picture[round(row), round(column)]) == rgb(colour)
    column, row = left + (right - left) * 4 / 5, bottom - (bottom - top) * 4 / 5
    assert middle(picture, GOAL) == pytest.approx((column, row), abs=2)


def test_a_block_that_was_pushed_out_of_the_arena_is_still_seen():
    world = np.array(PUSH)
    world[2] = (5.5, 5.5, 0)
    box = (480 / 7.5) ** 2
    assert find_colour(draw(make("push"), world), OUTCOME).sum() > 0.7 * box


def test_break_shows_ball_paddle_and_the_blocks_that_are_left():
    picture = draw(make("break"), BREAK, size=960)
    dark = find_colour(picture, INK)
    left, right = np.flatnonzero(dark.sum(axis=0) > 200)[[0, -1]]
    unit = (right - left) / 30
    ball, paddle = middle(picture, OUTCOME), middle(picture, AGENT)
    assert ball[0] - left == pytest.approx(8 * unit, abs=2)
    assert paddle[0] - left == pytest.approx(15 * unit, abs=2)
    assert paddle[1] - ball[1] == pytest.approx(15 * unit, abs=2)

    def edge_of(x, y):
        """Inside a block, below its name."""
        return picture[round(ball[1] - (y - 0.7 - 25) * unit), round(left + (x - 2) * unit)]

    assert tuple(edge_of(10, 40)) == tuple(edge_of(20, 44)) == rgb(THING)
    assert tuple(edge_of(20, 40)) != rgb(THING)


def test_block_1d_shows_what_is_near_the_block_and_below_it_the_whole_world():
    picture = draw(make("block-1d"), WORLDS["block-1d"])
    near, whole = picture[:220], picture[280:]
    unit = 480 / 18
    block = middle(near, OUTCOME)
    assert block[0] - middle(near, AGENT)[0] == pytest.approx(unit, abs=2)
    assert middle(near, THING)[0] - block[0] == pytest.approx(2 * unit, abs=2)
    assert middle(whole, OUTCOME)[0] == pytest.approx(238, abs=3)
    far = draw(make("block-1d"), [[3], [50], [90]])
    assert not find_colour(far[:220], AGENT).any()
    assert find_colour(far[280:], AGENT).any()


@pytest.mark.parametrize("field", range(4))
def test_mover_1d_shows_the_mover_on_its_field(field):
    picture = draw(make("mover-1d"), [[field], [2]])
    unit = 480 / 5.2
    assert middle(picture, OUTCOME)[0] == pytest.approx((field + 0.6) * unit, abs=2)


@pytest.mark.parametrize("name", WORLDS)
def test_arrows_are_drawn_only_where_there_are_causes(name):
    domain = make(name)
    nothing = np.zeros(len(domain.factors))
    plain = draw(domain, WORLDS[name])
    without = draw(domain, WORLDS[name], cause=nothing, predicted=nothing)
    assert overlay(plain, TRUE) == overlay(plain, PREDICTED) == 0
    assert overlay(without, TRUE) == overlay(without, PREDICTED) == 0
    for factor in domain.factors:
        true = draw(domain, WORLDS[name], cause=[factor])
        assert overlay(true, TRUE) > 20
        assert overlay(true, PREDICTED) == 0
        guess = draw(domain, WORLDS[name], predicted=[factor])
        assert overlay(guess, PREDICTED) > 20
        assert overlay(guess, TRUE) == 0


def test_an_arrow_leads_from_the_cause_to_the_outcome():
    domain = make("mover-1d")
    picture = draw(domain, [[0], [3]], cause=["obstacle"])
    columns = np.nonzero(find_colour(picture, TRUE)[44:])[1]
    unit = 480 / 5.2
    assert 0.6 * unit < columns.min() < 1.0 * unit
    assert columns.max() == pytest.approx(3.6 * unit, abs=6)


@pytest.mark.parametrize("name", WORLDS)
def test_a_picture_is_the_same_bytes_each_time_and_leaves_the_world_alone(name):
    domain = make(name)
    world = np.array(WORLDS[name], dtype=float)
    before = world.copy()
    one, other = (draw(domain, world, cause=np.ones(len(world)), caption=["step 1"]) for _ in range(2))
    assert one.dtype == np.uint8
    assert one.tobytes() == other.tobytes()
    assert one.shape[0] % 2 == one.shape[1] % 2 == 0
    assert np.array_equal(world, before)


def test_causes_are_a_vector_or_names():
    domain = make("push")
    vector = np.array([1, 0, 1, 0, 0, 0, 0], dtype=np.int8)
    assert factor_names(domain, vector) == factor_names(domain, ["block", "action"]) == ("action", "block")
    assert np.array_equal(draw(domain, PUSH, cause=vector), draw(domain, PUSH, cause={"action", "block"}))


@pytest.mark.parametrize("far", [-1e12, 1e12])
@pytest.mark.parametrize("name", WORLDS)
def test_what_is_far_outside_is_drawn_without_trouble(name, far):
    domain = make(name)
    everything = np.ones(len(domain.factors))
    picture = draw(domain, np.full((len(domain.factors), domain.width), far), predicted=everything)
    near = draw(domain, domain.reset(np.random.default_rng(0), 1)[0], predicted=everything)
    assert picture.shape == near.shape
    assert not np.array_equal(picture, near)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("push", {"obstacles": 0}), ("break", {"blocks": 8}), ("block-1d", {"body": 0.0}), ("mover-1d", {"fields": 60})],
)
def test_a_domain_with_other_parameters_has_a_picture(name, parameters):
    domain = make(name, **parameters)
    states = domain.reset(np.random.default_rng(0), 3)
    for world in states:
        assert find_colour(draw(domain, world, cause=[domain.outcome]), OUTCOME).any()


@pytest.mark.parametrize(
    ("world", "options", "says"),
    [
        ([[0.0]], {}, r"must be finite numbers of shape \(2, 1\)"),
        ([[0.0], [np.nan]], {}, "must be finite numbers"),
        ("ab", {}, "must be finite numbers"),
        ([[0], [1]], {"cause": [1, 0, 0]}, "0 or 1 for each of the 2 factors"),
        ([[0], [1]], {"predicted": [0.5, 0]}, "predicted causes must be names"),
        ([[0], [1]], {"cause": ["obstacel"]}, "did you mean 'obstacle'"),
        ([[0], [1]], {"size": 10}, "integer from 240 to 4096"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_sentence(world, options, says):
    with pytest.raises(QueryError, match=says) as refusal:
        draw(make("mover-1d"), world, **options)
    assert "\n" not in str(refusal.value)


def test_a_domain_without_a_picture_says_so():
    domain = make("1-in")
    with pytest.raises(QueryError, match="has no picture; push, break, block-1d, mover-1d, reactor have one"):
        draw(domain, np.zeros((len(domain.factors), domain.width)))


def test_every_domain_but_random_vectors_has_a_picture():
    assert {kind.name for kind in SCENES} == set(WORLDS)


def test_a_missing_extra_is_named_with_its_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'actcause\[pictures\]'"):
        draw(make("mover-1d"), [[0], [1]])
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'actcause\[pictures\]'"):
        Window("push")


def test_a_window_shows_pictures_until_it_is_closed(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    import pygame

    window = Window("push", fps=1000)
    picture = draw(make("push"), PUSH)
    window.show(picture)
    window.show(draw(make("break"), BREAK))
    window.show(picture)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, picture)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(picture)
    assert window.closed
    window.show(picture)
    window.close()


def test_a_machine_without_a_screen_is_told_what_to_use_instead(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "nonesuch")
    with pytest.raises(QueryError, match="rgb_array"):
        Window("push")
