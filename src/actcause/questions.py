r"""A file of questions: one JSON object a line, answered in its order by as many workers as there are.

    {"model": "rock-throwing", "event": "BT=1", "definition": "all"}
    {"model": "A\nB\nC = A or B", "context": {"A": 1, "B": 1}, "effect": "C == 1"}

The fields are the options of `actcause ask`, and so is what each line is answered with: the document that `ask --json`
prints. `model` is an example's name, a file of model text or, if it has more than one line, the text itself. What a
line leaves out is taken from the command line. A line that is wrong is answered with its number and its error.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from . import examples, sources
from .answer import Answer, Verdict
from .definitions import DEFINITIONS
from .engines import Engine
from .errors import ActCauseError, QueryError, shown, suggest
from .output import written_whole

BATCH = 8  # questions that a worker is given at once, so that handing them over costs little
RETRIES = 5  # a worker that is killed has seldom met a question that kills it
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
    "solver": (str,),
    "max_causes": (int,),
    "max_seconds": (int, float),
    "responsibility": (bool,),
}
SUCH = '{"model": "rock-throwing", "event": "ST=1"}'
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
    """What a line was answered with: the line of its number, one JSON document, and whether it is an error."""

    number: int
    text: str
    error: str | None = None


@dataclass(frozen=True)
class Line:
    """A line of the file: its question with the text of a model from a file, or what is wrong with it."""

    number: int
    asked: Mapping[str, Any]
    text: str | None = None
    error: str | None = None


def answer_file(name: str, usual: Mapping[str, Any], workers: Engine, out: Path | None) -> None:
    """Answer a file of questions, on stdout or into a file that is written whole; wrong lines end in an error."""
    lines = wrong = 0
    first: Reply | None = None
    with nullcontext() if out is None else written_whole(out) as file:
        for reply in answered(lines_of(name), usual, workers):
            if file is None:
                print(reply.text)
            else:
                file.write(f"{reply.text}\n".encode())
            lines += 1
            if reply.error is not None:
                wrong += 1
                first = first or reply
    if first is not None:
        listed = f"{wrong:,} of {lines:,} questions could not be asked"
        raise QueryError(f"{listed}; the first is on line {first.number}: {first.error}")


def answered(lines: Iterable[str], usual: Mapping[str, Any], workers: Engine) -> Iterator[Reply]:
    """A reply for each line that is not blank, in order; `usual` holds the fields that a line may leave out.

    >>> from actcause.engines import engine
    >>> with engine() as one:
    ...     [reply] = answered(['{"model": "rock-throwing", "event": "ST=1"}'], {}, one)
    >>> json.loads(reply.text)["holds"]
    True
    """
    read = (_read(number, line, usual) for number, line in enumerate(lines, 1) if line.strip())
    begun: list[tuple[Line, ...]] = []

    def batches() -> Iterator[tuple[Line, ...]]:
        while batch := tuple(islice(read, BATCH)):
            begun.append(batch)
            yield batch

    for outcome in workers.run(answer_batch, batches(), retries=RETRIES):
        batch = begun.pop(0)
        if outcome.error is None:
            yield from outcome.value or ()
        else:  # the worker was lost with all its questions, and again at every further attempt
            yield from (_refused(line.number, outcome.error) for line in batch)


def answer_batch(batch: tuple[Line, ...]) -> tuple[Reply, ...]:
    """What a worker does."""
    return tuple(map(_answer, batch))


def answer_document(answer: Answer | Verdict, degrees: list[Fraction | None] | None) -> dict[str, Any]:
    """An answer as JSON, with its degrees of responsibility if they were asked for."""
    document = answer.to_json()
    if degrees is not None:
        written = [None if degree is None else str(degree) for degree in degrees]
        for cause, degree in zip(document["causes"], written, strict=False):
            cause["responsibility"] = degree
        if isinstance(answer, Verdict):
            [document["responsibility"]] = written
    return document


# -- reading ---------------------------------------------------------------------------------------


def lines_of(name: str) -> Iterator[str]:
    """The lines of a file, or of standard input where its name is '-', as they are asked for."""
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
            yield from (line.decode("utf-8-sig") for line in file)
    except OSError as error:
        raise QueryError(f"The questions in '{name}' cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise QueryError(f"The questions in '{name}' are not UTF-8 text; write one JSON object a line.") from None


def _read(number: int, line: str, usual: Mapping[str, Any]) -> Line:
    """The question of a line; files are read here, since a worker may be on another machine."""
    try:
        asked = {**usual, **_fields(line)}
        if "model" not in asked:
            raise QueryError("The question has no model; give it the field 'model', or the command a MODEL.")
        name = asked["model"]
        if name == "-":
            raise QueryError("A question's model cannot be '-'; give it a file, an example's name, or model text.")
        known = "\n" in name or name in examples.names()
        return Line(number, asked, None if known else sources.content(name))
    except ActCauseError as error:
        return Line(number, {}, error=str(error))


def _fields(line: str) -> dict[str, Any]:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"A question must be a JSON object; got {shown(line.strip())} ({error}).") from None
    if not isinstance(given, dict):
        raise QueryError(f"A question must be a JSON object, such as {SUCH}; got {shown(given)}.")
    for name, value in given.items():
        if name not in FIELDS:
            hint = suggest(name, FIELDS) or f"; a question may have {', '.join(FIELDS)}."
            raise QueryError(f"Unknown field '{name}'{hint}")
        if not isinstance(value, FIELDS[name]) or (isinstance(value, bool) and bool not in FIELDS[name]):
            expected = " or ".join(WORDS[kind] for kind in FIELDS[name])
            raise QueryError(f"The field '{name}' must be {expected}; got {shown(value)}.")
    return given


# -- answering -------------------------------------------------------------------------------------


def _answer(line: Line) -> Reply:
    if line.error is not None:
        return _refused(line.number, line.error)
    try:
        return Reply(line.number, json.dumps(_document(line)))
    except ActCauseError as error:
        return _refused(line.number, str(error))
    except (MemoryError, RecursionError) as error:
        return _refused(line.number, f"The question takes too much memory ({type(error).__name__}); ask a smaller one.")


def _refused(number: int, error: str) -> Reply:
    return Reply(number, json.dumps({"line": number, "error": error}), error)


def _document(line: Line) -> dict[str, Any]:
    asked = line.asked
    definitions, several = _definitions(asked.get("definition", "modified-hp"))
    question = _question(_source(asked["model"], line.text), asked)
    documents = []
    for definition in definitions:
        answer = question.put(definition)
        documents.append(answer_document(answer, question.degrees(answer) if asked.get("responsibility") else None))
    return {"answers": documents} if several else documents[0]


def _definitions(given: str | list[Any]) -> tuple[tuple[str, ...], bool]:
    """The names of definitions, and whether they are answered in a list."""
    if given == "all":
        return tuple(DEFINITIONS), True
    if isinstance(given, str):
        return (given,), False
    if not given or not all(isinstance(name, str) for name in given):
        raise QueryError(f"The field 'definition' must be a name, a list of names, or 'all'; got {shown(given)}.")
    return tuple(given), True


@lru_cache(maxsize=KEPT)
def _source(name: str, text: str | None) -> sources.Source:
    """The model of a question: an example, the text of a file, or text itself."""
    if text is not None:
        return sources.parsed(name, text)
    return sources.parsed("model", name) if "\n" in name else sources.read(name)


def _question(source: sources.Source, asked: Mapping[str, Any]) -> sources.Question:
    event = _assignments(asked.get("event"))
    try:
        return sources.Question(
            source.model,
            context=source.context(_assignments(asked.get("context"))),
            effect=source.effect(asked.get("effect")),
            event=None if event is None else source.event("--event", event),
            shares={name: source.share(name, asked.get(name)) for name in ("alpha_sufficiency", "alpha_necessity")},
            solver=asked.get("solver", "auto"),
            max_causes=asked.get("max_causes"),
            max_seconds=asked.get("max_seconds"),
        )
    except QueryError as error:  # what is an option on the command line is a field here
        raise QueryError(re.sub(r"--(context|effect|event)\b", r"\1", str(error))) from None


def _assignments(given: str | dict[str, Any] | None) -> str | None:
    """Assignments as the command line takes them."""
    return ",".join(f"{name}={value}" for name, value in given.items()) if isinstance(given, dict) else given
