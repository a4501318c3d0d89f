"""What a worker answers to those who do not know the context: explanations, and probabilities of causation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.answer import Status
from ...core.explanations import explanations
from ...core.probabilities import probabilities
from ...core.probabilities.causal_probabilities import show_probability
from .answers import SECONDS, STATUSES, name_definition, read_definitions, read_query

MOST_EXPLANATIONS = 12
SAMPLES = 2_000
FEWER = f"Only the first {MOST_EXPLANATIONS} explanations were looked for."
MEASURES = ("necessary (PN)", "sufficient (PS)", "both (PNS)")


def explain(payload: dict[str, Any]) -> dict[str, Any]:
    """Find what explains the effect relative to the contexts in which a formula holds, or to all."""
    query = read_query(payload)
    found = explanations(
        query.model,
        contexts=payload["contexts"] or None,
        effect=query.effect,
        definition=query.definition,
        max_explanations=MOST_EXPLANATIONS,
        max_seconds=SECONDS,
    )
    listed = [{"event": dict(each.event), "trivial": each.trivial, "sentence": each.sentence} for each in found]
    return {
        **name_definition(query.definition),
        "count": f"{len(found.query.contexts):,}",
        "explanations": listed,
        "status": found.status.value,
        "said": FEWER if found.status is Status.MAX_EXPLANATIONS else STATUSES.get(found.status),
    }


def weigh(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield how probably an event was necessary and sufficient, then by each definition how probably a cause."""
    query = read_query(payload)
    found = probabilities(
        query.model,
        prior=payload["prior"],
        event=payload["event"] or "",
        effect=query.effect,
        instead=payload["instead"] or None,
        evidence=payload["evidence"] or None,
        samples=SAMPLES,
        max_seconds=SECONDS,
    )
    shares = {"alpha_sufficiency": query.alpha_sufficiency, "alpha_necessity": query.alpha_necessity}
    values = (found.pn, found.ps, found.pns)
    measures = [
        {"name": name, "value": show_probability(value), "sentence": sentence.partition(": ")[2]}
        for name, value, sentence in zip(MEASURES, values, found.sentences(), strict=True)
    ]
    yield {"event": dict(found.query.event), "exact": found.exact, "measures": measures}
    for name in read_definitions(payload):
        yield {**name_definition(name), "value": show_probability(found.cause(name, **shares))}
