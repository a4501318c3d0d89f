"""What the command line shows to people: tables and pages, drawn by rich.

Everything here takes answers and gives renderables; nothing is computed that the library does not
say, and nothing relies on colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..core.answer import Answer, Query, Status, Verdict, Witness
from ..core.compare import Opinion
from ..core.definitions import DEFINITIONS
from ..core.normality import Normality
from ..core.responsibility import WITH_DEGREES
from .options import name_option

MAX_COLUMNS = 8
STYLES = {"cause": "bold green", "part": "yellow", "no": "dim", "?": "magenta"}
DEGREE = (
    "responsibility: 1/k, where k counts the cause and what must be changed (original-hp, updated-hp) or held "
    "(modified-hp) for it to make the difference; but-for, direct and strong have no degrees."
)
RANK = "rank: 1 for causes whose best witnesses have the most normal worlds, 2 for the next, and so on."


def show(page: RenderableType) -> None:
    """Print to stdout, as wide as the terminal; text of the user's is never read as markup."""
    Console(markup=False, highlight=False, emoji=False).print(page)


# -- one definition's answer ----------------------------------------------------------------------


def opinion_page(opinion: Opinion) -> RenderableType:
    """Draw what one definition says, with the degrees of responsibility if there are any."""
    answer, degrees = opinion.answer, opinion.degrees
    citation = DEFINITIONS[opinion.definition].citation
    parts: list[RenderableType] = [
        Text(write_question(answer)),
        Text(f"By {opinion.definition} ({citation}):", style="bold"),
    ]
    if isinstance(answer, Verdict):
        parts.append(indent(answer.describe(name_option)))
        parts.append(indent(", ".join(f"{name} {word(held)}" for name, held in answer.conditions.items())))
        if answer and answer.witness is not None:
            parts.append(indent(replay_sentence(answer.query, answer.witness)))
        if degrees is not None:
            parts.append(indent(f"responsibility {write_degree(opinion, degrees[0])}"))
        return Group(*parts)
    causes = opinion.ranked()
    with_ranks, with_degrees = answer.query.normality is not None, degrees is not None
    if not causes:
        parts.append(indent(write_first_sentence(answer)))
    elif not with_ranks and not with_degrees:
        parts.extend(indent(cause.sentence) for _, cause, _ in causes)
    else:
        shown = {"rank": with_ranks, "cause": True, "responsibility": with_degrees}
        table = draw_table(*(name for name, is_shown in shown.items() if is_shown))
        table.columns[-1].no_wrap = with_degrees
        for rank, cause, degree in causes:
            cells = {"rank": str(rank), "cause": cause.sentence, "responsibility": write_degree(opinion, degree)}
            table.add_row(*(Text(cell) for name, cell in cells.items() if shown[name]))
        parts.append(table)
        parts += [dim(RANK)] if with_ranks else []
        parts += [dim(DEGREE)] if with_degrees else []
    if causes and answer.status is not Status.COMPLETE:
        parts.append(Text(answer.status.describe(name_option)))
    return Group(*parts)


def replay_sentence(query: Query, witness: Witness) -> str:
    """Say what the model gives when the witness is played again."""
    values = witness.replay(query).values
    followed = {name: values[name] for name in query.relevant if name not in witness.intervention}
    return f"Replayed: with {assignments(witness.intervention)} the model gives {assignments(followed)}."


def write_first_sentence(answer: Answer | Verdict) -> str:
    """Write the reason: of a verdict, or of the first cause, or why there is none."""
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


def draw_mark(word: str, *more: str) -> Text:
    """Draw 'cause', 'part', 'no' or '?', and what stands behind it."""
    return Text(" ".join(filter(None, (word, *more))), style=STYLES[word])


def write_degree(opinion: Opinion, degree: Fraction | None) -> str:
    """Write a degree, '?' if there was no time for it, or a dash if the definition has none."""
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


def write_question(answer: Answer | Verdict) -> str:
    """Write what was asked, with the context."""
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
