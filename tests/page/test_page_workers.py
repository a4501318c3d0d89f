"""Workers answer short questions, and none can hold the others up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trial
from fastapi import Request
from running import Gate, jump, run, until

from actcause.page.server.child import answer_calls
from actcause.page.server.services import Refused
from actcause.page.server.settings import MIB, Limits
from actcause.page.server.workers import QuestionWorkers
from actcause.parallel.child_process import ChildProcess


def with_workers(test: Callable[[QuestionWorkers], Awaitable[Any]], **limits: Any) -> Any:
    async def live() -> Any:
        workers = QuestionWorkers(Limits(**{"workers": 1, **limits}))
        await workers.start()
        try:
            return await test(workers)
        finally:
            await workers.stop()

    return run(live())


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_answers_one_call_after_another_in_the_same_process() -> None:
    async def test(workers: QuestionWorkers) -> list[dict[str, Any]]:
        return [await workers.call(trial.double, {"number": number}) for number in (1, 21)]

    first, second = with_workers(test)
    assert (first["doubled"], second["doubled"]) == (2, 42)
    assert first["process"] == second["process"] != os.getpid()
    assert not is_alive(first["process"])


def test_what_a_function_refuses_comes_back_in_its_words() -> None:
    async def test(workers: QuestionWorkers) -> None:
        for how, expected in {"refused": ("not this, please", 3, 422), "mistake": ("a mistake", None, 422)}.items():
            with pytest.raises(Refused) as error:
                await workers.call(trial.fail, {"how": how})
            assert (error.value.message, error.value.line, error.value.status) == expected

    with_workers(test)


def test_a_bug_is_a_sentence_and_the_worker_goes_on() -> None:
    async def test(workers: QuestionWorkers) -> dict[str, Any]:
        with pytest.raises(Refused, match="went wrong") as error:
            await workers.call(trial.fail, {"how": "bug"})
        assert error.value.status == 500
        return await workers.call(trial.double, {"number": 1})

    assert with_workers(test)["doubled"] == 2


def test_the_details_of_a_bug_are_in_the_servers_errors_and_nothing_is_in_its_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    child = ChildProcess.start(answer_calls, 2048 * MIB)  # a new interpreter: a copy prints where the first one did
    child.channel.recv()
    for asked in ((trial.fail, {"how": "bug"}), (trial.double, {"number": 1})):
        child.channel.send(asked)
        child.channel.recv()
    child.end()
    printed = capfd.readouterr()
    assert "KeyError" in printed.err
    assert "is no message" in printed.err
    assert printed.out == ""


def test_a_call_past_its_time_is_killed_and_the_next_one_is_answered(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> dict[str, Any]:
        late = asyncio.ensure_future(workers.call(trial.hold, gate.payload, seconds=30))
        await until(gate.count)
        await jump(31)
        with pytest.raises(Refused, match="No answer within 30 seconds; try again when the machine has less to do"):
            await late  # it was about a file: no smaller model would help
        return await workers.call(trial.double, {"number": 2})

    assert with_workers(test)["doubled"] == 4


def test_what_was_answered_before_the_time_ran_out_is_not_lost(messages: list[dict[str, Any]]) -> None:
    async def test(workers: QuestionWorkers) -> list[dict[str, Any]]:
        whole = await workers.call(trial.parts, {"numbers": [1, 2], "endless": False})
        messages.clear()
        cut = asyncio.ensure_future(workers.call(trial.parts, {"numbers": [3, 4], "endless": True}, seconds=9))
        await until(lambda: len(messages) == 2)
        await jump(10)
        return [whole, await cut]

    whole, cut = with_workers(test)
    assert whole == {"parts": [{"number": 1}, {"number": 2}], "late": None}
    assert cut["parts"] == [{"number": 3}, {"number": 4}]
    assert "No answer within 9 seconds" in cut["late"]


def test_a_call_past_its_memory_is_refused_and_the_next_one_is_answered() -> None:
    async def test(workers: QuestionWorkers) -> dict[str, Any]:
        with pytest.raises(Refused, match="more memory"):
            await workers.call(trial.fill, {"bytes": 4 << 30})
        return await workers.call(trial.double, {"number": 1})

    assert with_workers(test, memory=2048 * MIB)["doubled"] == 2


def test_a_worker_that_has_grown_makes_room_once_it_rests() -> None:
    async def test(workers: QuestionWorkers) -> list[int]:
        processes = [(await workers.call(trial.double, {"number": 1}))["process"]]
        await workers.call(trial.keep, {"bytes": 60 * MIB})
        processes.append((await workers.call(trial.double, {"number": 1}))["process"])
        await jump(61)
        processes.append((await workers.call(trial.double, {"number": 1}))["process"])
        return processes

    before, busy, rested = with_workers(test, rest=60)
    assert before == busy != rested


def test_a_worker_that_dies_is_replaced() -> None:
    async def test(workers: QuestionWorkers) -> dict[str, Any]:
        with pytest.raises(Refused):
            await workers.call(trial.die, {})
        return await workers.call(trial.double, {"number": 1})

    assert with_workers(test)["doubled"] == 2


def test_a_long_question_steps_aside_for_short_ones_and_one_that_only_waited_keeps_its_priority(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> tuple[bool, int]:
        long = asyncio.ensure_future(workers.call(trial.hold, gate.payload))
        await until(gate.count)
        await jump(2)
        await workers.call(trial.double, {"number": 1})
        done = long.done()
        gate.open()
        return done, (await long)["niceness"]

    assert with_workers(test) == (False, os.nice(0))  # that of whoever runs the tests


def test_a_question_that_has_worked_long_gets_a_lower_priority() -> None:
    async def test(workers: QuestionWorkers) -> int:
        return (await workers.call(trial.work_until_niced, {}, seconds=120))["niceness"]

    assert with_workers(test, patience=0.2) == min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)


def test_more_long_questions_than_may_move_aside_go_on_as_long_as_nobody_waits(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> list[Any]:
        calls = [asyncio.ensure_future(workers.call(trial.hold, gate.payload, seconds=60)) for _ in range(3)]
        await until(lambda: gate.count() == 3)
        await jump(30)
        gate.open()
        return await asyncio.gather(*calls)

    assert [list(each) for each in with_workers(test, workers=3, slow=1)] == [["niceness"]] * 3


def test_of_the_questions_that_wait_the_newest_goes_first(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> list[int]:
        ended: list[int] = []

        async def ask(number: int) -> None:
            await workers.call(trial.double, {"number": number})
            ended.append(number)

        first = asyncio.ensure_future(workers.call(trial.hold, gate.payload))
        await until(gate.count)
        waiting = [asyncio.ensure_future(ask(number)) for number in range(3)]
        await asyncio.sleep(0)
        gate.open()
        await asyncio.gather(first, *waiting)
        return ended

    assert with_workers(test, patience=100) == [2, 1, 0]


def test_a_question_that_comes_does_not_wait_for_long_ones_to_end(gate: Gate) -> None:
    """Sixty came before it and none of them ever ends: it waits for a turn of one of them, and no more."""

    async def test(workers: QuestionWorkers) -> tuple[bool, int, int]:
        calls = [asyncio.ensure_future(workers.call(trial.hold, gate.payload, seconds=1000)) for _ in range(60)]
        await until(lambda: gate.count() == 3)
        quick = asyncio.ensure_future(workers.call(trial.double, {"number": 2}))
        await jump(0.8)
        waited = not quick.done()
        await jump(0.4)  # the patience with the first three is over
        doubled = (await quick)["doubled"]
        turns = gate.count()
        for call in calls:
            call.cancel()
        return waited, doubled, turns

    waited, doubled, turns = with_workers(test, workers=3, slow=4, seconds=1000, patience=1)
    assert (waited, doubled) == (True, 4)
    assert turns <= 6  # not all sixty had theirs


def test_while_long_questions_wait_a_process_is_kept_for_one_that_comes(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> list[int]:
        calls = [asyncio.ensure_future(workers.call(trial.hold, gate.payload, seconds=1000)) for _ in range(10)]
        await until(lambda: gate.count() == 2)
        await jump(1.2)  # both are long now: the newest gets one process, the other is kept
        await until(lambda: gate.count() == 3)
        answers = [(await workers.call(trial.double, {"number": number}))["doubled"] for number in range(5)]
        came = gate.count()
        for call in calls:
            call.cancel()
        return [*answers, came]

    assert with_workers(test, workers=2, slow=9, seconds=1000, patience=1) == [0, 2, 4, 6, 8, 3]


def test_a_long_question_with_no_room_aside_gives_way_and_is_asked_again(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> tuple[int, dict[str, Any], int]:
        long = asyncio.ensure_future(workers.call(trial.hold, gate.payload, seconds=1000))
        await until(gate.count)
        await jump(5)  # nobody waits: it goes on
        quick = asyncio.ensure_future(workers.call(trial.double, {"number": 2}))
        doubled = (await quick)["doubled"]
        await until(lambda: gate.count() == 2)  # in another process
        gate.open()
        return doubled, await long, gate.count()

    doubled, long, came = with_workers(test, slow=0, seconds=1000, patience=1)
    assert (doubled, long["niceness"], came) == (4, os.nice(0), 2)


def test_one_that_gave_way_and_finds_no_room_in_its_time_is_told_so(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> Refused:
        await workers.call(trial.double, {"number": 1})  # the process has started
        long = asyncio.ensure_future(workers.call(trial.hold, gate.payload, seconds=1000))
        await until(gate.count)
        await jump(2)
        newer = asyncio.ensure_future(workers.call(trial.hold, gate.payload, seconds=1000))
        await until(lambda: gate.count() == 2)
        await jump(10)
        with pytest.raises(Refused, match="Too many long questions") as error:
            await long
        newer.cancel()
        return error.value

    assert with_workers(test, slow=0, seconds=10, patience=1).status == 503


def test_a_question_gives_way_by_what_it_has_worked_before_its_patience_is_over() -> None:
    async def test(workers: QuestionWorkers) -> int:
        long = asyncio.ensure_future(workers.call(trial.work_until_niced, {}, seconds=1000))
        quick = await workers.call(trial.double, {"number": 2})
        await long
        return quick["doubled"]

    assert with_workers(test, patience=1000, turn=0.1) == 4


def test_of_too_many_waiting_questions_the_oldest_are_refused() -> None:
    async def test(workers: QuestionWorkers) -> list[Any]:
        await workers.call(trial.double, {"number": 1})  # the process has started
        calls = [workers.call(trial.double, {"number": 1}) for _ in range(6)]
        return await asyncio.gather(*calls, return_exceptions=True)

    ended = with_workers(test, waiting=2)
    assert [isinstance(each, Refused) and each.status for each in ended] == [False, 503, 503, 503, False, False]


def test_a_newer_question_takes_the_place_of_an_older_one_of_the_same_owner(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> list[Any]:
        older = asyncio.ensure_future(workers.call(trial.hold, gate.payload, owner="tab"))
        await until(gate.count)
        newer = workers.call(trial.double, {"number": 4}, owner="tab")
        return await asyncio.gather(older, newer, return_exceptions=True)

    older, newer = with_workers(test)
    assert (older.status, newer["doubled"]) == (409, 8)


def test_an_older_question_that_comes_late_does_not_take_the_place_of_a_newer_one(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> list[Any]:
        newer = asyncio.ensure_future(workers.call(trial.hold, gate.payload, owner="tab", order=2))
        await until(gate.count)
        older = await asyncio.gather(
            workers.call(trial.double, {"number": 4}, owner="tab", order=1), return_exceptions=True
        )
        gate.open()
        return [*older, await newer]

    older, newer = with_workers(test)
    assert older.status == 409
    assert "niceness" in newer


# -- a question lives as long as somebody waits for its answer -----------------------------------------


async def hang_up() -> dict[str, Any]:
    return {"type": "http.disconnect"}


GONE = {"type": "http", "path": "/", "headers": []}


def test_a_long_question_that_nobody_waits_for_is_given_up(gate: Gate) -> None:
    async def test(workers: QuestionWorkers) -> dict[str, Any]:
        left = asyncio.Event()

        async def hang_up_later() -> dict[str, Any]:
            await left.wait()
            return await hang_up()

        asked = workers.answer(Request(GONE, hang_up_later), trial.hold, gate.payload, seconds=60)
        answer = asyncio.ensure_future(asked)
        await until(gate.count)
        left.set()
        await jump(2)
        with pytest.raises(Refused, match="has gone"):
            await answer
        return await workers.call(trial.double, {"number": 2})

    assert with_workers(test)["doubled"] == 4


def test_a_short_one_is_answered_all_the_same() -> None:
    async def test(workers: QuestionWorkers) -> dict[str, Any]:
        await workers.call(trial.double, {"number": 1})  # the process has started
        return await workers.answer(Request(GONE, hang_up), trial.double, {"number": 21}, seconds=60)

    assert with_workers(test, patience=30)["doubled"] == 42
