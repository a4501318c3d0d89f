"""What holds on every engine: the same outcomes in the same order, whatever becomes of the workers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_tasks import die_if_equal, die_once, double, late, refuse

from actcause.errors import MissingExtraError, QueryError
from actcause.parallel import Engine, EngineError, Outcome, engine, values

WORKERS = [("local", 1), ("local", 2), pytest.param(("ray", 2), marks=pytest.mark.ray)]


@pytest.fixture(scope="module", params=WORKERS, ids=lambda given: f"{given[0]}-{given[1]}")
def workers(request: pytest.FixtureRequest) -> Iterator[Engine]:
    name, number = request.param
    if name == "ray":
        request.getfixturevalue("cluster")
    with engine(name, workers=number) as found:
        yield found


def test_values_come_in_the_order_of_the_tasks(workers: Engine, tmp_path: Path) -> None:
    folder = str(tmp_path) if workers.workers > 1 else ""
    assert list(values(workers.run(late, [(number, folder) for number in range(6)]))) == list(range(6))


def test_there_may_be_no_task_and_more_than_fit_ahead(workers: Engine) -> None:
    assert list(workers.run(double, [])) == []
    assert list(values(workers.run(double, range(100)))) == list(range(0, 200, 2))


def test_an_exception_is_an_outcome_and_the_others_go_on(workers: Engine) -> None:
    assert list(workers.run(refuse, range(5))) == [
        Outcome(0, None, 1),
        Outcome(None, "One is not a number that can be used.", 1),
        Outcome(None, "KeyError: 'two'", 1),
        Outcome(None, "MemoryError", 1),
        Outcome(4, None, 1),
    ]


def test_values_end_with_the_sentence_of_the_first_failure(workers: Engine) -> None:
    found = values(workers.run(refuse, range(5)))
    assert next(found) == 0
    with pytest.raises(EngineError, match=r"^One is not a number that can be used\.$"):
        next(found)


def test_a_task_whose_worker_is_killed_is_run_again(workers: Engine, tmp_path: Path) -> None:
    assert list(workers.run(die_once, [str(tmp_path)], isolated=True)) == [Outcome("done", None, 2)]


def test_a_task_that_always_kills_its_worker_is_given_up_and_the_others_go_on(workers: Engine) -> None:
    found = list(workers.run(die_if_equal, [(number, 1) for number in range(4)], retries=1, isolated=True))
    assert [outcome.value for outcome in found] == [0, None, 2, 3]
    assert [outcome.attempts for outcome in found] == [1, 2, 1, 1]
    assert found[1].error is not None
    assert found[1].error.startswith("Its worker ended before it did, 2 times (at last ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "rey"}, "An engine is one of local, ray. Got 'rey'; did you mean 'ray'?"),
        ({"workers": 0}, "The number of workers must be at least 1. Got 0."),
        ({"address": "10.0.0.1:6379"}, "say --engine ray, or leave out '10.0.0.1:6379'"),
    ],
)
def test_a_mistake_is_one_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(QueryError) as wrong:
        engine(**given)  # type: ignore[arg-type]
    assert said in str(wrong.value)


def test_without_ray_the_install_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'actcause\[scale\]'"):
        engine("ray")


def test_the_engines_are_light_to_import() -> None:
    program = "import sys, actcause.parallel.processes; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"ray", "torch", "typer"} & set(ran.stdout.split())
