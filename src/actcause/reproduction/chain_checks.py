"""Chains held against the simulator: episodes are played again with some actions changed.

Two ways to change actions: those off the chain must leave the event as it was, unless the change brings about an edge
that was not there; those on it should undo it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.chain import Chain
from ..data import Recording, make_domain, trace
from ..envs import Domain
from ..worlds.mujoco_pucks import SPREAD, MujocoPucks
from ..worlds.puck_replay import PuckReplay

if TYPE_CHECKING:
    from ..envs.base import Array

EXACT = 1e-9  # how far an event may be off and still be the same, in worlds without rounding to speak of
LENGTHS = {"push": 20, "break": 60, "mujoco-pucks": 25}
WANDERING = 0.2  # share of steps in which the paddle does anything


@dataclass(frozen=True)
class Happening:
    """What became of a factor at a step of an episode."""

    episode: int
    step: int
    factor: str


class Player(Protocol):
    """Records episodes and plays them again."""

    tolerance: Array | float

    def record(self, episodes: int, seed: int) -> Recording:
        """Record whole episodes of one length, float64, with true causes."""

    def play(self, episode: int, actions: Array) -> Recording:
        """Play an episode again with these actions, (steps, numbers)."""

    def draw(self, generator: np.random.Generator, action: Array) -> Array:
        """Draw an action other than this one."""

    def find_happening(self, recording: Recording, episode: int) -> Happening | None:
        """Find what is to be explained in an episode, where there is something."""


def make_player(domain: str) -> Player:
    """Make the player of a domain."""
    if domain == "mujoco-pucks":
        return PuckPlayer()
    made = make_domain(domain)
    assert isinstance(made, Domain)
    return DomainPlayer(made)


class DomainPlayer:
    """Plays `push` and `break`: pure dynamics, begun again from the first state."""

    tolerance: Array | float = EXACT

    def __init__(self, domain: Domain) -> None:
        self.domain, self.length = domain, LENGTHS[domain.name]
        self._first: Array = np.zeros(0)

    def record(self, episodes: int, seed: int) -> Recording:
        """Record episodes; a paddle follows the ball most of the time."""
        generator = np.random.default_rng(seed)
        self._first = self.domain.reset(generator, episodes)

        def act(states: Array, step: int) -> Array:
            actions = self.domain.sample_actions(generator, states)
            scripted: Callable[[Array], Array] | None = getattr(self.domain, "scripted_actions", None)
            if scripted is None:
                return actions
            return np.where(generator.random((len(states), 1)) < WANDERING, actions, scripted(states))

        return self._roll(self._first, act)

    def play(self, episode: int, actions: Array) -> Recording:
        """Play one episode again."""
        return self._roll(self._first[episode : episode + 1], lambda states, step: actions[None, step])

    def draw(self, generator: np.random.Generator, action: Array) -> Array:
        """Draw another of the choices, or anything within bounds."""
        choices = self.domain.choices
        if choices is None:
            return generator.uniform(-1, 1, len(action))
        others = [choice for choice in choices if not np.array_equal(choice, action)]
        return np.asarray(others[int(generator.integers(len(others)))])

    def find_happening(self, recording: Recording, episode: int) -> Happening | None:
        """In `push`, where the block is at the end; in `break`, the last hit of a block after a strike."""
        if self.domain.name == "push":
            return Happening(episode, self.length - 1, "block")
        assert recording.cause is not None
        rows = slice(episode * self.length, (episode + 1) * self.length)
        ball = recording.outcome_index("ball")
        strikes = np.flatnonzero(recording.cause[rows, ball, recording.index("paddle")])
        hits = np.argwhere(recording.cause[rows, ball + 1 :, recording.index("ball")])
        later = [(int(step), int(block)) for step, block in hits if len(strikes) and step > strikes[0]]
        if not later:
            return None
        step, block = later[-1]
        return Happening(episode, step, recording.outcomes[ball + 1 + block])

    def _roll(self, states: Array, act: Callable[[Array, int], Array]) -> Recording:
        domain, kept = self.domain, []
        for step in range(self.length):
            actions = act(states, step)
            taken = domain.step(states, actions)
            kept.append((taken.seen, taken.states, domain.graph(states, actions, taken)))
            states = taken.states
        state, following, cause = (np.stack(part, axis=1) for part in zip(*kept, strict=True))
        return _join_episodes(domain, state, following, cause)


class PuckPlayer:
    """Plays `mujoco-pucks` on one table. Each step counts as the same within a spread of the target's change."""

    tolerance: Array | float = np.concatenate([SPREAD, SPREAD])

    def __init__(self) -> None:
        self.world = MujocoPucks()
        self._replay = PuckReplay(self.world)
        self._starts: list[Array] = []

    def record(self, episodes: int, seed: int) -> Recording:
        """Record episodes, one after the other."""
        generator = np.random.default_rng(seed)
        recorded = [self._replay.record(generator) for _ in range(episodes)]
        self._starts = [start for start, _ in recorded]
        return self._join([rows for _, rows in recorded])

    def play(self, episode: int, actions: Array) -> Recording:
        """Play one episode again."""
        return self._join([self._replay.play(self._starts[episode], actions)])

    def draw(self, generator: np.random.Generator, action: Array) -> Array:
        """Draw any speed that the pusher can be asked for."""
        return generator.uniform(-1.5, 1.5, 2)

    def find_happening(self, recording: Recording, episode: int) -> Happening | None:
        """Take the target's motion at the end."""
        return Happening(episode, LENGTHS["mujoco-pucks"] - 1, "target")

    def _join(self, episodes: list[Any]) -> Recording:
        world = self.world
        shape = (len(episodes), LENGTHS["mujoco-pucks"])
        state, after = np.zeros((2, *shape, len(world.factors), world.width))
        cause = np.zeros((*shape, len(world.outcomes), len(world.factors)), dtype=bool)
        for episode, rows in enumerate(episodes):
            for step, row in enumerate(rows):
                for values, into in ((row.state, state), (row.following, after)):
                    for factor, numbers in values.items():
                        into[episode, step, world.index(factor), : len(numbers)] = numbers
                for place, outcome in enumerate(world.outcomes):
                    named = [world.index(factor) for factor in (outcome, *row.graph[outcome])]
                    cause[episode, step, place, named] = True
        return _join_episodes(world, state, after, cause)


