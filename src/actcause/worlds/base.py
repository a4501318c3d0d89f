"""What every world has in common: somebody else's simulator, whose steps are recorded with their true causes.

A simulator keeps its own state and steps one environment at a time, so a `World` is asked for episodes rather than
for steps: `episodes` runs the simulator and yields the rows of one episode after the other. A world is a frozen value
that imports nothing of its simulator before that. Its names are known without it.

What a row's `extra` may say about its truth, one value for each factor of which it can be said:

- `contact.FACTOR`: it touched the outcome, or whatever comes nearest to touching in that world;
- `differs.FACTOR`: the simulator was stepped once more without it, or with it elsewhere, and the outcome was another;
- `fac.FACTOR`: it belongs to the least set of factors that keeps the outcome, whatever the others are
  (`find_functional_cause`).

And one for the row: `kept`, where all factors without the label were taken away at once and the outcome stayed.

Stepping again takes time: worlds do it where their parameter `check` is true. It changes nothing else in the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, ClassVar

import numpy as np

from ..envs.base import Array, BaseDomain
from ..errors import QueryError, import_extra

EVIDENCE = ("contact", "differs", "fac")  # first parts of the names in `extra` that speak about a row's truth


@dataclass(frozen=True)
class WorldRow:
    """One transition: the features of every factor that is there, and the outcome's features one step later.

    `cause` names the factors that actually caused the outcome; the outcome's own factor is added. `extra` has the
    same names in every row of a world: numbers, or `bool` for flags.
    """

    state: Mapping[str, Sequence[float] | Array]
    outcome: Sequence[float] | Array
    cause: Collection[str]
    extra: Mapping[str, float | bool] = field(default_factory=dict)
    following: Mapping[str, Sequence[float] | Array] = field(default_factory=dict)  # where whole states are recorded
    graph: Mapping[str, Collection[str]] = field(default_factory=dict)  # each outcome's causes, likewise


class World(BaseDomain):
    """A domain around somebody else's simulator.

    Subclasses are frozen dataclasses: their fields are the parameters that a researcher varies.
    """

    simulator: ClassVar[str]  # the package that brings it, as the registry calls it
    licence: ClassVar[str]  # of the simulator
    extra: ClassVar[str] = "worlds"  # of ours, that installs it
    untold: ClassVar[str] = "its simulator is not asked about the others"  # why it gives no whole states
    absent: ClassVar[bool] = False  # whether factors may be absent from a row; then recordings have a mask

    @abstractmethod
    def episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the rows of one episode after the other, without end; all randomness is the generator's.

        An episode has at most `horizon` rows. Hand the simulator a seed that is drawn from the generator.
        """

    def whole_episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the rows of `episodes` with every factor's next features (`following`) and causes (`graph`)."""
        raise QueryError(
            "The world {name} tells the causes of its outcome '{known}' alone, not of every factor: {why}. Collect it "
            "without --outcome, or take another world.",
            parameter="outcome",
            name=self.name,
            known=self.outcome,
            why=self.untold,
        )

    @property
    def edges(self) -> tuple[str, ...]:
        """The factors that are scored: all but the outcome's own."""
        return tuple(factor for factor in self.factors if factor != self.outcome)

    @property
    def version(self) -> str | None:
        """The version of the simulator that is installed; None without one."""
        return find_version(self.simulator)

    def load(self, module: str) -> Any:
        """Import a module of the simulator; a missing one is refused with what to install."""
        return import_extra(module, f"The world {self.name}", self.extra)


def find_version(package: str) -> str | None:
    """Return the version of a package that is installed; None without one."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
