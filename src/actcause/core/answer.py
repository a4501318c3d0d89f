"""The question and its answer: Query, Witness, Cause, Verdict, Answer, Status.

All of these are values. `Answer` alone is lazy: its causes are searched for as they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar, overload

from ..errors import Naming, QueryError, blaming, fill, name_in_python
from .contrast import check_contrast
from .expression import Expression, Name, Number
from .logic import Compare, Not
from .model import Model
from .normality import Broken, Normality, as_normality
from .steps import hint_name
from .text import open_with_event, parse_event, parse_formula, write_assignments, write_event, write_list, write_value

Assignment = Mapping[str, int]
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


def as_share(parameter: str, value: float | Fraction | str | None, what: str = "{parameter}") -> Fraction | None:
    """Read a share between 0 and 1 as an exact fraction: 0.2 means 1/5, and 2/3 means 2/3.

    >>> as_share("alpha_sufficiency", 2 / 3)
    Fraction(2, 3)
    """
    if value is None:
        return None
    try:
        if isinstance(value, str) and "/" not in value:
            value = float(value)  # not straight to Fraction, which would write out 1e-999999999
        if isinstance(value, str) and len(value) > 40:
            raise ValueError
        share = Fraction(value).limit_denominator(10**9)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        wrong = f"{what} must be a number between 0 and 1; got {{got!r}}."
        raise QueryError(wrong, parameter=parameter, got=value) from None
    if not 0 <= share <= 1:
        raise QueryError(f"{what} must be between 0 and 1; got {{got}}.", parameter=parameter, got=value)
    return share


@dataclass(frozen=True)
class Query:
    r"""What is asked: in this model and context, what caused this effect, by this definition?

    The effect is a formula, as text or as an expression. With a `contrast`, a formula that rules the effect out, a
    witness must bring it about; with `normality`, its world must be at least as normal as the actual one.

    >>> model = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
    >>> query = Query(model, {"ST": 1, "BT": 1}, "BS == 1")
    >>> query.actual["BH"], query.happened, query.candidates
    (0, True, ('ST', 'BT', 'SH', 'BH'))
    """

    model: Model
    context: Assignment
    effect: Expression
    definition: str = "modified-hp"
    alpha_sufficiency: Fraction | None = None
    alpha_necessity: Fraction | None = None
    contrast: Expression | None = None
    normality: Normality | None = None

    def __post_init__(self) -> None:
        fix = object.__setattr__
        if not isinstance(self.model, Model):
            wrong = "The model must be a Model; got {kind}. Use Model.from_text."
            raise QueryError(wrong, parameter="model", kind=type(self.model).__name__)
        fix(self, "context", self.model.check_context(self.context))
        fix(self, "effect", self._read_formula("effect", self.effect))
        self.model.check_equations()
        fix(self, "alpha_sufficiency", as_share("alpha_sufficiency", self.alpha_sufficiency))
        fix(self, "alpha_necessity", as_share("alpha_necessity", self.alpha_necessity))
        if self.contrast is not None:
            fix(self, "contrast", self._read_formula("contrast", self.contrast))
            check_contrast(self.model, self.effect, self.contrast)
        if self.normality is not None:
            fix(self, "normality", as_normality(self.normality).spread(self.model.ranges))
            self._check_rules(self.normality)

    def _check_rules(self, normality: Normality) -> None:
        with blaming("normality"):
            for rule in normality.rules:
                for name in rule.facts.names:
                    self.model.check_known(name)
                if rule.facts.arithmetic:
                    self.model.check_formula(rule.formula)

    def _read_formula(self, parameter: str, given: object) -> Expression:
        if isinstance(given, str):
            with blaming(parameter):
                given = parse_formula(given, self.model.ranges)
        if not isinstance(given, Expression):
            wrong = f"The {parameter} must be a formula such as 'BS == 1'; got {{got!r}}."
            raise QueryError(wrong, parameter=parameter, got=given)
        self.model.check_formula(given)
        return given

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the question as keyword arguments of `causes` and the other verbs."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @cached_property
    def actual(self) -> dict[str, int]:
        """The value of every variable in the context."""
        return self.model.solve(self.context, {})

    @cached_property
    def happened(self) -> bool:
        """Whether the effect holds in the context."""
        return bool(self.effect.value(self.actual))

    @cached_property
    def effect_variables(self) -> tuple[str, ...]:
        """The variables that the effect formula names."""
        return self.effect.names()

    @cached_property
    def contrasted_variables(self) -> tuple[str, ...]:
        """The variables that the effect formula or the contrast names."""
        contrast = () if self.contrast is None else self.contrast.names()
        return tuple(dict.fromkeys((*self.effect_variables, *contrast)))

    @cached_property
    def watched_variables(self) -> tuple[str, ...]:
        """The variables that decide whether a witness counts: of effect, contrast and rules of normality."""
        rules = () if self.normality is None else self.normality.rules
        named = (name for rule in rules for name in rule.facts.names)
        return tuple(dict.fromkeys((*self.contrasted_variables, *named)))

    @cached_property
    def relevant(self) -> tuple[str, ...]:
        """Every variable that can influence what is watched, and those watched; never exogenous ones."""
        return tuple(name for name in self.model.endogenous if name in self.bearing)

    @cached_property
    def bearing(self) -> frozenset[str]:
        """What is watched, and every variable that it follows from."""
        return frozenset(self.model.ancestors(self.watched_variables))

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """What `causes` considers: whatever is relevant, except the variables of the effect and the contrast."""
        own = set(self.contrasted_variables)
        return tuple(name for name in self.relevant if name not in own)

    @cached_property
    def actually_broken(self) -> Broken:
        """The rules of normality that the actual world breaks."""
        return frozenset() if self.normality is None else self.normality.find_broken(self.actual)

    def undone(self, values: Assignment, than: Broken | None = None) -> bool:
        """Return whether the effect is gone in a world, as a witness must have it.

        The contrast holds there, and it is at least as normal as a world that breaks `than`, the actual one by
        default.
        """
        if self.effect.value(values) or (self.contrast is not None and not self.contrast.value(values)):
            return False
        if self.normality is None:
            return True
        return self.normality.at_least(
            self.normality.find_broken(values), self.actually_broken if than is None else than
        )

    @cached_property
    def state(self) -> dict[str, int]:
        """The actual values of all variables that are not exogenous."""
        return {name: self.actual[name] for name in self.model.endogenous}

    def check_event(self, event: Assignment | str) -> dict[str, int]:
        """Read an event as a non-empty mapping of non-exogenous variables to values of their ranges."""
        if isinstance(event, str):
            with blaming("event"):
                event = parse_event(event, self.model.ranges)
        if not isinstance(event, Mapping) or not event:
            wrong = "The event must be a non-empty mapping such as {{'ST': 1}}; got {got!r}."
            raise QueryError(wrong, parameter="event", got=event)
        for name in event:
            if name not in self.model.ranges:
                wrong, hint = "Unknown variable {name!r} in the event{hint}", hint_name(str(name), self.model.ranges)
                raise QueryError(wrong, parameter="event", name=name, hint=hint or ".")
            if name in self.model.exogenous:
                wrong = "{name} is exogenous: it belongs to the context and is never a cause."
                raise QueryError(wrong, parameter="event", name=name)
        return {name: self.model.check_value(name, value) for name, value in event.items()}

    def to_json(self) -> dict[str, Any]:
        """Write what every answer says of its question."""
        parts = {"definition": self.definition, "context": dict(self.context), "state": dict(self.state)}
        parts |= {"effect": str(self.effect)}
        if self.contrast is not None:
            parts["contrast"] = str(self.contrast)
        if self.normality is not None:
            parts["normality"] = {
                **self.normality.to_json(),
                "broken": list(self.normality.write(self.actually_broken)),
            }
        return parts

    @property
    def effect_text(self) -> str:
        """The effect as a reader would say it: `BS=1` where it is one value of one variable."""
        return self._say(self.effect)

    @property
    def question_text(self) -> str:
        """The effect, and what it is contrasted with: `Y=1 rather than Y=2`."""
        return self.effect_text + ("" if self.contrast is None else f" rather than {self._say(self.contrast)}")

    @property
    def goal_text(self) -> str:
        """What a witness has to do."""
        goal = "undone the effect" if self.contrast is None else f"brought about {self._say(self.contrast)}"
        return goal if self.normality is None else f"{goal} in a world at least as normal as the actual one"

    def _say(self, formula: Expression) -> str:
        pinned = find_pinned_value(formula, self.model)
        return write_value(*pinned) if pinned else f"({formula})"


def find_pinned_value(effect: Expression, model: Model) -> tuple[str, int] | None:
    """Return (variable, value) if the effect says that one variable has one value, else None."""
    binary = (0, 1)
    if isinstance(effect, Name):
        return (effect.name, 1) if model.ranges[effect.name] == binary else None
    if isinstance(effect, Not) and isinstance(effect.operand, Name):
        return effect.operand.name, 0
    if isinstance(effect, Compare) and effect.symbol == "==":
        sides = (effect.left, effect.right)
        for name, number in (sides, sides[::-1]):
            if isinstance(name, Name) and isinstance(number, Number):
                return name.name, number.number
    return None


@dataclass(frozen=True)
class Replay:
    """What came out when a witness was played again; true if the effect went away, as it should.

    `as_asked` is false if a contrast was not brought about, or in a world less normal than the actual one; `broken`
    are the rules of normality that the world breaks.
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


