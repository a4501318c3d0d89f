"""Races in environments that step one world at a time: the same agents, filters by chains, and one view for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gymnasium")

from actcause.errors import QueryError  # noqa: E402
from actcause.rl import GoalPush  # noqa: E402
from actcause.rl.env_race import EnvRace, find_chain, play_episodes, run_env_race  # noqa: E402
from actcause.rl.goal_agents import GoalAgents  # noqa: E402
from actcause.rl.goal_views import EnvView  # noqa: E402

CPU = torch.device("cpu")
STEPS = 8


def make_push(told: bool, **options: Any) -> GoalPush:
    return GoalPush(arena=5.0, margin=0.25, max_steps=STEPS, with_causes=told, **options)


def make_race(**options: Any) -> EnvRace:
    known = {"steps": 96, "worlds": 2, "rows": 16, "every": 48, "episodes": 2, "width": 8}
    return EnvRace(make_push, **{**known, **options})


def play(way: str, seed: int = 0, at: int = 0) -> Any:
    envs = [make_push(True) for _ in range(6)]
    agents = GoalAgents((3, 3), EnvView(envs[0].layout), 0.5, 8, CPU)
    return play_episodes(make_race(), envs, agents, at, way, [seed, 0], CPU)


def test_every_way_gives_a_curve_and_contacts_are_learned_on_the_way() -> None:
    race = make_race(fits=(40,), options={"steps": 5})
    raced = run_env_race(race, ["her", "true", "moved", "learned"], [0, 0, 0, 1])
    assert [[at for at, _ in one.curve] for one in raced] == [[48, 96]] * 4
    assert all(0 <= share <= 100 for one in raced for _, share in one.curve)


def test_agents_of_one_seed_begin_alike_and_goals_are_what_the_filter_says() -> None:
    every, moved, true = (play(way, at=at) for way, at in (("her", 0), ("moved", 1), ("true", 1)))
    assert np.array_equal(every.states, true.states)
    assert not np.array_equal(every.states, play("her", seed=1).states)
    assert every.first.tolist() == [0] * 6
    assert true.first.tolist() == moved.first.tolist()  # without noise nothing else moves the block
    assert len(set(true.first.tolist())) > 1


def test_a_chain_begins_with_the_first_touch() -> None:
    env = make_push(True)
    alone, touched = [[0, 1, 0, 0], [0, 0, 1, 0]], [[0, 1, 0, 0], [0, 1, 1, 0]]
    assert find_chain(env, np.array([alone, alone, touched, alone])) == 2
    assert find_chain(env, np.array([alone, alone])) == 2


@pytest.mark.parametrize("kind", ["push", "pucks"])
def test_a_view_shows_what_lies_between_and_measures_in_the_units_of_the_task(kind: str) -> None:
    if kind == "pucks":
        pytest.importorskip("mujoco")
        from actcause.rl import GoalPucks

        env: Any = GoalPucks(with_causes=False)
    else:
        env = make_push(False)
    seen, _ = env.reset(seed=0)
    layout, view = env.layout, EnvView(env.layout)
    state = torch.tensor(np.concatenate([seen["observation"], seen["achieved_goal"]]))
    goal = torch.tensor(seen["desired_goal"])
    places = {name: layout.read_states(seen)[layout.factors.index(name), :2]
              for name in (layout.driven, layout.moving, layout.goal)}  # fmt: skip
    away = np.linalg.norm(places[layout.moving] - places[layout.goal])
    assert float(view.measure(state, goal)) == pytest.approx(away, abs=1e-4)
    shown = view.observe(state, goal).numpy()
    assert shown.shape == (view.inputs,)
    half = layout.half[layout.factors.index(layout.moving), :2]
    assert np.allclose(shown[-4:-2] * half, places[layout.moving] - places[layout.driven], atol=1e-4)
    assert np.allclose(shown[-2:] * half, places[layout.goal] - places[layout.moving], atol=1e-4)


def test_one_agent_asked_alone_does_what_it_does_among_others() -> None:
    agents = GoalAgents((0, 1), EnvView(make_push(False).layout), 0.5, 8, CPU)
    states, goals = torch.rand(2, 3, 6), torch.rand(2, 3, 2)
    together = agents.act(states, goals)
    assert torch.allclose(agents.act_alone(1, states[1:], goals[1:])[0], together[1], atol=1e-6)


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(QueryError, match="Unknown way 'online'; choose from her, true, moved, learned"):
        run_env_race(make_race(), ["online"], [0])
