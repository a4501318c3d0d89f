"""A fitted learner from its file, or from the folder of its run."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..data.layout import Layout
from ..errors import ActCauseError, quote
from .checkpoint import GRAPHS, NET, Checkpoint, damage_error, read
from .errors import RunError
from .learner import Learner
from .registry import make
from .training.encoding import Encoder
from .training.networks import find_device

MODEL, SUMMARY = "model.safetensors", "run.json"  # of a run's folder


def load(path: str | PathLike[str], *, device: str = "auto") -> Learner:
    """Load a fitted learner, ready to predict on this device: the file that `save` wrote, or the folder of a run.

    >>> import tempfile
    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Never().fit(collect("1-in", 1000)).save(f"{folder}/never.safetensors")
    ...     load(f"{folder}/never.safetensors").method
    'never'
    """
    if not isinstance(path, str | PathLike):
        raise RunError(f"load takes the path of a saved learner or of a run's folder. Got {quote(path)} instead.")
    file = find_model(Path(path))
    saved = read(file)
    if saved.header.get("method") == GRAPHS:
        raise RunError(
            f"{file} holds the local graphs of every outcome, which are for recordings of whole states "
            "(collected with --outcome all); in Python load it with LocalGraphs.load."
        )
    return unpack(saved, file, device)


def holds_graphs(path: str | PathLike[str]) -> bool:
    """Say whether a file, or a run's folder, holds local graphs."""
    return read(find_model(Path(path))).header.get("method") == GRAPHS


def unpack(saved: Checkpoint, file: Path, device: str) -> Learner:
    """Build the fitted learner that a file holds."""
    if "encoder" not in saved.header:
        raise RunError(f"{file} is a training under way, not a fitted learner; resume it first.")
    learner = _make_learner(saved.header, file)
    try:
        learner.encoder_ = Encoder.from_json(read_layout(saved.header["layout"]), saved.header["encoder"])
        learner.learned_ = dict(saved.header["learned"])
        learner.notes_ = tuple(map(str, saved.header["notes"]))
        learner.history_ = list(saved.header["history"])
        learner.threshold_ = float(learner.learned_.get("threshold", 0.5))
        with torch.random.fork_rng(devices=[]):  # drawn weights are replaced, and no one's random numbers are used up
            networks = learner.networks(learner.encoder_, 1)
        learner.nets_ = {name: networks[name] for name in saved.header["networks"]}
    except (ActCauseError, AttributeError, KeyError, TypeError, ValueError, RuntimeError) as wrong:
        raise damage_error(file) from wrong
    strange = {name.removeprefix(f"{NET}.").split(".")[0] for name in saved.tensors} - learner.nets_.keys()
    if strange:
        raise RunError(
            f"{file} has weights for {min(strange)}, which its header does not name: it may have been edited."
        )
    for name, net in learner.nets_.items():
        _load_weights(net, name, saved.tensors, file)
        net.to(find_device(device)).eval()
    return learner


def find_model(folder: Path) -> Path:
    """Find the file of what was learned: the one given, or that of a run's folder."""
    if not folder.is_dir():
        return folder
    if not (folder / MODEL).exists():
        under_way = (folder / SUMMARY).exists()
        remedy = "its training has not finished; resume it" if under_way else "train one with 'actcause train'"
        raise RunError(f"{folder} holds no {MODEL}: {remedy}.")
    return folder / MODEL


def _make_learner(header: Mapping[str, Any], path: Path) -> Learner:
    """Make the learner that a file speaks of, not fitted yet."""
    try:
        return make(header["method"], **header["settings"])
    except (ActCauseError, KeyError, TypeError) as wrong:
        raise RunError(f"{path} was trained by a method or with options that are not known here: {wrong}") from wrong


def read_layout(document: Mapping[str, Any]) -> Layout:
    """Return the names of the data that a header speaks of."""
    names = {key: document[key] for key in ("own", "outcome_factor", "outcome_features", "edges")}
    return Layout.build(document["factors"], document["features"], **names)


def _load_weights(net: nn.Module, name: str, tensors: Mapping[str, Tensor], path: Path) -> None:
    prefix = f"{NET}.{name}."
    given = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
    for key, wanted in net.state_dict().items():
        if key not in given:
            raise RunError(f"{path} lacks the weights '{key}' of the network '{name}': it may have been edited.")
        if given[key].shape != wanted.shape:
            raise RunError(
                f"{path} has weights '{key}' of the network '{name}' of shape {tuple(given[key].shape)}, "
                f"where its settings make {tuple(wanted.shape)}: it may have been edited."
            )
    net.load_state_dict(given, strict=False)
