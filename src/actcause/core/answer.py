"""The answer to a question: Witness, Cause, Verdict, Answer, Status.

All of these are values. `Answer` alone is lazy: its causes are searched for as they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeVar, overload

from ..errors import Naming, fill, name_in_python
from .normality import Broken
from .query import Assignment as Assignment  # answers speak of these too
from .query import Query as Query
from .query import find_pinned_value
from .text import open_with_event, write_assignments, write_event, write_list, write_value

T = TypeVar("T")
CONDITIONS = ("AC1", "AC2a", "AC2b", "AC3")


class Status(Enum):
    """How a search ended. `status.sentence` says what that means and what to do."""

    COMPLETE = "complete"
    MAX_CAUSES = "max-causes"
    MAX_EXPLANATIONS = "max-explanations"
    OUT_OF_TIME = "out-of-time"
    OUT_OF_STEPS = "out-of-steps"
    OUT_OF_CALLS = "out-of-calls"
    TOO_LARGE = "too-large"

    def describe(self, naming: Naming = name_in_python) -> str:
        """Write the sentence, with parameters in a front end's words."""
        return fill(_SENTENCES[self], naming)

    @property
    def sentence(self) -> str:
        return self.describe()


_SENTENCES = {
    Status.COMPLETE: "The search is complete.",
    Status.MAX_CAUSES: "The search stopped at {max_causes}; raise it to look for more.",
    Status.MAX_EXPLANATIONS: "The search stopped at {max_explanations}; raise it to look for more.",
    Status.OUT_OF_TIME: "The search ran out of time; raise {max_seconds} to go on.",
    Status.OUT_OF_STEPS: "The search ran out of steps; raise {max_steps} to go on.",
    Status.OUT_OF_CALLS: "The search ran out of calls of the function; raise {max_calls} to go on.",
    Status.TOO_LARGE: "The state space is too large to be searched whole; use fewer roots, smaller ranges, "
    "or an {alpha_sufficiency} below 1/2.",
}


@dataclass(frozen=True)
class Replay:
    """The result of replaying a witness; true if the effect went away, as it should.

    `as_asked` is false if the world misses the contrast, or is less normal than the actual one. `broken` are the rules
    of normality that the world breaks.
    """

    values: Mapping[str, int]
    effect: bool
    as_asked: bool = True
    broken: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.effect and self.as_asked


@dataclass(frozen=True)
class Witness:
    """Why an event was necessary: change it, hold these, and the effect goes away.

    `changed` are the counterfactual values of the event's variables; `frozen` the variables held
    fixed, at their actual values except under original and updated Halpern-Pearl; `others` the
    values given to the remaining state variables (direct and strong sufficiency); `network` those that
    the event settles (strong sufficiency), of which the changed event may leave some open to `others`.
    """

    changed: Assignment
    frozen: Assignment = field(default_factory=dict)
    others: Assignment = field(default_factory=dict)
    network: tuple[str, ...] = ()

    @property
    def intervention(self) -> dict[str, int]:
        """Everything that is set by hand when the witness is played."""
        return {**self.others, **self.frozen, **self.changed}

    def replay(self, query: Query) -> Replay:
        """Play the witness: evaluate the model of `query` under its intervention."""
        values = query.model.evaluate(query.context, do=self.intervention)
        normality = query.normality
        broken = () if normality is None else normality.write(normality.find_broken(values))
        effect = bool(query.effect.value(values))
        return Replay(values, effect, effect or query.undone(values), broken)

    def to_json(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"changed": dict(self.changed), "frozen": dict(self.frozen)}
        if self.others:
            parts["others"] = dict(self.others)
        if self.network:
            parts["network"] = list(self.network)
        return parts


@dataclass(frozen=True)
class Cause:
    """A minimal cause: an event and the witness of its necessity.

    With normality the witness is a best one: no other has a more normal world. `best` holds, for each best witness,
    the places of the rules that its world breaks.
    """

    event: Assignment
    witness: Witness
    query: Query = field(repr=False, compare=False)
    best: tuple[Broken, ...] = field(default=(), repr=False, compare=False)

    @property
    def broken(self) -> tuple[str, ...]:
        """The rules of normality that the witness's world breaks."""
        return self.witness.replay(self.query).broken

    @property
    def sentence(self) -> str:
        what = open_with_event(self.event, self.query.model.labels)
        return f"{what} a cause of {self.query.question_text}: {_because(self)}."

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        parts = {"event": dict(self.event), "witness": self.witness.to_json(), "sentence": self.sentence}
        return parts if self.query.normality is None else {**parts, "broken": list(self.broken)}


