"""The view Ask over HTTP: what caused the effect, by all definitions, and was this event a cause?"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ... import examples
from ...core.answer import Status
from ...core.definitions import DEFINITIONS
from ..server.services import Services
from ..server.workers import Function
from . import answers, uncertain
from .answers import NO_VERDICT, SECONDS, STATUSES, name_definition, read_definitions, show

router = APIRouter(prefix="/api/ask")

MOST_TEXT = 100_000
MOST_STEPS = 500  # as the form has it; models of more steps are for the command line
GRACE = 1.5  # seconds after a question's own in which it may end by itself; then its process is killed

Name = Annotated[str, Field(max_length=200)]
Value = Annotated[int, Field(ge=-(10**15), le=10**15)]
Share = Annotated[str, Field(max_length=40)]


class TextRequest(BaseModel):
    """Model text to look at; one with time (x' = ...) is unrolled over `steps`."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=MOST_TEXT)
    steps: Annotated[int, Field(ge=0, le=MOST_STEPS)] | None = None


class AskRequest(TextRequest):
    """A question about a model; `event` for one event, `definitions` for fewer than all of them."""

    context: dict[Name, Value] = Field(max_length=5000)
    effect: str = Field(max_length=5000)
    event: str | None = Field(None, max_length=5000)
    alpha_sufficiency: Share | None = None
    alpha_necessity: Share | None = None
    contrast: str | None = Field(None, max_length=5000)
    normality: list[Annotated[str, Field(max_length=2000)]] | None = Field(None, max_length=200)
    normality_order: Name | None = None
    definitions: list[Name] | None = Field(None, min_length=1, max_length=len(DEFINITIONS))


class ExplanationRequest(AskRequest):
    """A question for those who do not know the context; `contexts` is a formula that they know to hold."""

    contexts: str | None = Field(None, max_length=5000)


class ProbabilityRequest(AskRequest):
    """A question about one event; `prior` says how probable contexts are, `evidence` what is known of them.

    `instead` is what the event might have been, which has to be said where there is more than one way.
    """

    prior: str = Field("uniform", max_length=20_000)
    evidence: str | None = Field(None, max_length=5000)
    instead: str | None = Field(None, max_length=5000)


# -- over HTTP -------------------------------------------------------------------------------------


@router.get("/examples")
async def list_examples() -> list[dict[str, Any]]:
    """List the literature's models by theme."""
    return _build_catalogue()


@lru_cache(maxsize=1)
def _build_catalogue() -> list[dict[str, Any]]:
    plain = ("name", "theme", "title", "story", "effect", "outcome", "source")
    return [
        {
            **{name: getattr(example, name) for name in plain},
            "text": example.text,
            "steps": example.steps,
            "unrolled": None if example.steps is None else example.model_text,
            **{name: show(getattr(example, name)) for name in ("alpha_sufficiency", "alpha_necessity")},
            "context": dict(example.context),
            "notes": list(example.notes),
        }
        for example in map(examples.load, examples.names())
    ]


@router.post("/check")
async def check(asked: TextRequest, request: Request) -> dict[str, Any]:
    """Describe the model behind the text, for drawing; or its first mistake and the line that it is in."""
    return await _ask(request, answers.check, asked)


@router.post("/answer")
async def answer(asked: AskRequest, request: Request) -> Response:
    """Find all minimal causes by every definition."""
    found = await _ask(request, answers.answer, asked)
    nothing = {"status": Status.OUT_OF_TIME.value, "said": _explain_gap(found), "causes": []}
    return _assemble(found, "answers", asked, nothing)


@router.post("/judge")
async def judge(asked: AskRequest, request: Request) -> Response:
    """Decide whether one event is a cause, by every definition."""
    found = await _ask(request, answers.judge, asked)
    return _assemble(found, "verdicts", asked, NO_VERDICT | {"sentence": _explain_gap(found)})


@router.post("/degrees")
async def measure_degrees(asked: AskRequest, request: Request) -> dict[str, Any]:
    """Measure the degrees of responsibility that an answer left open."""
    return await _ask(request, answers.degrees, asked)


@router.post("/code")
async def write_code(asked: AskRequest, request: Request) -> dict[str, Any]:
    """Write the question as Python and as a command."""
    return await _ask(request, answers.code, asked)


@router.post("/explanations")
async def explain(asked: ExplanationRequest, request: Request) -> dict[str, Any]:
    """Find what explains the effect to someone who does not know the context."""
    return await _ask(request, uncertain.explain, asked)


@router.post("/probabilities")
async def weigh(asked: ProbabilityRequest, request: Request) -> dict[str, Any]:
    """Measure how probably an event was necessary, sufficient, and a cause."""
    found = await _ask(request, uncertain.weigh, asked)
    measured, *causes = found["parts"]
    by_definition = {each["definition"]: each for each in causes}
    unknown = {"value": "not found in its time"}
    names = read_definitions(asked.model_dump())
    listed = [by_definition.get(name, name_definition(name) | unknown) for name in names]
    return {**measured, "causes": listed, "said": found["late"]}


def _explain_gap(found: dict[str, Any]) -> str:
    """Say why a definition was skipped: in the worker's words if it was stopped."""
    return found["late"] or STATUSES[Status.OUT_OF_TIME]


def _assemble(found: dict[str, Any], name: str, asked: AskRequest, nothing: dict[str, Any]) -> Response:
    """Assemble the parts of an answer; a definition that there was no time for says `nothing`."""
    world, *said = found["parts"]
    by_definition = {each["definition"]: each for each in said}
    names = read_definitions(asked.model_dump())
    document = {**world, name: [by_definition.get(each, {**name_definition(each), **nothing}) for each in names]}
    return Response(json.dumps(document), media_type="application/json")


async def _ask(request: Request, function: Function, asked: TextRequest) -> dict[str, Any]:
    services: Services = request.app.state.services
    return await services.workers.answer(request, function, asked.model_dump(), SECONDS + GRACE)
