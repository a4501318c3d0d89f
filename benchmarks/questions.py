"""A file of questions, answered by one worker and by two.

The questions are those of the literature's examples, every published verdict and all causes, and of random gates of
6 to 12 variables, each put to one definition after another. The two runs must give the same bytes, and what the
exhaustive oracle says of the models that are small enough for it must be the same: verdicts, and sets of causes.

    python benchmarks/run.py questions
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import actcause as ac
from actcause.parallel import engine
from actcause.questions.file import answer_lines
from measure import MANY, Figure, time_call, with_many
from models import random_gates

TITLE = "A file of questions"
BAR = 1 / 1.6  # of the time that one worker takes
MOST_CONTEXTS = 10_000_000  # of an example whose causes are all listed
MOST_VARIABLES = 30  # of an example: functional causes of more are given up as too large, after half a minute each
PIECES = 5  # each is answered by one worker and by two in turn, so that both see the same machine


@dataclass(frozen=True)
class Arguments:
    """How many questions, the sizes of random models, and the largest that the oracle is asked about."""

    questions: int = 10_000
    sizes: tuple[int, ...] = (6, 7, 8, 9, 10, 11, 12)
    oracle_size: int = 7
    oracle_seconds: float = 2.0


TINY = Arguments(questions=60, sizes=(6,))


def run(arguments: Arguments) -> Iterator[Figure]:
    asked = list(islice(questions(arguments.sizes), arguments.questions))
    lines = [json.dumps(question) for question in asked]
    spent = {1: 0.0, 2: 0.0}
    replies: dict[int, list[str]] = {1: [], 2: []}
    with engine(workers=1) as one, engine(workers=2) as two:
        list(answer_lines(lines[:2] * 16, {}, two))  # processes begin once, however many questions there are
        for piece in range(PIECES):
            for workers in (one, two):
                seconds, found = time_call(
                    lambda w=workers, p=piece: [r.text for r in answer_lines(lines[p::PIECES], {}, w)]
                )
                spent[workers.workers] += seconds
                replies[workers.workers] += found
    same = replies[1] == replies[2]
    order = [number for piece in range(PIECES) for number in range(piece, len(lines), PIECES)]
    answers = dict(zip(order, map(json.loads, replies[1]), strict=True))
    agreed, compared = agreement(asked, answers, arguments)
    what = f"{len(lines):,} questions"
    right = same and agreed == compared and not any("error" in answer for answer in answers.values())
    answer = f"the same bytes; {agreed:,} of {compared:,} as the oracle says"
    yield Figure("questions", f"{what}, one worker", spent[1], answer=answer, right=right)
    yield Figure("questions", f"{what}, two workers", spent[2], answer=answer, right=right)
    share = spent[2] / spent[1]
    yield Figure(
        "questions",
        f"{what}: time of two workers",
        share,
        unit="of one's",
        bar=BAR,
        parts={MANY: with_many(spent[1], spent[2])},
        answer=f"{1 / share:.2f} times as fast",
        right=right,
    )


# -- what is asked -----------------------------------------------------------------------------------


def questions(sizes: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Ask the literature's questions, then random ones without end."""
    for name in ac.examples.names():
        example = ac.examples.load(name)
        if example.model.context_count > MOST_CONTEXTS or len(example.model.variables) > MOST_VARIABLES:
            continue
        events = dict.fromkeys(tuple(sorted(verdict.event.items())) for verdict in example.verdicts)
        for definition in ac.DEFINITIONS:
            asked = {"model": name, "definition": definition}
            yield from (asked | {"event": dict(event)} for event in events)
            yield asked
    for seed, size in enumerate(cycle(sizes)):
        yield from random_questions(size, seed)


def random_questions(size: int, seed: int) -> Iterator[dict[str, Any]]:
    """Of one random model: its causes, and whether a variable or a pair is one, by every definition."""
    scenario = random_gates(size, seed)
    rng = random.Random(seed)
    model = ac.Model.from_text(scenario.text)
    actual = model.evaluate(scenario.context)
    last = scenario.effect
    near = sorted(model.ancestors([last]) - {last})
    asked = {"model": scenario.text, "context": dict(scenario.context), "effect": f"{last} == {actual[last]}"}
    for definition in ac.DEFINITIONS:
        shares = {"alpha_sufficiency": 0.2, "alpha_necessity": 0.01} if definition == "functional" else {}
        yield asked | shares | {"definition": definition}
        for count in (1, 2):
            event = {name: actual[name] for name in rng.sample(near, min(count, len(near)))}
            yield asked | shares | {"definition": definition, "event": event}


# -- what the oracle says ----------------------------------------------------------------------------


def agreement(asked: list[dict[str, Any]], answers: dict[int, Any], arguments: Arguments) -> tuple[int, int]:
    """How many answers are the oracle's, of how many that it could give."""
    small = [number for number, question in enumerate(asked) if size_of(question) <= arguments.oracle_size]
    limits = {"solver": "exhaustive", "max_seconds": arguments.oracle_seconds}
    agreed = compared = 0
    with engine(workers=2) as two:
        replies = answer_lines([json.dumps(asked[number] | limits) for number in small], {}, two)
        for number, reply in zip(small, replies, strict=True):
            oracle = json.loads(reply.text)
            if oracle.get("status") == "complete":
                compared += 1
                agreed += read_verdict(oracle) == read_verdict(answers[number])
    return agreed, compared


def size_of(question: dict[str, Any]) -> int:
    text = question["model"]
    return len(text.splitlines()) if "\n" in text else len(ac.examples.load(text).model.variables)


def read_verdict(answer: dict[str, Any]) -> Any:
    """Return the verdict, or the set of causes; witnesses may differ."""
    if "holds" in answer:
        return answer["holds"]
    return {frozenset(cause["event"].items()) for cause in answer["causes"]}
