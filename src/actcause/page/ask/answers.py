"""What a worker answers for the view Ask: a model for drawing, causes by all definitions, one event's verdicts.

Each function takes and gives JSON. Those that go through the definitions yield what they have, one
definition after another, so that one that takes too long does not cost the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from time import monotonic
from typing import Any

from ...core.answer import Answer, Query, Status, Verdict, Witness
from ...core.compare import Opinion, compare
from ...core.declarations import locate_declarations
from ...core.definitions import DEFINITIONS
from ...core.find import get_definition, make_query
from ...core.model import Model
from ...core.normality import ORDERS, Normality
from ...core.responsibility import WITH_DEGREES
from ...errors import ActCauseError, ModelError, ParseError, QueryError
from ...questions.source import Timing
from ..server.services import Refused, refuse_memory
from . import as_code

MOST_CAUSES = 24
DRAWN = 800  # variables; a larger model is asked about without being drawn
SET_ROOTS = 1000  # roots that can be set on the page
LISTED = 200  # values of a range that are sent one by one
SECONDS = 6.0  # for all definitions together
MOST_SECONDS = 1.2  # for one of several
DEGREES_SECONDS = 0.4  # for the degrees of a first answer; the page asks for the rest of them later
NO_VERDICT: dict[str, Any] = {"holds": None, "conditions": {}, "failed": None, "responsibility": None, "witness": None}
STATUSES = {  # the page has no limits that a user could raise
    Status.MAX_CAUSES: f"Only the first {MOST_CAUSES} causes were looked for.",
    Status.OUT_OF_TIME: "The search ran out of its time.",
    Status.OUT_OF_STEPS: "The search ran out of its steps.",
    Status.TOO_LARGE: Status.TOO_LARGE.sentence,
}


def check(payload: dict[str, Any]) -> dict[str, Any]:
    """Describe the variables of a model: ranges, parents, labels."""
    model = read_model(payload["text"], payload.get("steps"), None)
    count = len(model.variables)
    if len(model.roots) > SET_ROOTS:
        said = f"The model has {len(model.roots):,} roots; at most {SET_ROOTS:,} can be set on this page"
        raise Refused(f"{said}. Ask in the command line or in Python, or leave out those that bear on nothing.")
    drawn = model.variables if count <= DRAWN else model.roots
    exogenous = set(model.exogenous)
    return {
        "count": count,
        "roots": list(model.roots),
        "last": model.variables[-1],
        "sink": _find_sink(model),
        "unrolled": model.to_text() if payload.get("steps") is not None and count <= DRAWN else None,
        "variables": [
            {
                "name": name,
                "label": model.labels.get(name),
                "exogenous": name in exogenous,
                "root": name not in model.equations,
                "parents": list(model.parents(name)),
                "equation": str(model.equations[name].expression)[:500] if name in model.equations else None,
                "range": _show_range(model.ranges[name]),
            }
            for name in drawn
        ],
    }


def _find_sink(model: Model) -> str:
    """Find what a question is most likely about: the last variable that nothing else follows from."""
    read = {parent for name in model.equations for parent in model.parents(name)}
    ends = [name for name in model.variables if name not in read]
    return next((name for name in reversed(ends) if name in model.equations), ends[-1])


def answer(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what happened, then each definition's minimal causes, with degrees as far as their time goes."""
    query = read_query(payload)
    yield _describe_world(query)
    yield from _ask_in_turn(query, None, read_definitions(payload))


