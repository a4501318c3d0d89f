r"""A file of questions: one JSON object a line, answered in its order by as many workers as there are.

    {"model": "rock-throwing", "event": "BT=1", "definition": "all"}
    {"model": "A\nB\nC = A or B", "context": {"A": 1, "B": 1}, "effect": "C == 1"}

The fields are the options of `actcause ask`, and so is what each line is answered with: the document that `ask --json`
prints. `model` is an example's name, a file of model text or, if it has more than one line, the text itself. What a
line leaves out is taken from the command line. A line that is wrong is answered with its number and its error.

Answers that go to a file are kept in a journal beside it until all are there: a command that was cut off, or whose
workers were killed again and again, asks only what is left when it is given once more.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from .. import examples
from ..core.compare import compare
from ..core.definitions import DEFINITIONS
from ..errors import ActCauseError, QueryError, shown, suggest
from ..io.atomic import write_whole
from ..io.journal import Journal
from ..io.signals import exit_on_terminate
from ..parallel import Engine
from . import source as sources

BATCH = 8  # questions that a worker is given at once, so that handing them over costs little
VERSION = 1  # of how answers are found and written: those of another version are found again
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
FAULTS = {"wrong": "could not be asked", "lost": "were lost with their workers: give the command again for these"}
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
    asked: Mapping[str, Any]
    text: str | None = None
    error: str | None = None

    @cached_property
    def key(self) -> str:
        """The same for the same question."""
        question = json.dumps([VERSION, self.asked, self.text], sort_keys=True)
        return blake2b(question.encode(), digest_size=16).hexdigest()


def answer_file(name: str, usual: Mapping[str, Any], workers: Engine, out: Path | None) -> None:
    """Answer a file of questions, on stdout or into a file that is written whole; wrong lines end in an error."""
    if out is None:
        faults = _written(answered(lines_of(name), usual, workers), print)
    else:
        with Journal(out) as journal:
            with exit_on_terminate(), write_whole(out, QueryError) as file:
                replies = answered(lines_of(name), usual, workers, journal)
                faults = _written(replies, lambda text: file.write(f"{text}\n".encode()))
            if "lost" not in faults:
                journal.remove()
    if faults:
        raise QueryError(" ".join(faults.values()))


def answered(
    lines: Iterable[str], usual: Mapping[str, Any], workers: Engine, journal: Journal | None = None
) -> Iterator[Reply]:
    """A reply for each line that is not blank, in order; `usual` holds the fields that a line may leave out.

    What the journal knows is not asked again, and what is answered goes into it.

    >>> from actcause.parallel import engine
    >>> with engine() as one:
    ...     [reply] = answered(['{"model": "rock-throwing", "event": "ST=1"}'], {}, one)
    >>> json.loads(reply.text)["holds"]
    True
    """
    read = (_read(number, line, usual) for number, line in enumerate(lines, 1) if line.strip())
    begun: deque[tuple[tuple[Line, ...], tuple[Line, ...]]] = deque()  # all lines of a batch, and those to be asked

    def batches() -> Iterator[tuple[Line, ...]]:
        while batch := tuple(islice(read, BATCH)):
            asked = tuple(line for line in batch if journal is None or line.key not in journal)
            begun.append((batch, asked))
            yield asked

    for outcome in workers.run(answer_batch, batches()):
        batch, asked = begun.popleft()
        replies = outcome.value or () if outcome.error is None else _alone(asked, workers)
        found = {reply.number: reply for reply in replies}
        for line in batch:
            if line.number not in found:
                assert journal is not None
                yield Reply(line.number, journal[line.key])
                continue
            reply = found[line.number]
            if journal is not None and reply.error is None:
                journal.add(line.key, reply.text)
            yield reply


def _alone(batch: tuple[Line, ...], workers: Engine) -> Iterator[Reply]:
    """Ask the questions of a batch that was lost one by one: only those that end their worker are lost."""
    outcomes = workers.run(answer_batch, [(line,) for line in batch], isolated=True)
    for line, outcome in zip(batch, outcomes, strict=True):
        if outcome.error is None:
            yield from outcome.value or ()
        else:
            yield replace(_refused(line.number, outcome.error), lost=True)


def _written(replies: Iterable[Reply], write: Callable[[str], object]) -> dict[str, str]:
    """Write the answers; a sentence about each kind of fault among them, with the first."""
    counts: Counter[str] = Counter()
    first: dict[str, Reply] = {}
    for reply in replies:
        write(reply.text)
        counts["lines"] += 1
        if reply.error is not None:
            kind = "lost" if reply.lost else "wrong"
            counts[kind] += 1
            first.setdefault(kind, reply)
    return {
        kind: f"{counts[kind]:,} of {counts['lines']:,} questions {FAULTS[kind]}; "
        f"the first is on line {reply.number}: {reply.error}"
        for kind, reply in first.items()
    }


def answer_batch(batch: tuple[Line, ...]) -> tuple[Reply, ...]:
    """What a worker does."""
    return tuple(map(_answer, batch))


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
    source = _source(asked["model"], line.text)
    event = _assignments(asked.get("event"))
    comparison = compare(
        source.model,
        context=source.context(_assignments(asked.get("context"))),
        effect=source.effect(asked.get("effect")),
        event=None if event is None else source.event("event", event),
        definitions=definitions,
        **{name: source.share(name, asked.get(name)) for name in ("alpha_sufficiency", "alpha_necessity")},
        **{name: asked[name] for name in ("solver", "max_causes", "max_seconds", "responsibility") if name in asked},
    )
    return comparison.to_json() if several else comparison.opinion(*definitions).to_json()


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


def _assignments(given: str | dict[str, Any] | None) -> str | None:
    """Assignments as the command line takes them."""
    return ",".join(f"{name}={value}" for name, value in given.items()) if isinstance(given, dict) else given
