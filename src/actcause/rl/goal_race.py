"""Hindsight with and without a filter, raced: all ways and all seeds learn to push as one computation.

The worlds are those of the domain `push`, stepped by its own dynamics, alone or in a crowd (`crowded_push`); nothing
but numpy and torch is needed. Agents of one seed begin in the same worlds with the same weights and explore by the same
draws, whatever their way.

    for each round:   every agent acts for an episode in each of its worlds
                      the episodes are kept, each with the first step that may be a goal, as the agent's way has it
                      every agent learns, for as many updates as every other
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..envs.base import Array
from ..envs.push import BLOCK, FIRST, PUSHER, TARGET, Push
from ..errors import ActCauseError
from .crowded_push import draw_motion, step_crowd
from .episode_memory import EpisodeMemory
from .goal_agents import GoalAgents
from .goal_views import PushView
from .online_causes import OnlineCauses
from .race_bonus import RaceBonus

if TYPE_CHECKING:
    from ..data import Recording, Transitions

MOVED = 1e-4  # what counts as a motion
LOOKED = 100_000  # seeds of the worlds that success is measured in begin here


@dataclass(frozen=True)
class Race:
    """The task, how long it is trained on, and how often success is measured."""

    arena: float = 12.0
    noise: float = 0.0
    others: int = 0  # bodies that drift by themselves, which agents do not see
    horizon: int = 60
    margin: float = 1.5
    tolerance: float = 0.5
    steps: int = 200_000  # of each agent
    worlds: int = 16
    updates: int = 4  # for each step of all worlds
    rows: int = 256  # of an update
    share: float = 0.8  # of these relabelled
    every: int = 4800  # steps between looks
    episodes: int = 100  # of a look
    width: int = 128
    wander: float = 0.2  # the share of actions that are random
    jitter: float = 0.2  # the spread of what is added to the others
    fits: tuple[int, ...] = (20_000, 60_000)  # steps after which causes are learned
    method: str = "jaci-exchange"  # of the learner of causes
    options: Mapping[str, Any] = field(default_factory=dict)  # of that
    online_updates: int = 60  # of causes learned online, for each round of episodes
    bonus: float = 1.0  # for a step in which the pusher moves the block, of agents whose way has a bonus
    times: int = 500  # episodes with such a step after which there is none

    @property
    def domain(self) -> Push:
        """The world."""
        return Push(arena=self.arena, obstacles=self.others, margin=self.margin, noise=self.noise)


@dataclass(frozen=True)
class Episodes:
    """Episodes of some agents: states `(agents, worlds, steps + 1, 4)`, actions, goals, and who touched the block.

    `others`, `(agents, worlds, steps, 4 * bodies)`, has place and motion of the bodies that drift.
    """

    states: Array
    actions: Array
    goals: Array
    touched: Array
    others: Array


@dataclass(frozen=True)
class Raced:
    """What became of an agent: its success, in per cent, at every look, and how wrong its filter was by then.

    `wrong` is the share, in per cent, of the steps of its episodes that its filter takes as goals and true causes do
    not, or the other way round.
    """

    curve: list[tuple[int, float]]
    wrong: list[tuple[int, float]]


def run_race(
    race: Race,
    ways: Sequence[str],
    seeds: Sequence[int],
    *,
    device: str = "auto",
    report: Callable[[int, list[float]], None] | None = None,
) -> list[Raced]:
    """Train an agent for each way and its seed; return what became of each.

    `ways` are `her`, `true`, `moved`, `learned` (by a learner, at set times) and `online` (in every round), one for
    each agent, `seeds` as many. A way may have a bonus besides: `her+bonus`, or another kind of `race_bonus`.
    """
    kinds = [way.partition("+")[2] for way in ways]
    ways = [way.partition("+")[0] for way in ways]
    place = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)
    agents = GoalAgents(seeds, PushView(race.arena), race.tolerance, race.width, place, apart="apart" in kinds)
    rounds = max(1, race.steps // (race.worlds * race.horizon))
    episodes = rounds * race.worlds
    bonus = RaceBonus(kinds, episodes, race.horizon, race.bonus, race.times, place) if any(kinds) else None
    memory = EpisodeMemory(len(ways), episodes, race.horizon, 4, place, others=race.others, bonus=bonus)
    draws = torch.Generator(device=place).manual_seed(min(seeds))
    streams = {seed: np.random.default_rng([seed, 1]) for seed in dict.fromkeys(seeds)}
    causes = _LearnedCauses(race, [at for at, way in enumerate(ways) if way == "learned"], seeds, device)
    live = [at for at, way in enumerate(ways) if way == "online"]
    online = OnlineCauses(live, [seeds[at] for at in live], race.arena, race.others, place)
    raced = [Raced([], []) for _ in ways]
    truth = np.zeros((len(ways), 0), dtype=np.int64)
    looked = 0
    for number in range(rounds):
        played = play(race, agents, seeds, streams, place, None if bonus is None else bonus.episodes)
        states, actions, goals, others = (
            _send(part, place) for part in (played.states, played.actions, played.goals, played.others)
        )
        if bonus is not None:
            bonus.add(_send(played.touched, place))
        memory.add(states, actions, goals, _send(find_first(ways, played, causes), place), others)
        truth = np.concatenate([truth, find_earliest(played.touched)], axis=1)
        done = (number + 1) * race.worlds * race.horizon
        if causes.learn(memory, done):
            memory.first[causes.agents, : memory.count] = _send(causes.judge_all(memory), place)
            memory.list_usable()
        if live:
            online.learn(memory, race.online_updates)
            memory.first[live, : memory.count] = online.find_first(memory)
            memory.list_usable()
        for _ in range(race.updates * race.horizon):
            agents.update(memory.sample(race.rows, race.share, draws))
        if done - looked >= race.every or number == rounds - 1:
            looked = done
            shares = look(race, agents, len(ways), place)
            off = np.abs(memory.first[:, : memory.count].cpu().numpy() - truth).mean(axis=1) / race.horizon
            for one, share, wrong in zip(raced, shares, off, strict=True):
                one.curve.append((done, share))
                one.wrong.append((done, round(100 * float(wrong), 3)))
            if report is not None:
                report(done, shares)
    return raced


def play(
    race: Race, agents: GoalAgents, seeds: Sequence[int], streams: Mapping[int, np.random.Generator], place: Any,
    shares: torch.Tensor | None = None,
) -> Episodes:  # fmt: skip
    """Let every agent act for an episode in each of its worlds, exploring; in this share of them for a bonus apart."""
    domain, order = race.domain, [[*streams].index(seed) for seed in seeds]
    begun = np.stack([begin(domain, stream, race.worlds, race.tolerance) for stream in streams.values()])
    shape = (len(streams), race.horizon, race.worlds)
    stray = np.stack([stream.random(shape[1:]) for stream in streams.values()]) < race.wander
    wild = np.stack([stream.uniform(-1, 1, (*shape[1:], 2)) for stream in streams.values()])
    added = np.stack([stream.normal(0, race.jitter, (*shape[1:], 2)) for stream in streams.values()])
    chance = np.stack([stream.normal(size=(*shape[1:], 2)) for stream in streams.values()])

    def choose(action: Array, step: int) -> Array:
        own = np.clip(action + added[order, step], -1, 1)
        return np.asarray(np.where(stray[order, step, :, None], wild[order, step], own))

    motion = np.stack([draw_motion(domain, stream, race.worlds) for stream in streams.values()])
    worlds = torch.arange(race.worlds, device=place)
    apart = None if shares is None else worlds < (shares[:, None] * race.worlds).round()
    return _roll(
        race, domain, agents, begun[order], motion[order], choose, lambda step: chance[order, step], place, apart
    )


def look(race: Race, agents: GoalAgents, count: int, place: Any) -> list[float]:
    """Measure success without exploring, in the same worlds for every agent: the share of episodes, in per cent."""
    domain, stream = race.domain, np.random.default_rng(LOOKED)
    begun = np.repeat(begin(domain, stream, race.episodes, race.tolerance)[None], count, axis=0)
    chance = stream.normal(size=(race.horizon, race.episodes, 2))
    motion = np.repeat(draw_motion(domain, stream, race.episodes)[None], count, axis=0)
    each = (count, race.episodes, 2)
    played = _roll(
        race,
        domain,
        agents,
        begun,
        motion,
        lambda action, step: action,
        lambda step: np.broadcast_to(chance[step], each),
        place,
    )
    away = np.linalg.norm(played.states[:, :, -1, 2:] - played.goals, axis=-1)
    return [float(share) for share in 100 * (away < race.tolerance).mean(axis=1)]


def begin(domain: Push, generator: np.random.Generator, worlds: int, tolerance: float) -> Array:
    """Draw worlds in which the block is not at its goal."""
    kept: list[Array] = []
    while sum(map(len, kept)) < worlds:
        drawn = domain.reset(generator, worlds)
        away = np.linalg.norm(drawn[:, BLOCK, :2] - drawn[:, TARGET, :2], axis=1) >= tolerance
        kept.append(drawn[away])
    return np.concatenate(kept)[:worlds]


def _roll(
    race: Race, domain: Push, agents: GoalAgents, begun: Array, motion: Array,
    choose: Callable[[Array, int], Array], chance: Callable[[int], Array], place: Any, apart: Any = None,
) -> Episodes:  # fmt: skip
    count, worlds = begun.shape[:2]
    state = begun.reshape(count * worlds, *begun.shape[2:])
    goals = begun[:, :, TARGET, :2]
    wanted = _send(goals, place)
    states = np.empty((count, worlds, race.horizon + 1, 4), dtype=np.float32)
    actions = np.empty((count, worlds, race.horizon, 2), dtype=np.float32)
    touched = np.empty((count, worlds, race.horizon), dtype=bool)
    others = np.empty((count, worlds, race.horizon, 4 * race.others), dtype=np.float32)
    motion = motion.reshape(count * worlds, race.others, 2)
    states[:, :, 0] = _read(state, count)
    for step in range(race.horizon):
        own = agents.act(_send(states[:, :, step], place), wanted, apart).cpu().numpy()
        actions[:, :, step] = choose(own, step)
        given = actions[:, :, step].reshape(-1, 2).astype(float)
        if race.noise:
            given = np.concatenate([given, chance(step).reshape(-1, 2)], axis=1)
        others[:, :, step] = np.concatenate([state[:, FIRST:, :2], motion], axis=2).reshape(count, worlds, -1)
        taken = step_crowd(domain, state, motion, given)
        state, motion = taken.states, taken.motion
        states[:, :, step + 1] = _read(state, count)
        touched[:, :, step] = taken.touched.reshape(count, worlds)
    return Episodes(states, actions, goals, touched, others)


def find_first(ways: Sequence[str], played: Episodes, causes: _LearnedCauses) -> Array:
    """Return for each episode, `(agents, worlds)`, the first step that may be a goal, as each agent's way has it."""
    steps = played.touched.shape[2]
    moved = np.abs(np.diff(played.states[..., 2:], axis=2)).max(axis=-1) > MOVED
    first = np.zeros(played.touched.shape[:2], dtype=np.int64)
    for at, way in enumerate(ways):
        if way in ("true", "moved"):
            first[at] = find_earliest((played.touched if way == "true" else moved)[at])
    if causes.learners:
        for position, at in enumerate(causes.agents):
            first[at] = causes.judge(position, played.states[at], played.actions[at], played.goals[at])
    return np.asarray(np.minimum(first, steps))


