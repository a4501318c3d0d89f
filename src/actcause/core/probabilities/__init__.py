"""Probabilities of causation: necessity, sufficiency, and having been an actual cause."""

from ..estimate import Estimate
from .causal_probabilities import Probabilities, probabilities

__all__ = ["Estimate", "Probabilities", "probabilities"]
