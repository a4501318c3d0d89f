"""One file for what was learned, or for a training that is under way: safetensors with a JSON header.

The header says what the tensors do not: format and version, method, settings, the names of the data (layout), how rows
are encoded, numbers and sentences that were learned, the course of training, and a fingerprint of the training rows.
A training under way also has its place. Nothing in a file is ever run as code. Files are written under another name and
renamed when they are whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from .._version import __version__
from ..data import Transitions
from ..data.layout import Layout
from ..errors import import_extra, quote
from ..io.atomic import write_whole_bytes
from .errors import RunError

if TYPE_CHECKING:
    from os import PathLike

    from .learner import Learner

FORMAT, VERSION = "actcause-learner", 2
GRAPHS = "local-graphs"  # in the place of a method: a file with a learner for every class of outcomes
KEY = "actcause"  # of the file's metadata: one key alone, since the order of several is not fixed
NET = "net"
BLOCK = 1 << 16  # rows that are hashed at a time


@dataclass(frozen=True)
class Checkpoint:
    """The content of a file: a JSON header, and tensors by name."""

    header: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


def save(learner: Learner, path: str | PathLike[str], *, data_fingerprint: str | None = None) -> None:
    """Write a fitted learner.

    >>> import tempfile
    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> learner = Never().fit(collect("1-in", 1000))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, f"{folder}/never.safetensors")
    ...     read(f"{folder}/never.safetensors").header["method"]
    'never'
    """
    packed = pack(learner, data_fingerprint)
    write(path, packed.header, packed.tensors)


def pack(learner: Learner, data_fingerprint: str | None = None) -> Checkpoint:
    """Return what a fitted learner's file holds."""
    if not hasattr(learner, "encoder_"):
        raise RunError(f"This {type(learner).__name__} has not been fitted, so there is nothing to save.")
    header = {
        **describe(learner, learner.encoder_.layout, data_fingerprint),
        "networks": list(learner.nets_),
        "encoder": learner.encoder_.to_json(),
        "learned": learner.learned_,
        "notes": list(learner.notes_),
        "history": learner.history_,
    }
    tensors = {f"{NET}.{n}.{k}": v for n, net in learner.nets_.items() for k, v in net.state_dict().items()}
    return Checkpoint(header, tensors)


def describe(learner: Learner, layout: Layout, data_fingerprint: str | None) -> dict[str, Any]:
    """Say what every header says: which learner, with which settings, of which data."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "package": __version__,
        "method": learner.method,
        "settings": learner.settings(),
        "layout": {
            "factors": list(layout.factors),
            "features": {factor: list(names) for factor, names in layout.features.items()},
            "own": layout.own,
            "outcome_factor": layout.outcome_factor,
            "outcome_features": list(layout.outcome_features),
            "edges": list(layout.edges),
        },
        "data": data_fingerprint,
    }


def fingerprint(data: Transitions) -> str:
    """Digest rows: the same whatever file they come from; true causes and extra values do not count.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 100)
    >>> others = data.replaced(cause=None), data.subset(slice(1, None))
    >>> [fingerprint(other) == fingerprint(data) for other in others]
    [True, False]
    """
    layout = data.layout
    names: list[Any] = [layout.factors, [layout.features[factor] for factor in layout.factors]]
    names += [layout.own, layout.outcome_factor, layout.outcome_features]
    found = hashlib.blake2b(json.dumps(names).encode(), digest_size=16)
    # As float32, which is what is learned from: a table of text gives back no more.
    parts: list[tuple[Any, str]] = [
        *((data.state[:, k, : len(layout.features[factor])], "<f4") for k, factor in enumerate(layout.factors)),
        (data.outcome, "<f4"),
        (data.mask, "|b1"),
        (data.episode, "<i8"),
    ]
    for values, kind in parts:
        found.update(b"-" if values is None else str(values.shape).encode())
        with np.errstate(over="ignore"):
            for start, end in pairwise([*range(0, 0 if values is None else len(values), BLOCK), len(data)]):
                found.update(np.ascontiguousarray(values[start:end], dtype=kind).tobytes())
    return found.hexdigest()


def write(path: str | PathLike[str], header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write header and tensors into one file, which appears when it is whole."""
    safetensors = import_extra("safetensors.torch", "Saving what was learned", "learn")
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    try:
        text = json.dumps(header)
    except TypeError as wrong:
        raise RunError(f"The learner's options must be what JSON can hold, to be saved: {wrong}.") from wrong
    write_whole_bytes(path, safetensors.save(plain, {KEY: text}), RunError)


def read(path: str | PathLike[str]) -> Checkpoint:
    """Read what a file holds; refuse one that is damaged, foreign or of another version in one sentence."""
    safetensors = import_extra("safetensors", "Loading what was learned", "learn")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    except FileNotFoundError:
        raise RunError(f"There is no run {path}: give the folder that 'actcause train' wrote, or its model.") from None
    except OSError as refused:
        raise RunError(f"Cannot read {path}: {refused.strerror or refused}.") from refused
    except safetensors.SafetensorError as wrong:
        raise RunError(f"{path} is no safetensors file, or was cut short: copy it again, or train again.") from wrong
    if KEY not in metadata:
        raise RunError(f"{path} was not written by actcause: it is a safetensors file without our header.")
    try:
        header = json.loads(metadata[KEY])
        known, version = header["format"] == FORMAT, header["version"]
    except (KeyError, TypeError, ValueError, RecursionError) as wrong:
        raise damage_error(path) from wrong
    if not known or version != VERSION:
        raise RunError(
            f"{path} is of version {quote(version)} of the format, and this actcause reads version {VERSION}: "
            "use the actcause that wrote it, or train again."
        )
    return Checkpoint(header, tensors)


def damage_error(path: str | PathLike[str]) -> RunError:
    """Return the error for a header that is no header of ours."""
    return RunError(f"{path} has a header that cannot be understood: it may be damaged or edited; train again.")
