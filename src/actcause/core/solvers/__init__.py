"""HOW causes are found: one way of searching, one file. `exhaustive` is the oracle."""

from __future__ import annotations

from .base import Solver
from .circuit import TooManyClausesError
from .contingency import OriginalHPEngine, UpdatedHPEngine
from .counterfactual import ButForEngine, ModifiedHPEngine
from .exhaustive import Exhaustive
from .minimal import Engine, EngineSolver
from .sufficiency import DirectEngine, StrongEngine

ENGINES: dict[str, type[Engine]] = {
    "but-for": ButForEngine,
    "original-hp": OriginalHPEngine,
    "updated-hp": UpdatedHPEngine,
    "modified-hp": ModifiedHPEngine,
    "direct": DirectEngine,
    "strong": StrongEngine,
}

__all__ = ["ENGINES", "Engine", "EngineSolver", "Exhaustive", "Solver", "TooManyClausesError"]