def judge(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what happened, then each definition's verdict on one event: conditions, a witness, a degree."""
    query = read_query(payload)
    event = query.check_event(payload["event"] or "")
    yield {**_describe_world(query), "event": event}
    yield from _ask_in_turn(query, event, read_definitions(payload))


def degrees(payload: dict[str, Any]) -> dict[str, Any]:
    """Measure the degree of every cause of one definition, with all the time that a question has."""
    names = read_definitions(payload)
    if len(names) != 1:
        raise Refused("Degrees are asked for one definition at a time.")
    opinion = _ask(replace(read_query(payload), definition=names[0]), None, SECONDS, SECONDS, [])
    return {"degrees": [show(degree) for _, _, degree in opinion.ranked()] if opinion.degrees else []}


def code(payload: dict[str, Any]) -> dict[str, Any]:
    """Write the question as Python and as a command."""
    query = read_query(payload)
    event = None if payload["event"] is None else query.check_event(payload["event"])
    model = as_code.WrittenModel.of(query, Model.from_text(payload["text"]))
    return {
        "python": as_code.write_python(query, event, model),
        "command": as_code.write_command(query, event, model),
    }


def _ask_in_turn(query: Query, event: dict[str, int] | None, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Ask each definition for as long as leaves something for those after it."""
    deadline = monotonic() + SECONDS
    degree_seconds = DEGREES_SECONDS
    for index, name in enumerate(names):
        after = len(names) - index - 1
        most = SECONDS if len(names) == 1 else MOST_SECONDS
        seconds = max(0.3, min(most, deadline - monotonic() - 0.4 * after))
        searches: list[float] = []  # when each began: the one for causes, then those for degrees
        try:
            opinion = _ask(replace(query, definition=name), event, seconds, degree_seconds, searches)
            yield _show_opinion(opinion)
        except (ActCauseError, MemoryError) as error:  # one definition's, which is not the others'
            past_memory = isinstance(error, MemoryError)
            sentence = refuse_memory(of_model=True).message if past_memory else " ".join(str(error).split())
            nothing = {"status": "refused", "said": sentence, "causes": []}
            yield {**name_definition(name), **(nothing if event is None else {**NO_VERDICT, "sentence": sentence})}
        degree_seconds -= monotonic() - searches[1] if len(searches) > 1 else 0.0


def _ask(
    query: Query, event: dict[str, int] | None, seconds: float, degree_seconds: float, searches: list[float]
) -> Opinion:
    asked = query.arguments
    return compare(
        event=event,
        definitions=asked.pop("definition"),
        **asked,
        max_causes=MOST_CAUSES,
        max_seconds=seconds,
        responsibility=query.definition in WITH_DEGREES,
        degree_seconds=degree_seconds,
        on_progress=lambda _: searches.append(monotonic()),
    ).opinion(query.definition)


# -- questions -------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def read_model(text: str, steps: int | None, mentioned: int | None) -> Model:
    """Read model text, unrolled if it has time; a mistake comes with the line that it is in."""
    try:
        model = Timing(steps, mentioned=mentioned).unroll(Model.from_text(text))
        model.check_equations()
        return model
    except ParseError:
        raise
    except ModelError as error:
        line = None if error.variable is None else locate_declarations(text).get(error.variable)
        raise Refused(str(error), line) from None


def read_definitions(payload: dict[str, Any]) -> tuple[str, ...]:
    """Read the definitions that a question is put to."""
    return tuple(get_definition(name).name for name in dict.fromkeys(payload["definitions"] or DEFINITIONS))


def read_query(payload: dict[str, Any]) -> Query:
    """Read a question; its definition is to be replaced."""
    asked = (payload["effect"], payload["event"], payload.get("contrast"), *(payload.get("normality") or ()))
    timing = Timing.read(payload.get("steps"), None, (*asked, *payload["context"]))
    _check_steps(payload, timing)
    return make_query(
        read_model(payload["text"], timing.steps, timing.mentioned),
        payload["context"],
        payload["effect"],
        "modified-hp",
        payload["alpha_sufficiency"] or None,
        payload["alpha_necessity"] or None,
        payload.get("contrast") or None,
        _read_normality(payload),
    )


def _check_steps(payload: dict[str, Any], timing: Timing) -> None:
    """Refuse a question past the steps of the model, beside the field that asks it."""
    if timing.steps is None or timing.mentioned is None or timing.mentioned <= timing.steps:
        return
    rules = "\n".join(payload.get("normality") or ())
    fields = {"effect": payload["effect"], "event": payload["event"], "contrast": payload.get("contrast")}
    for name, text in {**fields, "normality": rules}.items():
        if Timing.read(None, None, [text]).mentioned == timing.mentioned:
            wrong = (
                "{parameter} mentions step {mentioned}, but the model goes to step {last}; ask about step {last} or "
            )
            remedy = "earlier, or raise the steps to {mentioned}."
            raise QueryError(wrong + remedy, parameter=name, mentioned=timing.mentioned, last=timing.steps)


def _read_normality(payload: dict[str, Any]) -> Normality | None:
    rules = payload.get("normality")
    return Normality(rules, payload.get("normality_order") or ORDERS[0]) if rules else None


# -- documents -------------------------------------------------------------------------------------


def _describe_world(query: Query) -> dict[str, Any]:
    return {
        "actual": dict(query.actual) if len(query.actual) <= DRAWN else {},
        "happened": query.happened,
        "effect": query.effect_text,
        "question": query.question_text,
        "about": list(query.effect_variables),
        "candidates": list(query.candidates[:DRAWN]),
    }


def name_definition(name: str) -> dict[str, str]:
    """Name a definition as the page shows it."""
    definition = DEFINITIONS[name]
    return {"definition": name, "title": definition.title, "citation": definition.citation}


def _show_opinion(opinion: Opinion) -> dict[str, Any]:
    show_one = _show_verdict if isinstance(opinion.answer, Verdict) else _show_answer
    return {**name_definition(opinion.definition), **show_one(opinion)}


def _show_answer(opinion: Opinion) -> dict[str, Any]:
    found = opinion.answer
    assert isinstance(found, Answer)
    return {
        "status": found.status.value,
        "said": STATUSES.get(found.status),
        "causes": [
            {
                "event": dict(cause.event),
                "sentence": cause.sentence,
                **({} if opinion.degrees is None else {"responsibility": show(degree)}),
                **({} if found.query.normality is None else {"rank": rank}),
                "witness": _replay(found.query, cause.witness),
            }
            for rank, cause, degree in opinion.ranked()
        ],
    }


def _show_verdict(opinion: Opinion) -> dict[str, Any]:
    verdict, degrees = opinion.answer, opinion.degrees
    assert isinstance(verdict, Verdict)
    return {
        "holds": verdict.holds,
        "conditions": dict(verdict.conditions),
        "failed": verdict.failed,
        "sentence": STATUSES[verdict.status] if verdict.holds is None else verdict.sentence,
        "responsibility": show(degrees[0]) if verdict.holds and degrees else None,
        "witness": _replay(verdict.query, verdict.witness) if verdict.holds and verdict.witness else None,
    }


def _replay(query: Query, witness: Witness) -> dict[str, Any]:
    """Replay a witness; say what that gave where it differs from what happened, and whether the effect is gone."""
    replay = witness.replay(query)
    moved = {name: value for name, value in replay.values.items() if value != query.actual[name]}
    return {**witness.to_json(), "moved": moved, "effect": replay.effect}


def _show_range(values: tuple[int, ...]) -> dict[str, Any]:
    listed = list(values) if len(values) <= LISTED else None
    return {"low": values[0], "high": values[-1], "count": len(values), "values": listed}


def show(value: object) -> str | None:
    """Write a number as the page shows it; None stays None."""
    return None if value is None else str(value)
