"""What a worker answers for the view Ask: a model for drawing, causes by all definitions, one event's verdicts.

Each function takes and gives JSON. Those that go through the definitions yield what they have, one
definition after another, so that one that takes too long does not cost the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from time import monotonic
from typing import Any

from ...core.answer import Answer, Cause, Query, Status, Witness
from ...core.definitions import DEFINITIONS
from ...core.find import causes, is_cause, make_query
from ...core.model import Model
from ...core.responsibility import CHOCKLER_HALPERN, responsibility
from ...errors import ActCauseError, ModelError, ParseError
from ..server.services import Refused
from .as_code import command, python

MOST_CAUSES = 24
DRAWN = 200  # variables; a larger model is asked about without being drawn
SET_ROOTS = 1000  # roots that can be set on the page
LISTED = 200  # values of a range that are sent one by one
SECONDS = 6.0  # for all definitions together
MOST_SECONDS = 1.2  # for one of several
DEGREES_SECONDS = 0.4  # for the degrees of a first answer; the page asks for the rest of them later
NO_VERDICT: dict[str, Any] = {"holds": None, "conditions": {}, "failed": None, "responsibility": None, "witness": None}
TOO_MUCH = "This takes more memory than a question may; use a smaller model."
STATUSES = {
    Status.MAX_CAUSES: f"Only the first {MOST_CAUSES} causes were looked for.",
    Status.OUT_OF_TIME: "The search ran out of its time.",
    Status.OUT_OF_STEPS: "The search ran out of its steps.",
    Status.TOO_LARGE: Status.TOO_LARGE.sentence,
}


def check(payload: dict[str, Any]) -> dict[str, Any]:
    """The variables of a model: ranges, parents, labels."""
    model = _model(payload["text"])
    count = len(model.variables)
    drawn = model.variables if count <= DRAWN else model.roots[:SET_ROOTS]
    exogenous = set(model.exogenous)
    return {
        "count": count,
        "roots": list(model.roots[:SET_ROOTS]),
        "last": model.variables[-1],
        "variables": [
            {
                "name": name,
                "label": model.labels.get(name),
                "exogenous": name in exogenous,
                "root": name not in model.equations,
                "parents": list(model.parents(name)),
                "equation": _equation(model, name),
                "range": _range(model.ranges[name]),
            }
            for name in drawn
        ],
    }


def answer(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What happened, then each definition's minimal causes, with degrees as far as their time goes."""
    query = _query(payload, "modified-hp")
    yield {**_world(query), "python": python(query, None), "command": command(query, None)}
    purse = DEGREES_SECONDS
    for name, seconds in _in_turn(definitions_of(payload)):
        try:
            found = _found(replace(query, definition=name), seconds)
            begun = monotonic()
            degrees = _degrees(found, begun + purse)
            purse -= monotonic() - begun
            yield _answer_document(found, degrees)
        except (ActCauseError, MemoryError) as error:  # one definition's, which is not the others'
            yield {**named(name), "status": "refused", "said": _why(error), "causes": []}


