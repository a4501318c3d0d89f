"""Imports by module paths that earlier documentation showed still work, and warn with the new path."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast
from warnings import warn

if TYPE_CHECKING:
    from importlib.abc import Loader

PACKAGE = __name__.partition(".")[0]
MOVED = {
    "answer": "core.answer",
    "checks": "core.checks",
    "definitions": "core.definitions",
    "engines": "parallel",
    "find": "core.find",
    "learn.base": "learn.learner",
    "learn.jaci": "learn.methods.paper_jaci",
    "learn.jaci_em": "learn.methods.jaci",
    "learn.metrics": "learn.evaluation",
    "learn.session": "learn.training.session",
    "learn.thresholds": "learn.training.thresholds",
    "model": "core.model",
    "preimages": "core.spaces.preimages",
    "replay": "data.film",
    "responsibility": "core.responsibility",
    "solvers": "core.solvers",
    "statespace": "core.spaces.state_space",
    "sweeps": "learn.sweeps",
    "text": "core.text",
    "vast": "core.spaces.out_of_core",
}


class OldPathFinder:
    """Find a module under its old path, as the very module of the new one.

    It is a finder and a loader by its methods: `importlib.abc`, which names them, takes long to import.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, old = fullname.partition(".")
        new = find_new_path(old) if package == PACKAGE else None
        if new is None:
            return None
        warn(f"{fullname} has moved to {PACKAGE}.{new}; import it from there.", DeprecationWarning, stacklevel=2)
        return ModuleSpec(fullname, cast("Loader", self), loader_state=f"{PACKAGE}.{new}")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(spec.loader_state)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back; it has been executed under its new path."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def find_new_path(old: str) -> str | None:
    """Return the new path of a module or of one inside a package that moved."""
    for moved, new in MOVED.items():
        if old == moved or old.startswith(f"{moved}."):
            return new + old.removeprefix(moved)
    return None


def install() -> None:
    """Look for old paths first: a module must not be loaded a second time under another name."""
    sys.meta_path.insert(0, OldPathFinder())
