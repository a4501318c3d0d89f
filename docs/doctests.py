"""A griffe extension: examples in docstrings, which start with `>>>`, are shown as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

# From a line that starts with `>>>` to the next empty one.
EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts a fence around every example of a docstring."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    """Write a docstring with its examples as code blocks."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", docstring)
