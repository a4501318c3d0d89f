"""How much work named questions take, counted in model evaluations and solver calls, not in seconds.

A slower algorithm fails here on any machine; a faster one passes, and its line should then be lowered.
`python tests/test_effort.py` prints the counts of today.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from actcause import DEFINITIONS, Model, Verdict, causes, examples, is_cause

Story = tuple[Model, Mapping[str, int], str]
EVERY = "every cause"
FIRST_TEN = "the first ten causes"


def rock_throwing() -> Story:
    example = examples.load("rock-throwing")
    return example.model, example.context, example.effect


def throwers(count: int) -> Story:
    """People throw one after another; a rock hits if none before it did, and each hit reads all earlier ones."""
    lines = [*(f"T{i}" for i in range(1, count + 1)), "H1 = T1"]
    for i in range(2, count + 1):
        lines.append(f"H{i} = T{i} and not ({' or '.join(f'H{j}' for j in range(1, i))})")
    lines.append("BS = " + " or ".join(f"H{i}" for i in range(1, count + 1)))
    return Model.from_text("\n".join(lines)), {f"T{i}": 1 for i in range(1, count + 1)}, "BS"


def ballot(voters: int) -> Story:
    names = [f"V{i}" for i in range(1, voters + 1)]
    text = "\n".join([*names, f"W = {' + '.join(names)} >= {voters // 2 + 1}"])
    return Model.from_text(text), dict.fromkeys(names, 1), "W"


def or_tree(depth: int) -> Story:
    first = 2**depth
    lines = [f"N{i} = N{2 * i} or N{2 * i + 1}" if i < first else f"N{i}" for i in range(1, 2 * first)]
    return Model.from_text("\n".join(lines)), {f"N{i}": 1 for i in range(first, 2 * first)}, "N1"


STORIES = {
    "rock throwing": rock_throwing,
    "10 throwers": lambda: throwers(10),
    "50 throwers": lambda: throwers(50),
    "voting 11-0": lambda: ballot(11),
    "OR tree of 15": lambda: or_tree(3),
    "OR tree of 63": lambda: or_tree(5),
    "OR tree of 8,191": lambda: or_tree(12),
}
ALL_LEAVES = ", ".join(f"N{i}=1" for i in range(4096, 8192))

# (story, event or which causes, definition) -> at most so many (evaluations, solver calls)
PINNED = {
    ("rock throwing", "ST=1", "but-for"): (0, 1),
    ("rock throwing", "BT=1", "but-for"): (0, 1),
    ("rock throwing", EVERY, "but-for"): (0, 13),
    ("rock throwing", "ST=1", "original-hp"): (0, 4),
    ("rock throwing", "BT=1", "original-hp"): (0, 4),
    ("rock throwing", EVERY, "original-hp"): (0, 19),
    ("rock throwing", "ST=1", "updated-hp"): (0, 4),
    ("rock throwing", "BT=1", "updated-hp"): (0, 4),
    ("rock throwing", EVERY, "updated-hp"): (0, 19),
    ("rock throwing", "ST=1", "modified-hp"): (2, 2),
    ("rock throwing", "BT=1", "modified-hp"): (0, 1),
    ("rock throwing", EVERY, "modified-hp"): (2, 8),
    ("rock throwing", "ST=1", "direct"): (0, 4),
    ("rock throwing", "BT=1", "direct"): (0, 4),
    ("rock throwing", EVERY, "direct"): (0, 14),
    ("rock throwing", "ST=1", "strong"): (0, 2),
    ("rock throwing", "BT=1", "strong"): (2, 2),
    ("rock throwing", EVERY, "strong"): (0, 8),
    ("rock throwing", "ST=1", "functional"): (6, 1),
    ("rock throwing", "BT=1", "functional"): (4, 1),
    ("rock throwing", EVERY, "functional"): (10, 1),
    ("10 throwers", "T1=1", "original-hp"): (0, 12),
    ("10 throwers", "T1=1", "updated-hp"): (0, 12),
    ("50 throwers", "T1=1", "modified-hp"): (98, 2),
    ("50 throwers", "T2=1", "modified-hp"): (0, 1),
    ("voting 11-0", "V1=1", "original-hp"): (0, 20),
    ("voting 11-0", "V1=1", "updated-hp"): (0, 20),
    ("voting 11-0", "V1=1", "modified-hp"): (0, 1),
    ("voting 11-0", "V1=1", "direct"): (0, 5),
    ("voting 11-0", "V1=1", "strong"): (0, 2),
    ("voting 11-0", EVERY, "updated-hp"): (0, 129),
    ("voting 11-0", EVERY, "modified-hp"): (0, 1395),
    ("OR tree of 15", EVERY, "modified-hp"): (0, 105),
    ("OR tree of 63", FIRST_TEN, "modified-hp"): (0, 72),
    ("OR tree of 8,191", "N4096=1", "modified-hp"): (0, 1),
    ("OR tree of 8,191", "N2=1, N3=1", "modified-hp"): (0, 3),
    ("OR tree of 8,191", "N2=1, N3=1, N4=1", "modified-hp"): (0, 5),
    ("OR tree of 8,191", ALL_LEAVES, "modified-hp"): (0, 3),
}
QUESTIONS = {f"{story}, {asked[:16]}, {definition}": (story, asked, definition) for story, asked, definition in PINNED}


def effort(story: str, asked: str, definition: str) -> tuple[int, int]:
    """What it takes to answer, in evaluations and solver calls."""
    model, context, effect = STORIES[story]()
    if asked not in (EVERY, FIRST_TEN):
        verdict: Verdict = is_cause(model, context=context, effect=effect, event=asked, definition=definition)
        return verdict.statistics["evaluations"], verdict.statistics["solver_calls"]
    answer = causes(model, context=context, effect=effect, definition=definition)
    assert len(answer.causes if asked == EVERY else answer.causes[:10]) > 0
    return answer.statistics["evaluations"], answer.statistics["solver_calls"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_takes_no_more_work_than_it_did(question: str) -> None:
    most_evaluations, most_solver_calls = PINNED[QUESTIONS[question]]
    evaluations, solver_calls = effort(*QUESTIONS[question])
    assert evaluations <= most_evaluations
    assert solver_calls <= most_solver_calls


def test_work_is_pinned_for_every_definition() -> None:
    assert {definition for _, _, definition in PINNED} == set(DEFINITIONS)


def counts() -> dict[str, list[int]]:
    """The work of all questions but the largest."""
    return {name: list(effort(*asked)) for name, asked in QUESTIONS.items() if "8,191" not in name}


def test_the_work_depends_neither_on_the_run_nor_on_how_strings_are_hashed() -> None:
    here = counts()
    assert counts() == here
    program = "import json, test_effort; print(json.dumps(test_effort.counts()))"
    for seed in ("0", "20240512"):
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(ran.stdout) == here


if __name__ == "__main__":
    for _name, _asked in QUESTIONS.items():
        print(f"{_name}: {effort(*_asked)}")
