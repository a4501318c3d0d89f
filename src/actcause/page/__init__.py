"""The explorer: a local page on which causes are asked for and seen.

`actcause serve` runs it. Everything the page does goes through a small JSON interface under `/api`;
exact questions are answered by a few processes of their own (`workers.py`), long computations by
processes that report their progress and can be cancelled (`jobs.py`). Nothing that is imported by
`import actcause` knows this package.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from .server.settings import Settings


def serve(settings: Settings, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve on a socket that listens already, until interrupted; `ready` is called once it answers."""
    try:
        import uvicorn

        from .server.app import build_application
        from .server.connections import SPARE, Connection
    except ModuleNotFoundError as missing:
        if missing.name not in ("fastapi", "uvicorn", "starlette", "pydantic"):
            raise
        raise MissingExtraError("The explorer", "page") from None

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await app.state.services.stop()  # before the connections, which may wait for an answer
            await super().shutdown(sockets)

    app = build_application(settings)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        http=Connection,
        server_header=False,
        limit_concurrency=settings.limits.connections + SPARE,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
        ws="none",
    )
    Server(config).run(sockets=[listening])
