"""Original and updated Halpern-Pearl in narrow models, where few values are open at a time: a decision, not a guess.

A model unrolled in time hands on little from one step to the next: the level of a tank, not all that went before. So
the game of `counterexamples.py` can be played forward, one variable after another, if one remembers of those that are
still to be read

    changed   the values that they have with the event changed
    opposed   every combination of values that the opponent can bring about with the event in place

    begin with nothing; for each variable, parents first
        for each state that is left, each choice of the proposer
            leave it alone: changed by its equation; the opponent lets it follow its equation, or restores it
            set it by hand: changed to that value; the opponent has it so or, by updated Halpern-Pearl, takes it back
            it is the event: changed to any value; the opponent has the actual one
        forget what nobody reads any more
        drop a state whose opponent can do all that another one's can, with the same values changed
        drop, once the event is behind, a state whose opponent can have what is changed: he can from there on, too
    it is a cause if in some state that is left the effect is gone, and holds in all that the opponent can bring about

By original Halpern-Pearl a contingency stays in force, so that what does not follow from the event may have any
values, and the sweep begins at the event. Steps that are alike are worked out once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ModelError
from ..answer import Witness
from ..counting import bits
from ..definitions import Search
from ..expression import Array
from .open_variables import OpenVariables, TooWideError, order_narrowly
from .slices import slice_between
from .survival import survives

MOST_CODES = 1 << 12  # combinations of the values of variables that are open at a time
MOST_STATES = 1 << 10  # that are kept at a time
MOST_TRIALS = 1 << 18  # of a choice in a state, in all

State = tuple[int, int]  # the code of what is changed; as bits, the codes of what the opponent can bring about
LEFT_ALONE = -1


class Choice(NamedTuple):
    """What the proposer can do with a variable: for each code before, the code after, and the opponent's as bits."""

    place: int  # of the value in the range that is set by hand, or `LEFT_ALONE`
    changed: Sequence[int]
    opposed: Sequence[int]


class Layer(NamedTuple):
    """The states that are left after a variable, each with the place of the one before and the choice made."""

    states: tuple[State, ...]
    origins: tuple[tuple[int, int], ...]


