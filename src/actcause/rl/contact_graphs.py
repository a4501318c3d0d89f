"""Local graphs learned in seconds: what a body does by itself, and who was there when it did something else.

Made for exchanges (`augment`), where two questions matter more than any other: does anything of one group touch the
other in the new state, and can there be such a state at all? No label is looked at.

    by itself   what each outcome most often does, given its own features and the actions      (`mode_network.py`)
    surprised   a row in which it did something else
    pairs       how likely each other factor makes it do so, seen as a pair; one of them did   (`pair_network.py`)
    settled     a surprised row that one other factor accounts for: what most often happens with it did happen
    familiar    pairs of factors that are seen together in recorded rows
    inputs      actions that drive an outcome, or without which a named pair would likely have been quiet

An exchange is allowed where no pair of the two groups is likely to do anything, by a margin, and each is familiar. How
unlikely is unlikely enough is chosen by rows held out: there it is known how often a quiet row was surprised after all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..envs.base import Array
from ..errors import QueryError, quote
from .arguments import check_count, check_recording
from .factor_values import LEAST, FactorValues
from .mode_network import ModeNetwork, fit_mode
from .pair_network import FamiliarPairs, describe_pairs, fit_gate
from .row_memory import append_rows

if TYPE_CHECKING:
    from ..data import Recording

SURPRISES = np.geomspace(0.02, 0.5, 30)  # in usual changes: what is off by more than one of these is a surprise
NEAR = 1.6  # times a limit within which a row is near it
TIMES = 10  # what half of the surprised rows are off by when one other factor is known: what else is not settled
HELD_OUT = 10  # one episode in so many
UNUSUAL = 0.05  # share of the rows held out that count as unfamiliar
NAMED = 0.5  # probability from which on a factor is named
JOINED = 0.3  # in a surprised row, from which on it may have had a part
DRAWS = 8  # other actions that are tried
TURNED = 0.1  # share of them that must leave a named pair quiet, for the action to be named too
DEPENDS = 0.1  # usual changes by which another action must change what an outcome does by itself
LIMITS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)  # that are tried
MARGIN = 4  # exchanged rows are harder than recorded ones: this many times stricter
OWN_WIDTH = 64
SHORTER = 3  # times fewer steps, where a network goes on from where it was
MEMORY = 50_000  # rows that are kept to go on with
WIDER = 2.0  # times as wide as they were that features may spread and still be seen as they were


@dataclass(frozen=True)
class _Networks:
    """What was learned before, by the place of a factor; empty where one begins."""

    own: Mapping[int, ModeNetwork] = field(default_factory=dict)
    gates: Mapping[int, torch.nn.Sequential] = field(default_factory=dict)
    others: Mapping[int, tuple[ModeNetwork, Tensor]] = field(default_factory=dict)
    familiar: FamiliarPairs | None = None


class ContactGraphs:
    """Learns who makes whom do something else than it would by itself, pair by pair.

    Args:
        steps: Of each small network.
        width: Of the hidden layers of pairs.
        wrong: The share of wrong transitions that `augment` may keep, by what rows held out say.
        seed: Of weights, order and of what is held out.

    >>> from actcause.data import collect_recording
    >>> recording = collect_recording("push", frames=2000)
    >>> ContactGraphs(steps=100).fit(recording).predict(recording).shape
    (2000, 6, 7)
    """

    _own: dict[int, ModeNetwork]
    _familiar: FamiliarPairs
    _reader: FactorValues
    _judges: Array
    _last: int

    def __init__(self, *, steps: int = 1500, width: int = 64, wrong: float = 0.02, seed: int = 0) -> None:
        for name, value, least in (("steps", steps, 1), ("width", width, 1), ("seed", seed, 0)):
            check_count(name, value, least)
        if not isinstance(wrong, (int, float)) or isinstance(wrong, bool) or not 0 < wrong < 1:
            raise QueryError(
                "{parameter} must be a share between 0 and 1. Got {got} instead.", parameter="wrong", got=quote(wrong)
            )
        self.steps, self.width, self.wrong, self.seed = steps, width, wrong, seed

    # -- learning ----------------------------------------------------------------------------------

    def fit(self, recording: Recording) -> ContactGraphs:
        """Learn from whole states; labels are not looked at."""
        return self._learn(recording, warm=False)

    def partial_fit(self, recording: Recording) -> ContactGraphs:
        """Go on with further rows from the networks that there are, in a third of the steps.

        What was seen so far is remembered, up to `MEMORY` rows. All is learned anew where nothing was learned yet,
        where something moves that never did, or where features spread otherwise than they did.
        """
        if not hasattr(self, "limit_"):
            return self.fit(recording)
        self._read(recording)  # refuses other factors
        seen = append_rows(self._seen, recording, MEMORY)
        return self._learn(seen, warm=self._still_fits(seen))

    def _still_fits(self, recording: Recording) -> bool:
        """Return whether the networks that there are see the world as they did."""
        change = self._reader.read_change(recording)
        moving = [place for place in self._reader.bodies if bool((change[:, place] != 0).any())]
        return moving == self._moving and FactorValues(recording).resembles(self._reader, WIDER)

    def _learn(self, recording: Recording, *, warm: bool) -> ContactGraphs:
        """Learn anew, or from the networks that there are."""
        check_recording(recording)
        if recording.mask is not None:
            raise QueryError("Contacts are learned from recordings in which every factor is there in every row.")
        held_out = torch.as_tensor(np.isin(recording.episode, self._hold_out(recording.episode, warm)))
        self.factors_, self.outcomes_ = recording.factors, recording.outcomes
        before = _Networks(self._own, self._gates, self._with, self._familiar) if warm else _Networks()
        steps = max(1, self.steps // SHORTER) if warm else self.steps
        self._seen = recording
        self._reader = reader = self._reader if warm else FactorValues(recording)
        values, change = reader.read(recording.state), reader.read_change(recording)
        moved = (change != 0).sum(dim=0)
        self._moving = [place for place in reader.bodies if bool(moved[place].any())]
        if not self._moving:
            raise QueryError("Nothing in the recording ever changes: there is nothing to explain.")
        alike = reader.kinds @ reader.kinds.T  # factors of one class behave alike, and share all networks
        self._classes = [[at for at in self._moving if kind[at] > 0] for kind in reader.kinds.T]
        self._changing = (alike @ moved.float()) > 0
        self._unit = (alike @ (change**2).sum(dim=0) / (alike @ moved.float()).clamp(min=1)).sqrt().clamp(min=LEAST)
        self._others = {place: [other for other in reader.bodies if other != place] for place in self._moving}
        rows = (~held_out).nonzero()[:, 0]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self._fit_own(values, change, rows, steps, before)
            self._fit_pairs(values, change, rows, steps, before)
            self._familiar = FamiliarPairs(reader, width=self.width, start=before.familiar)
            held = held_out.nonzero()[:, 0]
            self._familiar.fit(values, rows, held, steps=steps, share=UNUSUAL)
            self._drawn = values[torch.randint(len(values), (DRAWS,))]
        self._choose_limit(values[held], change[held])
        return self

    def _hold_out(self, episode: Array, warm: bool) -> Array:
        """Choose the episodes that judge what is learned; those that did go on: nothing was learned from them."""
        numbers = np.unique(episode)
        if len(numbers) < 2:
            raise QueryError("The recording must have two episodes or more. Got one; record more.")
        chosen: Array = numbers[np.random.default_rng(self.seed).permutation(len(numbers)) % HELD_OUT == 0]
        if warm:
            known = np.intersect1d(self._judges, numbers)
            chosen = np.concatenate([known, chosen[chosen > self._last]]) if len(known) else chosen
        self._judges, self._last = chosen, int(numbers.max())
        return chosen

    def _fit_own(self, values: Tensor, change: Tensor, rows: Tensor, steps: int, before: _Networks) -> None:
        """Learn what each outcome does by itself, and what counts as something else."""
        self._own = {}
        for places in filter(None, self._classes):
            known = torch.cat([self._describe_own(values, place) for place in places])
            wanted = torch.cat([self._scale(change, place) for place in places])
            seen = _repeat(rows, len(values), places)
            start = before.own.get(places[0])
            network = fit_mode(known, wanted, seen, steps=steps, width=OWN_WIDTH, start=start)
            self._own |= dict.fromkeys(places, network)
        off = self._measure_off(change, self._go_by_itself(values))[rows]
        self._usual = torch.zeros(len(self.factors_))
        for places in filter(None, self._classes):
            self._usual[places] = _find_valley(off[:, places].numpy())
        self._driven = {place: self._find_inputs(values, place) for place in self._moving}

    def _fit_pairs(self, values: Tensor, change: Tensor, rows: Tensor, steps: int, before: _Networks) -> None:
        """Learn who makes an outcome do something else, and what it most often does then."""
        course = self._go_by_itself(values)
        surprised = self._find_surprises(change, course)
        self._gates: dict[int, torch.nn.Sequential] = {}
        self._with: dict[int, tuple[ModeNetwork, Tensor]] = {}  # what an outcome does then, and what it is off by
        for places in filter(None, self._classes):
            seen = _repeat(rows, len(values), places)
            other = torch.cat([surprised[:, place] for place in places])
            mine = seen[other[seen]]
            if not len(mine):
                continue
            pairs = torch.cat([describe_pairs(self._reader, values, course, at, self._others[at]) for at in places])
            start = before.gates.get(places[0])
            gate = fit_gate(pairs, other, seen, steps=steps, width=self.width, start=start)
            known = torch.cat(
                [_find_likeliest(gate, pairs), self._reader.read_inputs(values).repeat(len(places), 1)], 1
            )
            wanted = torch.cat([self._scale(change, place) for place in places])
            then = before.others.get(places[0], (None, None))[0]
            network = fit_mode(known, wanted, mine, steps=steps, width=self.width, start=then)
            with torch.no_grad():
                off = (network(known[mine]) - wanted[mine]).abs()
            usual = torch.maximum(self._usual[places[0]], TIMES * off.median(dim=0).values)
            self._gates |= dict.fromkeys(places, gate)
            self._with |= dict.fromkeys(places, (network, usual))

    def _choose_limit(self, values: Tensor, change: Tensor) -> None:
        """Choose the largest probability below which a pair counts as apart."""
        course = self._go_by_itself(values)
        surprised = self._find_surprises(change, course)
        likely = {place: self._ask_pairs(values, course, place).amax(dim=1) for place in self._gates}

        def estimate(limit: float) -> float:
            quiet = [surprised[likely[place] < limit, place] for place in self._gates]
            return sum(float(rows.float().mean()) for rows in quiet if len(rows))

        allowed = self.wrong / MARGIN
        self.limit_ = next((limit for limit in LIMITS if estimate(limit) <= allowed), LIMITS[-1])
        self.expected_wrong_ = estimate(self.limit_)

    # -- answers -----------------------------------------------------------------------------------

    def predict(self, recording: Recording) -> Array:
        """Name the causes of every outcome, judged from the state alone: (rows, outcomes, factors)."""
        values = self._read(recording)
        course = self._go_by_itself(values)
        return self._name({place: self._ask_pairs(values, course, place) > NAMED for place in self._gates}, values)

    def explain(self, recording: Recording) -> Array:
        """Answer as `predict` does, knowing what became of every factor.

        Of a surprised row the one other factor is named that by itself accounts for what happened. Only where none
        does, all are named that may have had a part.
        """
        values = self._read(recording)
        change = self._reader.read_change(recording)
        course = self._go_by_itself(values)
        surprised = self._find_surprises(change, course)
        named = {}
        for place in self._gates:
            rows = surprised[:, place].nonzero()[:, 0]
            named[place] = torch.zeros(len(values), len(self._others[place]), dtype=torch.bool)
            named[place][rows] = self._find_responsible(values[rows], change[rows], course[rows], place)
        return self._name(named, values)

    def find_joined(self, recording: Recording) -> Array:
        """Name whoever may have had a part, in hindsight: what is not to be torn apart by an exchange."""
        values = self._read(recording)
        course = self._go_by_itself(values)
        surprised = self._find_surprises(self._reader.read_change(recording), course)
        named = {}
        for place in self._gates:
            likely = self._ask_pairs(values, course, place)
            most = torch.nn.functional.one_hot(likely.argmax(dim=1), likely.shape[1]).bool()
            named[place] = ((likely > JOINED) | most) & surprised[:, place, None]
        return self._name(named, values)

    @torch.no_grad()
    def find_settled(self, recording: Recording) -> Array:
        """Return for each row whether all of it is accounted for: by itself, or by one other factor."""
        values = self._read(recording)
        course, change = self._go_by_itself(values), self._reader.read_change(recording)
        surprised = self._find_surprises(change, course)
        settled = torch.ones(len(values), dtype=torch.bool)
        for place in self._moving:
            if place not in self._gates:
                settled &= ~surprised[:, place]
                continue
            pairs = describe_pairs(self._reader, values, course, place, self._others[place])
            network, usual = self._with[place]
            known = torch.cat([_find_likeliest(self._gates[place], pairs), self._reader.read_inputs(values)], dim=1)
            off = (network(known) - self._scale(change, place)).abs()
            sure = torch.sigmoid(self._gates[place](pairs).squeeze(2)).amax(dim=1) > NAMED
            settled &= ~surprised[:, place] | (sure & (off <= usual).all(dim=1))
        return settled.numpy()

    def allow_exchanges(self, recording: Recording, exchanged: Array) -> Array:
        """Return for each new row whether its two groups, `exchanged` and the rest, have nothing to do with each other.

        They are asked what they would do by themselves, and once more with what is recorded that they did.
        """
        values, group = self._read(recording), torch.as_tensor(exchanged)
        allowed = self._familiar.measure(values, group) >= self._familiar.least
        for course in (self._go_by_itself(values), self._reader.read_change(recording)):
            for place in self._gates:
                across = group[:, self._others[place]] != group[:, place, None]
                allowed &= ~((self._ask_pairs(values, course, place) >= self.limit_) & across).any(dim=1)
        return np.asarray(allowed.numpy())

    # -- helpers -----------------------------------------------------------------------------------

    def _read(self, recording: Recording) -> Tensor:
        if not hasattr(self, "limit_"):
            raise QueryError(
                "These graphs have not been learned; call fit(recording) first, or give OnlineGraphs of them."
            )
        if (recording.factors, recording.outcomes) != (self.factors_, self.outcomes_):
            raise QueryError(f"The graphs were fitted to {', '.join(self.factors_)}. "
                             f"Got {', '.join(recording.factors)}.")  # fmt: skip
        return self._reader.read(recording.state)

    def _describe_own(self, values: Tensor, place: int) -> Tensor:
        return torch.cat([values[:, place], self._reader.read_inputs(values)], dim=1)

    def _scale(self, change: Tensor, place: int) -> Tensor:
        """Return the changes of an outcome that it ever has, in units of their usual size."""
        return (change[:, place] / self._unit[place])[:, self._changing[place]]

    @torch.no_grad()
    def _go_by_itself(self, values: Tensor) -> Tensor:
        """Return how each factor would change by itself."""
        course = torch.zeros_like(values)
        for place, network in self._own.items():
            changing = self._changing[place]
            course[:, place, changing] = network(self._describe_own(values, place)) * self._unit[place][changing]
        return course

    def _find_surprises(self, change: Tensor, course: Tensor) -> Tensor:
        """Return `(rows, factors)`: who did something else than it would by itself."""
        return self._measure_off(change, course) > self._usual

    def _measure_off(self, change: Tensor, course: Tensor) -> Tensor:
        """Return `(rows, factors)`: how far each is from what it would do by itself, in usual changes."""
        return ((change - course).abs() / self._unit * self._changing).amax(dim=2)

    @torch.no_grad()
    def _ask_pairs(self, values: Tensor, course: Tensor, place: int) -> Tensor:
        """Return how likely each other body makes this one do something else, `(rows, others)`."""
        pairs = describe_pairs(self._reader, values, course, place, self._others[place])
        return torch.sigmoid(self._gates[place](pairs).squeeze(2))

    @torch.no_grad()
    def _find_responsible(self, values: Tensor, change: Tensor, course: Tensor, place: int) -> Tensor:
        """Return who made an outcome do something else, `(rows, others)`, in rows in which somebody did."""
        pairs = describe_pairs(self._reader, values, course, place, self._others[place])
        likely = torch.sigmoid(self._gates[place](pairs).squeeze(2))
        network, usual = self._with[place]
        inputs = self._reader.read_inputs(values)[:, None].expand(-1, pairs.shape[1], -1)
        off = (network(torch.cat([pairs, inputs], dim=2)) - self._scale(change, place)[:, None]).abs()
        alone = (likely > JOINED) & (off <= usual).all(dim=2)
        settled = alone.any(dim=1, keepdim=True)
        first = torch.where(alone | ~settled, likely, torch.zeros_like(likely)).argmax(dim=1)
        named: Tensor = ((likely > JOINED) & ~settled) | torch.nn.functional.one_hot(first, likely.shape[1]).bool()
        return named

    @torch.no_grad()
    def _find_inputs(self, values: Tensor, place: int) -> list[int]:
        """Return the inputs that decide what an outcome does by itself."""
        found, shuffled = [], torch.randperm(len(values))
        usual = self._own[place](self._describe_own(values, place))
        for number in self._reader.inputs:
            other = values.clone()
            other[:, number] = values[shuffled, number]
            differs = (self._own[place](self._describe_own(other, place)) - usual).abs().amax(dim=1) > DEPENDS
            if bool(differs.float().mean() > 0.5):
                found.append(number)
        return found

    def _name(self, named: dict[int, Tensor], values: Tensor) -> Array:
        graphs = np.zeros((len(values), len(self.outcomes_), len(self.factors_)), dtype=bool)
        for number, outcome in enumerate(self.outcomes_):
            place = self.factors_.index(outcome)
            graphs[:, number, [place, *(self._driven[place] if place in self._own else [])]] = True
            if place in named:
                graphs[:, number, self._others[place]] = named[place].numpy()
                for one in self._reader.inputs:
                    graphs[:, number, one] |= self._find_turned(values, place, named[place], one)
        return graphs

    def _find_turned(self, values: Tensor, place: int, named: Tensor, one: int) -> Array:
        """Return in which rows another value of an input would have left every named pair of an outcome quiet."""
        turned = np.zeros(len(values), dtype=bool)
        rows = named.any(dim=1).nonzero()[:, 0]
        quiet = torch.zeros(len(rows))
        for drawn in self._drawn:
            other = values[rows].clone()
            other[:, one] = drawn[one]
            likely = self._ask_pairs(other, self._go_by_itself(other), place)
            quiet += ~((likely > NAMED) & named[rows]).any(dim=1)
        turned[rows.numpy()] = (quiet / DRAWS > TURNED).numpy()
        return turned


def _repeat(rows: Tensor, count: int, places: list[int]) -> Tensor:
    """Return the rows of several outcomes that are put one below the other, `count` rows each."""
    return torch.cat([rows + number * count for number in range(len(places))])


@torch.no_grad()
def _find_likeliest(gate: torch.nn.Sequential, pairs: Tensor) -> Tensor:
    """Return the numbers of each row's likeliest pair."""
    return pairs[torch.arange(len(pairs)), gate(pairs).squeeze(2).argmax(dim=1)]


def _find_valley(off: Array) -> float:
    """Return the limit near which the fewest rows lie: between what is off by little and what did something else."""
    near = [int(((off > limit / NEAR) & (off < limit * NEAR)).sum()) for limit in SURPRISES]
    return float(SURPRISES[int(np.argmin(near))])
