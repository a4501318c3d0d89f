"""Original and updated Halpern-Pearl, where contingencies make the search doubly hard, at 7 to 63 variables.

Rock throwers (T1 is a cause, T2 is none), OR trees with all leaves on (a leaf is a cause), unanimous votes
(a vote is a cause), and random gates, of which several models and events are asked and the slowest is
shown. Of the random models' seeds, 12 and 25 were picked because they were among the slowest of 0 to 39 at 31
variables; no easy one was. Beside it the exhaustive oracle, which runs the definitions as they are written,
where it ends in time; larger random models have nothing to be checked against.

    python benchmarks/run.py halpern_pearl
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import actcause as ac
from measure import Figure, Other, time_best, time_call
from models import Scenario, plain_tree, random_gates, rock_throwers, voting

TITLE = "Original and updated HP"
DEFINITIONS = ("original-hp", "updated-hp")
BARS = {31: 10.0}
PUBLIC = Other("public tools", None, reported=True, note="give up at 15 to 17 variables")


@dataclass(frozen=True)
class Arguments:
    """Numbers of variables (one less than a power of two), limits, and the random models' seeds."""

    sizes: tuple[int, ...] = (7, 15, 31, 63)
    seconds: float = 60.0
    oracle_seconds: float = 20.0
    seeds: tuple[int, ...] = (0, 1, 2, 12, 25)


TINY = Arguments(sizes=(7,), seeds=(0, 1))


@dataclass(frozen=True)
class Question:
    """An event in a scenario, and whether it is known to be a cause."""

    scenario: Scenario
    event: Mapping[str, int]
    expected: bool | None = None

    def ask(self, definition: str, seconds: float, solver: str = "auto") -> ac.Verdict:
        return ac.is_cause(
            ac.Model.from_text(self.scenario.text),
            context=self.scenario.context,
            effect=self.scenario.effect,
            event=self.event,
            definition=definition,
            solver=solver,
            max_seconds=seconds,
        )


def families(size: int, seeds: tuple[int, ...]) -> dict[str, list[Question]]:
    tree = plain_tree(size.bit_length() - 1, "or")
    return {
        "rock throwers": [Question(rock_throwers(size // 2), {name: 1}, name == "T1") for name in ("T1", "T2")],
        "OR tree": [Question(tree.scenario, tree.event([size]), True)],
        "vote": [Question(voting(size - 1), {"V1": 1}, True)],
        "random gates": [question for seed in seeds for question in random_questions(size, seed)],
    }


def random_questions(size: int, seed: int) -> Iterator[Question]:
    """Three single variables and a pair, of those that bear on the effect."""
    scenario = random_gates(size, seed)
    rng = random.Random(seed)
    model = ac.Model.from_text(scenario.text)
    actual = model.evaluate(scenario.context)
    last = scenario.effect
    scenario = Scenario(scenario.text, scenario.context, f"{last} == {actual[last]}")
    near = sorted(model.ancestors([last]) - {last})
    for count in (1, 1, 1, 2):
        yield Question(scenario, {name: actual[name] for name in rng.sample(near, min(count, len(near)))})


def run(arguments: Arguments) -> Iterator[Figure]:
    beyond: set[tuple[str, str]] = set()  # where the oracle ran out of time
    for size in arguments.sizes:
        for family, questions in families(size, arguments.seeds).items():
            for definition in DEFINITIONS:
                oracle = None
                if (family, definition) not in beyond:
                    oracle = Oracle.on(questions, definition, arguments.oracle_seconds)
                    if oracle.answers is None:
                        beyond.add((family, definition))
                yield figure(size, family, questions, definition, arguments, oracle)


@dataclass(frozen=True)
class Oracle:
    """What the exhaustive solver says of each question, None if it ran out of time, and its slowest."""

    answers: list[bool | None] | None
    slowest: Other

    @classmethod
    def on(cls, questions: list[Question], definition: str, seconds: float) -> Oracle:
        answers, slowest = [], 0.0
        for question in questions:
            spent, verdict = time_call(lambda q=question: q.ask(definition, seconds, solver="exhaustive"))
            if verdict.status is not ac.Status.COMPLETE:
                return cls(None, Other("our oracle", None, note=f"over {seconds:.0f} s"))
            answers.append(verdict.holds)
            slowest = max(slowest, spent)
        return cls(answers, Other("our oracle", slowest))


def figure(
    size: int,
    family: str,
    questions: list[Question],
    definition: str,
    arguments: Arguments,
    oracle: Oracle | None,
) -> Figure:
    runs = [time_best(lambda q=question: q.ask(definition, arguments.seconds)) for question in questions]
    answers = [verdict.holds for _, verdict in runs]
    complete = all(verdict.status is ac.Status.COMPLETE for _, verdict in runs)
    known = [question.expected for question in questions]
    if oracle is not None and oracle.answers is not None:
        known = oracle.answers
    others = (oracle.slowest,) if oracle is not None else ()
    return Figure(
        "halpern_pearl",
        f"{size} variables, {family}, {definition}",
        max(spent for spent, _ in runs) if complete else None,
        limit=arguments.seconds,
        bar=BARS.get(size),
        answer=f"{answers.count(True)} yes, {answers.count(False)} no",
        right=None if None in known else answers == known,
        others=(PUBLIC, *others) if size > 17 else others,
    )
