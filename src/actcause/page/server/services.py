"""What the routers share: the workers, the jobs, the settings, and the way to refuse a request."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import Request

    from .jobs import Jobs
    from .settings import Settings
    from .workers import Workers


class Refused(Exception):  # noqa: N818 - it says what happened, as OutOfBudget does
    """A request that cannot be answered, in one sentence; `line` is that of the model text, if it is to blame."""

    def __init__(self, message: str, line: int | None = None, status: int = 422) -> None:
        super().__init__(message)
        self.message = " ".join(message.split())
        self.line = line
        self.status = status


@dataclass(frozen=True)
class Services:
    """What a request may use."""

    workers: Workers
    jobs: Jobs
    settings: Settings

    async def stop(self) -> None:
        """End every process that was started; to stop twice does no harm."""
        await self.workers.stop()
        await self.jobs.stop()


def services(request: Request) -> Services:
    """The services of the application that a request came to."""
    found: Services = request.app.state.services
    return found


async def wanted(request: Request, question: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """The answer to a question that is given up when the one who asked has gone.

    A short question is answered all the same: to end its process and start another would cost more.
    """

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        await asyncio.sleep(services(request).settings.limits.patience)

    answer, left = asyncio.ensure_future(question), asyncio.ensure_future(gone())
    try:
        await asyncio.wait([answer, left], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise Refused("The one who asked has gone.", status=499)
        return answer.result()
    finally:
        left.cancel()
        answer.cancel()
