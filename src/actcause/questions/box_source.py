"""Which black box a name means: `module:function`, or `file.py:function`, as the user names it.

The code that is named is imported and run, as any command does that starts a program; nothing else is. A name never
comes from a model, a file of questions or the page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from ..core.black_boxes import BlackBox
from ..core.black_boxes.inputs import parse_range
from ..errors import QueryError, quote, suggest

IN_FILE, IN_MODULE = "'simulator.py:crash'", "'package.module:crash'"


def read_box(target: str, inputs: Sequence[str] = (), *, vectorized: bool = False) -> BlackBox:
    """Import a function, and make a black box of it with these inputs; or import a box that is one already."""
    source, colon, name = target.rpartition(":")
    if not colon or not source or not name:
        raise QueryError(f"Name a function with its module, such as {IN_FILE} or {IN_MODULE}; got {quote(target)}.")
    module = _import_file(source) if source.endswith(".py") else _import_module(source)
    found = getattr(module, name, None)
    if found is None:
        known = [one for one in vars(module) if not one.startswith("_")]
        raise QueryError(f"'{source}' has no '{name}'{suggest(name, known) or '.'}")
    if isinstance(found, BlackBox):
        if inputs:
            raise QueryError("{parameter} is known already: {target} is a BlackBox.", parameter="input", target=target)
        return found
    if not inputs:
        wrong = "Say what the inputs of {target} can be with {parameter}, again for each: 'brake=0,1'."
        raise QueryError(wrong, parameter="input", target=target)
    ranges: dict[str, Any] = {}
    for text in inputs:
        input_name, values = parse_range(text)
        if input_name in ranges:
            raise QueryError("{parameter} has {name} twice.", parameter="input", name=input_name)
        ranges[input_name] = values
    return BlackBox(found, ranges, vectorized=vectorized)


def _import_module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise QueryError(f"There is no module '{error.name}'; a file is named such as {IN_FILE}.") from None
    except (Exception, SystemExit) as error:
        raise _report_failure(name, error) from error


def _import_file(name: str) -> ModuleType:
    path = Path(name)
    if not path.is_file():
        raise QueryError(f"There is no file '{name}'; name a function such as {IN_FILE} or {IN_MODULE}.")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _report_failure(name, error) from error
    return module


def _report_failure(name: str, error: BaseException) -> QueryError:
    reason = f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
    return QueryError(f"'{name}' cannot be imported ({reason}).")
