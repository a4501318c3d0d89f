"""Why did the policy act so? The functional cause of an action, the policy being the mapping that is asked.

A set of factors is *sufficient* for an action if the policy would have done the same with all other factors exchanged
for those of other rows of the recording: in all but the share `alpha` of the exchanges. The explanation is the smallest
such set. Each factor of it is *necessary*: exchanged together with those outside, it changes the action more often than
that, or a smaller set would do. The others are exchanged as they were seen together, so that policies are asked about
the distribution that was observed.

For every size: all sets of that size are tried in one call of the policy; the most sufficient one is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from ..envs.base import Array
from ..errors import QueryError, quote
from .arguments import check_callable, check_count, check_recording, read_names, refuse

if TYPE_CHECKING:
    from ..data import Recording

ALPHA = 0.05
TRIES = 64
SAME = 0.01  # how far apart actions may be that count as the same, in spreads of the policy's actions
MOST_SETS = 4096  # of factors that are tried
ROWS = 2000  # at most, from which the spread of the actions is taken

Policy = Callable[[Array], Array]  # states, (rows, factors, width), to actions, (rows,) or (rows, numbers)


@dataclass(frozen=True)
class ActionExplanation:
    """Which factors made a policy act as it did, and how far that goes.

    `kept` is the share of exchanges of all other factors that left the action as it was; `necessity` gives for each
    named factor the share of exchanges of it, together with the others, that changed the action.
    """

    factors: tuple[str, ...]
    action: Array
    kept: float
    necessity: Mapping[str, float]

    def __str__(self) -> str:
        shown = np.array2string(np.atleast_1d(self.action), precision=3, separator=", ")
        if not self.factors:
            return f"{shown}, whatever the state is (in {self.kept:.0%} of the exchanges)"
        named = ", ".join(f"{factor} ({self.necessity[factor]:.0%})" for factor in self.factors)
        return f"{shown} because of {named}; with all others exchanged the same in {self.kept:.0%}"


def explain_action(
    policy: Policy | Any,
    recording: Recording,
    row: int,
    *,
    alpha: float = ALPHA,
    tries: int = TRIES,
    same: float = SAME,
    factors: Iterable[str] | None = None,
    seed: int = 0,
) -> ActionExplanation:
    """Find the factors of a row's state that made the policy act so.

    Args:
        policy: A function from states, `(rows, factors, width)`, to actions; `read_policy` makes one of an agent of
            Stable-Baselines3.
        recording: Where the state is taken from, and the values that others are exchanged for.
        row: The row that is asked about.
        alpha: The share of exchanges that may change the action though a set counts as sufficient.
        tries: How many other rows are exchanged with.
        same: How far apart, in standard deviations of the policy's actions, two actions are that count as the same.
        factors: The factors that are asked about; by default all but `action`. Others are never exchanged.
        seed: Of the rows that are exchanged with.

    >>> from actcause.data import collect_recording
    >>> recording = collect_recording("push", frames=200)
    >>> def chase(states):  # go to the block
    ...     return states[:, 2, :2] - states[:, 1, :2]
    >>> explain_action(chase, recording, 7).factors
    ('pusher', 'block')
    """
    check_callable(
        "policy", policy, "a function from states to actions; read_policy(agent, layout) makes one of an agent"
    )
    check_recording(recording)
    check_count("seed", seed, 0)
    asked = _check_factors(recording, factors)
    _check_numbers(recording, row, alpha, tries, same)
    states = np.asarray(recording.state, dtype=float)
    generator = np.random.default_rng(seed)
    others = states[generator.choice(len(states), tries, replace=len(states) < tries)]
    some = states[generator.choice(len(states), min(ROWS, len(states)), replace=False)]
    spread = np.maximum(_act(policy, some).std(axis=0), 1e-9)
    actual = _act(policy, states[row : row + 1])[0]
    search = _Changes(policy, states[row], others, actual, same * spread, len(recording.factors))
    positions = [recording.factors.index(factor) for factor in asked]
    for size in range(len(positions) + 1):
        held = list(combinations(positions, size))
        changed = search.count_changes([[other for other in positions if other not in one] for one in held])
        best = int(np.argmin(changed))
        if changed[best] <= alpha:
            return _describe(search, recording.factors, positions, held[best], float(changed[best]), actual)
    raise AssertionError("the whole state gives the action that it gives")


def read_policy(agent: Any, layout: Any) -> Policy:
    """Make a function of states of an agent of Stable-Baselines3 that acts in an environment of ours.

    `layout` is the environment's, `env.unwrapped.layout`. Actions are those that the agent would take for good, without
    exploring.
    """
    if not callable(getattr(agent, "predict", None)):
        refuse("agent", "an agent with predict(observation), as those of Stable-Baselines3", agent)
    if not callable(getattr(layout, "observe", None)):
        refuse("layout", "the layout of an environment, env.unwrapped.layout", layout)

    def act(states: Array) -> Array:
        return np.asarray(agent.predict(layout.observe(states), deterministic=True)[0])

    return act


@dataclass(frozen=True)
class _Changes:
    policy: Policy
    state: Array
    others: Array  # (tries, factors, width): rows that are exchanged with
    actual: Array
    nearby: Array  # how far an action may be from the actual one and still be the same
    count: int

    def count_changes(self, exchanged: list[list[int]]) -> Array:
        """Return for each list of factors the share of exchanges of them that changes the action."""
        chosen = np.zeros((len(exchanged), self.count), dtype=bool)
        for number, positions in enumerate(exchanged):
            chosen[number, positions] = True
        tried = np.where(chosen[:, None, :, None], self.others[None], self.state)
        actions = _act(self.policy, tried.reshape(-1, *self.state.shape))
        changed = (np.abs(actions - self.actual) > self.nearby).any(axis=1)
        return np.asarray(changed.reshape(len(exchanged), -1).mean(axis=1))


def _describe(
    search: _Changes,
    names: tuple[str, ...],
    asked: list[int],
    held: tuple[int, ...],
    changed: float,
    action: Array,
) -> ActionExplanation:
    """Measure how necessary each factor that is held is."""
    outside = [other for other in asked if other not in held]
    shares = search.count_changes([[*outside, one] for one in held]) if held else np.zeros(0)
    necessity = {names[one]: float(share) for one, share in zip(held, shares, strict=True)}
    return ActionExplanation(tuple(necessity), action, 1 - changed, necessity)


def _act(policy: Policy, states: Array) -> Array:
    given = policy(states)
    try:
        actions = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise QueryError(
            "{parameter} must return numbers, an action for each state. Got {got} instead.",
            parameter="policy", got=type(given).__name__,
        ) from None  # fmt: skip
    if actions.shape[:1] != (len(states),):
        raise QueryError(
            "{parameter} must return an action for each state: {wanted}. Got an array of shape {got} instead.",
            parameter="policy", wanted=len(states), got=actions.shape,
        )  # fmt: skip
    if not np.isfinite(actions).all():
        raise QueryError("{parameter} must return finite numbers. Got nan or inf instead.", parameter="policy")
    return actions.reshape(len(states), -1)


def _check_factors(recording: Recording, factors: Iterable[str] | None) -> tuple[str, ...]:
    if factors is None:
        asked = tuple(factor for factor in recording.factors if factor != "action")
    else:
        asked = read_names("factors", factors)
        for factor in asked:
            recording.index(factor)
    sets = sum(comb(len(asked), size) for size in range(len(asked) + 1))
    if sets > MOST_SETS:
        raise QueryError(
            "{count} factors have {sets} sets, more than the {most} that are tried; name those in question in "
            "{parameter}.", parameter="factors", count=len(asked), sets=sets, most=MOST_SETS,
        )  # fmt: skip
    return asked


def _check_numbers(recording: Recording, row: int, alpha: float, tries: int, same: float) -> None:
    wrong: tuple[str, str, Any] | None = None
    if isinstance(row, bool) or not isinstance(row, (int, np.integer)) or not 0 <= row < len(recording):
        wrong = ("row", f"a row from 0 to {len(recording) - 1}", row)
    elif isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 <= alpha < 1:
        wrong = ("alpha", "a share from 0 to less than 1", alpha)
    elif isinstance(tries, bool) or not isinstance(tries, (int, np.integer)) or tries < 1:
        wrong = ("tries", "an integer of at least 1", tries)
    elif isinstance(same, bool) or not isinstance(same, (int, float)) or not 0 <= same < np.inf:
        wrong = ("same", "a number of at least 0", same)
    if wrong is not None:
        name, wanted, got = wrong
        raise QueryError("{parameter} must be {wanted}. Got {got} instead.", parameter=name, wanted=wanted,
                         got=quote(got))  # fmt: skip
