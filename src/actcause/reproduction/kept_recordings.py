"""Recordings kept as arrays in a folder: for machines that have a GPU, but neither simulators nor Parquet.

Where the environment names a folder (`ACTCAUSE_RECORDINGS`), what an experiment records of a domain is looked for there
first, and kept there if it is missing. `experiments/record_worlds.py` fills one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..data.transitions import Transitions
from ..errors import DataError
from ..io.atomic import write_whole

VARIABLE = "ACTCAUSE_RECORDINGS"
BITS = ("cause", "mask")


def recall(name: str, record: Callable[[], Transitions]) -> Transitions:
    """Load a recording from the folder of the environment, or make it and keep it there; without one, make it."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return record()
    path = Path(folder) / f"{name}.npz"
    if path.exists():
        return load_arrays(path)
    data = record()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_arrays(data, path)
    return data


def save_arrays(data: Transitions, path: Path) -> None:
    """Write everything that learning and scoring look at; `extra` is left out."""
    layout = data.layout
    header = {
        "factors": list(data.factors),
        "features": {name: list(features) for name, features in data.features.items()},
        "own": data.own,
        "outcome_factor": layout.outcome_factor,
        "outcome_features": list(layout.outcome_features),
        "edges": list(data.edges),
        "metadata": dict(data.metadata),
    }
    arrays: dict[str, Any] = {"state": data.state, "outcome": data.outcome}
    arrays |= {name: np.packbits(bits) for name in BITS if (bits := getattr(data, name)) is not None}
    if data.episode is not None:
        arrays["episode"] = data.episode
    with write_whole(path) as file:
        np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)


def load_arrays(path: Path) -> Transitions:
    """Read what `save_arrays` wrote."""
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        shape = arrays["state"].shape[:2]
        for name in BITS:
            if name in arrays:
                bits = np.unpackbits(arrays[name], count=shape[0] * shape[1])
                arrays[name] = bits.reshape(shape).astype(bool)
        return Transitions(**header, **arrays)
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise DataError(f"{path} holds no recording of an experiment ({wrong}); remove it to record anew.") from None
