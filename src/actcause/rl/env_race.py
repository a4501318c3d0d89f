"""Hindsight with and without a filter, raced in environments that step one world at a time: pucks and FetchPush.

The agents, their memory and their updates are those of `goal_race`; worlds are environments of ours, a few for each
agent. Agents of one seed begin in the same worlds with the same weights and explore by the same draws. A filter takes
goals from the first step on to which a chain leads from the agent's actions to the object: by true graphs, by graphs
learned from the agent's own episodes (`ContactGraphs`, without labels), or because the object moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..envs.base import Array
from ..errors import ActCauseError, QueryError, quote
from .chains import follow_actions
from .episode_memory import EpisodeMemory
from .goal_agents import GoalAgents
from .goal_env import GoalEnv
from .goal_race import LOOKED, Raced, find_earliest
from .goal_recording import record_observations
from .goal_views import EnvView

WAYS = ("her", "true", "moved", "learned")
MOVED = 1e-3  # what counts as a motion of the object, in scaled units


@dataclass(frozen=True)
class EnvRace:
    """How long agents are trained in an environment, and how often success is measured."""

    make: Callable[[bool], GoalEnv]  # an environment, with the true graph of every step or without
    steps: int = 160_000  # of each agent
    worlds: int = 4
    updates: int = 1  # for each step of all worlds
    rows: int = 256  # of an update
    share: float = 0.8  # of these relabelled
    every: int = 8000  # steps between looks
    episodes: int = 50  # of a look
    width: int = 128
    wander: float = 0.2  # the share of actions that are random
    jitter: float = 0.2  # the spread of what is added to the others
    fits: tuple[int, ...] = (12_000, 36_000)  # steps after which causes are learned
    options: Mapping[str, Any] = field(default_factory=dict)  # of `ContactGraphs`
    learned_rows: int = 20_000  # the last that causes are learned from


@dataclass(frozen=True)
class EnvEpisodes:
    """Episodes of one agent: states `(worlds, steps + 1, width)`, actions, goals, and the first step of a chain."""

    states: Array
    actions: Array
    goals: Array
    first: Array


def run_env_race(
    race: EnvRace,
    ways: Sequence[str],
    seeds: Sequence[int],
    *,
    device: str = "cpu",
    report: Callable[[int, list[float]], None] | None = None,
) -> list[Raced]:
    """Train an agent for each way (`her`, `true`, `moved`, `learned`) and its seed; return what became of each."""
    unknown = [way for way in ways if way not in WAYS]
    if unknown:
        raise QueryError("Unknown way {got}; choose from {known}.", got=quote(unknown[0]), known=", ".join(WAYS))
    place = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)
    envs = {told: [race.make(told) for _ in range(race.worlds)] for told in {way == "true" for way in ways} | {False}}
    task = envs[False][0]
    view, length = EnvView(task.layout), task.max_steps
    agents = GoalAgents(seeds, view, task.tolerance, race.width, place)
    rounds = max(1, race.steps // (race.worlds * length))
    memory = EpisodeMemory(
        len(ways), rounds * race.worlds, length, view.width, place, places=view.places, moves=view.actions
    )
    draws = torch.Generator(device=place).manual_seed(min(seeds))
    learned = _ContactCauses(race, task, [at for at, way in enumerate(ways) if way == "learned"], seeds)
    raced = [Raced([], []) for _ in ways]
    looked = 0
    for number in range(rounds):
        played = [
            play_episodes(race, envs[way == "true"], agents, at, way, [seed, number], place)
            for at, (way, seed) in enumerate(zip(ways, seeds, strict=True))
        ]
        first = np.stack([learned.judge(at, one) for at, one in enumerate(played)])
        states, actions, goals = (
            torch.as_tensor(np.stack([getattr(one, name) for one in played]), device=place)
            for name in ("states", "actions", "goals")
        )
        memory.add(states, actions, goals, torch.as_tensor(first, device=place))
        done = (number + 1) * race.worlds * length
        learned.learn(memory, done)
        for _ in range(race.updates * length):
            agents.update(memory.sample(race.rows, race.share, draws))
        if done - looked >= race.every or number == rounds - 1:
            looked = done
            shares = [look_at(race, envs[False][0], agents, at, place) for at in range(len(raced))]
            for one, share in zip(raced, shares, strict=True):
                one.curve.append((done, share))
            if report is not None:
                report(done, shares)
    return raced


def play_episodes(
    race: EnvRace, envs: Sequence[GoalEnv], agents: GoalAgents, at: int, way: str, seed: Sequence[int], place: Any
) -> EnvEpisodes:
    """Let an agent act for an episode in each of its worlds, exploring."""
    stream = np.random.default_rng(seed)
    worlds, length = len(envs), envs[0].max_steps
    moves = agents.view.actions
    starts = stream.integers(2**31, size=worlds)
    stray = stream.random((length, worlds, 1)) < race.wander
    wild = stream.uniform(-1, 1, (length, worlds, moves))
    added = stream.normal(0, race.jitter, (length, worlds, moves))
    seen = [env.reset(seed=int(start))[0] for env, start in zip(envs, starts, strict=True)]
    states, actions, graphs = [_join(seen)], [], []
    goals = np.stack([one["desired_goal"] for one in seen])
    for step in range(length):
        own = _act(agents, at, states[-1], goals, place)
        action = np.where(stray[step], wild[step], np.clip(own + added[step], -1, 1)).astype(np.float32)
        taken = [env.step(one) for env, one in zip(envs, action, strict=True)]
        states.append(_join([one[0] for one in taken]))
        actions.append(action)
        graphs.append([one[4].get("graph") for one in taken])
    found = np.stack(states, axis=1)
    first = np.zeros(worlds, dtype=np.int64)
    if way == "true":
        first = np.array([find_chain(envs[0], np.array([each[k] for each in graphs])) for k in range(worlds)])
    elif way == "moved":
        moved = np.abs(np.diff(found[..., -agents.view.places :], axis=1)).max(axis=2) > MOVED
        first = find_earliest(moved)
    return EnvEpisodes(found, np.stack(actions, axis=1), goals, first)


def find_chain(env: GoalEnv, graphs: Array) -> int:
    """Return the first step of an episode after which a chain leads from an action to the object; its length if none.

    The action drives its body; nobody has to learn that.
    """
    layout, outcomes = env.layout, env.outcomes
    found = np.asarray(graphs, dtype=bool).copy()
    found[:, outcomes.index(layout.driven), layout.factors.index(layout.action)] = True
    latest = follow_actions(found, outcomes, layout.factors, layout.action)
    return int(find_earliest(latest[:, layout.factors.index(layout.moving)] >= 0))


def look_at(race: EnvRace, env: GoalEnv, agents: GoalAgents, at: int, place: Any) -> float:
    """Measure an agent's success without exploring: the share of episodes, in per cent, that end at the goal."""
    ended = 0
    for number in range(race.episodes):
        seen, info = env.reset(seed=LOOKED + number)
        over = False
        while not over:
            action = _act(agents, at, _join([seen]), seen["desired_goal"][None], place)[0]
            seen, _, _, over, info = env.step(action)
        ended += bool(info["is_success"])
    return 100 * ended / race.episodes


