"""Where local graphs come from: the true dynamics, learners, or distance. One verb for all: `predict(recording)`.

A local graph says of one row which factors caused the next value of which outcome: `(rows, outcomes, factors)`.
Whatever has `predict(recording)` can stand here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..envs.base import Array, Domain
from ..errors import QueryError
from .arguments import check_amount, check_recording, read_names, refuse, shorten

if TYPE_CHECKING:
    from ..data import Recording, Transitions
    from ..learn import Learner

PLACES = ("x", "y", "z")
TRUE = "true"  # the graphs that an environment tells of its steps


class GraphSource(Protocol):
    """What says who caused what in each row."""

    def predict(self, recording: Recording) -> Array:
        """Return the local graphs, `(rows, outcomes, factors)`, true for a cause."""


@dataclass(frozen=True)
class TrueGraphs:
    """The graphs that a domain's own dynamics give, asked about whatever state a row has.

    >>> from actcause.data import collect_recording
    >>> from actcause.envs import make
    >>> recording = collect_recording("push", frames=100, dtype="float64")
    >>> bool((TrueGraphs(make("push")).predict(recording) == recording.cause).all())
    True
    """

    domain: Domain

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            refuse("domain", "a domain, such as actcause.envs.make('push')", self.domain)

    def predict(self, recording: Recording) -> Array:
        """Step the domain from each row's state and ask it who caused what."""
        check_factors(recording, self.domain.factors)
        known = self.domain.outcomes
        missing = [outcome for outcome in recording.outcomes if outcome not in known]
        if missing:
            raise QueryError("The dynamics have the outcomes {known}. Got a recording of {missing}.",
                             known=", ".join(known), missing=", ".join(missing))  # fmt: skip
        states, actions = split_action(self.domain, recording.state)
        graphs = self.domain.graph(states, actions, self.domain.step(states, actions))
        return graphs[:, [known.index(outcome) for outcome in recording.outcomes]]

    def step(self, state: Array) -> Array:
        """Return what the domain makes of these states, `(rows, factors, width)`."""
        if np.ndim(state) != 3 or np.shape(state)[1] != len(self.domain.factors):
            wanted = f"of shape (rows, {len(self.domain.factors)}, width), for {', '.join(self.domain.factors)}"
            raise QueryError("States must be {wanted}. Got {got} instead.", wanted=wanted, got=np.shape(state))
        states, actions = split_action(self.domain, state)
        return self.domain.step(states, actions).states


@dataclass(frozen=True)
class NearGraphs:
    """Graphs by distance: factors within a radius of each other are taken to cause one another.

    `tied` joins factors that have no place of their own to one that has: by default the action to the first of
    `pusher`, `paddle`, `agent` and `gripper` that there is. Factors that are `ignored` are no bodies: a goal has a
    place, and touches nothing.
    """

    radius: float
    places: Sequence[str] = PLACES
    tied: Mapping[str, str] | None = None
    ignored: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_amount("radius", self.radius)
        object.__setattr__(self, "ignored", read_names("ignored", self.ignored))
        if self.tied is not None and not isinstance(self.tied, Mapping):
            refuse(
                "tied", "a mapping from a factor to the one that it goes with, such as {'action': 'cart'}", self.tied
            )

    def predict(self, recording: Recording) -> Array:
        """Measure all distances in each row."""
        near = self._measure(recording)
        for factor, other in self._find_tied(recording).items():
            one, two = recording.index(factor), recording.index(other)
            near[:, one, :] |= near[:, two, :]
            near[:, :, one] |= near[:, :, two]
        return near[:, [recording.index(outcome) for outcome in recording.outcomes]]

    def _measure(self, recording: Recording) -> Array:
        count = len(recording.factors)
        near = np.repeat(np.eye(count, dtype=bool)[None], len(recording), axis=0)
        ignored = {recording.index(factor) for factor in self.ignored}
        for one in range(count):
            for two in range(one):
                pairs = self._find_places(recording, one, two)
                if pairs and not ignored & {one, two}:
                    parts = [recording.state[:, one, a] - recording.state[:, two, b] for a, b in pairs]
                    close = np.sqrt(sum(part.astype(float) ** 2 for part in parts)) <= self.radius
                    near[:, one, two] = near[:, two, one] = close
        return near

    def _find_places(self, recording: Recording, one: int, two: int) -> list[tuple[int, int]]:
        first, second = (recording.features[recording.factors[at]] for at in (one, two))
        return [(first.index(name), second.index(name)) for name in self.places if name in first and name in second]

    def _find_tied(self, recording: Recording) -> Mapping[str, str]:
        if self.tied is not None:
            return self.tied
        bodies = [name for name in ("pusher", "paddle", "agent", "gripper") if name in recording.factors]
        return {"action": bodies[0]} if bodies and "action" in recording.factors else {}


@dataclass(frozen=True)
class MovedGraphs:
    """Graphs by change: whatever changed, by more than `threshold` on some feature, was moved by the `driven` body.

    The simplest filter there is. Where nothing moves by chance or by itself, it is a good one.
    """

    driven: str
    threshold: float = 1e-4

    def __post_init__(self) -> None:
        check_amount("threshold", self.threshold)

    def predict(self, recording: Recording) -> Array:
        """Look which outcomes changed in each row."""
        places = [recording.index(outcome) for outcome in recording.outcomes]
        changed = np.abs(recording.next_state - recording.state).max(axis=2)[:, places] > self.threshold
        graphs = np.zeros((len(recording), len(places), len(recording.factors)), dtype=bool)
        graphs[:, :, recording.index(self.driven)] = changed
        graphs[:, np.arange(len(places)), places] = True
        return graphs


