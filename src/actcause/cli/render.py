"""What the command line shows to people: tables and pages, drawn by rich.

Everything here takes answers and gives renderables; nothing is computed that the library does not
say, and nothing relies on colour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import log10
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ..core.answer import Answer, Query, Status, Verdict, Witness
from ..core.counting import percent
from ..core.definitions import DEFINITIONS
from .execution_options import name_option

if TYPE_CHECKING:
    from ..core.spaces.out_of_core import OutOfCorePartitions
    from ..core.spaces.preimages import Pair, Partitions, Preimage
    from ..examples import Example

MAX_ROWS = 40
MAX_COLUMNS = 8
STYLES = {"cause": "bold green", "part": "yellow", "no": "dim", "?": "magenta"}
DEGREE = (
    "responsibility: 1/k, where k counts the cause and what must be changed (original-hp, updated-hp) or held "
    "(the others) for it to make the difference."
)

Degrees = Sequence[Fraction | None] | None


def show(page: RenderableType) -> None:
    """Print to stdout, as wide as the terminal; text of the user's is never read as markup."""
    Console(markup=False, highlight=False, emoji=False).print(page)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is going on; nothing at all where stderr is not a terminal."""
    with Console(stderr=True, markup=False, highlight=False).status("") as status:
        yield status.update


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    """A table of text."""
    table = _table(*columns)
    for row in rows:
        table.add_row(*row)
    return table


# -- examples --------------------------------------------------------------------------------------


def example_table(listed: Sequence[Example]) -> RenderableType:
    """One line for each example."""
    table = _table("name", "title", "effect", "source")
    table.columns[0].no_wrap = table.columns[2].no_wrap = True
    for example in listed:
        table.add_row(example.name, example.title, example.effect, _short(example.source))
    return Group(table, Text(f"{len(listed)} examples. Show one with: actcause examples NAME"))


def _short(citation: str) -> str:
    """The authors and the year of a citation, for a table.

    >>> _short("Hopkins and Pearl, Clarifying the Usage of Structural Models, AAAI Spring Symposium, 2003")
    'Hopkins and Pearl 2003'
    """
    authors = citation.partition(",")[0]
    years = re.findall(r"\b(?:1[6-9]|20)\d\d\b", citation)
    return f"{authors} {years[0]}" if years else authors


def example_page(example: Example) -> RenderableType:
    """One example in full."""
    parts: list[RenderableType] = [
        Rule(Text(example.title, style="bold"), align="left"),
        Text(example.story),
        block(example.text),
        Text(f"context: {assignments(example.context)}    effect: {example.effect}    outcome: {example.outcome}"),
    ]
    alphas = [
        f"{name}: {value}"
        for name, value in (
            ("alpha_sufficiency", example.alpha_sufficiency),
            ("alpha_necessity", example.alpha_necessity),
        )
        if value is not None
    ]
    if alphas:
        parts.append(Text("    ".join(alphas)))
    parts.append(Text(f"source: {example.source}"))
    if example.verdicts:
        said: dict[tuple[str, bool, str], list[str]] = {}
        for verdict in example.verdicts:
            said.setdefault((assignments(verdict.event), verdict.holds, verdict.source), []).append(verdict.definition)
        table = _table("event", "published", "by definition", "where")
        for (event, holds, source), definitions in said.items():
            table.add_row(event, _cell("cause" if holds else "no"), ", ".join(definitions), source)
        parts.append(table)
    parts.extend(Text(f"Note: {note}") for note in example.notes)
    parts.append(Text(f"Ask it yourself: actcause ask {example.name} --definition all"))
    return Group(*parts)


# -- one definition's answer -----------------------------------------------------------------------


def answer_page(answer: Answer | Verdict, degrees: Degrees = None) -> RenderableType:
    """What one definition says, with the degrees of responsibility if there are any."""
    query = answer.query
    parts: list[RenderableType] = [Text(_question(answer)), Text(f"By {_titled(query)}:", style="bold")]
    if isinstance(answer, Verdict):
        parts.append(_indented(answer.describe(name_option)))
        parts.append(_indented(", ".join(f"{name} {_word(held)}" for name, held in answer.conditions.items())))
        if answer and answer.witness is not None:
            parts.append(_indented(replayed(query, answer.witness)))
        if degrees is not None:
            parts.append(_indented(f"responsibility {_degree(degrees[0])}"))
        return Group(*parts)
    found = list(answer.causes)
    if not found:
        parts.append(_indented(_first_sentence(answer)))
    elif degrees is None:
        parts.extend(_indented(cause.sentence) for cause in found)
    else:
        table = _table("cause", "responsibility")
        table.columns[1].no_wrap = True
        for cause, degree in zip(found, degrees, strict=True):
            table.add_row(Text(cause.sentence), _degree(degree))
        parts += [table, _small(DEGREE)]
    if found and answer.status is not Status.COMPLETE:
        parts.append(Text(answer.status.describe(name_option)))
    return Group(*parts)


def replayed(query: Query, witness: Witness) -> str:
    """What the model gives when the witness is played again."""
    values = witness.replay(query).values
    followed = {name: values[name] for name in query.relevant if name not in witness.intervention}
    return f"Replayed: with {assignments(witness.intervention)} the model gives {assignments(followed)}."


# -- all definitions side by side ------------------------------------------------------------------


def comparison(answers: Sequence[Answer | Verdict], degrees: Sequence[Degrees] = ()) -> RenderableType:
    """Every definition's verdict in one table, and under it why."""
    question, why = Text(_question(answers[0])), Text("Why:", style="bold")
    asked = any(each is not None for each in degrees)
    explained = [_small(DEGREE)] if asked else []
    table = verdict_table(answers, degrees)
    return Group(question, table, *_notes(answers, asked), *explained, why, *reasons(answers))


