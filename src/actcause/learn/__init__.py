"""Learning actual causes from observed transitions: no model, no labels.

>>> from actcause.learn import names
>>> "jaci-em" in names()
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from ..errors import suggest
from .attn import Attention
from .base import Learner
from .cf import Counterfactual
from .check import check_learner
from .cmi import LeaveOneOut
from .errors import LearnError, RunError
from .grad import Gradient
from .granger import Pairwise
from .jaci import PaperJACI
from .jaci_em import JACI
from .metrics import Evaluation, edge_error, evaluate, resampled
from .ncd import GumbelMask
from .preimages import LearnedPreimages, learned_preimages
from .proximity import Proximity
from .session import fit_many
from .trivial import Always, Never

KINDS: tuple[type[Learner], ...] = (
    JACI,
    PaperJACI,
    Gradient,
    Attention,
    Counterfactual,
    LeaveOneOut,
    GumbelMask,
    Pairwise,
    Proximity,
    Never,
    Always,
)
METHODS: Mapping[str, type[Learner]] = MappingProxyType({kind.method: kind for kind in KINDS})


def names() -> tuple[str, ...]:
    """The names of all methods, the default first."""
    return tuple(METHODS)


def make(name: str, **options: Any) -> Learner:
    """Build a learner by its method's name; options are those of its class, checked when it is fitted.

    >>> make("jaci-me")
    Traceback (most recent call last):
    ...
    actcause.learn.errors.LearnError: Unknown method 'jaci-me'; did you mean 'jaci-em'?
    """
    if not isinstance(name, str) or name not in METHODS:
        hint = suggest(str(name), METHODS) or f"; choose one of {', '.join(METHODS)}."
        raise LearnError(f"Unknown method {name!r}{hint}")
    known = [field.name for field in fields(METHODS[name])]
    for option in options:
        if option not in known:
            hint = suggest(option, known) or f"; it takes {', '.join(known)}."
            raise LearnError(f"The method {name} does not take the option '{option}'{hint}")
    return METHODS[name](**options)


__all__ = [
    "JACI",
    "METHODS",
    "Always",
    "Attention",
    "Counterfactual",
    "Evaluation",
    "Gradient",
    "GumbelMask",
    "LearnError",
    "LearnedPreimages",
    "Learner",
    "LeaveOneOut",
    "Never",
    "Pairwise",
    "PaperJACI",
    "Proximity",
    "RunError",
    "check_learner",
    "edge_error",
    "evaluate",
    "fit_many",
    "learned_preimages",
    "make",
    "names",
    "resampled",
]
