"""Why a state has its binary, in sentences: which conditions hold, that nothing shorter will do, who is next to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice
from math import comb, prod
from typing import Any

from ...core.counting import bits, percent
from ...core.definitions.functional import few
from ...core.expression import Array
from ...core.spaces.state_checks import NecessityCheck, check_necessity, find_neighbour
from .cache import Space, SpaceQuestion
from .pictures import describe_binary, format_values, join_words

MOST_SHORTER = 8  # sets of variables whose failure is told
MOST_SETTINGS = 2_000_000  # of a set of variables that are all tried
MOST_SEARCHED = 20_000  # states of a space in which the other pairs are looked at


@dataclass(frozen=True)
class StateExplanation:
    """One state of a pair, and all that can be said about its binary."""

    question: SpaceQuestion
    space: Space
    index: int
    masks: Array

    @property
    def mask(self) -> int:
        return int(self.masks[self.index])

    @property
    def outcome(self) -> str:
        return self.space.states.outcome

    def to_json(self) -> dict[str, Any]:
        states = self.space.states
        state, result = states.state(self.index), states.outcome_of(self.index)
        conditions = (self._explain_necessity, self._explain_sufficiency)
        return {
            "state": format_values(state),
            "outcome": f"{self.outcome} = {result}",
            "binary": states.binary(self.mask),
            "words": describe_binary(self.space.model, states.names(self.mask)),
            "reasons": [explain(self.mask) for explain in conditions] if self.mask else [],
            "shorter": self._explain_shorter(),
            "others": self._list_others(),
            "neighbour": self._describe_neighbour(),
        }

    # -- the two conditions ----------------------------------------------------------------------

    def _explain_necessity(self, mask: int) -> str:
        variables = self.space.states.names(mask)
        names = join_words(variables)
        if self._count_settings(mask) > MOST_SETTINGS:
            return f"Necessary: enough settings of {names} change {self.outcome}; they are too many to be counted here."
        check = self._check_necessity(variables)
        settings = f"{check.count:,} of {check.total:,} settings of {names} ({percent(check.count, check.total)})"
        alpha = self.question.necessity
        condition = "one is enough" if not alpha else f"at least {_format_share(alpha)} is asked"
        if check.example is None:
            return f"Not necessary: no other setting of {names} changes {self.outcome}."
        holding = f", while {format_values(check.held)} stays," if check.held else ""
        if not check.holds:
            return f"Not necessary: only {settings} change {self.outcome}; {condition}."
        return (
            f"Necessary: {settings}{holding} change {self.outcome}; {condition}. "
            f"For instance {format_values(check.example)} would have made it {check.gives}."
        )

    def _explain_sufficiency(self, mask: int) -> str:
        alpha = self.question.sufficiency
        count, total = self.space.count_undoing(mask, self.index)
        holding = self._describe_held(mask)
        if alpha is None:
            return (
                f"Sufficient: nothing is asked of the others (with {holding} held, {count:,} of {total:,} change it)."
            )
        if total == 1 and not count:
            return f"Sufficient: with {holding} held, nothing that {self.outcome} reads is left to change."
        holds = few(count, total, alpha)
        return (
            f"{'Sufficient' if holds else 'Not sufficient'}: with {holding} held, {count:,} of {total:,} settings of "
            f"the others ({percent(count, total)}) change {self.outcome}; at most {_format_share(alpha)} may."
        )

    def _count_settings(self, mask: int) -> int:
        return prod(len(self.space.states.ranges[i]) for i in bits(mask))

    def _describe_held(self, mask: int) -> str:
        state = self.space.states.state(self.index)
        return format_values({name: state[name] for name in self.space.states.names(mask)})

    def _check_necessity(self, names: Sequence[str]) -> NecessityCheck:
        space = self.space
        return check_necessity(
            space.model, space.formula, space.states, self.index, names, self.question.necessity, space.clock.check
        )

    # -- shorter ones ----------------------------------------------------------------------------

    def _explain_shorter(self) -> list[str]:
        """Explain why no shorter binary is given; for the empty one, why none at all is."""
        width = len(self.space.states.variables)
        sizes = range(1, self.mask.bit_count()) if self.mask else sorted({1, width})
        total = sum(comb(width, size) for size in sizes)
        pool = range(width) if total <= MOST_SHORTER or not self.mask else tuple(bits(self.mask))
        chosen = chain.from_iterable(combinations(pool, size) for size in sizes)
        first = (sum(1 << i for i in positions) for positions in islice(chosen, MOST_SHORTER))
        masks = [mask for mask in first if self._count_settings(mask) <= MOST_SETTINGS]
        left = total - len(masks)
        more = [f"And so for {left:,} other sets of variables."] if left else []
        return [*dict.fromkeys(map(self._explain_failure, masks)), *more]

    def _explain_failure(self, mask: int) -> str:
        necessary, sufficient = self._explain_necessity(mask), self._explain_sufficiency(mask)
        names = join_words(self.space.states.names(mask))
        failed = [reason for reason in (necessary, sufficient) if reason.startswith("Not")]
        if failed:
            return f"{names}: {failed[0][0].lower()}{failed[0][1:]}"
        return (
            f"{names}: passes both conditions, but states that agree on {names} and not on {self.outcome} compete, "
            f"and giving {names} to others takes fewer variables in all."
        )

    def _list_others(self) -> list[str]:
        """List what the state is given in other pairs of least cost."""
        walk = self.space.load_pairs(self.question.sufficiency, self.question.necessity)
        partitions = walk.partitions
        # Where the pairs could not be counted, each binary would take a search of its own.
        if partitions.count in (None, 1) or len(self.space.states) > MOST_SEARCHED:
            return []
        own = self.space.states.binary(self.mask)
        return [binary for binary in partitions.binaries(self.index) if binary != own]

    # -- the neighbour ---------------------------------------------------------------------------

    def _describe_neighbour(self) -> dict[str, Any] | None:
        """Describe the nearest state with another binary."""
        states = self.space.states
        nearest = find_neighbour(states, self.masks, self.index)
        if nearest is None:
            return None
        here, there = states.state(self.index), states.state(nearest)
        names = [name for name in here if here[name] != there[name]]
        other = int(self.masks[nearest])
        instead = [f"{name}={there[name]} instead of {here[name]}" for name in names]
        return {
            "context": self.space.context_of(nearest),
            "text": f"With {join_words(instead) if instead else 'another context'}, {self.outcome} is "
            f"{states.outcome_of(nearest)} and "
            f"{_describe_difference(states.names(self.mask), states.names(other))}.",
        }


def _describe_difference(here: Sequence[str], there: Sequence[str]) -> str:
    """Describe what matters there and not here, and the other way round.

    >>> _describe_difference(["P", "X"], ["P"])
    'X no longer matters'
    """
    gained = [name for name in there if name not in here]
    lost = [name for name in here if name not in there]
    parts = [f"{join_words(gained)} now matter{'s' * (len(gained) == 1)}"] if gained else []
    if lost:
        parts.append(f"{join_words(lost)} no longer matter{'s' * (len(lost) == 1)}")
    return ", ".join(parts)


def _format_share(alpha: Fraction) -> str:
    """Write a share as people do: 20%, or 1/3 where a percentage would be long.

    >>> _format_share(Fraction(1, 5)), _format_share(Fraction(1, 3))
    ('20%', '1/3')
    """
    hundredfold = alpha * 100
    return f"{float(hundredfold):g}%" if (hundredfold * 1000).denominator == 1 else str(alpha)
