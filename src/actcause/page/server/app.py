"""The application: static files, the routers of the views, and errors as one line of JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from ...errors import ActCauseError
from ..ask import routes as ask
from ..data import routes as uploads
from ..guide import routes as guide
from ..replay import routes as replay
from ..runs import routes as runs
from ..spaces import routes as preimages
from . import jobs
from .guard import Guard, error_response
from .jobs import Jobs
from .services import Refused, Services, name_field
from .settings import Settings
from .workers import QuestionWorkers

STATIC = Path(__file__).parents[1] / "static"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
BOUNDS = {  # how a bound that a value is past is said
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}
ROUTERS = (ask.router, preimages.router, replay.router, runs.router, uploads.router, jobs.router, guide.router)


def build_application(settings: Settings) -> FastAPI:
    """Build the explorer as an ASGI application."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        services = Services(QuestionWorkers(settings.limits), Jobs(settings.limits), settings)
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
    for kind in (Refused, ActCauseError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _show_error)
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


def _describe_invalid(first: Mapping[str, Any]) -> Refused:
    """Say what is wrong with a value; one past a bound, as a field of a form may have it, in plain words."""
    words = None
    if first["type"] in BOUNDS:
        words = " ".join(f"{BOUNDS[first['type']]} {limit:,}" for limit in first["ctx"].values())
    elif first["type"].startswith("int_"):
        words = "a whole number"
    elif first["type"] == "string_too_long":
        length = f"has {len(first['input']):,} characters; at most {first['ctx']['max_length']:,} are allowed."
        name = str(first["loc"][-1])
        return Refused(f"{name_field(name)} {length}", parameter=name)
    if words is not None:
        name = str(first["loc"][-1])
        return Refused(f"{name_field(name)} must be {words}; got {str(first['input'])[:40]}.", parameter=name)
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:100]
    return Refused(f"{where or 'The request'}: {first['msg']}.")


async def _show_error(request: Request, error: Exception) -> Response:
    """Say what is wrong; of an invalid request, the first thing."""
    if isinstance(error, ActCauseError):
        error = Refused.of(error)
    elif isinstance(error, RequestValidationError):
        error = _describe_invalid(error.errors()[0])
    elif isinstance(error, HTTPException):
        words = {404: "There is nothing at this address.", 405: "This address cannot be asked that way."}
        error = Refused(words.get(error.status_code, str(error.detail)), status=error.status_code)
    assert isinstance(error, Refused)
    return error_response(error)