def verdict_table(answers: Sequence[Answer | Verdict], degrees: Sequence[Degrees] = ()) -> Table:
    """A row for each definition; a column for each variable, or for the conditions of the one event."""
    asked = any(each is not None for each in degrees)
    degrees = degrees if asked else [None] * len(answers)
    if isinstance(answers[0], Verdict):
        return _event_table([answer for answer in answers if isinstance(answer, Verdict)], degrees)
    listed = [answer for answer in answers if isinstance(answer, Answer)]
    query = listed[0].query
    shown = _columns(listed, asked)
    table = _table("definition", *(f"{name}={query.actual[name]}" for name in shown))
    table.columns[0].no_wrap = True
    stopped = any(answer.status is not Status.COMPLETE for answer in listed)
    if stopped:
        table.add_column("search")
    for answer, each in zip(listed, degrees, strict=True):
        row = [Text(answer.query.definition)]
        row += [_cell(_standing(answer, name), _highest(answer, name, each)) for name in shown]
        table.add_row(*row, *([Text(answer.status.value)] if stopped else []))
    return table


def _event_table(verdicts: Sequence[Verdict], degrees: Sequence[Degrees]) -> Table:
    conditions = list(verdicts[0].conditions)
    asked = any(each is not None for each in degrees)
    table = _table("definition", assignments(verdicts[0].event), *conditions, *(["responsibility"] if asked else []))
    for verdict, each in zip(verdicts, degrees, strict=True):
        held = [Text(_word(verdict.conditions[name])) for name in conditions]
        mark = "?" if verdict.holds is None else "cause" if verdict.holds else "no"
        degree = [] if each is None else [Text(_degree(each[0]))]
        table.add_row(Text(verdict.query.definition), _cell(mark), *held, *degree)
    return table


def _columns(answers: Sequence[Answer], degrees: bool) -> list[str]:
    """All candidates if they fit, else those that some definition blames."""
    stopped = any(answer.status is not Status.COMPLETE for answer in answers)
    most = MAX_COLUMNS - 3 * degrees - 2 * stopped
    candidates = answers[0].query.candidates
    if len(candidates) <= most:
        return list(candidates)
    blamed = {name for answer in answers for cause in answer.causes for name in cause.event}
    return [name for name in candidates if name in blamed][:most]


