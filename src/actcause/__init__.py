r"""What actually caused this? Exact actual causality, definition by definition.

>>> import actcause as ac
>>> model = ac.Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
>>> print(ac.is_cause(model, context={"ST": 1, "BT": 1}, effect="BS == 1", event={"ST": 1}))
ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _moved
from ._version import __version__ as __version__
from .core.answer import Answer, Cause, Query, Replay, Status, Verdict, Witness
from .core.compare import Comparison, Opinion, compare
from .core.definitions import DEFINITIONS
from .core.equation import vectorized
from .core.find import causes, is_cause, partitions
from .core.model import Model
from .core.normality import Normality
from .core.responsibility import blame, responsibility
from .errors import ActCauseError, MissingExtraError, ModelError, ParseError, QueryError

if TYPE_CHECKING:
    from . import examples, formats
    from .core.black_boxes import BlackBox, BoxAnswer, BoxCause, BoxReplay, BoxVerdict, BoxWitness, Interval
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
    from .core.probabilities import Estimate, Probabilities, probabilities
    from .core.spaces.preimages import Pair, Partitions, Preimage
    from .core.spaces.state_space import StateSpace
    from .core.trace import Trace
    from .core.trace_causes import trace_causes
    from .data import DataError, Transitions
    from .questions.trace_file import read_trace

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


# What most questions do not need, and where it is imported from when it is first asked for.
_LATER = {
    "core.black_boxes": "BlackBox BoxAnswer BoxCause BoxReplay BoxVerdict BoxWitness Interval",
    "core.explanations": "Explanation ExplanationVerdict Explanations SufficiencyVerdict SufficientCause "
    "SufficientCauses explanations is_explanation is_sufficient_cause partial_explanations sufficient_causes",
    "core.probabilities": "Estimate Probabilities probabilities",
    "core.spaces.preimages": "Pair Partitions Preimage",
    "core.spaces.state_space": "StateSpace",
    "core.trace": "Trace",
    "core.trace_causes": "trace_causes",
    "data": "DataError Transitions",
    "questions.trace_file": "read_trace",
}
_HOMES = {name: module for module, names in _LATER.items() for name in names.split()}
_ROOMS = ("envs", "examples", "formats", "learn", "rl")


def __getattr__(name: str) -> Any:
    """Import what the exact core does not need when it is first asked for."""
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
