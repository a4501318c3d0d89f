"""What `actcause explain` shows to people."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ..core.answer import Status
from ..core.definitions import DEFINITIONS
from ..core.explanations import Explanations, ExplanationVerdict
from ..core.explanations.answer import ExplanationQuery
from .options import name_option
from .render import indent, word


def explanations_page(found: Explanations) -> RenderableType:
    """Draw the explanations that were found, and how the search ended."""
    listed = list(found)
    parts: list[RenderableType] = [*_heading(found.query, f"what explains {found.query.effect}?")]
    parts += [indent(explanation.sentence) for explanation in listed] or [indent(found.sentence)]
    if found.status is not Status.COMPLETE:
        parts.append(Text(found.status.describe(name_option)))
    return Group(*parts)


def explanation_page(verdict: ExplanationVerdict) -> RenderableType:
    """Draw the verdict on one event, condition by condition."""
    conditions = ", ".join(f"{name} {word(held)}" for name, held in verdict.conditions.items())
    parts = [*_heading(verdict.query, f"does it explain {verdict.query.effect}?")]
    parts += [indent(verdict.describe(name_option)), indent(conditions)]
    if verdict.explanation is not None:
        instance = verdict.explanation.cause
        context = ", ".join(f"{name}={value}" for name, value in list(instance.query.context.items())[:8])
        parts.append(indent(f"For instance, in the context {context}: {instance.sentence}"))
    elif verdict.goodness:
        parts.append(indent(f"Where it and the effect happen, it is a full explanation with {verdict.goodness}."))
    return Group(*parts)


def _heading(query: ExplanationQuery, asked: str) -> list[RenderableType]:
    citation = DEFINITIONS[query.definition].citation
    count = f"{len(query.contexts):,} context{'' if len(query.contexts) == 1 else 's'}"
    return [
        Text(f"Relative to {count}: {asked}"),
        Text(f"With causes by {query.definition} ({citation}):", style="bold"),
    ]