def _standing(answer: Answer, name: str) -> str:
    """'cause' if the variable is one by itself, 'part' if only together with others."""
    events = [cause.event for cause in answer.causes if name in cause.event]
    if any(len(event) == 1 for event in events):
        return "cause"
    if events:
        return "part"
    return "no" if answer.status is Status.COMPLETE else "?"


def _highest(answer: Answer, name: str, degrees: Degrees) -> str:
    """The highest degree of the causes that the variable belongs to."""
    if degrees is None:
        return ""
    own = [degree for cause, degree in zip(answer.causes, degrees, strict=True) if name in cause.event]
    return _degree(max((degree for degree in own if degree is not None), default=None)) if own else ""


def _notes(answers: Sequence[Answer | Verdict], degrees: bool) -> list[RenderableType]:
    """What is not said in the table: what 'part' means, what is left out, why a search ended early."""
    listed = [answer for answer in answers if isinstance(answer, Answer)]
    found: list[RenderableType] = []
    shown = _columns(listed, degrees) if listed else []
    if any(_standing(answer, name) == "part" for answer in listed for name in shown):
        found.append(_small("part: a cause only together with others."))
    if listed and len(shown) < len(listed[0].query.candidates):
        found.append(_small(f"{len(listed[0].query.candidates) - len(shown)} more variables are not shown."))
    statuses = dict.fromkeys(answer.status for answer in answers if answer.status is not Status.COMPLETE)
    found.extend(_small(f"{status.value}: {status.describe(name_option)}") for status in statuses)
    return found


def reasons(answers: Sequence[Answer | Verdict]) -> list[RenderableType]:
    """The first sentence of each answer, definitions that say the same together."""
    said: dict[str, list[str]] = {}
    for answer in answers:
        said.setdefault(_first_sentence(answer), []).append(answer.query.definition)
    return [
        part
        for sentence, definitions in said.items()
        for part in (Text(f"by {', '.join(definitions)}:"), _indented(sentence))
    ]


def _first_sentence(answer: Answer | Verdict) -> str:
    if isinstance(answer, Verdict):
        return answer.describe(name_option)
    first = next(iter(answer.causes), None)
    if first is not None:
        return first.sentence
    if answer.status is not Status.COMPLETE:
        return answer.status.describe(name_option)
    return f"{answer.query.effect_text} has no cause." + ("" if answer.query.happened else " It did not happen.")


# -- partitions ------------------------------------------------------------------------------------


def partition_page(found: Partitions) -> RenderableType:
    """The cost, the exact number of minimal pairs, and the first pair as the paper prints it."""
    if found.cost is None:
        return Text(f"No pair was found. {found.status.describe(name_option)}")
    pair = found.first()
    names, indices = _shown(pair)
    hidden = {
        "variables": len(found.variables) - len(names),
        "states": len(pair) - sum(map(len, indices)),
        "binaries": len(pair.preimages) - MAX_ROWS,
    }
    return Group(
        Text(f"Causes of {found.outcome} in every state, by functional actual cause.", style="bold"),
        Text(f"minimal cost: {found.cost:,}    pairs of minimal cost: {_big(found.count)}"),
        Text("The first pair:" if found.count != 1 else "The pair:"),
        _state_table(pair, names, indices),
        preimage_table(pair.preimages),
        *(_small(f"{count:,} more {what} are not shown.") for what, count in hidden.items() if count > 0),
    )


def out_of_core_page(found: OutOfCorePartitions) -> RenderableType:
    """The same of a space that is not held: how many states are given which binary."""
    if found.cost is None:
        return Text(f"No pair was found. {found.status.describe(name_option)}")
    table = _table("binary", "what matters", "states", "share")
    table.columns[2].justify = table.columns[3].justify = "right"
    for binary, states in list(found.preimages.items())[:MAX_ROWS]:
        names = ", ".join(name for name, digit in zip(found.variables, binary, strict=True) if digit == "1")
        table.add_row(binary, names or "nothing", f"{states:,}", percent(states, found.states))
    several = " The first pair:" if found.ways else " The pair:"
    hidden = len(found.preimages) - MAX_ROWS
    return Group(
        Text(f"Causes of {found.outcome} in every state, by functional actual cause.", style="bold"),
        Text(f"minimal cost: {found.cost:,}    pairs of minimal cost: {_product(found.ways)}"),
        Text(several.strip()),
        table,
        *([_small(f"{hidden:,} more binaries are not shown.")] if hidden > 0 else []),
    )


