"""The file of local graphs: one safetensors file with the learner of every class of outcomes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..data import Recording
from .checkpoint import FORMAT, GRAPHS, VERSION, Checkpoint, damage_error, pack, read, write
from .errors import RunError
from .learner import Learner
from .loading import find_model, unpack


def write_graphs(path: str | PathLike[str], header: Mapping[str, Any], learners: Sequence[Learner]) -> None:
    """Write the learners with what is said about them."""
    packed = [pack(learner) for learner in learners]
    document = {
        "format": FORMAT,
        "version": VERSION,
        "package": __version__,
        "method": GRAPHS,
        **header,
        "learners": [one.header for one in packed],
    }
    tensors = {f"{k}:{name}": value for k, one in enumerate(packed) for name, value in one.tensors.items()}
    write(path, document, tensors)


def read_graphs(path: str | PathLike[str], device: str = "auto") -> tuple[dict[str, Any], list[Learner]]:
    """Read what is said about the learners, and the learners."""
    file = find_model(Path(path))
    saved = read(file)
    if saved.header.get("method") != GRAPHS:
        raise RunError(f"{file} explains one outcome; local graphs are trained with --outcome all.")
    learners = unpack_learners(saved, file, device)
    try:
        needed = ("settings", "recording", "groups", "still", "notes", "data")
        header = {name: saved.header[name] for name in needed}
        if len(header["groups"]) != len(learners):
            raise ValueError
    except (KeyError, TypeError, ValueError) as wrong:
        raise damage_error(file) from wrong
    return header, learners


def unpack_learners(saved: Checkpoint, file: Path, device: str) -> list[Learner]:
    """Build the learners that a file holds one beside the other."""
    try:
        headers = list(saved.header["learners"])
    except (KeyError, TypeError) as wrong:
        raise damage_error(file) from wrong
    learners = []
    for number, each in enumerate(headers):
        prefix = f"{number}:"
        tensors = {name.removeprefix(prefix): v for name, v in saved.tensors.items() if name.startswith(prefix)}
        learners.append(unpack(Checkpoint(each, tensors), file, device))
    return learners


def fingerprint_recording(recording: Recording) -> str:
    """Digest rows: true causes and extra values do not count."""
    names = [recording.factors, [recording.features[factor] for factor in recording.factors], recording.outcomes]
    found = hashlib.blake2b(json.dumps(names).encode(), digest_size=16)
    for values, kind in (
        (recording.state, "<f4"),
        (recording.next_state, "<f4"),
        (recording.mask, "|b1"),
        (recording.episode, "<i8"),
        (recording.step, "<i8"),
    ):
        found.update(b"-" if values is None else np.ascontiguousarray(values, dtype=kind).tobytes())
    return found.hexdigest()
