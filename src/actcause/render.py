"""What the command line shows to people: tables and pages, drawn by rich.

Everything here takes answers and gives renderables; nothing is computed that the library does not
say, and nothing relies on colour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import log10
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from . import examples
from .answer import Answer, Query, Status, Verdict, Witness
from .definitions import DEFINITIONS
from .find import causes, is_cause

if TYPE_CHECKING:
    from .examples import Example
    from .preimages import Pair, Partitions

MAX_ROWS = 40
MAX_COLUMNS = 8
STYLES = {"cause": "bold green", "part": "yellow", "no": "dim", "?": "magenta"}


def show(page: RenderableType) -> None:
    """Print to stdout, as wide as the terminal; text of the user's is never read as markup."""
    Console(markup=False, highlight=False, emoji=False).print(page)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is going on; nothing at all where stderr is not a terminal."""
    with Console(stderr=True, markup=False, highlight=False).status("") as status:
        yield status.update


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
        _block(example.text),
        Text(f"context: {_assignments(example.context)}    effect: {example.effect}    outcome: {example.outcome}"),
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
            said.setdefault((_assignments(verdict.event), verdict.holds, verdict.source), []).append(verdict.definition)
        table = _table("event", "published", "by definition", "where")
        for (event, holds, source), definitions in said.items():
            table.add_row(event, _cell("cause" if holds else "no"), ", ".join(definitions), source)
        parts.append(table)
    parts.extend(Text(f"Note: {note}") for note in example.notes)
    parts.append(Text(f"Ask it yourself: actcause ask {example.name} --definition all"))
    return Group(*parts)


# -- one definition's answer -----------------------------------------------------------------------


def answer_page(answer: Answer | Verdict) -> RenderableType:
    """What one definition says."""
    query = answer.query
    parts: list[RenderableType] = [Text(_question(answer)), Text(f"By {_titled(query)}:", style="bold")]
    if isinstance(answer, Verdict):
        parts.append(_indented(_as_option(answer.sentence)))
        parts.append(_indented(", ".join(f"{name} {_word(held)}" for name, held in answer.conditions.items())))
        if answer and answer.witness is not None:
            parts.append(_indented(replayed(query, answer.witness)))
    else:
        found = list(answer.causes)
        parts.extend(_indented(cause.sentence) for cause in found)
        if not found:
            parts.append(_indented(_first_sentence(answer)))
        elif answer.status is not Status.COMPLETE:
            parts.append(Text(_as_option(answer.status.sentence)))
    return Group(*parts)


def replayed(query: Query, witness: Witness) -> str:
    """What the model gives when the witness is played again."""
    values = witness.replay(query).values
    followed = {name: values[name] for name in query.relevant if name not in witness.intervention}
    return f"Replayed: with {_assignments(witness.intervention)} the model gives {_assignments(followed)}."


# -- all definitions side by side ------------------------------------------------------------------


def comparison(answers: Sequence[Answer | Verdict]) -> RenderableType:
    """Every definition's verdict in one table, and under it why."""
    why = Text("Why:", style="bold")
    return Group(Text(_question(answers[0])), verdict_table(answers), *_notes(answers), why, *_reasons(answers))


def verdict_table(answers: Sequence[Answer | Verdict]) -> Table:
    """A row for each definition; a column for each variable, or for the conditions of the one event."""
    if isinstance(answers[0], Verdict):
        return _event_table([answer for answer in answers if isinstance(answer, Verdict)])
    listed = [answer for answer in answers if isinstance(answer, Answer)]
    query = listed[0].query
    shown = _columns(listed)
    table = _table("definition", *(f"{name}={query.actual[name]}" for name in shown))
    stopped = any(answer.status is not Status.COMPLETE for answer in listed)
    if stopped:
        table.add_column("search")
    for answer in listed:
        row = [Text(answer.query.definition), *(_cell(_standing(answer, name)) for name in shown)]
        table.add_row(*row, *([Text(answer.status.value)] if stopped else []))
    return table