class NarrowModel:
    """Plays the game of original or updated Halpern-Pearl forward, for one event."""

    def __init__(self, search: Search, event: Sequence[str], *, taking_back: bool) -> None:
        self.search, self.query, self.event, self.taking_back = search, search.query, tuple(event), taking_back
        self.model, self.actual = self.query.model, self.query.actual
        self.exogenous = frozenset(self.model.exogenous)
        part = slice_between(self.query, event)
        self.border = frozenset() if taking_back else part.border - self.exogenous
        self._choices: dict[tuple[object, ...], tuple[Choice, ...]] = {}
        self._layers: dict[tuple[int, bool, tuple[State, ...]], Layer] = {}
        self._trials = 0

    def decide(self) -> tuple[bool, Witness | None]:
        """Return whether AC2 was decided, with the witness if it is met."""
        try:
            plan = self._plan()
            layers = self._sweep(plan)
        except (TooWideError, ModelError):
            return False, None
        for number, state in enumerate(layers[-1].states):
            if self._is_won(plan[-1].after, state):
                witness = self._read(plan, layers, number)
                if self.search.undoes(witness.intervention) and survives(
                    self.search, self.event, witness, taking_back=self.taking_back
                ):
                    return True, witness
                return False, None
        return True, None

    def _plan(self) -> list[OpenVariables]:
        model, watched = self.model, self.query.watched_variables
        bearing = model.ancestors(watched)
        if not self.taking_back:
            bearing &= {*slice_between(self.query, self.event).order}
        parents = {name: tuple(self._parents(name)) for name in model.order if name in bearing}
        sizes = {name: len(model.ranges[name]) for name in parents}
        return order_narrowly(parents, sizes, watched, MOST_CODES)

    def _parents(self, name: str) -> Sequence[str]:
        return () if name in self.border or name not in self.model.equations else self.model.parents(name)

    def _sweep(self, plan: Sequence[OpenVariables]) -> list[Layer]:
        ahead = {*self.event}.intersection(part.name for part in plan)
        layer = Layer(((0, 1),), ())
        layers = []
        for part in plan:
            self.search.check_time()
            ahead.discard(part.name)
            choices = self._choose(part)
            key = id(choices), bool(ahead), layer.states
            known = self._layers.get(key)
            layer = self._layers[key] = self._advance(layer.states, choices, bool(ahead)) if known is None else known
            layers.append(layer)
        return layers

    def _advance(self, states: Sequence[State], choices: Sequence[Choice], ahead: bool) -> Layer:
        self._trials += len(states) * len(choices)
        if self._trials > MOST_TRIALS:
            raise TooWideError
        kept: dict[int, dict[int, tuple[int, int]]] = {}
        for number, choice in enumerate(choices):
            images: dict[int, int] = {}
            for origin, (changed, opposed) in enumerate(states):
                image = images.get(opposed)
                if image is None:
                    image = images[opposed] = _join(choice.opposed, opposed)
                code = choice.changed[changed]
                if ahead or not image >> code & 1:
                    _keep(kept.setdefault(code, {}), image, (origin, number))
        found = {(code, image): origin for code, alike in kept.items() for image, origin in alike.items()}
        if len(found) > MOST_STATES:
            raise TooWideError
        return Layer(tuple(found), tuple(found.values()))

    def _choose(self, part: OpenVariables) -> tuple[Choice, ...]:
        """List what the proposer can do with a variable; alike for variables that are alike."""
        ranges, name = self.model.ranges, part.name
        sizes = tuple(len(ranges[other]) for other in part.before)
        stays = tuple(other in part.after for other in (*part.before, name))
        own = ranges[name].index(self.actual[name])
        follows = None if name in self.event or name in self.border else self._follow(part, own)
        kind = name in self.event, name in self.exogenous, name in self.border
        key = (sizes, len(ranges[name]), stays, own, kind, None if follows is None else follows.tobytes())
        if key not in self._choices:
            after = _encode(sizes, len(ranges[name]), stays)
            self._choices[key] = tuple(self._list_choices(part, after, own, follows))
        return self._choices[key]

    def _list_choices(self, part: OpenVariables, after: Array, own: int, follows: Array | None) -> Iterable[Choice]:
        name, codes = part.name, np.arange(len(after))
        by_hand = range(after.shape[1])
        if name in self.event:
            for place in by_hand:
                yield Choice(place, after[:, place].tolist(), _bits(after[:, own]))
            return
        by_equation = None if follows is None else after[codes, follows]
        if by_equation is not None:
            restored = by_equation if name in self.exogenous else after[:, own]
            yield Choice(LEFT_ALONE, by_equation.tolist(), _bits(by_equation, restored))
        if name not in self.exogenous:
            for place in by_hand:
                taken_back = after[:, place] if by_equation is None or not self.taking_back else by_equation
                yield Choice(place, after[:, place].tolist(), _bits(after[:, place], taken_back))

    def _follow(self, part: OpenVariables, own: int) -> Array:
        """Tabulate the equation of a variable as places in its range, for each code before."""
        ranges, name = self.model.ranges, part.name
        sizes = [len(ranges[other]) for other in part.before]
        count = int(np.prod(sizes, dtype=np.int64))
        if name not in self.model.equations:
            return np.full(count, own)
        places = np.unravel_index(np.arange(count), sizes) if sizes else ()
        values = {
            other: np.asarray(ranges[other])[places[part.before.index(other)]] for other in self.model.parents(name)
        }
        results = np.broadcast_to(self.model.evaluate_equation(name, values), (count,))
        return np.searchsorted(np.asarray(ranges[name]), results)

    def _is_won(self, names: Sequence[str], state: State) -> bool:
        ranges = self.model.ranges
        sizes = [len(ranges[name]) for name in names]

        def read(code: int) -> dict[str, int]:
            places = np.unravel_index(code, sizes) if sizes else ()
            return {name: ranges[name][place] for name, place in zip(names, places, strict=True)}

        changed, opposed = state
        return self.query.undone({**self.actual, **read(changed)}) and all(
            self.query.effect.value({**self.actual, **read(code)}) for code in bits(opposed)
        )

    def _read(self, plan: Sequence[OpenVariables], layers: Sequence[Layer], number: int) -> Witness:
        """Go back from a state that is won, and gather what was set by hand on the way."""
        given: dict[str, int] = {}
        for part, layer in zip(reversed(plan), reversed(layers), strict=True):
            number, choice = layer.origins[number]
            place = self._choose(part)[choice].place
            if place != LEFT_ALONE:
                given[part.name] = self.model.ranges[part.name][place]
        changed = {name: given.pop(name, self.actual[name]) for name in self.event}
        return Witness(changed, self._keep_needed(given, changed))

    def _keep_needed(self, given: dict[str, int], changed: Collection[str]) -> dict[str, int]:
        """Leave out of a contingency what has its actual value anyway."""
        moved = {name for name, value in given.items() if value != self.actual[name]}
        affected = self.model.descendants({*changed, *moved})
        return {name: given[name] for name in self.model.order if name in given and (name in affected or name in moved)}


def _encode(sizes: Sequence[int], size: int, stays: Sequence[bool]) -> Array:
    """Return the code after a variable for each code before and each place of its value."""
    every = (*sizes, size)
    places = np.unravel_index(np.arange(int(np.prod(every, dtype=np.int64))), every)
    kept = [place for place, stay in zip(places, stays, strict=True) if stay]
    left = [number for number, stay in zip(every, stays, strict=True) if stay]
    codes = np.ravel_multi_index(kept, left) if left else np.zeros(len(places[0]), dtype=np.int64)
    return np.asarray(codes).reshape(-1, size)


def _bits(*codes: Array) -> list[int]:
    """Return, for each place of some arrays of codes, the bits of the codes there."""
    rows = [array.tolist() for array in codes]
    return [sum(1 << code for code in {*column}) for column in zip(*rows, strict=True)]


def _join(images: Sequence[int], codes: int) -> int:
    joined = 0
    for code in bits(codes):
        joined |= images[code]
    return joined


def _keep(alike: dict[int, tuple[int, int]], image: int, origin: tuple[int, int]) -> None:
    """Keep what an opponent can bring about, unless another's is less; and leave out those that this is less than."""
    if any(other & ~image == 0 for other in alike):
        return
    for other in [other for other in alike if image & ~other == 0]:
        del alike[other]
    alike[image] = origin
