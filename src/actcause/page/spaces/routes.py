"""The view Preimages: a state space coloured by binary, and why each state has its own.

`picture`, `why` and `histogram` run in a worker; each takes the question of a request and gives what the page shows.
"""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ... import examples
from ...core.definitions import OutOfBudget
from ...errors import ActCauseError, QueryError
from ..server.services import services, wanted
from . import pictures
from .loaded import Asked, in_time
from .pictures import Axes, Coloured
from .reasons import Explained

router = APIRouter(prefix="/api/preimages")

SECONDS = 10.0
BRIEF_SECONDS = 6.0  # for what nobody asked for
MOST_STATES = 64  # of a space whose valid pairs are all counted

Name = Annotated[str, StringConstraints(max_length=200)]
Value = Annotated[int, Field(ge=-(2**62), le=2**62)]
Values = Annotated[dict[Name, Value], Field(max_length=2000)]


class Question(BaseModel):
    """What is asked: an example or a model's text; what is None is the example's own."""

    model_config = ConfigDict(extra="forbid")

    example: Name | None = None
    text: Annotated[str, StringConstraints(max_length=200_000)] | None = None
    outcome: Annotated[str, StringConstraints(max_length=2000)] | None = None
    where: Annotated[str, StringConstraints(max_length=2000)] | None = None
    alpha_sufficiency: Annotated[str, StringConstraints(max_length=40)] | None = None
    alpha_necessity: Annotated[str, StringConstraints(max_length=40)] | None = None
    pair: Annotated[int, Field(ge=1, le=10**9)] = 1


class PictureQuestion(Question):
    """And how it is to be shown: the roots across and up, what the others keep, a picture or a table.

    With `context` the reply also explains the state that it produces, if it is one.
    """

    axes: Annotated[list[Name], Field(max_length=2)] = []
    held: Values = {}
    show: Annotated[str, StringConstraints(pattern="^(auto|picture|table)$")] = "auto"
    context: Values | None = None


class StateQuestion(Question):
    """And about which state: the values of the roots that produce it."""

    context: Values


@router.post("/picture")
async def show(question: PictureQuestion, request: Request) -> dict[str, Any]:
    """A pair of least cost, to be looked at."""
    return await _called(request, "picture", question)


@router.post("/why")
async def explain(question: StateQuestion, request: Request) -> dict[str, Any]:
    """Why a state has its binary."""
    return await _called(request, "why", question)


@router.post("/histogram")
async def count(question: Question, request: Request) -> dict[str, Any]:
    """All valid pairs by cost."""
    return await _called(request, "histogram", question, seconds=BRIEF_SECONDS)


async def _called(request: Request, function: str, question: Question, seconds: float = SECONDS) -> dict[str, Any]:
    """Ask a worker; a newer question of the same kind from the same tab takes the place of one under way."""
    tab = request.headers.get("x-tab")
    owner = None if tab is None else f"{tab[:40]} preimages {function}"
    name = f"actcause.page.spaces.routes:{function}"
    call = services(request).workers.call(name, question.model_dump(), seconds=seconds, owner=owner)
    return await wanted(request, call)


# -- what a worker computes ------------------------------------------------------------------------


@in_time()
def picture(payload: dict[str, Any]) -> dict[str, Any]:
    """A pair of least cost as a grid or a table, with its legend and its numbers."""
    began = perf_counter()
    asked = Asked.of(payload)
    walk, space = asked.partitions(), asked.space()
    now, before = walk.pair(payload["pair"])
    coloured = Coloured.of(space, now)
    example = examples.load(payload["example"]) if payload["example"] else None
    show = pictures.best_view(space) if payload["show"] == "auto" else payload["show"]
    axes = Axes.of(space, payload["axes"], payload["held"], example.context if example and not payload["text"] else {})
    return {
        "example": None if example is None else {"name": example.name, "title": example.title, "story": example.story},
        "text": asked.text,
        "outcome": asked.outcome,
        "outcomes": [name for name in space.model.variables if name not in space.model.exogenous],
        "where": asked.where,
        "alpha_sufficiency": None if asked.sufficiency is None else str(asked.sufficiency),
        "alpha_necessity": None if asked.necessity is None else str(asked.necessity),
        "variables": list(space.states.variables),
        "roots": pictures.roots(space),
        "states": len(space.states),
        "cost": walk.found.cost,
        "count": pictures.counted(walk.found.count),
        "pair": payload["pair"],
        "pairs": walk.most,
        "changes": pictures.changes(space, before, now),
        "legend": coloured.legend(),
        "binaries": len(coloured.masks),
        "lengths": coloured.lengths(),
        "show": show,
        "axes": [name for name in (axes.across, axes.up) if name is not None],
        "held": dict(axes.held),
        "grid": pictures.grid(coloured, axes) if show == "picture" else None,
        "table": pictures.table(coloured, before, now) if show == "table" else None,
        "why": _explained_at_once(payload) if payload["context"] else None,
        "seconds": round(perf_counter() - began, 3),
    }


def _explained_at_once(payload: dict[str, Any]) -> dict[str, Any] | None:
    """Why the state has its binary; None if it is no state of this space, or would keep the picture waiting."""
    try:
        return _explained(payload, seconds=0.5)
    except (ActCauseError, OutOfBudget):
        return None


@in_time()
def why(payload: dict[str, Any]) -> dict[str, Any]:
    """Why a state has its binary in a pair."""
    return _explained(payload)


def _explained(payload: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
    asked = Asked.of(payload)
    walk, space = asked.partitions(), asked.space()
    space.clock.start(seconds)
    masks, _ = walk.pair(payload["pair"])
    return Explained(asked, space, space.find(payload["context"]), masks).to_json()


@in_time()
def histogram(payload: dict[str, Any]) -> dict[str, Any]:
    """How many valid pairs there are of each cost, minimal or not (Figure 7b of the paper)."""
    asked = Asked.of(payload)
    states = len(asked.space().states)
    if states > MOST_STATES:
        raise QueryError(f"All valid pairs are counted for up to {MOST_STATES} states; this space has {states:,}.")
    found = asked.partitions().found.histogram()
    total = sum(found.values())
    return {
        "total": pictures.counted(total),
        "costs": [
            {"cost": cost, "pairs": pictures.counted(many), "part": many / total} for cost, many in found.items()
        ],
    }
