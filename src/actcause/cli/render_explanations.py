"""What `actcause explain` shows to people."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ..core.answer import Status
from ..core.definitions import DEFINITIONS
from ..core.explanations import Explanations, ExplanationVerdict, SufficiencyVerdict, SufficientCauses
from .options import name_option
from .render import assignments, indent, word


def explanations_page(found: Explanations | SufficientCauses) -> RenderableType:
    """Draw what was found, and how the search ended."""
    entries = list(found)
    relation = "is a sufficient cause of" if isinstance(found, SufficientCauses) else "explains"
    parts = _heading(found, f"what {relation} {found.query.effect}?")
    parts += [indent(str(entry)) for entry in entries] or [indent(found.sentence)]
    if found.status is not Status.COMPLETE:
        parts.append(Text(_describe(found.status)))
    return Group(*parts)


def _describe(status: Status) -> str:
    """Write how the search ended; here one option limits explanations and sufficient causes alike."""
    limit = Status.MAX_EXPLANATIONS if status is Status.MAX_CAUSES else status
    return limit.describe(name_option)


def explanation_page(verdict: ExplanationVerdict | SufficiencyVerdict) -> RenderableType:
    """Draw the verdict on one event, condition by condition."""
    conditions = ", ".join(f"{name} {word(held)}" for name, held in verdict.conditions.items())
    relation = "is it a sufficient cause of" if isinstance(verdict, SufficiencyVerdict) else "does it explain"
    parts = _heading(verdict, f"{relation} {verdict.query.effect}?")
    parts += [indent(verdict.describe(name_option)), indent(conditions)]
    found = verdict.found if isinstance(verdict, SufficiencyVerdict) else verdict.explanation
    if found is not None:
        query = found.cause.query
        parts.append(indent(f"In the context {assignments(query.context)}: {found.cause.sentence}"))
    elif isinstance(verdict, ExplanationVerdict) and verdict.goodness:
        parts.append(indent(f"It is a partial explanation of goodness {verdict.goodness}."))
    return Group(*parts)


def _heading(
    answer: Explanations | SufficientCauses | ExplanationVerdict | SufficiencyVerdict, question: str
) -> list[RenderableType]:
    query = answer.query
    if isinstance(answer, (SufficientCauses, SufficiencyVerdict)):
        where = f"In the context {assignments(answer.query.context)}"
    else:
        count = len(answer.query.contexts)
        where = f"Relative to {count:,} context{'' if count == 1 else 's'}"
    citation = DEFINITIONS[query.definition].citation
    return [Text(f"{where}: {question}"), Text(f"With causes by {query.definition} ({citation}):", style="bold")]
