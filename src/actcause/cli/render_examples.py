"""The literature's models: a table of all, and a page for each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from ..examples import Example
from .render import assignments, block, draw_mark, draw_table


def example_table(listed: Sequence[Example]) -> RenderableType:
    """Draw one line for each example."""
    table = draw_table("name", "title", "effect", "source")
    table.columns[0].no_wrap = table.columns[2].no_wrap = True
    for example in listed:
        table.add_row(example.name, example.title, example.effect, _shorten_citation(example.source))
    return Group(table, Text(f"{len(listed)} examples. Show one with: actcause examples NAME"))


def _shorten_citation(citation: str) -> str:
    """Keep the authors and the year of a citation, for a table.

    >>> _shorten_citation("Hopkins and Pearl, Clarifying the Usage of Structural Models, AAAI Spring Symposium, 2003")
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
            table.add_row(event, draw_mark("cause" if holds else "no"), ", ".join(definitions), source)
        parts.append(table)
    parts.extend(Text(f"Note: {note}") for note in example.notes)
    parts.append(Text(f"Ask it yourself: actcause ask {example.name} --definition all"))
    return Group(*parts)