def judge(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What happened, then each definition's verdict on one event: conditions, a witness, a degree."""
    query = _query(payload, "modified-hp")
    with _naming("The event"):
        event = query.check_event(payload["event"] or "")
    yield {**_world(query), "event": event, "python": python(query, event), "command": command(query, event)}
    for name, seconds in _in_turn(definitions_of(payload)):
        try:
            yield _verdict_document(replace(query, definition=name), event, seconds)
        except (ActCauseError, MemoryError) as error:
            yield {**named(name), **NO_VERDICT, "sentence": _why(error)}


def degrees(payload: dict[str, Any]) -> dict[str, Any]:
    """The degree of every cause of one definition, with all the time that a question has."""
    names = definitions_of(payload)
    if len(names) != 1:
        raise Refused("Degrees are asked for one definition at a time.")
    [name] = names
    deadline = monotonic() + SECONDS
    found = _found(_query(payload, name), SECONDS)
    return {"degrees": [as_text(degree) for degree in _degrees(found, deadline)]}


def _in_turn(names: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Each definition and the time it may take, so that something is left for those after it."""
    deadline = monotonic() + SECONDS
    for index, name in enumerate(names):
        after = len(names) - index - 1
        yield name, max(0.3, min(SECONDS if len(names) == 1 else MOST_SECONDS, deadline - monotonic() - 0.4 * after))


def _found(query: Query, seconds: float) -> Answer:
    found = causes(max_causes=MOST_CAUSES, max_seconds=seconds, **_given(query))
    _ = found.status  # searches to the end, so that the next definition starts with its own time
    return found


def _degrees(found: Answer, deadline: float) -> list[Fraction | None]:
    """The degree of each cause; None for those that there was no time for."""
    query = found.query
    if query.definition == "functional" and found.status is Status.COMPLETE:
        # Its causes are all known here, and the degree is one over the size of the smallest around it.
        events = [dict(cause.event) for cause in found]
        return [Fraction(1, min(len(other) for other in events if event.items() <= other.items())) for event in events]
    degrees: list[Fraction | None] = []
    for cause in found:
        degree = _evident(cause)
        left = deadline - monotonic()
        if degree is None and left > 0:
            degree = responsibility(event=cause.event, max_seconds=left, **_given(query))
        degrees.append(degree)
    return degrees


def _evident(cause: Cause) -> Fraction | None:
    """The degree of a minimal cause whose witness cannot weigh less: it changes, or holds, nothing else."""
    frozen, actual = cause.witness.frozen, cause.query.actual
    if cause.query.definition in CHOCKLER_HALPERN:
        return Fraction(1) if all(actual[name] == value for name, value in frozen.items()) else None
    return None if frozen or cause.query.definition == "functional" else Fraction(1, len(cause.event))


# -- questions -------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _model(text: str) -> Model:
    try:
        model = Model.from_text(text)
        model.check_equations()
        return model
    except ParseError:
        raise
    except ModelError as error:
        raise Refused(str(error), _line_of(str(error), text)) from None


def _line_of(message: str, text: str) -> int | None:
    """The line that declares the first variable a message names, so that it can be marked."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if found := re.match(r"\s*(?:exogenous\s+)?([^\W\d]\w*'*)", line):
            lines.setdefault(found[1], number)
    return next((lines[word] for word in re.findall(r"[^\W\d]\w*'*", message) if word in lines), None)


def definitions_of(payload: dict[str, Any]) -> tuple[str, ...]:
    """The definitions that a question is put to."""
    names = tuple(dict.fromkeys(payload["definitions"] or DEFINITIONS))
    if unknown := [name for name in names if name not in DEFINITIONS]:
        raise Refused(f"There is no definition named '{unknown[0]}'; there are {', '.join(DEFINITIONS)}.")
    return names


def _query(payload: dict[str, Any], definition: str) -> Query:
    model = _model(payload["text"])
    with _naming("The effect"):
        return make_query(
            model,
            payload["context"],
            payload["effect"],
            definition,
            payload["alpha_sufficiency"] or None,
            payload["alpha_necessity"] or None,
        )


@contextmanager
def _naming(what: str) -> Iterator[None]:
    """Say in which text a mistake is; it is not in the model's, so no line of that is to blame."""
    try:
        yield
    except ParseError as error:
        raise Refused(f"{what}, at character {error.column}: {error.reason}.") from None


def _given(query: Query) -> dict[str, Any]:
    return {
        "model": query.model,
        "context": query.context,
        "effect": query.effect,
        "definition": query.definition,
        "alpha_sufficiency": query.alpha_sufficiency,
        "alpha_necessity": query.alpha_necessity,
    }


# -- documents -------------------------------------------------------------------------------------


def _world(query: Query) -> dict[str, Any]:
    return {
        "actual": dict(query.actual) if len(query.actual) <= DRAWN else {},
        "happened": query.happened,
        "effect": query.effect_text,
        "about": list(query.effect_variables),
        "candidates": list(query.candidates[:DRAWN]),
    }


def named(name: str) -> dict[str, str]:
    """A definition as the page shows it."""
    definition = DEFINITIONS[name]
    return {"definition": name, "title": definition.title, "citation": definition.citation}


def _answer_document(found: Answer, degrees: list[Fraction | None]) -> dict[str, Any]:
    return {
        **named(found.query.definition),
        "status": found.status.value,
        "said": STATUSES.get(found.status),
        "causes": [
            {
                "event": dict(cause.event),
                "sentence": cause.sentence,
                "responsibility": as_text(degree),
                "witness": _played(found.query, cause.witness),
            }
            for cause, degree in zip(found, degrees, strict=True)
        ],
    }


def _verdict_document(query: Query, event: dict[str, int], seconds: float) -> dict[str, Any]:
    verdict = is_cause(event=event, max_seconds=seconds, **_given(query))
    degree = responsibility(event=event, max_seconds=DEGREES_SECONDS, **_given(query)) if verdict.holds else None
    witness = verdict.witness if verdict.holds else None
    return {
        **named(query.definition),
        "holds": verdict.holds,
        "conditions": dict(verdict.conditions),
        "failed": verdict.failed,
        "sentence": _in_words(verdict.sentence),
        "responsibility": as_text(degree),
        "witness": None if witness is None else _played(query, witness),
    }


def _why(error: Exception) -> str:
    """Why a definition has no answer."""
    return TOO_MUCH if isinstance(error, MemoryError) else " ".join(str(error).split())


def _played(query: Query, witness: Witness) -> dict[str, Any]:
    """A witness, what its replay gave where that differs from what happened, and whether the effect is gone."""
    replay = witness.replay(query)
    moved = {name: value for name, value in replay.values.items() if value != query.actual[name]}
    return {**witness.to_json(), "moved": moved, "effect": replay.effect}


def _in_words(sentence: str) -> str:
    """Without the names of Python's arguments, of which the page has none."""
    return sentence.replace(Status.OUT_OF_TIME.sentence, STATUSES[Status.OUT_OF_TIME])


def _equation(model: Model, name: str) -> str | None:
    equation = model.equations.get(name)
    return None if equation is None else str(equation.expression)[:500]


def _range(values: tuple[int, ...]) -> dict[str, Any]:
    listed = list(values) if len(values) <= LISTED else None
    return {"low": values[0], "high": values[-1], "count": len(values), "values": listed}


def as_text(value: object) -> str | None:
    """A number as the page shows it; None stays None."""
    return None if value is None else str(value)
