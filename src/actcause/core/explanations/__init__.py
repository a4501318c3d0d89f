"""Explanations and sufficient causes: what one would have to find out, given what one knows."""

from .answer import Explanation, ExplanationQuery, Explanations, ExplanationVerdict
from .explain import explanations, is_explanation
from .partial import partial_explanations
from .sufficient import (
    SufficiencyVerdict,
    SufficientCause,
    SufficientCauses,
    is_sufficient_cause,
    sufficient_causes,
)

__all__ = [
    "Explanation",
    "ExplanationQuery",
    "ExplanationVerdict",
    "Explanations",
    "SufficiencyVerdict",
    "SufficientCause",
    "SufficientCauses",
    "explanations",
    "is_explanation",
    "is_sufficient_cause",
    "partial_explanations",
    "sufficient_causes",
]
