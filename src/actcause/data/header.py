"""Our files: Parquet with readable columns, its names and metadata inside.

The columns are `ball.x` for every feature of every factor, `next.ball.x` for the outcome, and where there are
such values `cause.paddle`, `present.block1`, `extra.pinned` and `episode`. One key of the file's metadata,
`actcause`, holds a JSON document with what the columns do not say: version, factors, features, own, outcome,
edges, and the metadata of the recording (domain, draw, seed). Files are written by row groups under another
name and renamed when they are whole, so that a file under its own name is never half a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from .layout import Layout
from .row_arrays import RowArrays
from .validate import copy_metadata

VERSION = 1
KEY = b"actcause"


@dataclass(frozen=True)
class Header:
    """What a file says about itself: its names, and which of the optional columns it has."""

    layout: Layout
    metadata: Mapping[str, Any]
    dtype: str
    width: int
    cause: bool
    mask: bool
    episode: bool
    extra: tuple[tuple[str, str], ...]  # names and types

    @classmethod
    def of(cls, data: RowArrays, metadata: Mapping[str, Any]) -> Header:
        extra = tuple((name, value.dtype.name) for name, value in data.extra.items())
        cause, mask, episode = (values is not None for values in (data.cause, data.mask, data.episode))
        return cls(data.layout, metadata, data.state.dtype.name, data.state.shape[2], cause, mask, episode, extra)

    @property
    def columns(self) -> dict[str, str]:
        """The names of the columns, in order, with their types."""
        layout = self.layout
        named = {f"{factor}.{name}": self.dtype for factor in layout.factors for name in layout.features[factor]}
        named |= {f"next.{layout.outcome_factor}.{name}": self.dtype for name in layout.outcome_features}
        named |= {f"cause.{factor}": "bool" for factor in layout.factors if self.cause}
        named |= {f"present.{factor}": "bool" for factor in layout.factors if self.mask}
        named |= {f"extra.{name}": dtype for name, dtype in self.extra}
        return named | ({"episode": "int64"} if self.episode else {})

    def to_json(self) -> str:
        layout = self.layout
        document = {
            "version": VERSION,
            "factors": layout.factors,
            "features": dict(layout.features),
            "own": layout.own,
            "outcome": {"factor": layout.outcome_factor, "features": layout.outcome_features},
            "edges": layout.edges,
            "width": self.width,
            "type": self.dtype,
            "cause": self.cause,
            "mask": self.mask,
            "episode": self.episode,
            "extra": self.extra,
            "metadata": dict(self.metadata),
        }
        return json.dumps(document, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: bytes, path: Path) -> Header:
        try:
            document = json.loads(text)
            version = document["version"]
            if isinstance(version, int) and version > VERSION:
                raise DataError(f"{path} was written by a newer actcause (version {version} of the format): update.")
            if document.get("kind") == "recording":
                raise DataError(
                    f"{path} is a recording of whole states, not one outcome's transitions: "
                    "say which outcome (--outcome NAME, or all), or read it with actcause.data.Recording.load."
                )
            outcome = document["outcome"]
            layout = Layout.build(
                document["factors"],
                document["features"],
                own=document["own"],
                outcome_factor=outcome["factor"],
                outcome_features=outcome["features"],
                edges=document["edges"],
            )
            dtype, width = document["type"], document["width"]
            cause, mask, episode = (document[name] for name in ("cause", "mask", "episode"))
            extra = tuple((str(name), str(kind)) for name, kind in document["extra"])
            sound = (
                all(isinstance(flag, bool) for flag in (cause, mask, episode))
                and dtype in ("float32", "float64")
                and isinstance(width, int)
                and layout.width <= width <= 1_000_000
                and all(np.dtype(kind).kind in "fiub" for _, kind in extra)
            )
            if not sound:
                raise ValueError
            return cls(layout, copy_metadata(document["metadata"]), dtype, width, cause, mask, episode, extra)
        except DataError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as wrong:
            raise DataError(f"{path} has an actcause header that cannot be understood: it may be damaged.") from wrong