def _join_episodes(domain: Any, state: Array, following: Array, cause: Array) -> Recording:
    episodes, length = state.shape[:2]
    flat = [values.reshape(episodes * length, *values.shape[2:]) for values in (state, following, cause)]
    return Recording(
        factors=domain.factors,
        features=domain.features,
        outcomes=domain.outcomes,
        state=flat[0],
        next_state=flat[1],
        cause=flat[2],
        episode=np.repeat(np.arange(episodes), length),
        step=np.tile(np.arange(length), episodes),
        metadata={"domain": domain.name, "classes": dict(domain.classes)},
    )


def check_chains(
    player: Player, recording: Recording, happenings: list[Happening], graphs: Array | None, seed: int
) -> dict[str, int]:
    """Trace every happening by these graphs (None: the true ones), change actions, and count what came of it."""
    counts = dict.fromkeys(
        (
            *("events", "reach_actions", "links", "true_links", "known_links", "steps", "true_steps", "known_steps"),
            *("off", "kept_resting", "kept_random", "new_edge", "unexplained", "off_one", "undone_off_one"),
            *("on", "undone_on_one", "undone_on_all", "rest_new_edge", "rest_unexplained"),
        ),
        0,
    )
    generator = np.random.default_rng(seed)
    for one in happenings:
        asked = {"episode": one.episode, "step": one.step, "factor": one.factor}
        truth = trace(recording, **asked)  # type: ignore[arg-type]
        chain = truth if graphs is None else trace(recording, graphs=graphs, **asked)  # type: ignore[arg-type]
        if not truth.actions:  # nobody's doing
            continue
        counts["events"] += 1
        counts["reach_actions"] += bool(chain.actions)
        for name, mine, right in (
            ("links", _list_links(chain), _list_links(truth)),
            ("steps", set(chain.action_steps), set(truth.action_steps)),
        ):
            counts[name] += len(mine)
            counts[f"true_{name}"] += len(mine & right)
            counts[f"known_{name}"] += len(right)
        for name, count in _change_actions(player, recording, one, chain, truth, generator).items():
            counts[name] += count
    return counts


def _change_actions(
    player: Player, recording: Recording, one: Happening, chain: Chain, truth: Chain, generator: np.random.Generator
) -> Mapping[str, int]:
    """Play an episode again with actions changed off the chain and on it."""
    rows = np.flatnonzero(recording.episode == one.episode)
    place = recording.index("action")
    acted = recording.state[rows, place, : len(recording.features["action"])]
    before = _read_event(recording, rows[one.step], one)

    def replay(steps: list[int], resting: bool = False) -> Recording:
        actions = acted.copy()
        for step in steps:
            actions[step] = 0 if resting else player.draw(generator, acted[step])
        return player.play(one.episode, actions)

    def same(played: Recording) -> bool:
        return bool((np.abs(_read_event(played, one.step, one) - before) <= player.tolerance).all())

    on = list(chain.action_steps)
    off = [step for step in range(one.step + 1) if step not in chain.action_steps]
    found: dict[str, int] = {}
    if off:
        random, rested = replay(off), replay(off, resting=True)
        kept, kept_resting = same(random), same(rested)
        new, rest_new = (
            bool(_list_links(trace(played, episode=0, step=one.step, factor=one.factor)) - _list_links(truth))
            for played in (random, rested)
        )
        found |= {
            "off": 1,
            "kept_resting": kept_resting,
            "rest_new_edge": not kept_resting and rest_new,
            "rest_unexplained": not kept_resting and not rest_new,
            "kept_random": kept,
            "new_edge": not kept and new,
            "unexplained": not kept and not new,
            "off_one": 1,
            "undone_off_one": not same(replay([int(generator.choice(off))])),
        }
    if on:
        found |= {
            "on": 1,
            "undone_on_one": not same(replay([int(generator.choice(on))])),
            "undone_on_all": not same(replay(on)),
        }
    return {name: int(value) for name, value in found.items()}


def _list_links(chain: Chain) -> set[tuple[int, str, str]]:
    return {(link.step, link.outcome, cause) for link in chain.links for cause in link.causes}


def _read_event(recording: Recording, row: int, one: Happening) -> Array:
    """Return the factor's features before and after the step."""
    place, used = recording.index(one.factor), len(recording.features[one.factor])
    return np.concatenate([values[row, place, :used] for values in (recording.state, recording.next_state)])