def find_earliest(truths: Array) -> Array:
    """Return the first true step of each row; the number of steps where there is none.

    >>> find_earliest(np.array([[False, True, True], [False, False, False]])).tolist()
    [1, 3]
    """
    return np.asarray(np.where(truths.any(axis=-1), truths.argmax(axis=-1), truths.shape[-1]))


# -- causes learned from the agents' own experience ----------------------------------------------------------


class _LearnedCauses:
    """A learner of the block's causes for each agent that has one, fitted anew at set times, all of them together."""

    def __init__(self, race: Race, agents: Sequence[int], seeds: Sequence[int], device: str) -> None:
        self.race, self.agents, self.device = race, list(agents), device
        self.seeds = [seeds[at] for at in agents]
        self.learners: list[Any] = []
        self._due = sorted(race.fits) if agents else []

    def learn(self, memory: EpisodeMemory, done: int) -> bool:
        """Fit the learners where it is time; return whether they were."""
        if not self._due or done < self._due[0]:
            return False
        from ..learn import make
        from ..learn.training.session import fit_many

        while self._due and done >= self._due[0]:
            self._due.pop(0)
        learners = [make(self.race.method, seed=seed, device=self.device, **self.race.options) for seed in self.seeds]
        views = [self._view(*self._take(memory, at)) for at in self.agents]
        try:
            fit_many(learners, views)
        except ActCauseError:  # nothing happened yet that could be explained
            return False
        self.learners = learners
        return True

    def judge(self, position: int, states: Array, actions: Array, goals: Array) -> Array:
        """Return the first step of each episode in which the pusher is found to have caused the block's place."""
        view = self._view(states, actions, goals)
        found = self.learners[position].explain(view)  # what became of the block is known by then
        caused = found[:, [view.layout.index("pusher"), view.layout.index("action")]].any(axis=1)
        return find_earliest(caused.reshape(actions.shape[:2]))

    def judge_all(self, memory: EpisodeMemory) -> Array:
        """Judge all episodes that are kept."""
        return np.stack([self.judge(k, *self._take(memory, at)) for k, at in enumerate(self.agents)])

    def _take(self, memory: EpisodeMemory, at: int) -> tuple[Array, Array, Array]:
        rows = slice(0, memory.count)
        return tuple(part[at, rows].cpu().numpy() for part in (memory.states, memory.actions, memory.goals))  # type: ignore[return-value]

    def _view(self, states: Array, actions: Array, goals: Array) -> Transitions:
        return record_episodes(states, actions, goals).view("block")


