"""What the command line shows to people: tables and pages, drawn by rich.

Everything here takes answers and gives renderables; nothing is computed that the library does not
say, and nothing relies on colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ..core.answer import Answer, Query, Status, Verdict, Witness
from ..core.compare import Opinion
from ..core.definitions import DEFINITIONS
from ..core.normality import Normality
from ..core.responsibility import WITH_DEGREES
from .options import name_option

if TYPE_CHECKING:
    from ..examples import Example

MAX_COLUMNS = 8
STYLES = {"cause": "bold green", "part": "yellow", "no": "dim", "?": "magenta"}
DEGREE = (
    "responsibility: 1/k, where k counts the cause and what must be changed (original-hp, updated-hp) or held "
    "(modified-hp) for it to make the difference; but-for, direct and strong have no degrees."
)
RANKS = "(2): a cause of rank 2; those of rank 1, which bear no number, have the witnesses with the most normal worlds."
RANK = "rank: 1 for causes whose best witnesses have the most normal worlds, 2 for the next, and so on."


def show(page: RenderableType) -> None:
    """Print to stdout, as wide as the terminal; text of the user's is never read as markup."""
    Console(markup=False, highlight=False, emoji=False).print(page)


# -- examples --------------------------------------------------------------------------------------


def example_table(listed: Sequence[Example]) -> RenderableType:
    """Draw one line for each example."""
    table = draw_table("name", "title", "effect", "source")
    table.columns[0].no_wrap = table.columns[2].no_wrap = True
    for example in listed:
        table.add_row(example.name, example.title, example.effect, _shorten(example.source))
    return Group(table, Text(f"{len(listed)} examples. Show one with: actcause examples NAME"))


def _shorten(citation: str) -> str:
    """Keep the authors and the year of a citation, for a table.

    >>> _shorten("Hopkins and Pearl, Clarifying the Usage of Structural Models, AAAI Spring Symposium, 2003")
    'Hopkins and Pearl 2003'
    """
    authors = citation.partition(",")[0]
    years = re.findall(r"\b(?:1[6-9]|20)\d\d\b", citation)
    return f"{authors} {years[0]}" if years else authors


def example_page(example: Example) -> RenderableType:
    """Draw one example in full."""
    parts: list[RenderableType] = [
        Rule(Text(example.title, style="bold"), align="left"),
        Text(example.story),
        block(example.text),
        Text(f"context: {assignments(example.context)}    effect: {example.effect}    outcome: {example.outcome}"),
    ]
    if example.steps is not None:
        parts.append(Text(f"steps: {example.steps}"))
    shares = {"alpha_sufficiency": example.alpha_sufficiency, "alpha_necessity": example.alpha_necessity}
    if any(share is not None for share in shares.values()):
        parts.append(Text("    ".join(f"{name}: {share}" for name, share in shares.items() if share is not None)))
    parts.append(Text(f"source: {example.source}"))
    if example.verdicts:
        groups: dict[tuple[str, bool, str], list[str]] = {}
        for verdict in example.verdicts:
            group = assignments(verdict.event), verdict.holds, verdict.source
            groups.setdefault(group, []).append(verdict.definition)
        table = draw_table("event", "verdict", "by definition", "where")
        for (event, holds, source), definitions in groups.items():
            table.add_row(event, _cell("cause" if holds else "no"), ", ".join(definitions), source)
        parts.append(table)
    parts.extend(Text(f"Note: {note}") for note in example.notes)
    parts.append(Text(f"Ask it yourself: actcause ask {example.name} --definition all"))
    return Group(*parts)


# -- one definition's answer -----------------------------------------------------------------------


def opinion_page(opinion: Opinion) -> RenderableType:
    """Draw what one definition says, with the degrees of responsibility if there are any."""
    answer, degrees = opinion.answer, opinion.degrees
    citation = DEFINITIONS[opinion.definition].citation
    parts: list[RenderableType] = [
        Text(_question(answer)),
        Text(f"By {opinion.definition} ({citation}):", style="bold"),
    ]
    if isinstance(answer, Verdict):
        parts.append(indent(answer.describe(name_option)))
        parts.append(indent(", ".join(f"{name} {word(held)}" for name, held in answer.conditions.items())))
        if answer and answer.witness is not None:
            parts.append(indent(replay_sentence(answer.query, answer.witness)))
        if degrees is not None:
            parts.append(indent(f"responsibility {_degree(opinion, degrees[0])}"))
        return Group(*parts)
    causes = opinion.ranked()
    with_ranks = answer.query.normality is not None
    if not causes:
        parts.append(indent(_first_sentence(answer)))
    elif degrees is None and not with_ranks:
        parts.extend(indent(cause.sentence) for _, cause, _ in causes)
    else:
        with_degrees = degrees is not None
        table = draw_table(*["rank"] * with_ranks, "cause", *["responsibility"] * with_degrees)
        table.columns[-1].no_wrap = with_degrees
        for rank, cause, degree in causes:
            shown = [Text(cause.sentence), *[Text(_degree(opinion, degree))] * with_degrees]
            table.add_row(*[Text(str(rank))] * with_ranks, *shown)
        parts += [table, *[dim(RANK)] * with_ranks, *[dim(DEGREE)] * with_degrees]
    if causes and answer.status is not Status.COMPLETE:
        parts.append(Text(answer.status.describe(name_option)))
    return Group(*parts)