def _product(ways: Mapping[int, int]) -> str:
    """A number that may have millions of digits, as a product of powers."""
    return " x ".join(f"{many}^{often:,}" for many, often in sorted(ways.items())) or "1"


def preimage_table(preimages: Sequence[Preimage]) -> Table:
    """Which variables matter in how many states."""
    total = sum(map(len, preimages))
    table = _table("binary", "what matters", "states", "share")
    table.columns[2].justify = table.columns[3].justify = "right"
    for preimage in preimages[:MAX_ROWS]:
        names = ", ".join(preimage.variables) or "nothing"
        table.add_row(preimage.binary, names, f"{len(preimage):,}", percent(len(preimage), total))
    return table


def _shown(pair: Pair) -> tuple[list[str], list[list[int]]]:
    """The variables and the states that are shown: those that matter somewhere, and some of each preimage."""
    parts = pair.preimages[:MAX_ROWS]
    each = MAX_ROWS if len(pair) <= MAX_ROWS else MAX_ROWS // len(parts)
    names = list(pair.space.variables)
    if len(names) > MAX_COLUMNS:
        mattering = {name for preimage in parts for name in preimage.variables}
        names = [name for name in names if name in mattering][:MAX_COLUMNS]
    return names, [preimage.members[:each].tolist() for preimage in parts]


def _state_table(pair: Pair, names: Sequence[str], shown: Sequence[Sequence[int]]) -> Table:
    table = _table("binary", *names, pair.space.outcome)
    table.columns[0].no_wrap = True
    for indices in shown:
        for state, outcome, binary in sorted((pair[i] for i in indices), key=lambda row: tuple(row.state.values())):
            table.add_row(binary, *(str(state[name]) for name in names), str(outcome))
        table.add_section()
    return table


def _big(count: int | None) -> str:
    if count is None:
        return "not known"
    if count < 10**15:
        return f"{count:,}"
    exponent = int(log10(count))
    return f"about {count // 10 ** (exponent - 2) / 100:.2f} x 10^{exponent} (--json has every digit)"


# -- words -----------------------------------------------------------------------------------------


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(Text(column))
    return table


def _cell(word: str, degree: str = "") -> Text:
    return Text(f"{word} {degree}".rstrip(), style=STYLES[word])


def _degree(degree: Fraction | None) -> str:
    return "?" if degree is None else str(degree)


def _small(sentence: str) -> Text:
    return Text(sentence, style="dim")


def block(content: str) -> Padding:
    """Text of a model or of a shell, indented."""
    return Padding(Text(content, style="cyan"), (0, 0, 0, 4), expand=False)


def _indented(sentence: str) -> Padding:
    return Padding(Text(sentence), (0, 0, 0, 2), expand=False)


def _question(answer: Answer | Verdict) -> str:
    query = answer.query
    asked = f"was {assignments(answer.event)} a cause of" if isinstance(answer, Verdict) else "what caused"
    return f"In the context {assignments(query.context)}: {asked} {query.effect}?"


def _titled(query: Query) -> str:
    return f"{query.definition} ({DEFINITIONS[query.definition].citation})"


def _word(held: bool | None) -> str:
    return "open" if held is None else "yes" if held else "no"


def assignments(assignment: Mapping[str, int], limit: int = 8) -> str:
    """`ST=1, BT=1`, the rest counted if there are many."""
    parts = [f"{name}={value}" for name, value in list(assignment.items())[:limit]]
    if len(assignment) > limit:
        parts.append(f"{len(assignment) - limit} more")
    return ", ".join(parts) or "nothing set"