def record_episodes(states: Array, actions: Array, goals: Array) -> Recording:
    """Return episodes, `(episodes, steps + 1, 4)`, as a recording of action, pusher, block and target."""
    from ..data import Recording

    episodes, steps = actions.shape[:2]
    before, after = np.zeros((2, episodes, steps, 4, 2), dtype=np.float32)
    before[:, :, 0] = actions
    for values, part in ((before, states[:, :-1]), (after, states[:, 1:])):
        values[:, :, 1:3] = part.reshape(episodes, steps, 2, 2)
        values[:, :, 3] = goals[:, None]
    flat = (episodes * steps, 4, 2)
    features = {"action": ("dx", "dy"), "pusher": ("x", "y"), "block": ("x", "y"), "target": ("x", "y")}
    return Recording(
        factors=tuple(features),
        features=features,
        state=before.reshape(flat),
        next_state=after.reshape(flat),
        outcomes=("pusher", "block"),
        episode=np.repeat(np.arange(episodes), steps),
        step=np.tile(np.arange(steps), episodes),
    )


def _read(state: Array, count: int) -> Array:
    """Return pusher and block of worlds, `(agents, worlds, 4)`."""
    return np.concatenate([state[:, PUSHER, :2], state[:, BLOCK, :2]], axis=1).reshape(count, -1, 4)


def _send(values: Array, place: torch.device) -> torch.Tensor:
    sent = torch.as_tensor(values, device=place)
    return sent.float() if sent.is_floating_point() else sent
