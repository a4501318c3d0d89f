"""Transitions: the value, its files, other people's files, collecting from domains, and descriptions."""

from __future__ import annotations

from ..errors import DataError
from .collect import collect
from .describe import Description, describe, describe_domain
from .domains import domain_names, make_domain, make_seeded_domain
from .files import convert, count_rows, load, read_batches
from .film import film_recording, replay
from .layout import Layout
from .minari import from_minari
from .row_arrays import concatenate
from .standardise import Standardiser
from .transitions import Transitions
from .writer import Writer

__all__ = [
    "DataError",
    "Description",
    "Layout",
    "Standardiser",
    "Transitions",
    "Writer",
    "collect",
    "concatenate",
    "convert",
    "count_rows",
    "describe",
    "describe_domain",
    "domain_names",
    "film_recording",
    "from_minari",
    "load",
    "make_domain",
    "make_seeded_domain",
    "read_batches",
    "replay",
]
