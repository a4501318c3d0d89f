"""The queries and accident models of the HP2SAT data set, if you have them; they are no part of this repository.

    python benchmarks/external.py FOLDER

FOLDER holds hp2sat_cases.jsonl (models, and queries with HP2SAT's `is_cause`), three_definitions_cases.jsonl
(queries with the verdicts of the three Halpern-Pearl definitions) and ueberlingen/*.causalmodel. Formulas
are written with `|`, `&`, `~`, `$true` and `$false`, as ours are but for the constants and for names that
start with digits.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import actcause as ac
from run import show_value

THREE = ("original_hp", "updated_hp", "modified_hp")
ACCIDENT, ACCIDENT_EFFECT, ACCIDENT_CAUSE = "wba1semPree2", "e6", 14
CONSTANTS = {"$true": "1", "$false": "0"}


@dataclass(frozen=True)
class Query:
    """A question of the data set and its known answer."""

    name: str
    text: str
    context: Mapping[str, int]
    effect: str
    event: Mapping[str, int]
    definition: str
    expected: bool


# -- reading -----------------------------------------------------------------------------------------


def variable(name: str) -> str:
    """Make a name of ours: `7` becomes `v_7`."""
    return f"v_{name}"


def formula(text: str) -> str:
    """Write a formula of theirs as one of ours.

    >>> formula("~(1 & a_exo) | $true")
    '~(v_1 & v_a_exo) | 1'
    """
    return re.sub(r"\$?\w+", lambda word: CONSTANTS.get(word[0]) or variable(word[0]), text)


def model_text(endogenous: Sequence[Mapping[str, str]], exogenous: Sequence[str]) -> str:
    lines = [f"exogenous {variable(name)}" for name in exogenous]
    lines += [f"{variable(entry['name'])} = {formula(entry['formula'])}" for entry in endogenous]
    return "\n".join(lines)


def assignment(values: Mapping[str, int]) -> dict[str, int]:
    return {variable(name): int(value) for name, value in values.items()}


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def hp2sat_queries(path: Path) -> Iterator[Query]:
    entries = lines_of(path)
    models = {entry["id"]: entry for entry in entries if entry["kind"] == "model"}
    texts = {key: model_text(entry["endos"], entry["exos"]) for key, entry in models.items()}
    for entry in entries:
        if entry["kind"] == "query":
            name, text = models[entry["model"]]["name"], texts[entry["model"]]
            yield query(entry, name, text, "modified-hp", entry["is_cause"])


def three_definition_queries(path: Path) -> Iterator[Query]:
    for entry in lines_of(path):
        text = model_text(entry["endos"], entry["exos"])
        for key in THREE:
            yield query(entry, entry["model"], text, key.replace("_", "-"), entry[key])


def query(entry: Mapping[str, Any], name: str, text: str, definition: str, expected: bool) -> Query:
    context, event = assignment(entry["context"]), assignment(entry["cause"])
    return Query(name, text, context, formula(entry["phi"]), event, definition, expected)


# -- asking ------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """How many answers were right, and the slowest."""

    total: int = 0
    right: int = 0
    slowest: float = 0.0
    slowest_name: str = ""

    def __str__(self) -> str:
        return f"{self.right}/{self.total} right; the slowest took {show_value(self.slowest)} ({self.slowest_name})"


model_of = cache(ac.Model.from_text)


def ask(queries: Iterator[Query]) -> Tally:
    tally = Tally()
    for asked in queries:
        model = model_of(asked.text)
        start = perf_counter()
        verdict = ac.is_cause(
            model, context=asked.context, effect=asked.effect, event=asked.event, definition=asked.definition
        )
        spent = perf_counter() - start
        tally.total += 1
        tally.right += verdict.holds is asked.expected
        if verdict.holds is not asked.expected:
            print(f"WRONG {asked.name}: {asked.event} of {asked.effect} by {asked.definition}: {verdict}")
        if spent > tally.slowest:
            tally.slowest, tally.slowest_name = spent, f"{asked.name}, {len(model.endogenous)} variables"
    return tally


@dataclass(frozen=True)
class Accident:
    """The minimal causes of one accident model, or as many as its limit let us see.

    `basic_sizes` are those of causes in basic facts, that is, in variables that copy an exogenous one.
    """

    name: str
    seconds: float
    sizes: tuple[int, ...]
    basic_sizes: tuple[int, ...]
    status: str

    def __str__(self) -> str:
        basic = f"; in basic facts alone, {describe_sizes(self.basic_sizes)}" if self.basic_sizes else ""
        spent = show_value(self.seconds)
        return f"{self.name}: minimal causes: {describe_sizes(self.sizes)}{basic}; {spent}, {self.status}"


def describe_sizes(sizes: Sequence[int]) -> str:
    """Say how many there are, and of what sizes.

    >>> describe_sizes([1, 1, 3])
    '3 of 1 to 3 variables'
    """
    if not sizes:
        return "none"
    return f"{len(sizes):,} of {min(sizes)}{f' to {max(sizes)}' if min(sizes) < max(sizes) else ''} variables"


def accident(path: Path, effect: str, seconds: float) -> Accident:
    """All minimal causes of the effect, all exogenous variables being 1."""
    entry = json.loads(path.read_text())
    model = ac.Model.from_text(model_text(entry["endos"], entry["exos"]))
    start = perf_counter()
    answer = ac.causes(
        model, context=dict.fromkeys(map(variable, entry["exos"]), 1), effect=variable(effect), max_seconds=seconds
    )
    basic = {variable(each["name"]) for each in entry["endos"] if each["formula"] in entry["exos"]}
    events = [set(cause.event) for cause in answer]
    return Accident(
        path.stem,
        perf_counter() - start,
        tuple(sorted(map(len, events))),
        tuple(sorted(len(event) for event in events if event <= basic)),
        answer.status.value,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the data set is")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for each accident model")
    given = parser.parse_args()
    hp2sat, three = given.folder / "hp2sat_cases.jsonl", given.folder / "three_definitions_cases.jsonl"
    accidents = sorted((given.folder / "ueberlingen").glob("*.causalmodel"))
    for path in (hp2sat, three):
        if not path.exists():
            parser.error(f"{path.name} is not in that folder")
    good = True
    for name, queries in (("hp2sat", hp2sat_queries(hp2sat)), ("three definitions", three_definition_queries(three))):
        tally = ask(queries)
        print(f"{name}: {tally}", flush=True)
        good = good and tally.right == tally.total
    for path in accidents:
        found = accident(path, ACCIDENT_EFFECT, given.seconds)
        print(found, flush=True)
        if found.name == ACCIDENT:
            known = ACCIDENT_CAUSE in found.basic_sizes
            print(f"{found.name}: the minimal cause of {ACCIDENT_CAUSE} basic facts is {'' if known else 'NOT '}found")
            good = good and known
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
