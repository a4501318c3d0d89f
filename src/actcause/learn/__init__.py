"""Learning actual causes from observed transitions: no model, no labels.

>>> from actcause.learn import names
>>> "jaci-em" in names()
True

Importing this package does not import torch; naming a learner does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import LearnError, RunError
from .registry import HOMES, METHODS, make, names

if TYPE_CHECKING:
    from .check import check_learner
    from .evaluation import Evaluation, edge_error, evaluate, resampled
    from .graph_runs import (
        GraphEvaluation,
        TrainedGraphs,
        evaluate_graphs,
        find_graphs,
        predict_graphs,
        trace_run,
        train_graphs,
    )
    from .learner import Learner
    from .loading import load
    from .local_graphs import LocalGraphs, measure_errors
    from .methods.attn import Attention
    from .methods.cf import Counterfactual
    from .methods.cmi import LeaveOneOut
    from .methods.exchange import ExchangeJACI
    from .methods.grad import Gradient
    from .methods.granger import Pairwise
    from .methods.jaci import JACI
    from .methods.mask_jaci import MaskJACI
    from .methods.ncd import GumbelMask
    from .methods.ncii import NullCounterfactual
    from .methods.paper_jaci import PaperJACI
    from .methods.proximity import Proximity
    from .methods.trivial import Always, Never
    from .prediction import (
        FoundCounts,
        PredictedFiles,
        PredictionError,
        add_predictions,
        count_found,
        count_found_graphs,
        predict_files,
    )
    from .preimages import LearnedPreimages, learned_preimages
    from .run_evaluation import RunEvaluation, evaluate_run
    from .run_training import train_run
    from .seeds import SeedComparison, compare_seeds, fit_best
    from .sweeps.sweep import sweep
    from .training.session import fit_many
    from .without_each import add_predictions_without_each, predict_without_each

# Where the names live that are imported when they are first asked for.
_HOMES = {
    "check": ("check_learner",),
    "evaluation": ("Evaluation", "edge_error", "evaluate", "resampled"),
    "graph_runs": (
        *("GraphEvaluation", "TrainedGraphs", "evaluate_graphs", "find_graphs", "predict_graphs", "trace_run"),
        "train_graphs",
    ),
    "learner": ("Learner",),
    "loading": ("load",),
    "local_graphs": ("LocalGraphs", "measure_errors"),
    "prediction": (
        *("FoundCounts", "PredictedFiles", "PredictionError", "add_predictions", "count_found", "count_found_graphs"),
        "predict_files",
    ),
    "preimages": ("LearnedPreimages", "learned_preimages"),
    "run_evaluation": ("RunEvaluation", "evaluate_run"),
    "run_training": ("train_run",),
    "seeds": ("SeedComparison", "compare_seeds", "fit_best"),
    "sweeps.sweep": ("sweep",),
    "training.session": ("fit_many",),
    "without_each": ("add_predictions_without_each", "predict_without_each"),
}
_FILES = {name: file for file, names in _HOMES.items() for name in names}
_FILES |= {name: f"methods.{file}" for file, name in HOMES.values()}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)


__all__ = [
    "JACI", "METHODS", "Always", "Attention", "Counterfactual", "Evaluation", "ExchangeJACI", "FoundCounts", "Gradient",
    "GraphEvaluation", "GumbelMask", "LearnError", "LearnedPreimages", "Learner", "LeaveOneOut", "LocalGraphs",
    "MaskJACI", "Never", "NullCounterfactual", "Pairwise", "PaperJACI", "PredictedFiles", "PredictionError",
    "Proximity", "RunError", "RunEvaluation", "SeedComparison", "TrainedGraphs", "add_predictions",
    "add_predictions_without_each", "check_learner", "compare_seeds", "count_found", "count_found_graphs", "edge_error",
    "evaluate", "evaluate_graphs", "evaluate_run", "find_graphs", "fit_best", "fit_many",
    "learned_preimages", "load", "make", "measure_errors", "names", "predict_files", "predict_graphs",
    "predict_without_each", "resampled", "sweep", "trace_run", "train_graphs", "train_run",
]  # fmt: skip
