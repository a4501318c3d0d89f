"""A question in a line of a file: a JSON object whose fields are the options of `actcause ask`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

from .. import examples
from ..core.compare import compare
from ..core.definitions import DEFINITIONS
from ..core.trace import Trace
from ..errors import ActCauseError, QueryError, quote, suggest
from .source import ModelSource, Timing, parse_model, read_model, read_text
from .trace_file import read_trace

VERSION = 2  # of how answers are found and written: those of another version are found again
KEPT = 64  # models that a worker keeps for its next question
ASSIGNED = (str, dict)
FIELDS: Mapping[str, tuple[type, ...]] = {
    "model": (str,),
    "context": ASSIGNED,
    "effect": (str,),
    "event": ASSIGNED,
    "definition": (str, list),
    "alpha_sufficiency": (str, int, float),
    "alpha_necessity": (str, int, float),
    "rather_than": (str,),
    "normally": (str, list),
    "normality_order": (str,),
    "steps": (int,),
    "trace": ASSIGNED,
    "solver": (str,),
    "max_causes": (int,),
    "max_seconds": (int, float),
    "responsibility": (bool,),
}
QUESTION = (
    *("context", "effect", "event", "alpha_sufficiency", "alpha_necessity"),
    *("rather_than", "normally", "normality_order"),
)
EXAMPLE = '{"model": "rock-throwing", "event": "ST=1"}'
WORDS = {
    str: "text",
    dict: "an object",
    list: "a list",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


@dataclass(frozen=True)
class Reply:
    """What a line was answered with: the line of its number, one JSON document, and whether it is an error.

    A question that is `lost` may be right: every worker that was given it ended before it was answered.
    """

    number: int
    text: str
    error: str | None = None
    lost: bool = False


@dataclass(frozen=True)
class Line:
    """A line of the file: its question with the text of a model from a file, or what is wrong with it."""

    number: int
    fields: Mapping[str, Any]
    text: str | None = None
    error: str | None = None

    @cached_property
    def key(self) -> str:
        """A digest of the question, under which a journal keeps its answer."""
        question = json.dumps([VERSION, self.fields, self.text], sort_keys=True)
        return blake2b(question.encode(), digest_size=16).hexdigest()


def read_line(number: int, line: str, defaults: Mapping[str, Any]) -> Line:
    """Read the question of a line; files are read here, since a worker may be on another machine."""
    try:
        fields = {**defaults, **_parse_fields(line)}
        if "model" not in fields:
            raise QueryError("The question has no model; give it the field 'model', or the command a MODEL.")
        name = fields["model"]
        if name == "-":
            raise QueryError("A question's model cannot be '-'; give it a file, an example's name, or model text.")
        if isinstance(fields.get("trace"), str):
            fields["trace"] = dict(read_trace(fields["trace"]).columns)
        known = "\n" in name or name in examples.NAMES
        return Line(number, fields, None if known else read_text(name))
    except ActCauseError as error:
        return Line(number, {}, error=str(error))


def _parse_fields(line: str) -> dict[str, Any]:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"A question must be a JSON object; got {quote(line.strip())} ({error}).") from None
    if not isinstance(given, dict):
        raise QueryError(f"A question must be a JSON object, such as {EXAMPLE}; got {quote(given)}.")
    for name, value in given.items():
        if name not in FIELDS:
            hint = suggest(name, FIELDS) or f"; a question may have {', '.join(FIELDS)}."
            raise QueryError(f"Unknown field '{name}'{hint}")
        if not isinstance(value, FIELDS[name]) or (isinstance(value, bool) and bool not in FIELDS[name]):
            expected = " or ".join(WORDS[kind] for kind in FIELDS[name])
            wrong = "The field '{parameter}' must be {expected}; got {got}."
            raise QueryError(wrong, parameter=name, expected=expected, got=quote(value))
    return given


def answer_line(line: Line) -> Reply:
    """Answer the question of a line with the document that `ask --json` prints, or with its error."""
    if line.error is not None:
        return refuse(line.number, line.error)
    try:
        return Reply(line.number, json.dumps(_answer(line)))
    except ActCauseError as error:
        return refuse(line.number, str(error))
    except (MemoryError, RecursionError) as error:
        return refuse(line.number, f"The question takes too much memory ({type(error).__name__}); ask a smaller one.")


def refuse(number: int, error: str, *, lost: bool = False) -> Reply:
    """Reply with an error."""
    return Reply(number, json.dumps({"line": number, "error": error}), error, lost)


def _answer(line: Line) -> dict[str, Any]:
    fields = dict(line.fields)
    definitions, several = _parse_definitions(fields.pop("definition", "modified-hp"))
    question = {name: _join(fields.pop(name, None)) for name in QUESTION}
    source = _read_source(fields.pop("model"), line.text, _read_timing(fields, question))
    comparison = compare(source.model, **source.read_question(**question), definitions=definitions, **fields)
    return comparison.to_json() if several else comparison.opinion(*definitions).to_json()


def _join(given: Any) -> Any:
    """Write the assignments of an object as the command line takes them."""
    return ",".join(f"{name}={value}" for name, value in given.items()) if isinstance(given, dict) else given


def _parse_definitions(given: str | list[Any]) -> tuple[tuple[str, ...], bool]:
    """Parse the names of definitions, and whether they are answered in a list."""
    if given == "all":
        return tuple(DEFINITIONS), True
    if isinstance(given, str):
        return (given,), False
    if not given or not all(isinstance(name, str) for name in given):
        wrong = "The field '{parameter}' must be a name, a list of names, or 'all'; got {got}."
        raise QueryError(wrong, parameter="definition", got=quote(given))
    return tuple(given), True


def _read_timing(fields: dict[str, Any], question: Mapping[str, Any]) -> Timing:
    """Read how far the model of a question is unrolled."""
    trace, rules = fields.pop("trace", None), question["normally"] or ()
    formulas = (question["context"], question["effect"], question["event"], question["rather_than"])
    texts = (*formulas, *([rules] if isinstance(rules, str) else map(str, rules)))
    return Timing.read(fields.pop("steps", None), None if trace is None else Trace(trace), texts)


def _read_source(name: str, text: str | None, timing: Timing) -> ModelSource:
    """Read the model of a question: an example, the text of a file, or text itself."""
    source = _read_unrolled(name, text, timing.steps, timing.last)
    return source if timing.trace is None else replace(source, trace=timing.trace)


@lru_cache(maxsize=KEPT)
def _read_unrolled(name: str, text: str | None, steps: int | None, last: int | None) -> ModelSource:
    timing = Timing(steps, mentioned=last)
    if text is not None:
        return parse_model(name, text, timing)
    return parse_model("model", name, timing) if "\n" in name else read_model(name, timing)