def replay_sentence(query: Query, witness: Witness) -> str:
    """Say what the model gives when the witness is played again."""
    values = witness.replay(query).values
    followed = {name: values[name] for name in query.relevant if name not in witness.intervention}
    return f"Replayed: with {assignments(witness.intervention)} the model gives {assignments(followed)}."


# -- all definitions side by side ------------------------------------------------------------------


def comparison_page(opinions: Sequence[Opinion]) -> RenderableType:
    """Draw every definition's verdict in one table, and under it why."""
    question, why = Text(_question(opinions[0].answer)), Text("Why:", style="bold")
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
        row += [_cell(_standing(opinion, name), _rank(opinion, name), _highest_degree(opinion, name)) for name in shown]
        table.add_row(*row, *([Text(opinion.answer.status.value)] if stopped else []))
    return table


def _event_table(opinions: Sequence[Opinion]) -> Table:
    verdicts = [opinion.answer for opinion in opinions if isinstance(opinion.answer, Verdict)]
    conditions = list(verdicts[0].conditions)
    degree = ["responsibility"] if _has_degrees(opinions) else []
    table = draw_table("definition", assignments(verdicts[0].event), *conditions, *degree)
    for opinion, verdict in zip(opinions, verdicts, strict=True):
        held = [Text(word(verdict.conditions[name])) for name in conditions]
        mark = "?" if verdict.holds is None else "cause" if verdict.holds else "no"
        own = [] if opinion.degrees is None else [Text(_degree(opinion, opinion.degrees[0]))]
        table.add_row(Text(opinion.definition), _cell(mark), *held, *own)
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
    return _degree(opinion, highest) if own and opinion.definition in WITH_DEGREES else ""


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
        sentences.setdefault(_first_sentence(opinion.answer), []).append(opinion.definition)
    return [
        part
        for sentence, definitions in sentences.items()
        for part in (Text(f"by {', '.join(definitions)}:"), indent(sentence))
    ]


def _first_sentence(answer: Answer | Verdict) -> str:
    if isinstance(answer, Verdict):
        return answer.describe(name_option)
    if answer.query.normality is not None and answer.causes:
        return answer.ranked()[0][0].sentence
    first = next(iter(answer.causes), None)
    if first is not None:
        return first.sentence
    if answer.status is not Status.COMPLETE:
        return answer.status.describe(name_option)
    none = f"{answer.query.effect_text} has no cause."
    return none if answer.query.happened else f"{none} {answer.query.absence_text}"


# -- words -----------------------------------------------------------------------------------------


def draw_table(*columns: str, rows: Iterable[Sequence[str]] = ()) -> Table:
    """Draw a table of text."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(Text(column), overflow="fold")  # a cut name helps nobody
    for row in rows:
        table.add_row(*row)
    return table


def _cell(word: str, *more: str) -> Text:
    return Text(" ".join(filter(None, (word, *more))), style=STYLES[word])


def _degree(opinion: Opinion, degree: Fraction | None) -> str:
    missing = "?" if opinion.definition in WITH_DEGREES else "–"
    return missing if degree is None else str(degree)


def dim(sentence: str) -> Text:
    """Draw a sentence of less weight."""
    return Text(sentence, style="dim")


def block(content: str) -> Padding:
    """Indent text of a model or of a shell."""
    return Padding(Text(content, style="cyan"), (0, 0, 0, 4), expand=False)


def indent(sentence: str) -> Padding:
    """Draw a sentence under a heading."""
    return Padding(Text(sentence), (0, 0, 0, 2), expand=False)


def _question(answer: Answer | Verdict) -> str:
    query = answer.query
    relation = f"was {assignments(answer.event)} a cause of" if isinstance(answer, Verdict) else "what caused"
    rather = "" if query.contrast is None else f" rather than {query.contrast}"
    normally = "" if query.normality is None else f" Normally {_join_rules(query.normality)}."
    return f"In the context {assignments(query.context)}: {relation} {query.effect}{rather}?{normally}"


def _join_rules(normality: Normality) -> str:
    """Write the first few rules; those past them are counted."""
    rules = [str(rule) for rule in normality.rules]
    more = f" and {len(rules) - 6} more" if len(rules) > 6 else ""
    return ", ".join(rules[:6]) + more


def word(held: bool | None) -> str:
    """Write whether a condition holds."""
    return "open" if held is None else "yes" if held else "no"


def assignments(assignment: Mapping[str, int], limit: int = 8) -> str:
    """Write `ST=1, BT=1`, the rest counted if there are many."""
    parts = [f"{name}={value}" for name, value in list(assignment.items())[:limit]]
    if len(assignment) > limit:
        parts.append(f"{len(assignment) - limit} more")
    return ", ".join(parts) or "nothing set"
