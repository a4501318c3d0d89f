"""Transitions and recordings: our files and other people's, collecting from domains, recording environments."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import DataError, import_extra
from .collect import collect
from .collect_recording import collect_recording
from .describe import Description, describe, describe_domain
from .domains import domain_names, make_domain, make_seeded_domain
from .film import film_recording, replay
from .layout import Layout
from .minari import from_minari
from .parquet import count_rows
from .recording import Recording, join_recordings
from .roles import ChosenMapping, choose_mapping
from .row_arrays import concatenate
from .standardise import Standardiser
from .trace import trace
from .transitions import Transitions, load, read_batches
from .writer import Writer, convert

if TYPE_CHECKING:
    from .recorder import Recorder, record

__all__ = [
    "ChosenMapping",
    "DataError",
    "Description",
    "Layout",
    "Recorder",
    "Recording",
    "Standardiser",
    "Transitions",
    "Writer",
    "choose_mapping",
    "collect",
    "collect_recording",
    "concatenate",
    "convert",
    "count_rows",
    "describe",
    "describe_domain",
    "domain_names",
    "film_recording",
    "from_minari",
    "join_recordings",
    "load",
    "make_domain",
    "make_seeded_domain",
    "read_batches",
    "record",
    "replay",
    "trace",
]


def __getattr__(name: str) -> Any:
    """Import the recorder, and Gymnasium with it, when it is first asked for."""
    if name not in ("Recorder", "record"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_extra("gymnasium", "Recording an environment", "envs")
    return getattr(import_module(f"{__name__}.recorder"), name)
