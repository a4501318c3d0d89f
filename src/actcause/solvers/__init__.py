"""HOW causes are found: one way of searching, one file. `exhaustive` is the oracle."""

from __future__ import annotations

from .base import Solver
from .exhaustive import Exhaustive

__all__ = ["Exhaustive", "Solver"]
