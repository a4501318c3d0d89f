"""Chains: from an event in time back, through local graphs, to the actions behind it.

A *local graph* says for one step which factors caused the next value of each outcome. A chain begins with one outcome
at one step and goes back step by step: what caused it, what caused that, until nothing is left but inputs (actions) and
the initial state. All that it needs is a function that gives the causes of an outcome at a step, so true graphs,
learned ones and models unrolled in time all give chains.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

Causes = Callable[[int, str], Iterable[str]]  # the factors that caused an outcome's next value at a step


@dataclass(frozen=True)
class ChainLink:
    """In this step the outcome's next value was caused by these factors besides its own previous value."""

    step: int
    outcome: str
    causes: tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    """What is behind the value that `factor` has after `step`.

    `links` are in the order of time. `actions` are the inputs that the chain ends in, each with its step, and `initial`
    the factors whose values at the beginning it goes back to. A factor that goes on by itself in a step has no link
    there. `change` may say what became of the factor in the step, feature by feature: (before, after).

    >>> parents = {(1, "block"): ["pusher"], (0, "pusher"): ["action"]}
    >>> find = lambda step, outcome: {outcome, *parents.get((step, outcome), ())}
    >>> print(trace_back(find, "block", 2, inputs=["action"]))
    block at step 2: because of pusher at step 1.
    pusher: because of action at step 0.
    """

    factor: str
    step: int
    links: tuple[ChainLink, ...]
    actions: tuple[tuple[str, int], ...]
    initial: tuple[str, ...]
    change: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def action_steps(self) -> tuple[int, ...]:
        """The steps whose actions are part of the chain."""
        return tuple(sorted({step for _, step in self.actions}))

    def to_json(self) -> dict[str, Any]:
        """Return the chain as JSON holds it."""
        return {
            "factor": self.factor,
            "step": self.step,
            "change": {name: list(values) for name, values in self.change.items()},
            "links": [{"step": link.step, "outcome": link.outcome, "causes": list(link.causes)} for link in self.links],
            "actions": [{"factor": name, "step": step} for name, step in self.actions],
            "initial": list(self.initial),
            "sentence": str(self),
        }

    def __str__(self) -> str:
        """Say it in sentences, one for each factor of the chain, from the event back."""
        reasons: dict[str, dict[str, list[int]]] = {}
        for link in self.links:
            for cause in link.causes:
                reasons.setdefault(link.outcome, {}).setdefault(cause, []).append(link.step)
        lines, waiting, told = [], [self.factor], {self.factor}
        while waiting:
            name = waiting.pop(0)
            found = reasons.get(name, {})
            head = f"{name} at step {self.step}{_write_change(self.change)}" if name == self.factor else name
            if found:
                because = _join([f"{cause} at {write_steps(steps)}" for cause, steps in found.items()])
                lines.append(f"{head}: because of {because}.")
            elif name == self.factor:
                lines.append(f"{head}: because of nothing but itself, as it was at the beginning.")
            new = [cause for cause in found if cause not in told]
            waiting += new
            told.update(new)
        return "\n".join(lines)


def trace_back(
    causes: Causes,
    factor: str,
    step: int,
    *,
    inputs: Collection[str],
    first: int = 0,
    change: Mapping[str, tuple[float, float]] | None = None,
) -> Chain:
    """Go back from the value that `factor` has after `step` to inputs and to the state before step `first`.

    `causes(step, outcome)` names the factors that caused the outcome's next value in a step, the outcome itself among
    them where its own previous value did. `inputs` are the factors that nothing decides, such as actions.
    """
    open_factors, links = {factor}, []
    actions: list[tuple[str, int]] = []
    for now in range(step, first - 1, -1):
        before: set[str] = set()
        for outcome in sorted(open_factors):
            named = list(dict.fromkeys(causes(now, outcome)))
            others = tuple(cause for cause in named if cause != outcome)
            if others:
                links.append(ChainLink(now, outcome, others))
            before.update(named)
        actions += [(name, now) for name in sorted(before) if name in inputs]
        open_factors = {name for name in before if name not in inputs}
    return Chain(
        factor, step, tuple(reversed(links)), tuple(reversed(actions)), tuple(sorted(open_factors)), change or {}
    )


def write_steps(steps: Iterable[int]) -> str:
    """Write steps, runs of three or more by their ends.

    >>> write_steps([3]), write_steps([0, 1, 2, 3, 5, 7])
    ('step 3', 'steps 0 to 3, 5 and 7')
    """
    ordered = sorted(set(steps))
    parts: list[str] = []
    for _, run in groupby(enumerate(ordered), lambda pair: pair[1] - pair[0]):
        alike = [step for _, step in run]
        parts += [f"{alike[0]} to {alike[-1]}"] if len(alike) > 2 else [str(step) for step in alike]
    return f"{'step' if len(ordered) == 1 else 'steps'} {_join(parts)}"


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _write_change(change: Mapping[str, tuple[float, float]]) -> str:
    moved = [f"{name} {before:g} to {after:g}" for name, (before, after) in change.items() if before != after]
    return f" ({', '.join(moved)})" if moved else ""
