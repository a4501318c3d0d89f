"""Predict the causes of every row of recordings of any size, by many workers, going on where they stopped."""

from __future__ import annotations

from .files import PredictionError
from .predict import PredictedFiles, predict_files

__all__ = ["PredictedFiles", "PredictionError", "predict_files"]
