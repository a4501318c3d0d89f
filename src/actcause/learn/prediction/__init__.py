"""Predict the causes of every row of recordings of any size, by many workers, going on where they stopped."""

from __future__ import annotations

from .files import PredictionError
from .found_counts import FoundCounts, count_found, count_found_graphs
from .predict import PredictedFiles, predict_files
from .row_groups import add_predictions

__all__ = [
    "FoundCounts",
    "PredictedFiles",
    "PredictionError",
    "add_predictions",
    "count_found",
    "count_found_graphs",
    "predict_files",
]