@dataclass(frozen=True)
class Verdict:
    """Whether one event is a cause: the conditions one by one, a witness, a sentence.

    A condition is None where an earlier one already failed or the search ran out; `holds` is None
    only if the search ran out (see `status`).
    """

    query: Query
    event: Assignment
    conditions: Mapping[str, bool | None]
    witness: Witness | None
    status: Status = Status.COMPLETE
    smaller: Assignment | None = None
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def holds(self) -> bool | None:
        if any(value is False for value in self.conditions.values()):
            return False
        return None if any(value is None for value in self.conditions.values()) else True

    @property
    def failed(self) -> str | None:
        """The first condition that fails, None if none does."""
        return next((name for name in CONDITIONS if self.conditions.get(name) is False), None)

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def sentence(self) -> str:
        return self.describe()

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

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        witness = None if self.witness is None else self.witness.to_json()
        return verdict_to_json(
            self, witness=witness, causes=[{"event": dict(self.event), "witness": witness}] if self and witness else []
        )


def verdict_to_json(verdict: Any, **more: Any) -> dict[str, Any]:
    """Give what every verdict holds as JSON can hold it, and `more` of its own."""
    more = {name: dict(value) if isinstance(value, Mapping) else value for name, value in more.items()}
    return {
        **verdict.query.to_json(),
        "event": dict(verdict.event),
        "holds": verdict.holds,
        "conditions": dict(verdict.conditions),
        "failed": verdict.failed,
        **more,
        "sentence": verdict.sentence,
        "status": verdict.status.value,
    }


class LazyList(Sequence[T]):
    """Entries of a search, and how it ended; `len`, `[-1]` and `status` read it to its end."""

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
            return f"{self.query.question_text} has no cause by '{self.query.definition}'." + (
                "" if self.query.happened else " It did not happen."
            )
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
