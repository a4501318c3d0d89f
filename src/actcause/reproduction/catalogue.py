"""Which experiments there are: the files of a folder that define an `EXPERIMENT`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from ..errors import suggest
from .closure import PACKAGE, digest_closure
from .experiment import Experiment, ReproduceError

CLONE = PACKAGE.parents[1]


@dataclass(frozen=True)
class ExperimentFile:
    """An experiment and the file that it comes from."""

    experiment: Experiment
    file: Path

    def digest_code(self, piece: Any) -> str:
        """Digest the code that the result of a piece comes from."""
        return digest_closure(PACKAGE, self.file, self.experiment.run.__name__, frozenset(self.experiment.uses(piece)))


def find_folder(given: Path | None = None) -> Path:
    """Find the folder of the experiments: the one given, or the one beside the package in a clone."""
    found = CLONE / "experiments" if given is None else given
    if not found.is_dir():
        where = "There is no folder of experiments beside this package" if given is None else f"{given} is no folder"
        raise ReproduceError(f"{where}; work in a clone of the repository, or say --experiments DIR.")
    return found.resolve()


def catalogue(where: Path) -> dict[str, ExperimentFile]:
    """List the experiments of a folder by name, those of the paper first."""
    found = []
    for file in sorted(where.glob("*.py")):
        if "EXPERIMENT = " in file.read_text(encoding="utf-8"):
            found.append(ExperimentFile(_load(file).EXPERIMENT, file))
    if not found:
        raise ReproduceError(f"No file of {where} defines an EXPERIMENT.")
    found.sort(key=lambda one: (one.experiment.order, one.experiment.name))
    return {listed.experiment.name: listed for listed in found}


def choose(known: dict[str, ExperimentFile], names: Sequence[str]) -> list[ExperimentFile]:
    """Choose the experiments of these names; none, or `all`, means every one, and `rl` all that begin with `rl_`."""
    groups = {name: [other for other in known if other.startswith(f"{name}_")] for name in names if name not in known}
    for name in names:
        if name not in known and name != "all" and not groups[name]:
            hint = suggest(name, known) or f"; there are {', '.join(known)}."
            raise ReproduceError(f"Unknown experiment '{name}'{hint}")
    if not names or "all" in names:
        return list(known.values())
    chosen = [one for name in names for one in groups.get(name, [name])]
    return [known[name] for name in dict.fromkeys(chosen)]


def _load(file: Path) -> Any:
    name = f"actcause_experiments.{file.stem}"
    given = sys.modules.get(name)
    if given is not None and getattr(given, "__file__", None) == str(file):
        return given
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
