"""Answers about black boxes: causes with witnesses that replay, what is proved, and what is only likely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import Naming, name_in_python
from ..answer import LazyList, Status
from ..text import open_with_event, write_event, write_list
from .inputs import Settings, show_value, write_json
from .query import SETS, BoxQuery

PROVED, LIKELY = "proved", "likely"


@dataclass(frozen=True)
class BoxReplay:
    """What came out when a witness was played again; true if the effect went away, as it should."""

    outputs: Mapping[str, Any]
    effect: bool
    as_asked: bool = True

    def __bool__(self) -> bool:
        return not self.effect and self.as_asked


@dataclass(frozen=True)
class BoxWitness:
    """Why an event was necessary: set `changed`, hold `frozen`, give `others` these values, and the effect goes away.

    By original and updated Halpern-Pearl `frozen` holds the inputs that a contingency moves; inputs that are not named
    keep their actual values.
    """

    changed: Settings
    frozen: Settings = field(default_factory=dict)
    others: Settings = field(default_factory=dict)

    @property
    def intervention(self) -> dict[str, Any]:
        """Everything that is set by hand when the witness is played."""
        return {**self.others, **self.frozen, **self.changed}

    def replay(self, query: BoxQuery) -> BoxReplay:
        """Play the witness: run the function again, without remembering."""
        row = {**query.context, **self.intervention}
        outputs = query.box(row)
        effect = query.effect.holds(outputs, row)
        return BoxReplay(outputs, effect, query.contrast is None or query.contrast.holds(outputs, row))

    def to_json(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"changed": write_json(self.changed), "frozen": write_json(self.frozen)}
        return {**parts, "others": write_json(self.others)} if self.others else parts


@dataclass(frozen=True)
class BoxCause:
    """A cause: an event and the witness of its necessity.

    That the witness undoes the effect was seen. `certainty` is "likely" where what else the definition asks, that no
    smaller event does or that a share is small enough, rests on samples.
    """

    event: Settings
    witness: BoxWitness
    certainty: str
    query: BoxQuery = field(repr=False, compare=False)

    def replay(self) -> BoxReplay:
        """Run the function again for the witness."""
        return self.witness.replay(self.query)

    @property
    def sentence(self) -> str:
        likely = "" if self.certainty == PROVED else "probably "
        what = open_with_event(show_settings(self.event), {})
        return f"{what} {likely}a cause of {self.query.question_text}: {write_reason(self.query, self.witness)}."

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        parts = {"event": write_json(self.event), "witness": self.witness.to_json()}
        return {**parts, "certainty": self.certainty, "sentence": self.sentence}


def show_settings(settings: Settings) -> dict[str, Any]:
    """Write the values of settings for people."""
    return {name: show_value(value) for name, value in settings.items()}


def write_reason(query: BoxQuery, witness: BoxWitness) -> str:
    """Write the counterfactual in words."""
    actual = query.actual
    stayed = [f"{n} stayed {v}" for n, v in show_settings(witness.frozen).items() if witness.frozen[n] == actual[n]]
    moved = [f"{n} set to {v}" for n, v in show_settings(witness.frozen).items() if witness.frozen[n] != actual[n]]
    moved += [f"{n} set to {v}" for n, v in show_settings(witness.others).items()]
    words = "had " + write_list([f"{name} been {value}" for name, value in show_settings(witness.changed).items()])
    if stayed and not witness.others:  # with others, what stayed is everything else
        words += " while " + write_list(stayed)
    if moved:
        words += " with " + write_list(moved)
    if query.contrast is not None:
        return f"{words}, {query.contrast_text} would have held"
    return f"{words}, {query.effect_text} would not have held"


def _write_claim(other: str, by_size: bool, size: int, total: int) -> str:
    if size >= total:
        return f"there is no {other}cause"
    inputs = "1 input" if size == 1 else f"up to {size} inputs"
    return f"there is no {other}cause of {inputs}" if by_size else f"no {other}cause shows in a change of {inputs}"


@dataclass
class Progress:
    """How far a search has come; shared by the search and its answer."""

    confidence: float
    least_share: float
    proved_size: int = 0
    likely_size: int = 0
    within: Settings | None = None
    undecided: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def error(self) -> float:
        return round(1 - self.confidence, 12)


class BoxAnswer(LazyList[BoxCause]):
    """The causes of an effect of a black box, found lazily, and how much the search can say besides.

    `proved_size` is k if it is proved that nothing else shows in changes of up to k inputs: by `but-for` and
    `modified-hp` that there is no other cause of up to k inputs. `likely_size` is k if, with the probability of error
    `error`, none shows in at least the share `least_share` of the values that up to k inputs can have. Both tell how
    far the search has come when they are read; reading `status` runs it to its end.
    """

    def __init__(
        self, query: BoxQuery, search: Iterator[BoxCause | Status], statistics: Mapping[str, int], progress: Progress
    ) -> None:
        super().__init__(search, statistics)
        self.query, self._progress = query, progress

    @property
    def causes(self) -> BoxAnswer:
        return self

    @property
    def calls(self) -> int:
        """How often the function was run so far."""
        return self.statistics["calls"]

    @property
    def proved_size(self) -> int:
        return self._progress.proved_size

    @property
    def likely_size(self) -> int:
        return self._progress.likely_size

    @property
    def least_share(self) -> float:
        """The share of values from which on a cause would have been seen, with the confidence asked for."""
        return self._progress.least_share

    @property
    def error(self) -> float:
        """The probability that a claim that rests on samples is wrong, at most; 0 where everything is proved."""
        sampled = self.likely_size > self.proved_size or any(cause.certainty == LIKELY for cause in self._found)
        return self._progress.error if sampled else 0.0

    @property
    def within(self) -> Settings | None:
        """The smallest change seen to undo the effect in which no cause was singled out: some cause is inside it."""
        return self._progress.within

    @property
    def undecided(self) -> tuple[tuple[str, ...], ...]:
        """Inputs of which it is not known whether they are a cause.

        By `functional` samples could not tell. With a contrast, by definitions that change others besides the event,
        these inputs would do, and the search ended before it was known whether fewer of them do.
        """
        return tuple(self._progress.undecided)

    @property
    def sentence(self) -> str:
        """The first few causes, each in a sentence, and how far the search came."""
        return self.describe()

    def describe(self, naming: Naming = name_in_python) -> str:
        """Write the sentences, with parameters in a front end's words."""
        none = f"No cause of {self.query.question_text} was found by '{self.query.definition}'."
        if not self.query.happened:
            text = f"{self.query.effect_text} did not happen, so it has no cause."
            return text[0].upper() + text[1:]
        return "\n".join([self._describe(none), *self._claims(naming)])

    def _claims(self, naming: Naming) -> Iterator[str]:
        status, total = self.status, len(self.query.box.handles)
        other = "other " if self._found else ""
        by_size = self.query.definition in (*SETS, "functional")
        if self.proved_size:
            yield f"Proved: {_write_claim(other, by_size, self.proved_size, total)}."
        if self.likely_size > self.proved_size:
            claim = _write_claim(other, by_size, self.likely_size, total)
            share = f"less than {100 * self.least_share:g}% of the values would show it"
            yield f"Likely (error at most {self.error:g}): {claim}, unless {share}."
        if self.within is not None and not self._found:
            yield f"Some cause lies within {write_list(list(self.within))}."
        if self.undecided:
            yield f"Undecided: {write_list([' with '.join(names) for names in self.undecided])}."
        calls = f"{self.calls:,} call{'' if self.calls == 1 else 's'} of the function."
        yield calls if status is Status.COMPLETE else f"{calls} {status.describe(naming)}"

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<BoxAnswer by {self.query.definition}: {len(self._found)} causes found so far>"

    def to_json(self) -> dict[str, Any]:
        status = self.status
        return {
            **self.query.to_json(),
            "causes": [cause.to_json() for cause in self],
            "status": status.value,
            "proved_size": self.proved_size,
            "likely_size": self.likely_size,
            "least_share": self.least_share,
            "error": self.error,
            "within": None if self.within is None else write_json(self.within),
            "undecided": [list(names) for names in self.undecided],
            "statistics": dict(self.statistics),
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class BoxVerdict:
    """Whether one event is a cause, and how certain that is; `holds` is None only if the search ran out."""

    query: BoxQuery
    event: Settings
    holds: bool | None
    certainty: str
    reason: str = ""
    witness: BoxWitness | None = None
    status: Status = Status.COMPLETE
    error: float = 0.0
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def calls(self) -> int:
        return self.statistics["calls"]

    @property
    def sentence(self) -> str:
        return self.describe()

    def describe(self, naming: Naming = name_in_python) -> str:
        """Write the sentence, with parameters in a front end's words."""
        event, effect = show_settings(self.event), self.query.question_text
        if self.holds is None:
            return (
                f"It is not known whether {write_event(event, {})} a cause of {effect}. {self.status.describe(naming)}"
            )
        likely = "" if self.certainty == PROVED else "probably "
        if self.holds:
            assert self.witness is not None
            return (
                f"{open_with_event(event, {})} {likely}a cause of {effect}: {write_reason(self.query, self.witness)}."
            )
        return f"{open_with_event(event, {})} {likely}not a cause of {effect}: {self.reason}."

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        return {
            **self.query.to_json(),
            "event": write_json(self.event),
            "holds": self.holds,
            "certainty": self.certainty,
            "witness": None if self.witness is None else self.witness.to_json(),
            "error": self.error,
            "status": self.status.value,
            "statistics": dict(self.statistics),
            "sentence": self.sentence,
        }
