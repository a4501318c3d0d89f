"""A stirred reactor: a world with known rules in which nothing collides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from .base import Array, Domain, Step

STIRRER, CATALYST, INHIBITOR, HEATER, VESSEL, FEEDS = range(6)  # feeds are the last factors
FAST, ACTIVE, POISONED, HEATING = 0.7, 0.5, 0.9, 0.96  # from where on each of the controls does something
HOT, FILLED = 0.5, 0.1  # the temperature and the level from which on there can be a reaction
ROOM, COOLING, DRAIN = 0.2, 0.04, 0.1
HEAT, DOSE, CONVERTED, EXOTHERM = 0.4, 0.3, 0.5, 0.3


@dataclass(frozen=True)
class Reactor(Domain):
    """Feeds pour into a vessel, a heater warms it, and now and then there is a reaction.

    **Description.** A chemical plant in which no two things ever meet: each control does something only past a
    threshold, most of the time none does, and one effect takes several controls together.

    **Factors.** `stirrer` (speed), `catalyst` (amount, activity), `inhibitor` (amount), `heater` (power), `vessel`
    (level, temperature, product) and `feed1` to `feed4` (valve, strength), which are of one class. Every feature but
    the vessel's is in [0, 1]. The outcome is the vessel's next state.

    **Actions.** How far every feature of the controls moves, each in [-1, 1]; they are no factor, and reach the
    outcome one step later at the earliest.

    **Dynamics.** Every feature of a control moves by `drift` times its action and is reflected at 0 and 1, so that it
    is uniform in the long run. The vessel drains by a tenth, product too, and cools by 4% of what it is warmer than the
    room, 0.2. A feed pours 0.3 (0.5 + strength) where its valve is past 1 - `rate`. The heater warms by 0.4 times its
    power where that is past 0.96. There is a *reaction* where the stirrer is faster than 0.7, the catalyst's amount
    times its activity is past 0.5, the inhibitor is below 0.9, the vessel is hotter than 0.5 and fuller than 0.1: half
    of what is in the vessel becomes product, and warms it.

    **True cause** of the vessel's next state. The vessel, and the least set of other factors that gives that state with
    all others at rest, which is 0. This is tried, by the rule itself. So a feed that pours and a heater that heats are
    causes, and so are stirrer and catalyst, together, where there is a reaction. A fast stirrer without a catalyst is
    none, nor is an inhibitor, whether it stops a reaction or not. It is the functional actual cause with
    `alpha_sufficiency` 1/3: all controls that are no cause, drawn anew at once, change the vessel in under a quarter of
    the draws. `extra.contact` says which of stirrer, catalyst and inhibitor are past their thresholds.

    **Parameters.** `feeds` how many there are; `rate` how often each of them pours; `drift` how far controls move in a
    step; `noise` the standard deviation of a Gaussian added to each feature of the vessel.

    >>> reactor = Reactor(feeds=1)
    >>> states = np.zeros((2, 6, 3))
    >>> states[1, FEEDS, :2] = 0.99, 0.5
    >>> step = reactor.step(states, np.zeros((2, reactor.action_size)))
    >>> step.states[:, VESSEL, 0].tolist(), step.cause[:, FEEDS].tolist()
    ([0.0, 0.3], [False, True])
    """

    name: ClassVar[str] = "reactor"
    title: ClassVar[str] = "Stirred Reactor"
    horizon: ClassVar[int] = 50
    outcome: ClassVar[str] = "vessel"
    shared_class: ClassVar[tuple[str, int]] = ("feed", FEEDS)
    noise_axes: ClassVar[int] = 3
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    feeds: int = 4
    rate: float = 0.03
    drift: float = 0.3
    noise: float = 0.0

    def __post_init__(self) -> None:
        self._check("feeds", least=1, whole=True)
        self._check("rate", "drift", "noise")

    @property
    def factors(self) -> tuple[str, ...]:
        feeds = (f"feed{number}" for number in range(1, self.feeds + 1))
        return ("stirrer", "catalyst", "inhibitor", "heater", "vessel", *feeds)

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        named = {
            "stirrer": ("speed",),
            "catalyst": ("amount", "activity"),
            "inhibitor": ("amount",),
            "heater": ("power",),
            "vessel": ("level", "temperature", "product"),
        }
        return named | dict.fromkeys(self.factors[FEEDS:], ("valve", "strength"))

    @property
    def edges(self) -> tuple[str, ...]:
        return tuple(factor for factor in self.factors if factor != "vessel")

    @property
    def bounds(self) -> tuple[Array, Array]:
        low, high = np.zeros(self._controls.shape), self._controls.astype(float)
        low[VESSEL], high[VESSEL] = -np.inf if self.noise else 0.0, np.inf
        return low, high

    @cached_property
    def action_size(self) -> int:
        return int(self._controls.sum())

    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        states = np.zeros((worlds, *self._controls.shape))
        states[:, self._controls] = generator.uniform(0, 1, (worlds, self.action_size))
        states[:, VESSEL] = generator.uniform(0, (1.0, 1.0, 0.5), (worlds, 3))
        return states

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        return self.with_noise(generator, generator.uniform(-1, 1, (len(states), self.action_size)))

    def step(self, states: Array, actions: Array) -> Step:
        actions = self._check_actions(states, actions)
        vessel, past = self._advance(states)
        moves, noise = actions[:, : self.action_size], actions[:, self.action_size :]
        following = states.copy()
        following[:, self._controls] = _reflect(states[:, self._controls] + self.drift * moves)
        following[:, VESSEL] = vessel + self.noise * noise if noise.shape[1] else vessel
        cause = self._find_causes(states, vessel, past)
        return Step(states.copy(), following, cause, np.zeros(len(states), dtype=bool), past)

    def _find_causes(self, states: Array, vessel: Array, past: Mapping[str, Array]) -> Array:
        """Find the least set of factors that gives the vessel these features with all others at rest.

        What makes no difference at rest is put there; of the others, what makes none now is no cause either: an
        inhibitor that stops a reaction for which there is no longer a catalyst.
        """
        causes = np.zeros(states.shape[:2], dtype=bool)
        causes[:, VESSEL] = True
        pours, heats = states[:, FEEDS:, 0] > 1 - self.rate, states[:, HEATER, 0] > HEATING
        busy = np.flatnonzero(pours.any(axis=1) | heats | (past["contact.stirrer"] & past["contact.catalyst"]))
        if len(busy):  # in other rows no control at rest makes a difference
            states, vessel = states[busy], vessel[busy]
            needed = self._find_needed(states, vessel)
            causes[busy] = needed & self._find_needed(np.where(needed[:, :, None], states, 0.0), vessel)
        return causes

    def _find_needed(self, states: Array, vessel: Array) -> Array:
        """Say of each factor whether the vessel's next features were others if it alone were at rest."""
        needed = np.ones(states.shape[:2], dtype=bool)
        controls = [factor for factor in range(states.shape[1]) if factor != VESSEL]
        resting = np.repeat(states[None], len(controls), axis=0)  # one call for all: steps of one world are short
        resting[range(len(controls)), :, controls] = 0
        found, _ = self._advance(resting.reshape(-1, *states.shape[1:]))
        needed[:, controls] = (found.reshape(len(controls), *vessel.shape) != vessel).any(axis=2).T
        return needed

    @cached_property
    def _controls(self) -> Array:
        """Which features are those of controls, `(factors, width)`."""
        used = [len(self.features[factor]) if factor != self.outcome else 0 for factor in self.factors]
        return np.arange(self.width) < np.array(used)[:, None]

    def _advance(self, states: Array) -> tuple[Array, dict[str, Array]]:
        """Return the vessel's next features, without noise, and which controls of the reaction are past a threshold."""
        level, temperature, product = states[:, VESSEL, 0], states[:, VESSEL, 1], states[:, VESSEL, 2]
        valve, strength = states[:, FEEDS:, 0], states[:, FEEDS:, 1]
        power = states[:, HEATER, 0]
        fast = states[:, STIRRER, 0] > FAST
        active = states[:, CATALYST, 0] * states[:, CATALYST, 1] > ACTIVE
        poisoned = states[:, INHIBITOR, 0] > POISONED
        reacting = fast & active & ~poisoned & (temperature > HOT) & (level > FILLED)
        converted = np.where(reacting, CONVERTED * level, 0.0)
        poured = np.where(valve > 1 - self.rate, DOSE * (0.5 + strength), 0.0).sum(axis=1)
        warmed = np.where(power > HEATING, HEAT * power, 0.0) + EXOTHERM * converted
        vessel = (
            (1 - DRAIN) * (level - converted) + poured,
            temperature - COOLING * (temperature - ROOM) + warmed,
            (1 - DRAIN) * product + converted,
        )
        past = {"contact.stirrer": fast, "contact.catalyst": active, "contact.inhibitor": poisoned}
        return np.array(vessel).T, past


def _reflect(values: Array) -> Array:
    """Fold a line onto [0, 1] as mirrors at both ends would.

    >>> _reflect(np.array([-0.25, 0.5, 1.25, 2.25])).tolist()
    [0.25, 0.5, 0.75, 0.25]
    """
    reflected: Array = 1 - np.abs(np.mod(values, 2) - 1)
    return reflected
