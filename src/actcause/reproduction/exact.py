"""What experiments on discrete models share: all minimal pairs of an example."""

from __future__ import annotations

from typing import Any

from ..core.find import partitions
from ..core.spaces.state_space import StateSpace
from ..examples import load

USES = ("exact",)
SOLVERS = ("auto", "algorithm-0")


def solve_example(
    name: str, alpha_sufficiency: float | None, alpha_necessity: float | None, solver: str = "auto"
) -> dict[str, Any]:
    """Find all binary-subset pairs of least cost of an example, state by state."""
    example = load(name)
    pairs = partitions(
        StateSpace.from_model(example.model, example.outcome),
        alpha_sufficiency=alpha_sufficiency,
        alpha_necessity=alpha_necessity,
        solver=solver,
    )
    first = pairs.first()
    return {
        "variables": list(pairs.variables),
        "outcome": pairs.outcome,
        "states": [[*row.state.values(), row.outcome] for row in first],
        "pairs": [[row.binary for row in pair] for pair in pairs],
        "cost": pairs.cost,
        "count": pairs.count,
    }