class VerdictByConditions:
    """What verdicts with several conditions have in common: whether all hold, which fails, a sentence, JSON.

    `ORDER` names the conditions that an event has to meet, in the order in which the first that fails is looked for.
    """

    ORDER: ClassVar[tuple[str, ...]]

    query: Any
    event: Assignment
    conditions: Mapping[str, bool | None]
    status: Status

    @property
    def holds(self) -> bool | None:
        """Whether all conditions are met; None if none fails and some are not known."""
        values = [value for name, value in self.conditions.items() if name in self.ORDER]
        return False if False in values else None if None in values else True

    @property
    def failed(self) -> str | None:
        """The first condition that fails, None if none does."""
        return next((name for name in self.ORDER if self.conditions.get(name) is False), None)

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def sentence(self) -> str:
        return self.describe()

    def describe(self, naming: Naming = name_in_python) -> str:
        """Write the sentence, with parameters in a front end's words."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.sentence

    def _to_json(self, **more: Any) -> dict[str, Any]:
        """Give what every verdict holds as JSON can hold it, and `more` of its own."""
        more = {name: dict(value) if isinstance(value, Mapping) else value for name, value in more.items()}
        return {
            **self.query.to_json(),
            "event": dict(self.event),
            "holds": self.holds,
            "conditions": dict(self.conditions),
            "failed": self.failed,
            **more,
            "sentence": self.sentence,
            "status": self.status.value,
        }


@dataclass(frozen=True)
class Verdict(VerdictByConditions):
    """Whether one event is a cause: the conditions one by one, a witness, a sentence.

    A condition is None where an earlier one already failed or the search ran out; `holds` is None
    only if the search ran out (see `status`).
    """

    ORDER = CONDITIONS

    query: Query
    event: Assignment
    conditions: Mapping[str, bool | None]
    witness: Witness | None
    status: Status = Status.COMPLETE
    smaller: Assignment | None = None
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    def describe(self, naming: Naming = name_in_python) -> str:
        """Write the sentence, with parameters in a front end's words."""
        what = open_with_event(self.event, self.query.model.labels)
        effect = self.query.question_text
        if self.holds is None:
            event = write_event(self.event, self.query.model.labels)
            return f"It is not known whether {event} a cause of {effect}. {self.status.describe(naming)}"
        if self.holds:
            assert self.witness is not None
            cause = Cause(self.event, self.witness, self.query)
            return f"{what} a cause of {effect}: {_because(cause)}."
        return f"{what} not a cause of {effect}: {self._why_not()}."

    def _why_not(self) -> str:
        """Say why not in plain words; the literature's name for the condition stands in brackets."""
        query = self.query
        if self.failed == "AC1":
            untrue = {name: query.actual[name] for name, value in self.event.items() if query.actual[name] != value}
            reason = f"actually {write_assignments(untrue)}" if untrue else f"{query.effect_text} did not happen"
        elif self.failed == "AC2a" and query.definition == "functional" and query.alpha_necessity is not None:
            few = f"less than the share {query.alpha_necessity} of its values would have {query.goal_text}"
            reason = f"whatever is held, {few}"
        elif self.failed == "AC2a":
            reason = f"no change of it that the definition allows would have {query.goal_text}"
        elif self.failed == "AC2b":
            reason = "it is not sufficient under any conditions in which changing it undoes the effect"
        else:
            reason = f"{write_assignments(self.smaller)} is enough" if self.smaller else "there is a smaller cause"
        return f"{reason} ({self.failed})"

    def to_json(self) -> dict[str, Any]:
        witness = None if self.witness is None else self.witness.to_json()
        return self._to_json(
            witness=witness, causes=[{"event": dict(self.event), "witness": witness}] if self and witness else []
        )


