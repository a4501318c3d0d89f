"""Random Vectors: random vectors that push each other around, each edge in some states only.

The paper's section "Random Vectors" and its appendix "Random Vector Domain Details".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from ..errors import QueryError, quote, suggest
from .base import Array, Domain, Step
from .relation import Relation

CENTRE = 0.15  # passive dynamics turn about a point in [-CENTRE, CENTRE]^d; active relations are offset as much
CALIBRATION_WORLDS = 1024
CALIBRATION_ROUNDS = 12
CALIBRATION_TOLERANCE = 0.002  # of the rate, in the calibration's own episodes
STREAMS = {"parameters": 0, "calibration": 1}  # of the draw's random numbers


@dataclass(frozen=True)
class RandomVectors(Domain):
    """Random Vectors: vectors with random affine dynamics, whose edges fire in some states and not in others.

    ## Description
    Each variable is a vector in [-1, 1]^d with passive dynamics of its own. Relations make parents push a
    target, but only where a random linear score of the parents and the target exceeds a threshold. Nothing
    but that score tells when: there is no space and no contact to go by. A `draw` fixes every matrix, offset
    and threshold; the graph is any set of relations. The paper's graphs are `PRESETS`: `1-in`, `2-in`, `3-in`
    (one, two, three variables, each with its own relation into the outcome), `3-chain` (a1 into a2 into y),
    `3-m-in` (three variables in one joint relation), `d-20` (1-in with 20 dimensions) and `tau-1` (1-in with a
    rare edge).

    >>> import numpy as np
    >>> domain = random_vectors("2-in", draw=7)
    >>> domain.factors, domain.outcome, domain.edges
    (('a1', 'a2', 'y'), 'y', ('a1', 'a2'))
    >>> generator = np.random.default_rng(0)
    >>> states = domain.reset(generator, worlds=1000)
    >>> step = domain.step(states, domain.sample_actions(generator, states))
    >>> step.states.shape, step.cause.shape
    ((1000, 3, 4), (1000, 3))

    ## Factors
    The variables in the order in which the relations name them, the outcome last; each has the features
    `x0`, `x1`, … An initial value is uniform in [-1, 1]^d. An episode has 50 steps and never ends earlier.

    ## Actions
    The random input of every variable except the outcome, `d` numbers in [-1, 1] for each in the order of the
    factors: an array of shape `(worlds, (variables - 1) * d)`. With `noise` there are `d` more for the
    outcome. Actions are not a factor: no recording shows them, and those of other variables reach the outcome
    one step later at the earliest.

    ## Dynamics
    With `x_a` the parents' values, `x_t` the target's and `k` the number of parents, relation `r` returns

        clip(g (C x_t + c))                           where D[x_a, x_t] <= tau: it does not fire,
        clip(g ((A x_a + B x_t) / sqrt(k + 1) + e))   where D[x_a, x_t] >  tau: it fires,

    with random orthogonal A (one for each parent), B and C, and random c, e and D, as the paper's equation of
    Random Vectors has it. Where `R` relations have the same target each has the share `1/R`, so that it adds a
    value in [-1/R, 1/R]^d; their sum is the target's next value. A driven variable (any but the outcome) takes
    `passive` times that sum plus `drive` times its input; a variable that is no target has passive dynamics
    only. In the end everything is clipped to [-1, 1]. With `dynamics="increment"` all of this, times
    `increment`, is added to the previous value instead of replacing it.

    ## True cause
    The outcome's own factor is always a cause. A parent is one if a relation of it into the outcome fired in
    this step; a joint relation's parents are causes together. Where a relation does not fire its parents have
    exactly no influence, and where it fires their influence is lost only in coordinates on the clip.
    `Step.extra["fired"]` says for every relation, in the order given and those between other variables
    included, whether it fired.

    ## Parameters
    - `relations`: the graph, `Relation(parents=("a1", "a2"), target="y")` and so on, or as text,
      `"a1, a2 -> y; a3 -> y"`. Cycles are allowed, and the outcome may be a parent: a relation takes
      one step of time. A variable may not be its own parent.
    - `outcome_name`: the outcome variable.
    - `dimensions`: `d`.
    - `rate`: in which share of the states of the episodes each relation fires.
    - `draw`: fixes all random parameters. The matrices do not depend on the rate: `tau-1` has those of `1-in`.
    - `dynamics`: `"replace"`, or `"increment"` with `increment` as its step: recordings of real processes look
      like that, but the 50 steps of an episode are then nearly one sample.
    - `drive`: strength of the random inputs; `passive`: weight of the past of the variables so driven.
    - `outcome_passive`: the factor on the outcome's C; 0 means no passive part at all: without interaction the
      outcome is 0, as in the paper's 3-chain.
    - `noise`: strength of a random input to the outcome that no factor explains.

    ## Choices where the paper is silent
    1. *Drive.* Left to themselves the formula's dynamics die out, saturate, or settle where the outcome's own
       value reveals the other variables; then the own value *is* a sufficient explanation and the labels would
       be wrong. So every variable but the outcome gets a random input each step, the middle one of a chain too.
    2. *Thresholds* are not given but found: the quantile of the scores in this draw's own episodes, repeated,
       since thresholds change the episodes.
    3. *The sign of tau.* The paper says that a smaller tau makes causes less frequent. Its own equation, in
       which a relation fires where the score exceeds tau, says the opposite, and so does this class: the rare
       edge of `tau-1` has a high threshold. (An erratum of the paper.) Here one gives the rate.
    4. *Scales.* Instead of Gaussian matrices with the paper's `b / sqrt(d)`, orthogonal ones, which neither
       shrink nor blow up, and `1 / sqrt(k + 1)` for the paper's `1 / (k + 1)`, which keeps the variance.
       `g = R ** (1/3)` makes up for part of the variance that averaging R relations loses; the clip then binds
       in about 6% of the values that the relations of `3-in` return. Passive dynamics turn about a centre near
       0 (that is the offset c), the outcome's with the factor 0.97: a free offset along an axis that C keeps
       would add up until it meets the clip. D gives the target and each parent the same weight.
    5. *3-chain.* Without passive part the outcome's previous value still enters B and D, so that it is a
       factor as in the other domains.
    6. `experiments/random_vectors_health.py` measures rates, spreads, clipping and the leak of choice 1.
    """

    name: ClassVar[str] = "random-vectors"
    title: ClassVar[str] = "Random Vectors"
    horizon: ClassVar[int] = 50
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    relations: tuple[Relation, ...]
    outcome_name: str = "y"
    dimensions: int = 4
    rate: float = 0.5
    draw: int = field(default=0, kw_only=True)
    dynamics: Literal["replace", "increment"] = field(default="replace", kw_only=True)
    increment: float = field(default=0.02, kw_only=True)
    drive: float = field(default=0.7, kw_only=True)
    passive: float = field(default=0.6, kw_only=True)
    outcome_passive: float = field(default=0.97, kw_only=True)
    noise: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        given: Any = self.relations
        if isinstance(given, str):
            given = Relation.from_text(given)
        if isinstance(given, tuple | list):  # a recording's metadata holds relations as tables
            keys = {"parents", "target"}
            given = [Relation(**r) if isinstance(r, Mapping) and set(r) == keys else r for r in given]
        if not isinstance(given, tuple | list) or not all(isinstance(relation, Relation) for relation in given):
            raise QueryError(f"Give relations as (Relation(parents=('a1',), target='y'), ...). Got {quote(given)}.")
        object.__setattr__(self, "relations", tuple(given))
        self._check_graph()
        self._check_numbers()

    def _check_graph(self) -> None:
        named = {name for relation in self.relations for name in (*relation.parents, relation.target)}
        if self.outcome_name not in named:
            hint = suggest(str(self.outcome_name), sorted(named)) or "."
            raise QueryError(f"The outcome {quote(self.outcome_name)} occurs in no relation{hint}")
        if not any(relation.target == self.outcome_name for relation in self.relations):
            raise QueryError(
                f"No relation has the outcome '{self.outcome_name}' as its target; "
                "give one, or name another variable as outcome_name."
            )
        distinct = {(frozenset(relation.parents), relation.target) for relation in self.relations}
        if len(distinct) < len(self.relations):
            raise QueryError("Two relations have the same parents and the same target; leave one out.")

    def _check_numbers(self) -> None:
        if self.dynamics not in ("replace", "increment"):
            raise QueryError(f"The dynamics are 'replace' or 'increment'. Got {quote(self.dynamics)}.")
        for name, least in (("dimensions", 1), ("draw", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise QueryError(f"'{name}' must be an integer of at least {least}. Got {quote(value)}.")
        for name in ("rate", "increment", "drive", "passive", "outcome_passive", "noise"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not 0 <= value < np.inf:
                raise QueryError(f"'{name}' must be a number of at least 0. Got {quote(value)}.")
        if not 0 < self.rate < 1:
            raise QueryError(f"'rate' is a share strictly between 0 and 1. Got {quote(self.rate)}.")

    # -- what it is made of ------------------------------------------------------------------------

    @cached_property
    def factors(self) -> tuple[str, ...]:
        named = dict.fromkeys(name for r in self.relations for name in (*r.parents, r.target))
        return (*(name for name in named if name != self.outcome_name), self.outcome_name)

    @cached_property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        return dict.fromkeys(self.factors, tuple(f"x{i}" for i in range(self.dimensions)))

    @property
    def outcome(self) -> str:
        return self.outcome_name

    @property
    def outcomes(self) -> tuple[str, ...]:
        return self.factors

    @cached_property
    def edges(self) -> tuple[str, ...]:
        parents = {name for r in self.relations if r.target == self.outcome_name for name in r.parents}
        return tuple(name for name in self.factors if name in parents)

    @property
    def thresholds(self) -> Array:
        """The threshold that each relation's score must exceed for it to fire, in the order of the relations."""
        return self._parameters.thresholds[: len(self.relations)].copy()

    # -- what it does ------------------------------------------------------------------------------

    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        return generator.uniform(-1, 1, (worlds, len(self.factors), self.dimensions))

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        return generator.uniform(-1, 1, (len(states), self.action_size))

    def step(self, states: Array, actions: Array) -> Step:
        states, actions = np.asarray(states, dtype=float), np.asarray(actions, dtype=float)
        worlds, shape = len(states), (len(self.factors), self.dimensions)
        if states.shape != (worlds, *shape) or actions.shape != (worlds, self.action_size):
            raise QueryError(
                f"States of this domain have the shape (worlds, {shape[0]}, {shape[1]}) and actions (worlds, "
                f"{self.action_size}). Got {states.shape} and {actions.shape}."
            )
        following, fired, _ = self._advance(self._parameters, states, actions)
        causes = np.ones((worlds, len(self.factors)), dtype=bool)
        causes[:, :-1] = fired @ self._parameters.blame  # of booleans: any relation of the parent
        fired = fired[:, : len(self.relations)]
        return Step(states.copy(), following, causes, np.zeros(worlds, dtype=bool), {"fired": fired})

    def graph(self, states: Array, actions: Array, step: Step) -> Array:
        """Return who caused what, `(worlds, outcomes, factors)`: itself, and the parents of relations that fired."""
        graph = super().graph(states, actions, step)
        fired = step.extra["fired"]
        for number, relation in enumerate(self.relations):
            for parent in relation.parents:
                graph[:, self.index(relation.target), self.index(parent)] |= fired[:, number]
        return graph

    @property
    def bounds(self) -> tuple[Array, Array]:
        ones = np.ones((len(self.factors), self.dimensions))
        return -ones, ones

    @property
    def action_size(self) -> int:
        return (len(self.factors) - (self.noise == 0)) * self.dimensions

    def _advance(self, parameters: _Parameters, states: Array, actions: Array) -> tuple[Array, Array, Array]:
        """Return the next states, which terms fired, and their scores."""
        worlds, variables, d = states.shape
        terms = len(parameters.thresholds)
        # Not `@`: with BLAS a world's last digits would depend on how many worlds are stepped together.
        mixed = np.einsum("wi,io->wo", states.reshape(worlds, variables * d), parameters.linear)
        mixed += parameters.offset
        still = mixed[:, : terms * d].reshape(worlds, terms, d)
        moved = mixed[:, terms * d : 2 * terms * d].reshape(worlds, terms, d)
        scores = mixed[:, 2 * terms * d :]
        fired = scores > parameters.thresholds
        values = np.where(fired[:, :, None], moved, still)
        np.minimum(np.maximum(values, -1, out=values), 1, out=values)
        following = np.einsum("vt,wtd->wvd", parameters.shares, values)
        inputs = actions.reshape(worlds, -1, d)
        following[:, :-1] += self.drive * inputs[:, : variables - 1]
        if self.noise:
            following[:, -1] += self.noise * inputs[:, -1]
        if self.dynamics == "increment":
            following = states + self.increment * following
        np.minimum(np.maximum(following, -1, out=following), 1, out=following)
        return following, fired, scores

    # -- its random parameters ---------------------------------------------------------------------

    @cached_property
    def _parameters(self) -> _Parameters:
        return _calibrate_once(self)

    def _calibrate(self) -> _Parameters:
        """Draw the matrices, and find thresholds by simulation: scores' quantiles, until rates are right."""
        parameters = self._draw_matrices(np.random.default_rng([int(self.draw), STREAMS["parameters"]]))
        generator = np.random.default_rng([int(self.draw), STREAMS["calibration"]])
        initial = self.reset(generator, CALIBRATION_WORLDS)
        inputs = [self.sample_actions(generator, initial) for _ in range(self.horizon)]
        count = len(self.relations)
        for turn in range(CALIBRATION_ROUNDS):
            states, seen, fired = initial, [], np.zeros(count)
            for actions in inputs:
                states, on, scores = self._advance(parameters, states, actions)
                seen.append(scores[:, :count])
                fired += on[:, :count].mean(axis=0) / self.horizon
            if np.all(np.abs(fired - self.rate) < CALIBRATION_TOLERANCE):
                break
            wanted = np.quantile(np.concatenate(seen), 1 - self.rate, axis=0)
            thresholds = parameters.thresholds.copy()
            weight = 1.0 if turn == 0 else 0.7  # damped, against relations that overshoot in turns
            thresholds[:count] += weight * (wanted - thresholds[:count])
            parameters = replace(parameters, thresholds=thresholds)
        return parameters

    def _draw_matrices(self, generator: np.random.Generator) -> _Parameters:
        """Draw matrices of every relation, and of a term that never fires for each variable that is no target."""
        d, place = self.dimensions, {name: i for i, name in enumerate(self.factors)}
        targets = [relation.target for relation in self.relations]
        free = [name for name in self.factors if name not in targets]
        terms: list[tuple[tuple[str, ...], str]] = [(r.parents, r.target) for r in self.relations]
        terms += [((), name) for name in free]
        count = len(terms)
        linear = np.zeros((len(place), d, 2 * count * d + count))
        offset = np.zeros(2 * count * d + count)
        shares = np.zeros((len(place), count))
        blame = np.zeros((count, len(place) - 1), dtype=bool)
        for term, (parents, target) in enumerate(terms):
            still = slice(term * d, (term + 1) * d)
            moved = slice((count + term) * d, (count + term + 1) * d)
            score = 2 * count * d + term
            relations = max(1, targets.count(target))
            gain = relations ** (1 / 3)
            is_outcome = target == self.outcome_name
            keep = self.outcome_passive if is_outcome else 1.0
            turn, centre = _orthogonal(generator, d), generator.uniform(-CENTRE, CENTRE, d)
            if keep:
                linear[place[target], :, still] = gain * keep * turn
                offset[still] = gain * (centre - keep * centre @ turn)
            offset[moved] = gain * generator.uniform(-CENTRE, CENTRE, d)
            for name in (target, *parents):
                linear[place[name], :, moved] = gain * _orthogonal(generator, d) / np.sqrt(len(parents) + 1)
                direction = generator.normal(size=d)
                linear[place[name], :, score] = direction / np.linalg.norm(direction)
            shares[place[target], term] = (1.0 if is_outcome else self.passive) / relations
            if is_outcome:
                blame[term, [place[name] for name in parents]] = True
        thresholds = np.where([bool(parents) for parents, _ in terms], 0.0, np.inf)
        return _Parameters(linear.reshape(len(place) * d, -1), offset, thresholds, shares, blame)