def _event_table(verdicts: Sequence[Verdict]) -> Table:
    conditions = list(verdicts[0].conditions)
    table = _table("definition", _assignments(verdicts[0].event), *conditions)
    for verdict in verdicts:
        held = [Text(_word(verdict.conditions[name])) for name in conditions]
        mark = "?" if verdict.holds is None else "cause" if verdict.holds else "no"
        table.add_row(Text(verdict.query.definition), _cell(mark), *held)
    return table


def _columns(answers: Sequence[Answer]) -> list[str]:
    """All candidates if they fit, else those that some definition blames."""
    candidates = answers[0].query.candidates
    if len(candidates) <= MAX_COLUMNS:
        return list(candidates)
    blamed = {name for answer in answers for cause in answer.causes for name in cause.event}
    return [name for name in candidates if name in blamed][:MAX_COLUMNS]


def _standing(answer: Answer, name: str) -> str:
    """'cause' if the variable is one by itself, 'part' if only together with others."""
    events = [cause.event for cause in answer.causes if name in cause.event]
    if any(len(event) == 1 for event in events):
        return "cause"
    if events:
        return "part"
    return "no" if answer.status is Status.COMPLETE else "?"


def _notes(answers: Sequence[Answer | Verdict]) -> list[RenderableType]:
    listed = [answer for answer in answers if isinstance(answer, Answer)]
    notes: list[RenderableType] = []
    shown = _columns(listed) if listed else []
    if any(_standing(answer, name) == "part" for answer in listed for name in shown):
        notes.append(Text("part: a cause only together with others.", style="dim"))
    if listed and len(shown) < len(listed[0].query.candidates):
        notes.append(Text(f"{len(listed[0].query.candidates) - len(shown)} more variables are not shown.", style="dim"))
    statuses = dict.fromkeys(answer.status for answer in answers if answer.status is not Status.COMPLETE)
    notes.extend(Text(f"{status.value}: {_as_option(status.sentence)}", style="dim") for status in statuses)
    return notes


def _reasons(answers: Sequence[Answer | Verdict]) -> list[RenderableType]:
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
        return _as_option(answer.sentence)
    first = next(iter(answer.causes), None)
    if first is not None:
        return first.sentence
    if answer.status is not Status.COMPLETE:
        return _as_option(answer.status.sentence)
    return f"{answer.query.effect_text} has no cause." + ("" if answer.query.happened else " It did not happen.")


# -- partitions ------------------------------------------------------------------------------------


@dataclass
class _Preimage:
    """What is shown of the states that share a binary: how many, and the first of them."""

    binary: str
    count: int = 0
    rows: list[tuple[Mapping[str, int], int]] = field(default_factory=list)


def partition_page(found: Partitions) -> RenderableType:
    """The cost, the exact number of minimal pairs, and the first pair as the paper prints it."""
    pair = next(iter(found), None)
    if pair is None:
        return Text(f"No pair was found. {_as_option(found.status.sentence)}")
    preimages = _preimages(pair)
    parts: list[RenderableType] = [
        Text(f"Causes of {found.outcome} in every state, by functional actual cause.", style="bold"),
        Text(f"minimal cost: {found.cost:,}    pairs of minimal cost: {_big(found.count)}"),
        Text("The first pair:" if found.count != 1 else "The pair:"),
        _state_table(found, preimages),
    ]
    hidden = sum(preimage.count for preimage in preimages) - sum(len(rows) for rows in _shares(preimages))
    if hidden:
        parts.append(Text(f"{hidden:,} more states are not shown; --json prints them all.", style="dim"))
    parts.append(preimage_table(found, preimages))
    if found.status is not Status.COMPLETE:
        parts.append(Text(_as_option(found.status.sentence)))
    return Group(*parts)


def preimage_table(found: Partitions, preimages: Sequence[_Preimage]) -> Table:
    """Which variables matter in how many states."""
    total = sum(preimage.count for preimage in preimages)
    table = _table("binary", "what matters", "states", "share")
    table.columns[2].justify = table.columns[3].justify = "right"
    for preimage in preimages:
        names = _chosen(found.variables, preimage.binary) or ["nothing"]
        table.add_row(preimage.binary, ", ".join(names), f"{preimage.count:,}", _percent(preimage.count, total))
    return table