class LazyList(Sequence[T]):
    """The entries of a search, found as they are read; `len`, `[-1]` and `status` run it to its end."""

    def __init__(self, search: Iterator[T | Status], statistics: Mapping[str, int]) -> None:
        self.statistics, self._search = statistics, search
        self._found: list[T] = []
        self._status: Status | None = None

    def _read(self, count: int | None) -> list[T]:
        while self._status is None and (count is None or len(self._found) < count):
            step = next(self._search, Status.COMPLETE)
            if isinstance(step, Status):
                self._status = step
            else:
                self._found.append(step)
        return self._found

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            ends = (index.start, index.stop)
            forward = (index.step or 1) > 0 and all(end is None or end >= 0 for end in ends)
            return self._read(index.stop if forward else None)[index]
        return self._read(index + 1 if index >= 0 else None)[index]

    def __iter__(self) -> Iterator[T]:
        position = 0
        while len(found := self._read(position + 1)) > position:
            yield found[position]
            position += 1

    def __len__(self) -> int:
        return len(self._read(None))

    def __bool__(self) -> bool:
        return bool(self._read(1))

    @property
    def status(self) -> Status:
        """How the search ended; asking runs it to its end."""
        self._read(None)
        assert self._status is not None
        return self._status

    def _describe(self, if_none: str) -> str:
        """Write the first few entries, each in a sentence."""
        shown = self[:5]
        more = len(self._read(6)) > 5
        return "\n".join(map(str, shown)) + ("\n… and more." if more else "") if shown else if_none


class Causes(LazyList[Cause]):
    """The causes of an answer, found as they are read; `len` and `[-1]` read them all."""

    def __repr__(self) -> str:
        return f"<Causes: {len(self._found)} found so far>"


class Answer:
    """All minimal causes of an effect, found lazily.

    Iterate over it, or over `answer.causes`, to find one cause after another; `len(answer.causes)`
    and `answer.status` run the search to its end.
    """

    def __init__(self, query: Query, search: Iterator[Cause | Status], statistics: Mapping[str, int]) -> None:
        self.query, self.statistics = query, statistics
        self.causes = Causes(search, statistics)

    @property
    def status(self) -> Status:
        """How the search ended; asking runs it to its end."""
        return self.causes.status

    def __iter__(self) -> Iterator[Cause]:
        return iter(self.causes)

    def ranked(self) -> list[list[Cause]]:
        """Sort the causes into ranks, those with the most normal witnesses first; one rank if nothing is normal.

        A cause is in the first rank if no other has better witnesses, in the second if only causes of the first
        have, and so on. This runs the search to its end.
        """
        found = list(self.causes)
        if self.query.normality is None:
            return [found] if found else []
        return self.query.normality.rank(found, [cause.best for cause in found])

    @property
    def sentence(self) -> str:
        """The first few causes, each in a sentence; with normality those of the first ranks."""
        shown = [cause for group in self.ranked() for cause in group][:5] if self.query.normality else self.causes[:5]
        if not shown:
            none = f"{self.query.question_text} has no cause by '{self.query.definition}'."
            return none if self.query.happened else f"{none} {self.query.absence_text}"
        more = len(self.causes[:6]) > 5
        return "\n".join(cause.sentence for cause in shown) + ("\n… and more." if more else "")

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Answer by {self.query.definition}: {len(self.causes._found)} causes found so far>"

    def to_json(self) -> dict[str, Any]:
        causes = [
            cause.to_json() if self.query.normality is None else {**cause.to_json(), "rank": rank}
            for rank, group in enumerate(self.ranked(), 1)
            for cause in group
        ]
        missing = {"conditions": None, "witness": None}
        return {**self.query.to_json(), **missing, "causes": causes, "status": self.status.value}


def _because(cause: Cause) -> str:
    """Write the counterfactual in words."""
    query, witness = cause.query, cause.witness
    actual = query.actual
    held = witness.frozen.items()
    stayed = [write_value(name, value, " stayed ") for name, value in held if value == actual[name]]
    moved = [write_value(name, value, " set to ") for name, value in held if value != actual[name]]
    clauses = ["had " + write_list([write_value(name, value, " been ") for name, value in witness.changed.items()])]
    if stayed:
        clauses.append("while " + write_list(stayed))
    if moved:
        clauses.append("with " + write_list(moved))
    if witness.others:
        clauses.append("and " + write_assignments(witness.others))
    replay = witness.replay(query)
    condition = " ".join(clauses)
    pinned = find_pinned_value(query.effect, query.model)
    if pinned:
        outcome = write_value(pinned[0], replay.values[pinned[0]], " would have been ")
    elif query.contrast is not None:
        outcome = f"({query.contrast}) would have held"
    else:
        outcome = f"{query.effect_text} would not have held"
    if replay.broken:
        outcome += f", against the {'rule' if len(replay.broken) == 1 else 'rules'} {write_list(replay.broken)}"
    return f"{condition}, {outcome}"
