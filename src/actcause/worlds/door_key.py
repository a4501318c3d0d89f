"""MiniGrid DoorKey: what opened or shut the door? Everything in it is discrete.

The agent walks through a grid that a wall with a door divides. Outcome: the state of the door, 0 open, 1 shut,
2 locked. In MiniGrid's rules one thing changes it: the action `toggle`, where the agent stands before the door and
looks at it; a locked door opens only if the agent has the key.

True cause. Where the state changed: the action and the agent, and the key too where the door was locked. Elsewhere
none but the door's own state: an agent before a door that stays as it is changes nothing.

MiniGrid's own starts make the door rare, so every episode starts afresh: the door in any state, the key in hand or
not, and half of the agents beside the door. Actions are random; before the door it is toggled more often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import QueryError, quote
from .base import World, WorldRow
from .functional_cause import find_functional_cause

OPEN, SHUT, LOCKED = range(3)  # as MiniGrid encodes them
FORWARD, PICK_UP, DROP, TOGGLE, ACTIONS = 2, 3, 4, 5, 7
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))
SIZES = (5, 6, 8, 16)  # the grids that MiniGrid registers

Place = tuple[int, int]


@dataclass(frozen=True)
class DoorKey(World):
    """MiniGrid's DoorKey: an agent, a key, a door and a goal on a grid.

    Args:
        size: Cells along a side of the grid, walls included: 5, 6, 8 or 16.
        toggles: How often the agent toggles for sure when it looks at the door.
        check: Find the functional cause of every row by stepping again from the same state.
    """

    name = "door-key"
    title = "MiniGrid DoorKey"
    horizon = 16
    simulator = "minigrid"
    licence = "Apache-2.0"
    revisions = ("first recorded",)
    factors = ("action", "agent", "key", "goal", "door")
    features: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "action": ("kind",),
        "agent": ("x", "y", "direction"),
        "key": ("x", "y", "carried"),
        "goal": ("x", "y"),
        "door": ("x", "y", "state"),
    }
    outcome = "door"
    outcome_features = ("state",)
    categorical = ("action.kind", "agent.direction", "door.state", "next.door.state")

    size: int = 6
    toggles: float = 0.3
    check: bool = False

    def __post_init__(self) -> None:
        self._check("toggles")
        if self.size not in SIZES:
            raise QueryError(f"The 'size' of door-key must be one of {SIZES}. Got {quote(self.size)} instead.")

    def episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the rows of one episode after the other, without end."""
        gymnasium, _ = self.load("gymnasium"), self.load("minigrid")
        grid = _Grid(gymnasium.make(f"MiniGrid-DoorKey-{self.size}x{self.size}-v0").unwrapped)
        (others,) = generator.spawn(1)  # which leaves the generator as it is, so that a check changes no row
        while True:
            grid.start(generator)
            yield list(self._episode(grid, generator, others))

    def whole_episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the same rows; they have every factor's next features and causes in any case.

        The agent's next place: the agent and the action, always; whoever stood in the cell that it wanted to enter, if
        that decides: a door, open or not, or the key. A key in hand goes where the agent goes, so that all that caused
        the agent's place caused the key's; one that lies there is moved by the agent that picks it up. Whoever fills
        the cell keeps a key from being put down there. The goal goes on by itself.
        """
        yield from self.episodes(generator)

    def _episode(self, grid: _Grid, generator: np.random.Generator, others: np.random.Generator) -> Iterator[WorldRow]:
        for _ in range(self.horizon):
            before = grid.read()
            action = int(generator.integers(ACTIONS))
            facing = before.ahead == grid.door_at
            if facing and generator.random() < self.toggles:
                action = TOGGLE
            found = grid.find_cause(before, action, others) if self.check else ()
            over = grid.step(action)
            after = grid.read()
            cause: tuple[str, ...] = ()
            if after.door != before.door:
                cause = ("action", "agent", "key") if before.door == LOCKED else ("action", "agent")
            extra = {"contact.agent": facing, "contact.key": facing and before.key is None}
            if self.check:
                extra |= {f"fac.{factor}": factor in found for factor in self.edges}
            following = _describe(after, grid.door_at)
            graph = {**_find_graph(before, action, grid.door_at), "door": cause}
            state = {"action": (action,), **_describe(before, grid.door_at)}
            yield WorldRow(state, (after.door,), cause, extra, following, graph)
            if over:
                return


@dataclass(frozen=True)
class _Situation:
    """What can be otherwise in a grid; the key's place is None where the agent has it."""

    agent: Place
    direction: int
    key: Place | None
    goal: Place
    door: int

    @property
    def ahead(self) -> Place:
        x, y = AHEAD[self.direction]
        return self.agent[0] + x, self.agent[1] + y


