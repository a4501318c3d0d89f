"""Where the page keeps what a run says about rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data import library


def locate_findings(payload: Mapping[str, Any]) -> Path:
    """Locate what a run says about a source; both names have been looked up."""
    run = library.find_run(Path(payload["runs"]), str(payload["run"]))
    source = payload["source"]
    if source.get("file"):
        library.find_recording(Path(payload["data"]), str(source["file"]))
    judged = ".hindsight" if payload.get("hindsight") else ""
    return run / "found" / f"{library.source_key(source)}{judged}.parquet"
