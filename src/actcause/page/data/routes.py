"""A user's own data over HTTP: files that are sent, their columns, and what the columns mean."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field
from starlette.requests import ClientDisconnect

from ...data.roles import ROLES
from ..server.jobs import UNENDED
from ..server.services import Refused, Services
from ..server.settings import GIB
from . import columns, library
from .columns import MOST_COLUMNS
from .row_source import RenameRequest, StrictRequest

router = APIRouter(prefix="/api/data")

PIECE_SECONDS = 30.0  # between two pieces of an upload
LOOK_SECONDS = 30.0
CHECK_SECONDS = 120.0

Word = Annotated[str, Field(max_length=200)]


class ColumnRole(StrictRequest):
    """What a column is."""

    column: Word
    role: Literal[ROLES]  # type: ignore[valid-type]
    factor: Word = ""
    feature: Word = ""


class RolesRequest(StrictRequest):
    """What all columns are, what is explained, and which factor holds its own previous value."""

    roles: Annotated[list[ColumnRole], Field(max_length=MOST_COLUMNS)]
    outcome: Word
    own: Word = ""


@router.get("/files")
async def list_files(request: Request) -> dict[str, Any]:
    """List the recordings there are."""
    services: Services = request.app.state.services
    return await services.workers.call(library.list_sources, services.folders)


@router.get("/files/{name}")
async def show_file(name: str, request: Request) -> dict[str, Any]:
    """Show the columns of a file, and what they mean or may mean."""
    services: Services = request.app.state.services
    payload = {**services.folders, "name": name}
    return {"name": name, **await services.workers.call(columns.inspect_file, payload, seconds=LOOK_SECONDS)}


@router.get("/files/{name}/summary")
async def summarise_file(name: str, request: Request) -> dict[str, Any]:
    """Summarise what a file whose columns are known holds."""
    services: Services = request.app.state.services
    payload = {**services.folders, "name": name}
    return await services.workers.call(columns.describe_file, payload, seconds=CHECK_SECONDS)


@router.post("/files/{name}/mapping")
async def map_columns(name: str, roles: RolesRequest, request: Request) -> dict[str, Any]:
    """Keep what the columns of a file mean, if every row bears it out."""
    services: Services = request.app.state.services
    payload = {**services.folders, "name": name, **roles.model_dump()}
    return await services.workers.call(columns.keep_mapping, payload, seconds=CHECK_SECONDS)


@router.delete("/files/{name}")
async def delete_file(name: str, request: Request) -> dict[str, Any]:
    """Delete a recording, and what its columns mean; one that a job reads is kept."""
    services: Services = request.app.state.services
    _check_unused(services, name)
    await run_in_threadpool(library.delete_recording, services.settings.data, name)
    return {"name": name}


@router.post("/files/{name}/rename")
async def rename_file(name: str, asked: RenameRequest, request: Request) -> dict[str, Any]:
    """Give a recording another name."""
    services: Services = request.app.state.services
    _check_unused(services, name)
    renamed = await run_in_threadpool(library.rename_recording, services.settings.data, name, asked.name)
    return {"name": renamed}


def _check_unused(services: Services, name: str) -> None:
    """Refuse to change a recording under a job's hands."""
    if any(job.state in UNENDED and job.payload.get("source", {}).get("file") == name for job in services.jobs):
        raise Refused("A job is reading this recording; wait for it to end, or cancel it.", status=409)


@router.put("/files/{name}")
async def receive_file(name: str, request: Request) -> dict[str, Any]:
    """Take in a file, piece by piece; it appears, under a name like the one given, when it has been looked at."""
    services: Services = request.app.state.services
    given = PurePosixPath(name.replace("\\", "/"))
    suffix = given.suffix.lower()
    if suffix not in library.SUFFIXES:
        wrong = f"'{name[:60]}' is not CSV or Parquet (nor NPZ): a recording ends in {', '.join(library.SUFFIXES)}"
        raise Refused(f"{wrong}; save a spreadsheet as CSV.")
    folder = services.settings.data
    if len(library.list_recordings(folder)) >= library.MOST_LISTED:
        raise Refused(f"There are {library.MOST_LISTED} recordings already; move some elsewhere.")
    quota = services.settings.limits.quota
    room = await run_in_threadpool(library.measure_room, folder, quota)
    if _read_length(request) > room:
        raise _lack_room(quota)
    partial = folder / f".{secrets.token_hex(8)}{suffix}"
    try:
        await _write_body(request, partial, room, quota)
        payload = {**services.folders, "name": given.name, "path": str(partial)}
        looked = await services.workers.call(columns.inspect_file, payload, seconds=LOOK_SECONDS)
        final = _name_file(partial, folder, library.slugify(given.stem), suffix)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return {**looked, "name": final}


def _read_length(request: Request) -> int:
    """Read how long a body says that it is; 0 if it does not."""
    said = request.headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else 0


def _lack_room(quota: int) -> Refused:
    message = f"There is no room for this file: the data folder may hold {quota / GIB:g} GiB"
    return Refused(f"{message}. Delete a recording, or start the server with a larger --quota.", status=507)


async def _write_body(request: Request, target: Path, room: int, quota: int) -> None:
    """Write the body to a file, unless it is larger than there is room."""
    stream = request.stream()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "xb") as file:
            while True:
                async with asyncio.timeout(PIECE_SECONDS):
                    piece = await anext(stream, None)
                if piece is None:
                    break
                file.write(piece)
                if file.tell() > room:
                    raise _lack_room(quota)
            empty = file.tell() == 0
    except TimeoutError:
        raise Refused("The file stopped arriving; send it again.", status=408) from None
    except ClientDisconnect:
        raise Refused("The file ended before all of it had arrived.", status=400) from None
    except OSError as refused:
        raise Refused(f"The file could not be stored: {refused.strerror or 'no reason given'}.", status=507) from None
    if empty:
        raise Refused("The file is empty.")


def _name_file(partial: Path, folder: Path, wanted: str, suffix: str) -> str:
    """Give a file its name without ever replacing another."""
    for name in library.propose_names(wanted, suffix):
        with suppress(FileExistsError):
            (folder / name).touch(exist_ok=False)  # the name is ours from here on
            partial.replace(folder / name)
            return name
    raise Refused("There are too many files of this name; choose another.")
