"""Imports that earlier documentation showed still work, and say where to import from now."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from types import ModuleType

import pytest

from actcause._moved import MOVED

SHOWN = {
    "answer": ("Query", "Witness", "Cause", "Verdict", "Answer", "Status"),
    "definitions": ("DEFINITIONS",),
    "definitions.base": ("Definition",),
    "definitions.but_for": ("ButFor",),
    "definitions.direct": ("Direct",),
    "definitions.functional": ("Functional",),
    "definitions.modified_hp": ("ModifiedHP",),
    "definitions.original_hp": ("OriginalHP",),
    "definitions.strong": ("Strong",),
    "definitions.updated_hp": ("UpdatedHP",),
    "find": ("causes", "is_cause", "partitions"),
    "learn.base": ("Learner",),
    "learn.jaci": ("PaperJACI",),
    "learn.jaci_em": ("JACI",),
    "learn.metrics": (),
    "learn.session": ("fit_many",),
    "model": ("Model",),
    "preimages": ("Row", "Check"),
    "replay": ("replay",),
    "responsibility": ("responsibility", "blame"),
    "statespace": ("StateSpace",),
    "sweeps.judge": (),
    "text": ("parse_formula", "parse_event"),
}


def import_anew(old: str) -> tuple[ModuleType, list[str]]:
    """Import an old path as if nobody had done so yet; return the warnings too."""
    for name in [name for name in sys.modules if name.removeprefix("actcause.") in {*SHOWN, *MOVED}]:
        del sys.modules[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = importlib.import_module(f"actcause.{old}")
    return module, [str(each.message) for each in caught if each.category is DeprecationWarning]


@pytest.mark.parametrize("old", sorted({*SHOWN, *MOVED}))
def test_an_old_path_gives_the_module_of_the_new_one_and_warns(old: str) -> None:
    module, messages = import_anew(old)
    assert messages[-1] == f"actcause.{old} has moved to {module.__name__}; import it from there."
    assert module is sys.modules[module.__name__]
    assert module.__name__ == module.__spec__.name != f"actcause.{old}"
    for name in SHOWN.get(old, ()):
        assert hasattr(module, name)


def test_the_warning_points_at_the_line_that_imports() -> None:
    program = "import actcause\nfrom actcause import text\nassert text.parse_formula"
    ended = subprocess.run([sys.executable, "-W", "default", "-c", program], capture_output=True, text=True, check=True)
    assert "<string>:2: DeprecationWarning: actcause.text has moved to actcause.core.text" in ended.stderr


def test_an_unknown_module_is_still_unknown() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"actcause\.texts"):
        importlib.import_module("actcause.texts")
