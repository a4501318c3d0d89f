"""MuJoCo: a pusher on a table, a target puck and other pucks. What moved the target?

The pusher is driven along both axes and the pucks slide with friction between walls. The target is hit by the pusher,
or by another puck that the pusher or another puck has set in motion. The walls are no factors: they never move, so the
target's own state says what they will do.

True cause. The step is taken again from the same state with one body taken away. The body is a cause if the target
would then be elsewhere, or move otherwise, by more than `threshold` of the spread of its change in one step (`SPREAD`).
So a body that touches the target without moving it is none, and one that pushes another puck into the target within the
step is one. The action is a cause where the pusher is, and standing still or going the other way at full speed would
have made such a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..envs.base import Array
from ..errors import QueryError
from .base import World, WorldRow
from .functional_cause import BODY_ALPHA, find_functional_cause
from .mujoco_steps import TakenStep, find_connected
from .puck_table import FASTEST, PuckTable

SPREAD = np.array([0.013, 0.013, 0.15, 0.15])  # of the change of x, y, vx and vy in one step, about
MOST = 8  # other pucks that the table has room for
AIMED = 10  # steps that the pusher keeps its aim
MOTION = ("x", "y", "vx", "vy")


@dataclass(frozen=True)
class MujocoPucks(World):
    """A table in MuJoCo: a pusher, a target puck and other pucks.

    Args:
        others: How many other pucks there are, up to 8.
        threshold: The least effect that makes a cause, in spreads of the target's change.
        check: Find the functional cause of every row by stepping again from the same state.
    """

    name = "mujoco-pucks"
    title = "MuJoCo pucks"
    horizon = 25
    simulator = "mujoco"
    licence = "Apache-2.0"
    revisions = ("first recorded",)
    outcome = "target"
    shared_class: ClassVar[tuple[str, int]] = ("other", 3)

    others: int = 3
    threshold: float = 0.05
    check: bool = False

    def __post_init__(self) -> None:
        self._check("others", whole=True)
        self._check("threshold", positive=True)
        if self.others > MOST:
            raise QueryError(f"The 'others' of mujoco-pucks must be {MOST} or fewer. Got {self.others} instead.")

    @property
    def factors(self) -> tuple[str, ...]:
        """The named factors, in the order of the arrays."""
        return ("action", "pusher", "target", *(f"other{number}" for number in range(1, self.others + 1)))

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """The names of each factor's features; the action is the speed that the pusher is asked for."""
        return {"action": ("vx", "vy"), **dict.fromkeys(self.factors[1:], MOTION)}

    def episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the rows of one episode after the other, without end."""
        yield from self._run(generator, whole=False)

    def whole_episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the same rows, with what became of every body and why.

        Each body's causes are found as the target's are. The action is a cause of the pusher's motion where standing
        still or going the other way would have made such a difference.
        """
        yield from self._run(generator, whole=True)

    def _run(self, generator: np.random.Generator, whole: bool) -> Iterator[Sequence[WorldRow]]:
        table = PuckTable(self.load("mujoco"), self.factors[1:], self.outcome, SPREAD)
        (exchanges,) = generator.spawn(1)  # which leaves the generator as it is, so that a check changes no row
        while True:
            table.start(generator)
            yield list(self._episode(table, generator, exchanges, whole))

    def take_episode(self, table: PuckTable, generator: np.random.Generator) -> Iterator[WorldRow]:
        """Yield the rows of one episode on a table that has been set, with what became of every body and why."""
        (exchanges,) = generator.spawn(1)
        yield from self._episode(table, generator, exchanges, True)

    def _episode(
        self, table: PuckTable, generator: np.random.Generator, exchanges: np.random.Generator, whole: bool
    ) -> Iterator[WorldRow]:
        for time in range(self.horizon):
            before = table.read()
            if time % AIMED == 0:  # at a puck, at the target twice as often, or nowhere
                aim = str(generator.choice([*table.bodies, "target"]))
                speed = generator.uniform(0.4, FASTEST)
            action = _choose_action(generator, before, aim, speed)
            others = [table.drive(other) for other in (np.zeros(2), reverse_action(action))]
            table.drive(action)
            taken = table.steps.take(others)
            following = table.read() if whole else {}
            effects = table.steps.measure_effects(taken, self.threshold)
            extra: dict[str, float | bool] = {}
            for factor in self.edges:
                extra[f"effect.{factor}"] = effects.get(factor, 0.0)
                if factor != "action":
                    impulse = taken.impulses.get(frozenset({factor, "target"}), 0.0)
                    extra |= {f"impulse.{factor}": impulse, f"contact.{factor}": impulse > 0}
            if self.check:
                extra |= self._look_again(table, taken, exchanges)
            graph = self.find_graph(table, taken, following) if whole else {}
            if effects or self.check or whole:
                table.steps.restore(taken.end)
            cause = [factor for factor, effect in effects.items() if effect > self.threshold]
            yield WorldRow({"action": action, **before}, taken.outcome, cause, extra, following, graph)

    def find_graph(
        self, table: PuckTable, taken: TakenStep, following: Mapping[str, Array]
    ) -> dict[str, tuple[str, ...]]:
        """Take away one body after the other, and change the action, to find what each body's next motion is due to."""
        touching = {body: find_connected(body, taken.impulses) for body in table.bodies}
        causes: dict[str, list[str]] = {body: [] for body in table.bodies}
        for body in filter(touching.get, table.bodies):
            table.steps.step_again(taken.start, without=(body,))
            for other in self._find_moved(table, following):
                if body in touching[other]:
                    causes[other].append(body)
        moved: set[str] = set()
        for start in taken.others:
            table.steps.step_again(start)
            moved |= self._find_moved(table, following)
        for body in moved:
            if body == "pusher" or "pusher" in causes[body]:
                causes[body].append("action")
        return {body: tuple(named) for body, named in causes.items()}

    def _find_moved(self, table: PuckTable, following: Mapping[str, Array]) -> set[str]:
        """Say which bodies are elsewhere than they were after the step, or move otherwise."""
        now = table.read()
        return {body for body in table.bodies if np.max(np.abs(now[body] - following[body]) / SPREAD) > self.threshold}

    def _look_again(self, table: PuckTable, taken: TakenStep, generator: np.random.Generator) -> dict[str, bool]:
        """Take every body away, touching or not, and find the functional cause of the target's next motion."""

        def changes(exchanged: tuple[str, ...]) -> bool:
            start = table.exchange(taken.start, [factor for factor in exchanged if factor != "action"], generator)
            if "action" in exchanged:
                start = table.drive(generator.uniform(-FASTEST, FASTEST, 2))
            return table.steps.measure_effect(taken, start) > self.threshold

        differs = table.steps.find_differences(taken, self.threshold)
        found = find_functional_cause(self.edges, changes, alpha=BODY_ALPHA)
        return {f"differs.{factor}": differs[factor] for factor in self.edges} | {
            f"fac.{factor}": factor in found for factor in self.edges
        }


def _choose_action(generator: np.random.Generator, bodies: Mapping[str, Array], aim: str, speed: float) -> Array:
    """Go for the body that is aimed at, or anywhere where that is the pusher itself; never quite straight."""
    way = bodies[aim][:2] - bodies["pusher"][:2] + generator.normal(scale=0.03, size=2)
    wanted = speed * way / max(float(np.linalg.norm(way)), 1e-6)
    return np.clip(wanted + generator.normal(scale=0.2, size=2), -FASTEST, FASTEST)


def reverse_action(action: Array) -> Array:
    """Return the action that goes the other way at full speed."""
    return -FASTEST * action / max(float(np.abs(action).max()), 1e-6)
