"""What experiments on discrete models share: all minimal pairs of an example."""

from __future__ import annotations

from typing import Any

from ..core.find import partitions
from ..core.spaces.state_space import StateSpace
from ..examples import load

USES = ("examples", "core.find", "core.text", "reproduction.exact")
SOLVERS = ("auto", "algorithm-0")


def solved(
    name: str, alpha_sufficiency: float | None, alpha_necessity: float | None, solver: str = "auto"
) -> dict[str, Any]:
    """All binary-subset pairs of least cost of an example, state by state."""
    example = load(name)
    found = partitions(
        StateSpace.from_model(example.model, example.outcome),
        alpha_sufficiency=alpha_sufficiency,
        alpha_necessity=alpha_necessity,
        solver=solver,
    )
    first = found.first()
    return {
        "variables": list(found.variables),
        "outcome": found.outcome,
        "states": [[*row.state.values(), row.outcome] for row in first],
        "pairs": [[row.binary for row in pair] for pair in found],
        "cost": found.cost,
        "count": found.count,
    }
