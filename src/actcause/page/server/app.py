"""The application: static files, the routers of the views, and errors as one line of JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from ...errors import ActCauseError, ParseError
from ..ask import routes as ask
from ..data import routes as uploads
from ..replay import routes as replay
from ..runs import routes as runs
from ..spaces import routes as preimages
from . import jobs
from .guard import Guard, error_body
from .jobs import Jobs
from .services import Refused, Services
from .settings import Settings
from .workers import Workers

STATIC = Path(__file__).parents[1] / "static"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
ROUTERS = (ask.router, preimages.router, replay.router, runs.router, uploads.router, jobs.router)


def application(settings: Settings) -> FastAPI:
    """The explorer as an ASGI application."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        services = Services(Workers(settings.limits), Jobs(settings.limits), settings)
        app.state.services = services
        await services.workers.start()
        try:
            yield
        finally:
            await services.stop()

    app = FastAPI(lifespan=life, docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    for router in ROUTERS:
        app.include_router(router)
    _serve_files(app)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(ActCauseError, _mistaken)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _failed)
    app.add_middleware(Guard, settings=settings)
    return app


def _serve_files(app: FastAPI) -> None:
    """Serve the files that are there now; an address is looked up among them, never made into a path."""
    files = {str(path.relative_to(STATIC)): path for path in STATIC.rglob("*") if path.suffix in TYPES}
    files[""] = files["index.html"]

    @app.get("/{name:path}")
    async def file(name: str) -> FileResponse:
        if name not in files:
            raise Refused("There is nothing at this address.", status=404)
        return FileResponse(files[name], media_type=TYPES[files[name].suffix])


# -- errors ----------------------------------------------------------------------------------------


def _error(status: int, message: str, line: int | None = None) -> Response:
    return Response(error_body(message, line), status, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _error(error.status, error.message, error.line)


async def _mistaken(request: Request, error: Exception) -> Response:
    return _error(422, " ".join(str(error).split()), error.line if isinstance(error, ParseError) else None)


async def _invalid(request: Request, error: Exception) -> Response:
    """The first thing that is wrong with a request, in words."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:100]
    return _error(422, f"{where or 'The request'}: {first['msg']}.")


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "There is nothing at this address.", 405: "This address cannot be asked that way."}
    return _error(error.status_code, words.get(error.status_code, str(error.detail)))
