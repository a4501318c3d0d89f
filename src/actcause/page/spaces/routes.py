"""The view Preimages over HTTP: a state space coloured by binary, and why each state has its own."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..server.services import Services
from . import answers

router = APIRouter(prefix="/api/preimages")

SECONDS = 10.0
BRIEF_SECONDS = 6.0  # for what nobody asked for

Name = Annotated[str, StringConstraints(max_length=200)]
Value = Annotated[int, Field(ge=-(2**62), le=2**62)]
Values = Annotated[dict[Name, Value], Field(max_length=2000)]


class SpaceRequest(BaseModel):
    """What is asked: an example or a model's text; what is None is the example's own."""

    model_config = ConfigDict(extra="forbid")

    example: Name | None = None
    text: Annotated[str, StringConstraints(max_length=200_000)] | None = None
    outcome: Annotated[str, StringConstraints(max_length=2000)] | None = None
    where: Annotated[str, StringConstraints(max_length=2000)] | None = None
    alpha_sufficiency: Annotated[str, StringConstraints(max_length=40)] | None = None
    alpha_necessity: Annotated[str, StringConstraints(max_length=40)] | None = None
    pair: Annotated[int, Field(ge=1, le=10**9)] = 1


class PictureRequest(SpaceRequest):
    """And how it is to be shown: the roots across and up, what the others keep, a picture or a table.

    With `context` the reply also explains the state that it produces, if it is one.
    """

    axes: Annotated[list[Name], Field(max_length=2)] = []
    held: Values = {}
    show: Annotated[str, StringConstraints(pattern="^(auto|picture|table)$")] = "auto"
    context: Values | None = None


class StateRequest(SpaceRequest):
    """And about which state: the values of the roots that produce it."""

    context: Values


@router.post("/picture")
async def show_picture(question: PictureRequest, request: Request) -> dict[str, Any]:
    """Show a pair of least cost, to be looked at."""
    services: Services = request.app.state.services
    return await services.workers.answer(request, answers.picture, question.model_dump(), SECONDS)


@router.post("/why")
async def explain_state(question: StateRequest, request: Request) -> dict[str, Any]:
    """Explain why a state has its binary."""
    services: Services = request.app.state.services
    return await services.workers.answer(request, answers.why, question.model_dump(), SECONDS)


@router.post("/histogram")
async def count_pairs(question: SpaceRequest, request: Request) -> dict[str, Any]:
    """Count all valid pairs by cost."""
    services: Services = request.app.state.services
    return await services.workers.answer(request, answers.histogram, question.model_dump(), BRIEF_SECONDS)
