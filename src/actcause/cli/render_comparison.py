"""What all definitions say of one question, side by side, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..core.answer import Answer, Status, Verdict
from ..core.compare import Opinion
from ..core.responsibility import WITH_DEGREES
from .options import name_option
from .render import (
    DEGREE,
    MAX_COLUMNS,
    assignments,
    dim,
    draw_mark,
    draw_table,
    indent,
    word,
    write_degree,
    write_first_sentence,
    write_question,
)

RANKS = "(2): a cause of rank 2; those of rank 1, which bear no number, have the witnesses with the most normal worlds."


def comparison_page(opinions: Sequence[Opinion]) -> RenderableType:
    """Draw every definition's verdict in one table, and under it why."""
    question, why = Text(write_question(opinions[0].answer)), Text("Why:", style="bold")
    legend = [dim(DEGREE)] if _has_degrees(opinions) else []
    ranked = [dim(RANKS)] if _has_ranks(opinions) else []
    return Group(question, verdict_table(opinions), *_notes(opinions), *ranked, *legend, why, *reasons(opinions))


def verdict_table(opinions: Sequence[Opinion]) -> Table:
    """Draw a row for each definition; a column for each variable, or for the conditions of the one event."""
    if isinstance(opinions[0].answer, Verdict):
        return _event_table(opinions)
    query, shown, stopped = opinions[0].answer.query, _columns(opinions), _has_stopped(opinions)
    table = draw_table("definition", *(f"{name}={query.actual[name]}" for name in shown))
    table.columns[0].no_wrap = True
    if stopped:
        table.add_column("search")
    for opinion in opinions:
        row = [Text(opinion.definition)]
        for name in shown:
            row.append(draw_mark(_standing(opinion, name), _rank(opinion, name), _highest_degree(opinion, name)))
        if stopped:
            row.append(Text(opinion.answer.status.value))
        table.add_row(*row)
    return table


def _event_table(opinions: Sequence[Opinion]) -> Table:
    verdicts = [opinion.answer for opinion in opinions if isinstance(opinion.answer, Verdict)]
    conditions = list(verdicts[0].conditions)
    degree = ["responsibility"] if _has_degrees(opinions) else []
    table = draw_table("definition", assignments(verdicts[0].event), *conditions, *degree)
    for opinion, verdict in zip(opinions, verdicts, strict=True):
        held = [Text(word(verdict.conditions[name])) for name in conditions]
        mark = "?" if verdict.holds is None else "cause" if verdict.holds else "no"
        own = [] if opinion.degrees is None else [Text(write_degree(opinion, opinion.degrees[0]))]
        table.add_row(Text(opinion.definition), draw_mark(mark), *held, *own)
    return table


def _has_degrees(opinions: Sequence[Opinion]) -> bool:
    return any(opinion.degrees is not None for opinion in opinions)


def _has_stopped(opinions: Sequence[Opinion]) -> bool:
    """Whether a search ended before it was complete."""
    return any(opinion.answer.status is not Status.COMPLETE for opinion in opinions)


def _columns(opinions: Sequence[Opinion]) -> list[str]:
    """Choose all candidates if they fit, else those that some definition blames."""
    most = MAX_COLUMNS - 3 * _has_degrees(opinions) - 2 * _has_stopped(opinions)
    candidates = opinions[0].answer.query.candidates
    if len(candidates) <= most:
        return list(candidates)
    blamed = {name for opinion in opinions for event in _events(opinion) for name in event}
    return [name for name in candidates if name in blamed][:most]


def _events(opinion: Opinion) -> list[Mapping[str, int]]:
    """List the events of an answer's causes; a verdict has none."""
    return [cause.event for cause in opinion.answer] if isinstance(opinion.answer, Answer) else []


def _standing(opinion: Opinion, name: str) -> str:
    """Say 'cause' if the variable is one by itself, 'part' if only together with others."""
    sizes = [len(event) for event in _events(opinion) if name in event]
    if sizes:
        return "cause" if min(sizes) == 1 else "part"
    return "no" if opinion.answer.status is Status.COMPLETE else "?"


def _has_ranks(opinions: Sequence[Opinion]) -> bool:
    """Whether worlds are more or less normal, and some cause is of a lower rank than another."""
    return any(
        opinion.answer.query.normality is not None and any(rank > 1 for rank, _, _ in opinion.ranked())
        for opinion in opinions
    )


def _rank(opinion: Opinion, name: str) -> str:
    """Return the rank of the best cause that the variable belongs to, where it is not the first."""
    if opinion.answer.query.normality is None:
        return ""
    best = min((rank for rank, cause, _ in opinion.ranked() if name in cause.event), default=1)
    return f"({best})" if best > 1 else ""


def _highest_degree(opinion: Opinion, name: str) -> str:
    """Return the highest degree of the causes that the variable belongs to."""
    if opinion.degrees is None:
        return ""
    own = [degree for event, degree in zip(_events(opinion), opinion.degrees, strict=True) if name in event]
    highest = max((degree for degree in own if degree is not None), default=None)
    return write_degree(opinion, highest) if own and opinion.definition in WITH_DEGREES else ""


def _notes(opinions: Sequence[Opinion]) -> list[RenderableType]:
    """Say what is not in the table: what 'part' means, what is left out, why a search ended early."""
    notes: list[RenderableType] = []
    if isinstance(opinions[0].answer, Answer):
        shown = _columns(opinions)
        hidden = len(opinions[0].answer.query.candidates) - len(shown)
        if any(_standing(opinion, name) == "part" for opinion in opinions for name in shown):
            notes.append(dim("part: a cause only together with others."))
        if hidden:
            notes.append(dim(f"{hidden} more variables are not shown."))
    statuses = dict.fromkeys(opinion.answer.status for opinion in opinions)
    statuses.pop(Status.COMPLETE, None)
    notes.extend(dim(f"{status.value}: {status.describe(name_option)}") for status in statuses)
    return notes


def reasons(opinions: Sequence[Opinion]) -> list[RenderableType]:
    """Draw the first sentence of each answer, definitions that say the same together."""
    sentences: dict[str, list[str]] = {}
    for opinion in opinions:
        sentences.setdefault(write_first_sentence(opinion.answer), []).append(opinion.definition)
    return [
        part
        for sentence, definitions in sentences.items()
        for part in (Text(f"by {', '.join(definitions)}:"), indent(sentence))
    ]