@dataclass
class GraphsByOutcome:
    """Graphs from learners of one outcome each: any method of ours, fitted once for every outcome.

    Args:
        method: The method's name, such as `jaci-em`; `options` are its options.
        outcomes: Those that are learned; the others are taken to go on by themselves. By default all.
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Sequence[str] | None = None

    def fit(self, recording: Recording) -> GraphsByOutcome:
        """Train a learner for every outcome; one that never changes needs none."""
        from ..learn import make

        check_recording(recording)
        self.learners_: dict[str, Learner] = {}
        for outcome in recording.outcomes if self.outcomes is None else read_names("outcomes", self.outcomes):
            view = recording.view(outcome)
            if bool((np.ptp(view.change, axis=0) > 0).any()):
                self.learners_[outcome] = make(self.method, **self.options).fit(view)
        return self

    def predict(self, recording: Recording) -> Array:
        """Ask every outcome's learner, from the state alone."""
        return self._ask(recording, lambda learner: learner.predict)

    def explain(self, recording: Recording) -> Array:
        """Ask every outcome's learner, in hindsight."""
        return self._ask(recording, lambda learner: learner.explain)

    def _ask(self, recording: Recording, verb: Callable[[Learner], Callable[[Transitions], Array]]) -> Array:
        if not hasattr(self, "learners_"):
            raise QueryError("These graphs have not been learned; call fit(recording) first.")
        graphs = np.zeros((len(recording), len(recording.outcomes), len(recording.factors)), dtype=bool)
        for place, outcome in enumerate(recording.outcomes):
            graphs[:, place, recording.index(outcome)] = True
            if outcome in self.learners_:
                rows = recording.rows_of(outcome)
                graphs[rows, place] = verb(self.learners_[outcome])(recording.view(outcome))
        return graphs


def check_causes(causes: Any) -> None:
    """Refuse what an agent cannot ask who caused what."""
    if not (isinstance(causes, str) and causes == TRUE) and _find_predict(causes) is None:
        raise QueryError(
            "{parameter} must be 'true' or have a method predict(recording). Got {got} instead.",
            parameter="causes", got=shorten(causes),
        )  # fmt: skip


def learns_by_itself(causes: Any) -> bool:
    """Return whether a source is to be given what an agent sees: `OnlineGraphs`, but no learner that was fitted before.

    A learner with `fit` of its own is asked as it is; each fit takes it seconds, and an agent has many episodes.
    """
    return hasattr(causes, "partial_fit") and not hasattr(causes, "fit")


def read_true_graph(info: Mapping[str, Any], outcomes: Sequence[str], factors: Sequence[str]) -> Array:
    """Return the true graph that an environment tells of a step, `(outcomes, factors)`."""
    if "graph" not in info:
        raise QueryError(
            "True {parameter} need info['graph'] of every step. Make an environment of ours with with_causes=True; for "
            "another one give graphs, such as NearGraphs(1.0).", parameter="causes",
        )  # fmt: skip
    graph, wanted = np.asarray(info["graph"]), (len(outcomes), len(factors))
    if graph.shape != wanted:
        raise QueryError(
            "info['graph'] must be of shape {wanted}: (outcomes, factors). Got {got} instead.",
            wanted=wanted, got=graph.shape,
        )  # fmt: skip
    return graph.astype(bool)


def ask_graphs(source: Any, recording: Recording) -> Array:
    """Return the graphs that a source gives of a recording, judged from the state alone."""
    predict = _find_predict(source)
    if predict is None:
        raise QueryError(
            "{parameter} must have a method predict(recording), as TrueGraphs, NearGraphs, GraphsByOutcome and "
            "LocalGraphs have. Got {got} instead.", parameter="graphs", got=shorten(source),
        )  # fmt: skip
    return _check_graphs(predict(recording), recording)


def ask_in_hindsight(source: Any, recording: Recording) -> Array:
    """Return the graphs that a source gives of steps that were taken: what became of every factor is known.

    That is the surer answer where a source has it (`explain`); others give what they judge from the state.
    """
    explain = getattr(source, "explain", None)
    return ask_graphs(source, recording) if explain is None else _check_graphs(explain(recording), recording)


def _find_predict(source: Any) -> Callable[[Recording], Array] | None:
    """Return the method that gives graphs; None where there is none, or where a class was given and no object."""
    predict = getattr(source, "predict", None)
    return predict if callable(predict) and not isinstance(source, type) else None


def _check_graphs(given: Any, recording: Recording) -> Array:
    graphs = np.asarray(given, dtype=bool)
    wanted = (len(recording), len(recording.outcomes), len(recording.factors))
    if graphs.shape != wanted:
        raise QueryError(
            "{parameter} must give (rows, outcomes, factors): {wanted}. Got {got} instead.",
            parameter="graphs", wanted=wanted, got=graphs.shape,
        )  # fmt: skip
    return graphs


def check_factors(recording: Recording, factors: Sequence[str]) -> None:
    """Refuse a recording of other factors than a simulator has."""
    check_recording(recording)
    if tuple(recording.factors) != tuple(factors):
        raise QueryError(f"The dynamics are of {', '.join(factors)}. Got a recording of "
                         f"{', '.join(recording.factors)}.")  # fmt: skip


def split_action(domain: Domain, state: Array) -> tuple[Array, Array]:
    """Return the states as a domain steps them, and the actions that stand in them."""
    states = np.asarray(state, dtype=float)
    if domain.action is None:
        return states, np.zeros((len(states), domain.action_size))
    return states, states[:, domain.index(domain.action), : domain.action_size]
