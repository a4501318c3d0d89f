"""What every domain has in common: factors, pure dynamics on arrays, and the true cause of every step.

`BaseDomain` is what a domain says of itself, whoever wrote its dynamics; other people's simulators are domains
too (`actcause.worlds`). A `Domain` is one of ours, and a frozen value. Its states are arrays of shape
`(worlds, factors, width)`, one row for each named factor, unused features being 0. Its dynamics are pure: the
same states and actions give the same step, in any number of worlds at once; all randomness is in `reset` and
`sample_actions`, which take a generator. The Gymnasium environment on top (`gym.py`) adds nothing but bookkeeping.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..errors import QueryError, quote, suggest

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Step:
    """The result of one step, for every world.

    `seen` is what a recording shows as the state: `states` with the action in its place. `states` are the
    next states. `cause` says for each factor whether it actually caused the outcome factor's next value.
    """

    seen: Array  # (worlds, factors, width)
    states: Array  # (worlds, factors, width)
    cause: Array  # (worlds, factors), bool
    terminated: Array  # (worlds,), bool
    extra: Mapping[str, Array] = field(default_factory=dict)  # e.g. push: "moved", "pinned"


class BaseDomain(ABC):
    """What a domain says of itself: its name, its factors and their features, and which of them is the outcome.

    Subclasses are frozen dataclasses: their fields are the parameters that a researcher varies.
    """

    name: ClassVar[str]  # as on the command line
    title: ClassVar[str]
    horizon: ClassVar[int]  # steps of an episode, at most
    shared_class: ClassVar[tuple[str, int]] = ("", 0)  # the class of the last factors, and where they begin
    revisions: ClassVar[tuple[str, ...]] = ()  # each time its recordings were meant to change, and why: one line
    revision: ClassVar[int] = 0  # how many lines there are; results are kept as long as it stays

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        cls.revision = len(cls.revisions)

    @property
    @abstractmethod
    def factors(self) -> tuple[str, ...]:
        """The named factors, in the order of the arrays."""

    @property
    @abstractmethod
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """The names of each factor's features; features beyond these are 0."""

    @property
    @abstractmethod
    def outcome(self) -> str:
        """The factor whose next value is to be explained; its own previous value is a factor too."""

    @property
    def outcome_features(self) -> tuple[str, ...]:
        """The features of the outcome factor that are to be explained."""
        return self.features[self.outcome]

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The factors whose next values a recording of whole states explains: all but the action."""
        return tuple(factor for factor in self.factors if factor != "action")

    @property
    @abstractmethod
    def edges(self) -> tuple[str, ...]:
        """The factors that cause the outcome in some states and not in others: those that are scored."""

    @property
    def classes(self) -> Mapping[str, str]:
        """The class of each factor: factors of one class have the same features and the same dynamics.

        The last factors may be of one `shared_class`; every other is a class of its own. Learners may share weights
        within a class.
        """
        name, first = self.shared_class
        alike = self.factors[first:] if name else ()
        return {factor: name if factor in alike else factor for factor in self.factors}

    @property
    def categorical(self) -> tuple[str, ...]:
        """The features that are names rather than amounts, as columns are named: `door.state`, `next.door.state`."""
        return ()

    @property
    def width(self) -> int:
        return max(map(len, self.features.values()))

    def index(self, factor: str) -> int:
        """Return the position of a factor; an unknown one is refused with the nearest name."""
        if factor not in self.factors:
            raise QueryError(f"Unknown factor '{factor}' of {self.name}{suggest(factor, self.factors) or '.'}")
        return self.factors.index(factor)

    def _check(self, *names: str, least: float = 0, whole: bool = False, positive: bool = False) -> None:
        """Refuse parameters that are no numbers, or too small ones."""
        for name in names:
            value = getattr(self, name)
            kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
            number = isinstance(value, kinds) and not isinstance(value, bool) and bool(np.isfinite(value))
            if not number or value < least or (positive and value <= 0):
                wanted = "positive" if positive else f"{least} or more"
                kind = ", an integer" if whole else ""
                raise QueryError(f"The '{name}' of {self.name} must be {wanted}{kind}. Got {quote(value)} instead.")


class Domain(BaseDomain):
    """A world with named factors, one of which is the outcome.

    Subclasses are frozen dataclasses: their fields are the parameters that a researcher varies, and `draw`
    (where there is one) fixes the domain's random parameters.
    """

    choices: ClassVar[Array | None] = None  # the actions there are, one a row, where they are discrete
    noise_axes: ClassVar[int] = 0  # how many random numbers a step takes where the parameter `noise` is not 0

    # -- what it is made of ------------------------------------------------------------------------

    @property
    def action(self) -> str | None:
        """The factor that holds the action, if the action is one."""
        return "action" if "action" in self.factors else None

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The least and the largest value of every feature, each `(factors, width)`."""
        shape = (len(self.factors), self.width)
        return np.full(shape, -np.inf), np.full(shape, np.inf)

    @property
    def action_size(self) -> int:
        """How many numbers an action has."""
        return 0 if self.action is None else len(self.features[self.action])

    @property
    def noise_size(self) -> int:
        """How many random numbers a noisy domain takes behind each action, standard normal; 0 without noise."""
        return self.noise_axes if getattr(self, "noise", 0) else 0

    # -- what it does ------------------------------------------------------------------------------

    @abstractmethod
    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        """Draw initial states."""

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        """Draw actions, one row a world, with the random numbers of a noisy domain behind them; by default no other."""
        return self.with_noise(generator, np.zeros((len(states), 0)))

    @abstractmethod
    def step(self, states: Array, actions: Array) -> Step:
        """Pure dynamics: neither argument is changed."""

    def graph(self, states: Array, actions: Array, step: Step) -> Array:
        """Return the true local graph of a step that was taken: `(worlds, outcomes, factors)`, bool.

        A row says of one outcome which factors caused its next value. That of the domain's own outcome is `step.cause`.
        By default every other factor goes on by itself; a domain in which more happens says so.
        """
        own = np.array([[factor == outcome for factor in self.factors] for outcome in self.outcomes])
        graph = np.repeat(own[None], len(states), axis=0)
        graph[:, self.outcomes.index(self.outcome)] = step.cause
        return graph

    def intervene(self, states: Array, factor: str, values: Array, actions: Array | None = None) -> Array:
        """Return the outcome factor's next features, had `factor` had these values (the rest as it was).

        `states` may be those that a step has `seen`, with the action in its place; then `actions` can be left
        out. For the action's factor the values replace the actions. Actions that are no factor, such as the
        inputs that drive Random Vectors, do not touch the next outcome and may be left out as well. Give the
        actions that were taken, with the random numbers behind them, to keep a noisy step's noise.
        """
        position = self.index(factor)
        if actions is None:
            size = self.action_size
            own = None if self.action is None else states[:, self.index(self.action), :size]
            actions = np.zeros((len(states), size)) if own is None else own
        if factor == self.action:
            changed, acted = states, np.array(actions, dtype=float)
            acted[:, : self.action_size] = values
        else:
            changed, acted = states.copy(), actions
            used = len(self.features[factor])
            changed[:, position, :used] = np.broadcast_to(values, (len(states), used))
        following = self.step(changed, acted).states[:, self.index(self.outcome)]
        return following[:, : len(self.features[self.outcome])]

    def with_action(self, states: Array, actions: Array) -> Array:
        """Return what a recording shows as the state: the states with the action in its place."""
        seen = states.copy()
        if self.action is not None:
            used = len(self.features[self.action])
            seen[:, self.index(self.action), :used] = self._check_actions(states, actions)[:, :used]
        return seen

    def with_noise(self, generator: np.random.Generator, actions: Array) -> Array:
        """Put the random numbers of a noisy domain behind the actions, where they are not there yet."""
        if not self.noise_size or actions.shape[1] != self.action_size:
            return actions
        return np.concatenate([actions, generator.standard_normal((len(actions), self.noise_size))], axis=1)

    # -- for subclasses ----------------------------------------------------------------------------

    def _check_actions(self, states: Array, actions: Array) -> Array:
        """Return the actions as numbers, one row a world; without random numbers behind them there is no noise."""
        numbers = np.asarray(actions, dtype=float)
        if numbers.ndim != 2:
            numbers = numbers.reshape(len(states), -1)
        if len(numbers) != len(states) or numbers.shape[1] - self.action_size not in (0, self.noise_size):
            behind = f", and {self.noise_size} more for the noise" if self.noise_size else ""
            raise QueryError(
                f"An action of {self.name} has {self.action_size} numbers{behind}, one row for each of "
                f"{len(states)} worlds. Got an array of shape {np.shape(actions)} instead."
            )
        return numbers


def refuse_unknown_parameters(name: str, known: Sequence[str], given: Iterable[str]) -> None:
    """Refuse parameters that a domain does not have; the nearest is suggested, or all are listed."""
    for parameter in given:
        if parameter not in known:
            hint = suggest(parameter, known) or f"; it has {', '.join(known)}."
            raise QueryError(f"The domain {name} does not take the parameter '{parameter}'{hint}")