def _describe(situation: _Situation, door_at: Place) -> dict[str, tuple[float, ...]]:
    """Return the features of every factor but the action."""
    return {
        "agent": (*situation.agent, situation.direction),
        "key": (*(situation.agent if situation.key is None else situation.key), situation.key is None),
        "goal": situation.goal,
        "door": (*door_at, situation.door),
    }


def _find_graph(before: _Situation, action: int, door_at: Place) -> dict[str, tuple[str, ...]]:
    """Find what causes the next features of agent, key and goal, besides themselves."""
    ahead = before.ahead
    filled = {door_at: "door", before.goal: "goal", **({} if before.key is None else {before.key: "key"})}
    stands = filled.get(ahead)
    agent = ("action", *((stands,) if action == FORWARD and stands in ("door", "key") else ()))
    key: tuple[str, ...] = ()
    if before.key is None:
        kept = (stands,) if action == DROP and stands is not None else ()
        key = ("agent", *agent, *kept)
    elif action == PICK_UP and stands == "key":
        key = ("action", "agent")
    return {"agent": agent, "key": key, "goal": ()}


class _Grid:
    """MiniGrid's environment: started, read, put into any situation, and stepped."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self.door_at: Place = (0, 0)

    def start(self, generator: np.random.Generator) -> None:
        """Start an episode: MiniGrid's grid, with the door, the key and the agent put anew."""
        env = self._env
        env.reset(seed=int(generator.integers(2**31)))
        objects = {thing.type: thing for thing in env.grid.grid if thing is not None}
        self._door, self._key, self._goal = (objects[kind] for kind in ("door", "key", "goal"))
        self.door_at = _place(self._door.cur_pos)
        self._floor = [
            (x, y)
            for x in range(env.grid.width)
            for y in range(env.grid.height)
            if (thing := env.grid.get(x, y)) is None or thing.type in ("key", "goal")
        ]
        drawn = replace(self.read(), door=int(generator.integers(3)))
        if generator.random() < 0.5:
            drawn = replace(drawn, key=None)
        if generator.random() < 0.5:
            beside = (self.door_at[0] + int(generator.choice((-1, 1))), self.door_at[1])
            if beside != drawn.key:
                drawn = replace(drawn, agent=beside, direction=int(generator.integers(4)))
        self.put(drawn)

    def read(self) -> _Situation:
        env, door = self._env, self._door
        return _Situation(
            agent=_place(env.agent_pos),
            direction=int(env.agent_dir),
            key=None if env.carrying is self._key else _place(self._key.cur_pos),
            goal=_place(self._goal.cur_pos),
            door=OPEN if door.is_open else LOCKED if door.is_locked else SHUT,
        )

    def put(self, wanted: _Situation) -> None:
        env, now = self._env, self.read()
        env.agent_pos, env.agent_dir = wanted.agent, wanted.direction
        self._door.is_open, self._door.is_locked = wanted.door == OPEN, wanted.door == LOCKED
        for left in (now.key, now.goal):
            if left is not None:
                env.grid.set(*left, None)
        for thing, place in ((self._goal, wanted.goal), (self._key, wanted.key)):
            thing.cur_pos = (-1, -1) if place is None else place
            if place is not None:
                env.grid.set(*place, thing)
        env.carrying = self._key if wanted.key is None else None
        env.step_count = 0

    def step(self, action: int) -> bool:
        """Take a step; say whether the agent has reached the goal."""
        return bool(self._env.step(action)[2])

    def find_cause(self, situation: _Situation, action: int, generator: np.random.Generator) -> tuple[str, ...]:
        """Find the functional cause of the door's next state by stepping again and again from this situation."""
        self.step(action)
        kept = self.read().door

        def changes(exchanged: tuple[str, ...]) -> bool:
            self.put(self._exchange(situation, exchanged, generator))
            self.step(int(generator.integers(ACTIONS)) if "action" in exchanged else action)
            return self.read().door != kept

        found = find_functional_cause(("action", "agent", "key", "goal"), changes)
        self.put(situation)
        return found

    def _exchange(
        self, situation: _Situation, exchanged: tuple[str, ...], generator: np.random.Generator
    ) -> _Situation:
        """Draw another place for these: the agent's and the key's are free, and half of the keys are in hand."""
        drawn = situation
        if "goal" in exchanged:
            drawn = replace(drawn, goal=self._draw(generator, drawn.agent, drawn.key))
        if "key" in exchanged:
            free = None if generator.random() < 0.5 else self._draw(generator, drawn.agent, drawn.goal)
            drawn = replace(drawn, key=free)
        if "agent" in exchanged:
            place = self._draw(generator, drawn.key)
            drawn = replace(drawn, agent=place, direction=int(generator.integers(4)))
        return drawn

    def _draw(self, generator: np.random.Generator, *taken: Place | None) -> Place:
        free = [place for place in self._floor if place not in taken]
        return free[int(generator.integers(len(free)))]


def _place(position: Any) -> Place:
    x, y = position
    return int(x), int(y)