def _preimages(pair: Pair) -> list[_Preimage]:
    """One pass over the states that keeps no more of them than are shown."""
    groups: dict[str, _Preimage] = {}
    for state, outcome, binary in pair:
        group = groups.setdefault(binary, _Preimage(binary))
        group.count += 1
        if len(group.rows) < MAX_ROWS:
            group.rows.append((state, outcome))
    return [groups[binary] for binary in sorted(groups)]


def _shares(preimages: Sequence[_Preimage]) -> list[list[tuple[Mapping[str, int], int]]]:
    """At most MAX_ROWS rows, some of each preimage."""
    if sum(preimage.count for preimage in preimages) <= MAX_ROWS:
        return [preimage.rows for preimage in preimages]
    return [preimage.rows[: max(1, MAX_ROWS // len(preimages))] for preimage in preimages[:MAX_ROWS]]


def _state_table(found: Partitions, preimages: Sequence[_Preimage]) -> Table:
    table = _table("binary", *found.variables, found.outcome)
    for preimage, rows in zip(preimages, _shares(preimages), strict=False):
        for state, outcome in sorted(rows, key=lambda row: [row[0][name] for name in found.variables]):
            table.add_row(preimage.binary, *(str(state[name]) for name in found.variables), str(outcome))
        table.add_section()
    return table


def _chosen(variables: Sequence[str], binary: str) -> list[str]:
    return [name for name, digit in zip(variables, binary, strict=True) if digit == "1"]


def _big(count: int | None) -> str:
    if count is None:
        return "not known"
    if count < 10**15:
        return f"{count:,}"
    exponent = int(log10(count))
    return f"about {count // 10 ** (exponent - 2) / 100:.2f} x 10^{exponent} (--json has every digit)"


def _percent(count: int, total: int) -> str:
    """A share with as many digits as it takes not to say 0% or 100% of what is neither.

    >>> _percent(1, 3), _percent(2, 1_002_001), _percent(3, 3)
    ('33.3%', '0.0002%', '100%')
    """
    if count in (0, total):
        return f"{100 * count // max(total, 1)}%"
    digits = next(n for n in range(1, 30) if 0 < round(100 * count / total, n) < 100)
    return f"{100 * count / total:.{digits}f}%"


# -- the demonstration -----------------------------------------------------------------------------


class Scene(NamedTuple):
    """A story of the demonstration: what is printed, and the same as a document."""

    name: str
    page: RenderableType
    document: dict[str, Any]


def demo_scenes() -> Iterator[Scene]:
    """Three stories in which the definitions part ways; every verdict and number is computed here."""
    yield _bottle()
    yield _fire()
    yield _pusher()


def demo_close() -> RenderableType:
    """What to try next."""
    lines = (
        "actcause ask rock-throwing --event BT=1  # did Billy break it?",
        "actcause partition rock-throwing         # the causes in every state",
        "actcause examples                        # the literature's models",
    )
    return Group(Rule(Text("Try next", style="bold"), align="left"), _block("\n".join(lines)))


def _bottle() -> Scene:
    example = examples.load("rock-throwing")
    answers = _by_every_definition(example)
    verdict = is_cause(example.model, context=example.context, effect=example.effect, event={"ST": 1})
    assert verdict.witness is not None
    page = Group(
        *_opening(example),
        verdict_table(answers),
        *_notes(answers),
        Text(f"{verdict.sentence} {replayed(verdict.query, verdict.witness)}"),
        Text(_alone("but-for", answers)),
    )
    return Scene(example.name, page, {"answers": [a.to_json() for a in answers], "verdict": verdict.to_json()})


def _fire() -> Scene:
    example = examples.load("forest-fire-disjunctive")
    answers = _by_every_definition(example)
    page = Group(*_opening(example), verdict_table(answers), *_notes(answers), Text(_alone("but-for", answers)))
    return Scene(example.name, page, {"answers": [a.to_json() for a in answers]})


def _pusher() -> Scene:
    from .find import partitions

    example = examples.load("pusher-1d")
    model, obstacle = example.model, example.context["X"]
    verdicts = [
        is_cause(
            model,
            context=example.context,
            effect=example.effect,
            event={"X": obstacle},
            definition=definition,
            alpha_sufficiency=example.alpha_sufficiency,
            alpha_necessity=example.alpha_necessity,
        )
        for definition in ("modified-hp", "functional")
    ]
    started = perf_counter()
    found = partitions(
        model,
        outcome=example.outcome,
        alpha_sufficiency=example.alpha_sufficiency,
        alpha_necessity=example.alpha_necessity,
    )
    cost = found.cost
    seconds = perf_counter() - started
    preimages = _preimages(next(iter(found)))
    states = sum(preimage.count for preimage in preimages)
    unmoved = model.ranges[example.outcome][0]
    page = Group(
        *_opening(example),
        Text(f"Is the obstacle a cause, {abs(unmoved - obstacle)} steps from where the block stood?"),
        *_reasons(verdicts),
        Text(_rarity(verdicts[-1])),
        Text(f"What matters, in all {states:,} states (solved exactly in {seconds:.2f} s):", style="bold"),
        preimage_table(found, preimages),
    )
    document = {
        "verdicts": [verdict.to_json() for verdict in verdicts],
        "states": states,
        "cost": cost,
        "preimages": {preimage.binary: preimage.count for preimage in preimages},
        "seconds": seconds,
    }
    return Scene(example.name, page, document)


def _rarity(verdict: Verdict) -> str:
    """How many values of the event's one variable would have undone the effect, against what is asked for."""
    query = verdict.query
    [name] = verdict.event
    effects = [query.effect.value(query.model.evaluate(query.context, {name: x})) for x in query.model.ranges[name]]
    undone = len(effects) - sum(map(bool, effects))
    asked = f"; {query.definition} asks for a share of {query.alpha_necessity}" if query.alpha_necessity else ""
    return f"Of the {len(effects):,} values of {name}, {undone:,} would have undone it{asked}."


def _opening(example: Example) -> list[RenderableType]:
    return [
        Rule(Text(example.title, style="bold"), align="left"),
        Text(example.story),
        _block(example.text),
        Text(f"In the context {_assignments(example.context)}: what caused {example.effect}?", style="bold"),
    ]


def _by_every_definition(example: Example) -> list[Answer]:
    return [
        causes(
            example.model,
            context=example.context,
            effect=example.effect,
            definition=definition,
            alpha_sufficiency=example.alpha_sufficiency,
            alpha_necessity=example.alpha_necessity,
        )
        for definition in DEFINITIONS
    ]


def _alone(definition: str, answers: Iterable[Answer]) -> str:
    """Which single events a definition blames, in a sentence."""
    answer = next(answer for answer in answers if answer.query.definition == definition)
    alone = [_assignments(cause.event) for cause in answer.causes if len(cause.event) == 1]
    effect = answer.query.effect_text
    if alone:
        return f"By {definition}, what caused {effect} is {' and '.join(alone)}."
    return f"By {definition}, no single event caused {effect}: undo any one of them, and it still happens."


# -- words -----------------------------------------------------------------------------------------


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(Text(column))
    return table


def _cell(word: str) -> Text:
    return Text(word, style=STYLES[word])


def _block(content: str) -> Padding:
    return Padding(Text(content, style="cyan"), (0, 0, 0, 4), expand=False)


def _indented(sentence: str) -> Padding:
    return Padding(Text(sentence), (0, 0, 0, 2), expand=False)


def _question(answer: Answer | Verdict) -> str:
    query = answer.query
    asked = f"was {_assignments(answer.event)} a cause of" if isinstance(answer, Verdict) else "what caused"
    return f"In the context {_assignments(query.context)}: {asked} {query.effect}?"


def _titled(query: Query) -> str:
    return f"{query.definition} ({DEFINITIONS[query.definition].citation})"


def _word(held: bool | None) -> str:
    return "open" if held is None else "yes" if held else "no"


def _as_option(sentence: str) -> str:
    """Python's parameter names as the options that they are on the command line."""
    for name in ("max_seconds", "max_causes"):
        sentence = sentence.replace(name, "--" + name.replace("_", "-"))
    return sentence


def _assignments(assignment: Mapping[str, int], limit: int = 8) -> str:
    parts = [f"{name}={value}" for name, value in list(assignment.items())[:limit]]
    if len(assignment) > limit:
        parts.append(f"{len(assignment) - limit} more")
    return ", ".join(parts) or "nothing set"
