"""Explanations and sufficient causes: what one would have to find out, given what one knows."""

from .answer import Explanation, ExplanationQuery, Explanations, ExplanationVerdict
from .explain import explanations, is_explanation

__all__ = [
    "Explanation",
    "ExplanationQuery",
    "ExplanationVerdict",
    "Explanations",
    "explanations",
    "is_explanation",
]
