"""HOW causes are found: one way of searching, one file. `exhaustive` is the oracle."""

from .base import Solver
from .circuit import TooManyClausesError
from .contingency import OriginalHPEncoding, UpdatedHPEncoding
from .counterfactual import ButForEncoding, ModifiedHPEncoding
from .exhaustive import Exhaustive
from .long_models import LongModelSolver, is_long
from .minimal_causes import Encoding, SatSolver
from .networks import StrongEncoding
from .sufficiency import DirectEncoding

ENCODINGS: dict[str, type[Encoding]] = {
    "but-for": ButForEncoding,
    "original-hp": OriginalHPEncoding,
    "updated-hp": UpdatedHPEncoding,
    "modified-hp": ModifiedHPEncoding,
    "direct": DirectEncoding,
    "strong": StrongEncoding,
}

__all__ = [
    "ENCODINGS",
    "Encoding",
    "Exhaustive",
    "LongModelSolver",
    "SatSolver",
    "Solver",
    "TooManyClausesError",
    "is_long",
]
