"""One episode of a recording as the page plays it: states, scenes, true causes, and what a run found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.episodes import find_eventful_rows, list_episodes
from ...data.found import read_found, view_found
from ...errors import ActCauseError, QueryError
from ..data import library
from .judged_files import locate_findings
from .whole_states import choose_outcome, describe_graphs, is_graph_run, load_judged

if TYPE_CHECKING:
    from ...data import Recording, Transitions
    from ...envs import BaseDomain

MOST_STEPS = 1000
MOST_NUMBERS = 200_000  # that are sent
BLOCK = 100  # rows that are taken for an episode where a recording has none
DIGITS = 6

Array = np.ndarray[Any, Any]


def read_episode(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Read the episode at position `at`, or the first in which something other than the outcome's own state acts."""
    source = payload["source"]
    data, whole = _load_rows(payload)
    numbers = np.arange(len(data)) // BLOCK if data.episode is None else data.episode
    every, found = list_episodes(numbers), read_found(data)
    eventful = np.flatnonzero(np.isin(every, numbers[find_eventful_rows(data, found)])).tolist()
    at = payload.get("at")
    if at is None:
        at = eventful[0] if eventful else 0
    if not 0 <= at < len(every):
        raise QueryError(f"There is no episode {at + 1}; this recording has {len(every)}.")
    rows = np.flatnonzero(numbers == every[at])
    edges = 0 if whole is None else len(whole.outcomes) * len(whole.factors)
    steps = min(len(rows), MOST_STEPS, max(1, MOST_NUMBERS // (_numbers_per_step(data) + edges)))
    part = data.subset(rows[:steps])
    return {
        "source": library.describe_source(source),
        "at": int(at),
        "episodes": len(every),
        "named": data.episode is not None,
        "next": next((other for other in eventful if other > at), None),
        "length": len(rows),
        "steps": steps,
        **library.describe_layout(data.layout),
        "edges": list(data.edges),
        "state": [
            [round_numbers(row[k, : len(data.features[factor])]) for k, factor in enumerate(data.factors)]
            for row in part.state
        ],
        "outcome": round_numbers(part.outcome),
        "low": [round_numbers(values) for values in data.state.min(axis=0)],
        "high": [round_numbers(values) for values in data.state.max(axis=0)],
        "present": None if part.mask is None else part.mask.astype(int).tolist(),
        "cause": None if part.cause is None else part.cause.astype(int).tolist(),
        "found": None if found is None else found[rows[:steps]].astype(int).tolist(),
        **_read_predictions(part),
        **_build_scenes(part),
        "graph": None if whole is None else describe_graphs(whole, whole.rows_of(data.outcome_factor)[rows[:steps]]),
    }


def _load_rows(payload: Mapping[str, Any]) -> tuple[Transitions, Recording | None]:
    """Load the rows that are shown, and the whole states that they are a view of, where there are any."""
    whole, judged = load_judged(payload), None
    if payload.get("run") and not is_graph_run(payload):
        path = locate_findings(payload)
        if not path.is_file():
            raise QueryError("What this run says of these rows has not been computed yet.")
        judged = library.read_rows(path, path.stat().st_mtime_ns)
    if whole is None:
        return judged or library.load_rows(payload["source"], Path(payload["data"])), None
    return judged or view_found(whole, choose_outcome(whole, payload.get("outcome"))), whole


def round_numbers(values: Array) -> list[Any]:
    """Round numbers to as many digits as a page needs.

    >>> round_numbers(np.array([0.1 + 0.2, 123456.789, 0.0]))
    [0.3, 123457.0, 0.0]
    """
    exact = np.asarray(values, dtype=np.float64)
    size = np.floor(np.log10(np.where(exact == 0, 1.0, np.abs(exact))))
    unit = 10.0 ** np.clip(DIGITS - 1 - size, -300, 300)
    listed: list[Any] = (np.round(exact * unit) / unit).tolist()
    return listed


def _numbers_per_step(data: Transitions) -> int:
    factors, outputs = len(data.factors), len(data.outcome_features)
    return factors * (data.layout.width + 12) + outputs * (2 + factors)


def _read_predictions(part: Transitions) -> dict[str, Any]:
    """Read the probabilities, doubts and predictions that stand beside the rows."""
    names, outputs = part.factors, part.outcome_features
    chances = [part.extra.get(f"probability.{factor}") for factor in names]
    if all(chance is None for chance in chances):
        return {"probability": None, "unsure": None, "expected": None, "without": None}
    ones = np.ones(len(part))
    expected = [f"expected.{name}" for name in outputs]
    predicted = all(column in part.extra for column in expected)
    without = {
        factor: _join(part, [f"without.{factor}.{name}" for name in outputs])
        for factor in names
        if predicted and all(f"without.{factor}.{name}" in part.extra for name in outputs)
    }
    return {
        "probability": round_numbers(np.stack([ones if one is None else one for one in chances], axis=1)),
        "unsure": part.extra["unsure"].astype(int).tolist() if "unsure" in part.extra else None,
        "expected": _join(part, expected) if predicted else None,
        "without": without or None,
    }


def _join(part: Transitions, columns: list[str]) -> list[Any]:
    return round_numbers(np.stack([part.extra[column] for column in columns], axis=1))


# -- pictures --------------------------------------------------------------------------------------


def _build_scenes(part: Transitions) -> dict[str, Any]:
    """Build what the page paints for each step, where the domain has a picture."""
    from ...envs.drawing import SCENES
    from ...worlds import drawing as worlds

    pictured = {kind.name: build for kind, build in (*SCENES.items(), *worlds.SCENES.items())}
    build = pictured.get(str(part.metadata.get("domain")))
    domain = None if build is None else _rebuild_domain(part)
    if domain is None or build is None:
        return {"domain": None, "scenes": None}
    scenes, walls = [], None
    for row, world in enumerate(part.state[:, :, : domain.width].astype(float)):
        scene = build(domain, world)
        if part.mask is not None:
            scene = worlds.leave_out(scene, domain, part.mask[row])
        drawn = [[list(map(float, point)) for point in wall] for wall in scene.walls]
        scenes.append(
            {
                "view": [float(edge) for edge in scene.view],
                "bodies": [_describe_body(body) for body in scene.bodies],
                "walls": None if drawn == walls else drawn,  # none: those of the step before
                "action": None if scene.action is None else [scene.action[0], *map(float, scene.action[1])],
                "whole": None if scene.whole is None else list(map(float, scene.whole)),
            }
        )
        walls = drawn
    return {"domain": domain.title, "scenes": scenes}


def _describe_body(body: Any) -> list[Any]:
    """Name, midpoint, extent, role, and whether it is round."""
    from ...envs.canvas import AGENT, GOAL, OUTCOME, THING

    roles = {AGENT: "agent", OUTCOME: "outcome", THING: "thing"}
    role = roles.get(body.colour, "goal" if body.outline == GOAL else "gone")
    return [body.name, *round_numbers(np.array([*body.place, *body.extent])), role, int(body.round)]


def _rebuild_domain(part: Transitions) -> BaseDomain | None:
    """Rebuild the domain that a recording says it is of, if its factors and features bear that out."""
    from ...data.domains import rebuild_domain

    if not isinstance(part.metadata.get("parameters"), Mapping):
        return None
    try:
        domain = rebuild_domain(part.metadata)
        same = domain.factors == part.factors and dict(domain.features) == dict(part.features)
    except (ActCauseError, TypeError, ValueError, OverflowError, MemoryError):
        return None
    return domain if same else None
