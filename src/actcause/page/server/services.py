"""What the routers share: the workers, the jobs, the settings, and the way to refuse a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import Request

    from .jobs import Jobs
    from .settings import Settings
    from .workers import QuestionWorkers


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

    workers: QuestionWorkers
    jobs: Jobs
    settings: Settings

    @property
    def folders(self) -> dict[str, str]:
        """The server's folders, as workers and jobs get them."""
        return {"data": str(self.settings.data), "runs": str(self.settings.runs)}

    async def stop(self) -> None:
        """End every process that was started; to stop twice does no harm."""
        await self.workers.stop()
        await self.jobs.stop()


def get_services(request: Request) -> Services:
    """The services of the application that a request came to."""
    services: Services = request.app.state.services
    return services
