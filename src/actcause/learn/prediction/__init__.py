"""Recordings of any size with what caused the outcome of every row, by many workers, going on where they stopped.

learner = runs.load(run)
with engine("local", workers=2) as workers:
    annotate_files(jobs(["data/*.parquet"], "causes/"), Request.of(run, learner), workers)
"""

from __future__ import annotations

from ...cli.prediction_progress import progress
from ...parallel import Engine
from .annotate import Annotation, Workers, annotate_files
from .errors import AnnotationError
from .files import Job, jobs
from .row_groups import Request

__all__ = ["Annotation", "AnnotationError", "Job", "Request", "Workers", "annotate_files", "jobs", "on", "progress"]


def on(engine: Engine) -> Workers:
    """The workers of an engine; those of a Ray cluster get their tasks through Ray Data."""
    from ...parallel.ray_cluster import Ray

    if isinstance(engine, Ray):
        from .ray_data import RayData

        return RayData(engine)
    return engine
