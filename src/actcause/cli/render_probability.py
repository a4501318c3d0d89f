"""What `actcause probability` shows to people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ..core.probabilities import Probabilities
from ..core.probabilities.causal_probabilities import show_probability
from .render import assignments, dim, draw_table, indent


def probability_page(found: Probabilities, definitions: Sequence[str]) -> RenderableType:
    """Draw PN, PS and PNS in sentences, and the probability of a cause by each definition."""
    query = found.query
    given = "" if query.evidence is None else f", given {query.evidence}"
    table = draw_table("definition", f"{assignments(query.event)} is a cause of {query.effect}{given}")
    for definition in definitions:
        table.add_row(definition, show_probability(found.cause(definition)))
    how = "These are exact." if found.exact else f"PN, PS and PNS are estimates from {found.samples:,} samples."
    return Group(*(indent(sentence) for sentence in found.sentences()), Text("Probability that"), table, dim(how))
