"""What a worker answers for the view Preimages: a state space coloured by binary, why a state has its own, all costs.

Each function takes the question of a request and gives what the page shows.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from ... import examples
from ...core.definitions import OutOfBudget
from ...errors import ActCauseError, QueryError
from . import pictures
from .cache import SpaceQuestion, limit_time
from .pictures import Axes, ColouredStates
from .reasons import StateExplanation

MOST_STATES = 64  # of a space whose valid pairs are all counted


@limit_time()
def picture(payload: dict[str, Any]) -> dict[str, Any]:
    """Show a pair of least cost as a grid or a table, with its legend and its numbers."""
    began = perf_counter()
    question = SpaceQuestion.of(payload)
    walk, space = question.load_pairs(), question.load_space()
    now, before = walk.read_pair(payload["pair"])
    coloured = ColouredStates.of(space, now)
    example = examples.load(payload["example"]) if payload["example"] else None
    show = pictures.choose_view(space) if payload["show"] == "auto" else payload["show"]
    axes = Axes.of(space, payload["axes"], payload["held"], example.context if example and not payload["text"] else {})
    return {
        "example": None if example is None else {"name": example.name, "title": example.title, "story": example.story},
        "text": question.text,
        "outcome": question.outcome,
        "outcomes": [name for name in space.model.variables if name not in space.model.exogenous],
        "where": question.where,
        "alpha_sufficiency": None if question.sufficiency is None else str(question.sufficiency),
        "alpha_necessity": None if question.necessity is None else str(question.necessity),
        "variables": list(space.states.variables),
        "roots": pictures.list_roots(space),
        "states": len(space.states),
        "cost": walk.partitions.cost,
        "count": pictures.format_count(walk.partitions.count),
        "pair": payload["pair"],
        "pairs": walk.most,
        "changes": pictures.list_changes(space, before, now),
        "legend": coloured.build_legend(),
        "binaries": len(coloured.masks),
        "lengths": coloured.count_lengths(),
        "show": show,
        "axes": [name for name in (axes.across, axes.up) if name is not None],
        "held": dict(axes.held),
        "grid": pictures.build_grid(coloured, axes) if show == "picture" else None,
        "table": pictures.build_table(coloured, before, now) if show == "table" else None,
        "why": _explain_at_once(payload) if payload["context"] else None,
        "seconds": round(perf_counter() - began, 3),
    }


def _explain_at_once(payload: dict[str, Any]) -> dict[str, Any] | None:
    """Explain the binary of a state; None if it is no state of this space, or would keep the picture waiting."""
    try:
        return _explain(payload, seconds=0.5)
    except (ActCauseError, OutOfBudget):
        return None


@limit_time()
def why(payload: dict[str, Any]) -> dict[str, Any]:
    """Explain the binary of a state in a pair."""
    return _explain(payload)


def _explain(payload: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
    question = SpaceQuestion.of(payload)
    walk, space = question.load_pairs(), question.load_space()
    space.clock.start(seconds)
    masks, _ = walk.read_pair(payload["pair"])
    return StateExplanation(question, space, space.find(payload["context"]), masks).to_json()


@limit_time()
def histogram(payload: dict[str, Any]) -> dict[str, Any]:
    """Count the valid pairs of each cost, minimal or not (Figure 7b of the paper)."""
    question = SpaceQuestion.of(payload)
    states = len(question.load_space().states)
    if states > MOST_STATES:
        raise QueryError(f"All valid pairs are counted for up to {MOST_STATES} states; this space has {states:,}.")
    counts = question.load_pairs().partitions.histogram()
    total = sum(counts.values())
    return {
        "total": pictures.format_count(total),
        "costs": [
            {"cost": cost, "pairs": pictures.format_count(many), "part": many / total} for cost, many in counts.items()
        ],
    }
