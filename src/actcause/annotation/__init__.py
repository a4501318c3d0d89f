"""Recordings of any size with what caused the outcome of every row, by many workers, going on where they stopped.

learner = runs.load(run)
with engine("local", workers=2) as workers:
    annotate_files(jobs(["data/*.parquet"], "causes/"), Request.of(run, learner), workers)
"""

from __future__ import annotations

from ..engines import Engine
from .errors import AnnotationError
from .files import Job, jobs
from .pieces import Request
from .progress import progress
from .running import Annotation, Workers, annotate_files

__all__ = ["Annotation", "AnnotationError", "Job", "Request", "Workers", "annotate_files", "jobs", "on", "progress"]


def on(engine: Engine) -> Workers:
    """The workers of an engine; those of a Ray cluster get their tasks through Ray Data."""
    from ..engines.rays import Ray

    if isinstance(engine, Ray):
        from .rays import RayData

        return RayData(engine)
    return engine
