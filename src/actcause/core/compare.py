"""The verb `compare`: one question, put to one definition after another, with degrees of responsibility."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from math import inf
from time import monotonic
from typing import Any

from ..errors import QueryError
from .answer import Answer, Assignment, Cause, Query, Status, Verdict
from .definitions import DEFINITIONS
from .expression import Expression
from .find import Rules, Share, causes, get_definition, is_cause, make_query
from .model import Model
from .responsibility import CHOCKLER_HALPERN, WITH_DEGREES, check_degrees
from .responsibility import responsibility as degree_of

Degrees = tuple[Fraction | None, ...]


@dataclass(frozen=True)
class Opinion:
    """What one definition says.

    `answer` is an `Answer`, or a `Verdict` where an event was asked about. `degrees` holds the degree of
    responsibility of each cause, or of the one event, None where the time was spent before or the definition has
    none; it is None itself where no degrees were asked for.
    """

    answer: Answer | Verdict
    degrees: Degrees | None = None

    @property
    def definition(self) -> str:
        return self.answer.query.definition

    def ranked(self) -> list[tuple[int, Cause, Fraction | None]]:
        """List the causes with their ranks and degrees, the most normal first (see `Answer.ranked`)."""
        if isinstance(self.answer, Verdict):
            return []
        degrees = dict(zip(map(id, self.answer), self.degrees or (), strict=False))
        ranks = enumerate(self.answer.ranked(), 1)
        return [(rank, cause, degrees.get(id(cause))) for rank, group in ranks for cause in group]

    def to_json(self) -> dict[str, Any]:
        document = self.answer.to_json()
        if self.degrees is None:
            return document
        if isinstance(self.answer, Verdict):
            document["responsibility"] = _write_degree(self.degrees[0])
            for cause in document["causes"]:
                cause["responsibility"] = document["responsibility"]
        for cause, (_, _, degree) in zip(document["causes"], self.ranked(), strict=False):
            cause["responsibility"] = _write_degree(degree)
        return document


def _write_degree(degree: Fraction | None) -> str | None:
    return None if degree is None else str(degree)


@dataclass(frozen=True)
class Comparison:
    """What several definitions say about one question, found lazily.

    Iterate over it to put the question to one definition after another. `opinion` puts it to one: an error of
    that one leaves the others alone. `query` is the question as put to the first.
    """

    query: Query
    definitions: tuple[str, ...]
    _ask: Callable[[str], Opinion] = field(repr=False, compare=False)

    def opinion(self, definition: str) -> Opinion:
        """Put the question to one definition, once."""
        return self._ask(definition)

    def __iter__(self) -> Iterator[Opinion]:
        return map(self._ask, self.definitions)

    def __len__(self) -> int:
        return len(self.definitions)

    def to_json(self) -> dict[str, Any]:
        return {"answers": [opinion.to_json() for opinion in self]}


def compare(
    model: Model,
    *,
    context: Assignment | str,
    effect: str | Expression,
    event: Assignment | str | None = None,
    definitions: str | Sequence[str] | None = None,
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Expression | None = None,
    normality: Rules = None,
    solver: str = "auto",
    max_causes: int | None = None,
    max_seconds: float | None = None,
    responsibility: bool = False,
    degree_seconds: float | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Comparison:
    r"""Ask several definitions, all by default: what caused the effect, or was this event a cause of it?

    Each definition may take `max_seconds` and find `max_causes`. With `responsibility` the degrees of its causes
    follow, as far as `degree_seconds` (by default as long again) go; `but-for`, `direct` and `strong` have none.
    `on_progress` is called with the name of a definition before each search; what it raises ends the comparison.

    >>> model = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
    >>> opinions = compare(model, context={"ST": 1, "BT": 1}, effect="BS == 1", event={"BT": 1})
    >>> [opinion.definition for opinion in opinions if opinion.answer.holds]
    []
    """
    given = DEFINITIONS if definitions is None else (definitions,) if isinstance(definitions, str) else definitions
    names = tuple(get_definition(name).name for name in given)
    if not names:
        raise QueryError("{parameter} must name at least one definition.", parameter="definitions")
    if responsibility:
        check_degrees(names)
    query = make_query(model, context, effect, names[0], alpha_sufficiency, alpha_necessity, contrast, normality)
    checked = None if event is None else query.check_event(event)
    report = on_progress or (lambda definition: None)

    @cache
    def ask(definition: str) -> Opinion:
        report(definition)
        question = replace(query, definition=definition).arguments
        if checked is not None:
            verdict = is_cause(event=checked, solver=solver, max_seconds=max_seconds, **question)
            return Opinion(verdict, degrees(verdict))
        answer = causes(solver=solver, max_causes=max_causes, max_seconds=max_seconds, **question)
        _ = answer.status  # searches to the end, so that the next definition starts with its own budget
        return Opinion(answer, degrees(answer))

    def degrees(answer: Answer | Verdict) -> Degrees | None:
        if not responsibility:
            return None
        if answer.query.definition not in WITH_DEGREES:
            return (None,) if isinstance(answer, Verdict) else (None,) * len(answer.causes)
        seconds = max_seconds if degree_seconds is None else degree_seconds
        return _degrees(answer, inf if seconds is None else monotonic() + seconds, report)

    return Comparison(query, names, ask)


def _degrees(answer: Answer | Verdict, deadline: float, report: Callable[[str], None]) -> Degrees:
    """Compute the degree of each cause, or of the one event; None for those that there is no time for."""
    query = answer.query

    def search(event: Assignment) -> Fraction | None:
        report(query.definition)
        remaining = deadline - monotonic()
        if remaining <= 0:
            return None
        return degree_of(event=event, max_seconds=None if remaining == inf else remaining, **query.arguments)

    if isinstance(answer, Verdict):
        return (search(answer.event) if answer.status is Status.COMPLETE else None,)
    if query.definition == "functional" and answer.status is Status.COMPLETE:
        # Its causes are all known here, and the degree is one over the size of the smallest around it.
        events = [dict(cause.event) for cause in answer]
        return tuple(Fraction(1, min(len(b) for b in events if a.items() <= b.items())) for a in events)
    return tuple(_evident_degree(cause) or search(cause.event) for cause in answer)


def _evident_degree(cause: Cause) -> Fraction | None:
    """Return the degree of a minimal cause whose witness cannot weigh less: it changes, or holds, nothing else."""
    frozen, query = cause.witness.frozen, cause.query
    if query.definition in CHOCKLER_HALPERN:
        return Fraction(1) if all(query.actual[name] == value for name, value in frozen.items()) else None
    return None if frozen or query.definition == "functional" else Fraction(1, len(cause.event))