class _ContactCauses:
    """Graphs by contacts for each agent that learns causes, fitted anew at set times on its own episodes."""

    def __init__(self, race: EnvRace, task: GoalEnv, agents: Sequence[int], seeds: Sequence[int]) -> None:
        self.race, self.task, self.agents, self.seeds = race, task, list(agents), seeds
        self.learners: dict[int, Any] = {}
        self._due = sorted(race.fits) if agents else []

    def judge(self, at: int, played: EnvEpisodes) -> Array:
        """Return the first step of each episode that may be a goal."""
        if at not in self.learners:
            return played.first
        return self._find_first(at, played.states, played.actions, played.goals)

    def learn(self, memory: EpisodeMemory, done: int) -> None:
        """Fit the learners where it is time, and judge all episodes again."""
        if not self._due or done < self._due[0]:
            return
        from .contact_graphs import ContactGraphs

        self._due = [due for due in self._due if due > done]
        count = memory.count
        for at in self.agents:
            states, actions, goals = (
                part[at, :count].cpu().numpy() for part in (memory.states, memory.actions, memory.goals)
            )
            last = slice(max(0, count - self.race.learned_rows // memory.steps), None)
            try:
                learner = ContactGraphs(seed=self.seeds[at], **self.race.options)
                self.learners[at] = learner.fit(self._record(states[last], actions[last], goals[last]))
            except ActCauseError:  # nothing happened yet that could be explained
                continue
            first = self._find_first(at, states, actions, goals)
            memory.first[at, :count] = torch.as_tensor(first, device=memory.first.device)
        memory.list_usable()

    def _find_first(self, at: int, states: Array, actions: Array, goals: Array) -> Array:
        graphs = self.learners[at].explain(self._record(states, actions, goals))
        episodes = graphs.reshape(*actions.shape[:2], *graphs.shape[1:])
        return np.array([find_chain(self.task, episode) for episode in episodes])

    def _record(self, states: Array, actions: Array, goals: Array) -> Any:
        """Return episodes as a recording of whole states."""
        episodes, steps, moves = actions.shape
        size = self.task.layout.size
        wanted = np.repeat(goals[:, None], steps, axis=1).reshape(episodes * steps, -1)
        seen = [
            {"observation": flat[:, :size], "achieved_goal": flat[:, size:], "desired_goal": wanted}
            for flat in (part.reshape(episodes * steps, -1) for part in (states[:, :-1], states[:, 1:]))
        ]
        return record_observations(
            self.task.layout,
            self.task.outcomes,
            seen[0],
            actions.reshape(-1, moves),
            seen[1],
            episode=np.repeat(np.arange(episodes), steps),
        )


def _join(seen: Sequence[Mapping[str, Array]]) -> Array:
    """Return observations as states, `(worlds, width)`: all that is seen, and the object's place after that."""
    return np.stack([np.concatenate([one["observation"], one["achieved_goal"]]) for one in seen])


def _act(agents: GoalAgents, at: int, states: Array, goals: Array, place: Any) -> Array:
    """Return what one of the agents would do, `(worlds, numbers)`; the others are not asked."""
    rows = (torch.as_tensor(part, dtype=torch.float32, device=place)[None] for part in (states, goals))
    return np.asarray(agents.act_alone(at, *rows)[0].cpu().numpy())
