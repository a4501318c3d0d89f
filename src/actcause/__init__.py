r"""What actually caused this? Exact actual causality, definition by definition.

>>> import actcause as ac
>>> model = ac.Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
>>> print(ac.is_cause(model, context={"ST": 1, "BT": 1}, effect="BS == 1", event={"ST": 1}))
ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _moved, examples, formats
from ._version import __version__ as __version__
from .core.answer import Answer, Cause, Query, Replay, Status, Verdict, Witness
from .core.black_boxes import BlackBox, BoxAnswer, BoxCause, BoxReplay, BoxVerdict, BoxWitness, Interval
from .core.compare import Comparison, Opinion, compare
from .core.definitions import DEFINITIONS
from .core.equation import vectorized
from .core.explanations import (
    Explanation,
    Explanations,
    ExplanationVerdict,
    SufficiencyVerdict,
    SufficientCause,
    SufficientCauses,
    explanations,
    is_explanation,
    is_sufficient_cause,
    partial_explanations,
    sufficient_causes,
)
from .core.find import causes, is_cause, partitions
from .core.model import Model
from .core.normality import Normality
from .core.probabilities import Estimate, Probabilities, probabilities
from .core.responsibility import blame, responsibility
from .core.spaces.preimages import Pair, Partitions, Preimage
from .core.spaces.state_space import StateSpace
from .core.trace import Trace
from .core.trace_causes import trace_causes
from .errors import ActCauseError, MissingExtraError, ModelError, ParseError, QueryError
from .questions.trace_file import read_trace

if TYPE_CHECKING:
    from .data import DataError, Transitions

_moved.install()


__all__ = [
    "DEFINITIONS",
    "ActCauseError",
    "Answer",
    "BlackBox",
    "BoxAnswer",
    "BoxCause",
    "BoxReplay",
    "BoxVerdict",
    "BoxWitness",
    "Cause",
    "Comparison",
    "DataError",
    "Estimate",
    "Explanation",
    "ExplanationVerdict",
    "Explanations",
    "Interval",
    "MissingExtraError",
    "Model",
    "ModelError",
    "Normality",
    "Opinion",
    "Pair",
    "ParseError",
    "Partitions",
    "Preimage",
    "Probabilities",
    "Query",
    "QueryError",
    "Replay",
    "StateSpace",
    "Status",
    "SufficiencyVerdict",
    "SufficientCause",
    "SufficientCauses",
    "Trace",
    "Transitions",
    "Verdict",
    "Witness",
    "blame",
    "causes",
    "compare",
    "examples",
    "explanations",
    "formats",
    "is_cause",
    "is_explanation",
    "is_sufficient_cause",
    "partial_explanations",
    "partitions",
    "probabilities",
    "read_trace",
    "responsibility",
    "sufficient_causes",
    "trace_causes",
    "vectorized",
]


def __getattr__(name: str) -> Any:
    """Import data, domains and learners when they are first asked for; the exact core does not need them."""
    if name in ("DataError", "Transitions"):
        from . import data

        return getattr(data, name)
    if name in ("envs", "learn", "rl"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
