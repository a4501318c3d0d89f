"""Probabilities of causation: necessity, sufficiency, and having been an actual cause."""

from .causal_probabilities import Probabilities, probabilities
from .estimate import Estimate

__all__ = ["Estimate", "Probabilities", "probabilities"]
