"""A question lives as long as somebody waits for its answer."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import Request
from running import run

from actcause.page.server.jobs import Jobs
from actcause.page.server.services import Refused, Services, wanted
from actcause.page.server.settings import Limits, Settings
from actcause.page.server.workers import Workers

pytestmark = pytest.mark.usefixtures("trial")


async def asked_and_left(settings: Settings, function: str, payload: dict[str, Any]) -> dict[str, Any]:
    """What becomes of a question whose client has hung up."""
    limits = Limits(workers=1, patience=0.3)
    workers = Workers(limits)
    shared = Services(workers, Jobs(limits), Settings(settings.data, settings.runs, limits=limits))
    app = SimpleNamespace(state=SimpleNamespace(services=shared))

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    await workers.start()
    try:
        await workers.call("trial:double", {"number": 1})  # a process is ready
        return await wanted(Request({"type": "http", "app": app}, receive), workers.call(function, payload))
    finally:
        assert (await workers.call("trial:double", {"number": 2}))["doubled"] == 4
        await shared.stop()


def test_a_long_question_that_nobody_waits_for_is_given_up(settings: Settings) -> None:
    begun = time.monotonic()
    with pytest.raises(Refused, match="has gone"):
        run(asked_and_left(settings, "trial:sleep", {"seconds": 60}))
    assert time.monotonic() - begun < 8


def test_a_short_one_is_answered_all_the_same(settings: Settings) -> None:
    assert run(asked_and_left(settings, "trial:double", {"number": 21}))["doubled"] == 42