@dataclass(frozen=True)
class _Parameters:
    """One linear map from the state to what every term returns still and moved, and to its score."""

    linear: Array  # (variables * d, 2 * terms * d + terms)
    offset: Array
    thresholds: Array  # (terms,)
    shares: Array  # (variables, terms): each target's weights
    blame: Array  # (terms, variables - 1): whose relation into the outcome a term is


@lru_cache(maxsize=64)  # equal domains are made again and again, and to simulate takes a tenth of a second
def _calibrate_once(domain: RandomVectors) -> _Parameters:
    return domain._calibrate()


def _orthogonal(generator: np.random.Generator, size: int) -> Array:
    """Draw an orthogonal matrix, uniformly distributed; the signs make it the same on every machine."""
    q, r = np.linalg.qr(generator.normal(size=(size, size)))
    signed: Array = q * np.where(np.diag(r) < 0, -1.0, 1.0)
    return signed


def _edges(*names: str) -> tuple[Relation, ...]:
    return tuple(Relation((name,), "y") for name in names)


PRESETS: Mapping[str, RandomVectors] = MappingProxyType(
    {
        "1-in": RandomVectors(_edges("a1")),
        "2-in": RandomVectors(_edges("a1", "a2")),
        "3-in": RandomVectors(_edges("a1", "a2", "a3")),
        "3-chain": RandomVectors((Relation(("a1",), "a2"), Relation(("a2",), "y")), outcome_passive=0),
        "3-m-in": RandomVectors((Relation(("a1", "a2", "a3"), "y"),)),
        "d-20": RandomVectors(_edges("a1"), dimensions=20),
        "tau-1": RandomVectors(_edges("a1"), rate=0.08),
    }
)


def random_vectors(name: str, **overrides: Any) -> RandomVectors:
    """Build one of the paper's domains by name, other parameters at will.

    >>> random_vectors("d-20", draw=3).dimensions
    20
    """
    if name not in PRESETS:
        hint = suggest(str(name), PRESETS) or f"; there are {', '.join(PRESETS)}."
        raise QueryError(f"Unknown Random Vectors domain {quote(name)}{hint}")
    known = [parameter.name for parameter in fields(RandomVectors)]
    for parameter in overrides:
        if parameter not in known:
            hint = suggest(parameter, known) or f"; there are {', '.join(known)}."
            raise QueryError(f"Unknown parameter '{parameter}' of Random Vectors{hint}")
    return replace(PRESETS[name], **overrides)
