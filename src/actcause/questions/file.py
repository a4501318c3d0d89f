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

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import QueryError
from ..io.atomic import exit_on_terminate, write_whole
from ..io.journal import Journal
from ..parallel import Engine
from .line import Line, Reply, answer_line, read_line, refuse

BATCH = 8  # questions that a worker is given at once, so that handing them over costs little
FAULTS = {"wrong": "could not be asked", "lost": "were lost with their workers: give the command again for these"}


def answer_file(name: str, defaults: Mapping[str, Any], workers: Engine, out: Path | None) -> None:
    """Answer a file of questions, on stdout or into a file that is written whole; wrong lines end in an error."""
    if out is None:
        faults = _write_replies(answer_lines(read_lines(name), defaults, workers), print)
    else:
        with Journal(out) as journal:
            with exit_on_terminate(), write_whole(out, QueryError) as file:
                replies = answer_lines(read_lines(name), defaults, workers, journal)
                faults = _write_replies(replies, lambda text: file.write(f"{text}\n".encode()))
            if "lost" not in faults:
                journal.remove()
    if faults:
        raise QueryError(" ".join(faults.values()))


def answer_lines(
    lines: Iterable[str], defaults: Mapping[str, Any], workers: Engine, journal: Journal | None = None
) -> Iterator[Reply]:
    """Answer each line that is not blank, in order; `defaults` holds the fields that a line may leave out.

    What the journal knows is not asked again, and what is answered goes into it.

    >>> import json
    >>> from actcause.parallel import engine
    >>> with engine() as one:
    ...     [reply] = answer_lines(['{"model": "rock-throwing", "event": "ST=1"}'], {}, one)
    >>> json.loads(reply.text)["holds"]
    True
    """
    questions = (read_line(number, line, defaults) for number, line in enumerate(lines, 1) if line.strip())
    started: deque[tuple[tuple[Line, ...], tuple[Line, ...]]] = deque()  # all lines of a batch, and those to be asked

    def batches() -> Iterator[tuple[Line, ...]]:
        while batch := tuple(islice(questions, BATCH)):
            unanswered = tuple(line for line in batch if journal is None or line.key not in journal)
            started.append((batch, unanswered))
            yield unanswered

    for outcome in workers.run(answer_batch, batches()):
        batch, unanswered = started.popleft()
        replies = outcome.value or () if outcome.error is None else _ask_alone(unanswered, workers)
        new = {reply.number: reply for reply in replies}
        for line in batch:
            if line.number not in new:
                assert journal is not None
                yield Reply(line.number, journal[line.key])
                continue
            reply = new[line.number]
            if journal is not None and reply.error is None:
                journal.add(line.key, reply.text)
            yield reply


def _ask_alone(batch: tuple[Line, ...], workers: Engine) -> Iterator[Reply]:
    """Ask the questions of a batch that was lost one by one: only those that end their worker are lost."""
    outcomes = workers.run(answer_batch, [(line,) for line in batch], isolated=True)
    for line, outcome in zip(batch, outcomes, strict=True):
        if outcome.error is None:
            yield from outcome.value or ()
        else:
            yield refuse(line.number, outcome.error, lost=True)


def _write_replies(replies: Iterable[Reply], write: Callable[[str], object]) -> dict[str, str]:
    """Write the answers; give a sentence about each kind of fault among them, with the first."""
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
    """Answer the questions that a worker is given at once."""
    return tuple(map(answer_line, batch))


def read_lines(name: str) -> Iterator[str]:
    """Read the lines of a file, or of standard input where its name is '-', as they are asked for."""
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
            yield from (line.decode("utf-8-sig") for line in file)
    except OSError as error:
        raise QueryError(f"The questions in '{name}' cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise QueryError(f"The questions in '{name}' are not UTF-8 text; write one JSON object a line.") from None
