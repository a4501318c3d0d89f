"""Workers answer short questions, and none can hold the others up."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from running import run

from actcause.page.server.services import Refused
from actcause.page.server.settings import MIB, Limits
from actcause.page.server.workers import Workers

pytestmark = pytest.mark.usefixtures("trial")


def with_workers(test: Callable[[Workers], Awaitable[Any]], **limits: Any) -> Any:
    async def life() -> Any:
        workers = Workers(Limits(**{"workers": 1, **limits}))
        await workers.start()
        try:
            return await test(workers)
        finally:
            await workers.stop()

    return run(life())


def refusal(error: pytest.ExceptionInfo[Refused]) -> tuple[str, int | None, int]:
    return error.value.message, error.value.line, error.value.status


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_answers_one_call_after_another_in_the_same_process() -> None:
    async def test(workers: Workers) -> list[dict[str, Any]]:
        return [await workers.call("trial:double", {"number": number}) for number in (1, 21)]

    first, second = with_workers(test)
    assert (first["doubled"], second["doubled"]) == (2, 42)
    assert first["process"] == second["process"] != os.getpid()
    assert not alive(first["process"])


def test_only_functions_that_are_listed_can_be_called() -> None:
    async def test(workers: Workers) -> None:
        await workers.call("os:getcwd", {})

    with pytest.raises(Refused, match="not a function") as error:
        with_workers(test)
    assert error.value.status == 404


def test_what_a_function_refuses_comes_back_in_its_words() -> None:
    async def test(workers: Workers, how: str) -> None:
        await workers.call("trial:fail", {"how": how})

    for how, expected in {"refused": ("not this, please", 3, 422), "mistake": ("a mistake", None, 422)}.items():
        with pytest.raises(Refused) as error:
            with_workers(lambda workers, how=how: test(workers, how))
        assert refusal(error) == expected


def test_a_bug_is_a_sentence_and_the_worker_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    async def test(workers: Workers) -> dict[str, Any]:
        with pytest.raises(Refused, match="went wrong") as error:
            await workers.call("trial:fail", {"how": "bug"})
        assert error.value.status == 500
        return await workers.call("trial:double", {"number": 1})

    assert with_workers(test)["doubled"] == 2
    assert "KeyError" in capfd.readouterr().err


def test_a_call_past_its_time_is_killed_and_the_next_one_is_answered() -> None:
    async def test(workers: Workers) -> float:
        await workers.call("trial:double", {"number": 1})  # the process has started
        begun = time.monotonic()
        with pytest.raises(Refused, match=r"No answer within 0\.3 seconds"):
            await workers.call("trial:sleep", {"seconds": 60}, seconds=0.3)
        spent = time.monotonic() - begun
        assert (await workers.call("trial:double", {"number": 2}))["doubled"] == 4
        return spent

    assert with_workers(test) < 2


def test_what_was_answered_before_the_time_ran_out_is_not_lost() -> None:
    async def test(workers: Workers) -> list[dict[str, Any]]:
        await workers.call("trial:double", {"number": 1})
        whole = await workers.call("trial:parts", {"seconds": [0, 0.01]})
        cut = await workers.call("trial:parts", {"seconds": [0.1, 0.2, 60]}, seconds=1.0)
        return [whole, cut]

    whole, cut = with_workers(test)
    assert whole == {"parts": [{"slept": 0}, {"slept": 0.01}], "late": None}
    assert cut["parts"] == [{"slept": 0.1}, {"slept": 0.2}]
    assert "No answer within 1 seconds" in cut["late"]


def test_a_call_past_its_memory_is_refused_and_the_next_one_is_answered() -> None:
    async def test(workers: Workers) -> dict[str, Any]:
        with pytest.raises(Refused, match="more memory"):
            await workers.call("trial:fill", {"bytes": 4 << 30})
        return await workers.call("trial:double", {"number": 1})

    assert with_workers(test, memory=2048 * MIB)["doubled"] == 2


def test_a_worker_that_has_grown_makes_room_once_it_rests() -> None:
    async def test(workers: Workers) -> list[int]:
        processes = [(await workers.call("trial:double", {"number": 1}))["process"]]
        await workers.call("trial:keep", {"bytes": 60 * MIB})
        processes.append((await workers.call("trial:double", {"number": 1}))["process"])
        await asyncio.sleep(0.5)
        processes.append((await workers.call("trial:double", {"number": 1}))["process"])
        return processes

    before, busy, rested = with_workers(test, rest=0.2)
    assert before == busy != rested


def test_a_worker_that_dies_is_replaced() -> None:
    async def test(workers: Workers) -> dict[str, Any]:
        with pytest.raises(Refused):
            await workers.call("trial:die", {})
        return await workers.call("trial:double", {"number": 1})

    assert with_workers(test)["doubled"] == 2


def test_a_long_question_steps_aside_for_short_ones() -> None:
    async def test(workers: Workers) -> tuple[float, dict[str, Any]]:
        long = asyncio.ensure_future(workers.call("trial:sleep", {"seconds": 2.5}))
        await asyncio.sleep(0.5)
        begun = time.monotonic()
        await workers.call("trial:double", {"number": 1})
        return time.monotonic() - begun, await long

    waited, slept = with_workers(test, patience=0.2)
    assert waited < 2
    assert slept["slept"] == 2.5


def test_a_question_that_has_worked_long_gets_a_lower_priority_and_one_that_only_waited_does_not() -> None:
    async def test(workers: Workers) -> list[int]:
        calls = [workers.call(f"trial:{name}", {"seconds": 1.0}, seconds=60) for name in ("work", "sleep")]
        return [(await call)["niceness"] for call in calls]

    assert with_workers(test, patience=0.2) == [10, 0]


def test_too_many_long_questions_are_refused() -> None:
    async def test(workers: Workers) -> list[Any]:
        calls = [workers.call("trial:sleep", {"seconds": 1.5}) for _ in range(3)]
        return await asyncio.gather(*calls, return_exceptions=True)

    ended = with_workers(test, workers=3, slow=1, patience=0.7)
    refused = [each for each in ended if isinstance(each, Refused)]
    assert [each.status for each in refused] == [503, 503]


def test_too_many_waiting_questions_are_refused() -> None:
    async def test(workers: Workers) -> list[Any]:
        await workers.call("trial:double", {"number": 1})  # the process has started
        calls = [workers.call("trial:sleep", {"seconds": 0.2}) for _ in range(6)]
        return await asyncio.gather(*calls, return_exceptions=True)

    ended = with_workers(test, waiting=2)
    assert sum(isinstance(each, Refused) and each.status == 503 for each in ended) == 3


def test_a_newer_question_takes_the_place_of_an_older_one_of_the_same_owner() -> None:
    async def test(workers: Workers) -> list[Any]:
        older = asyncio.ensure_future(workers.call("trial:sleep", {"seconds": 30}, owner="tab"))
        await asyncio.sleep(0.3)
        newer = workers.call("trial:double", {"number": 4}, owner="tab")
        return await asyncio.gather(older, newer, return_exceptions=True)

    older, newer = with_workers(test)
    assert (older.status, newer["doubled"]) == (409, 8)
