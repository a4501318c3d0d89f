"""The numbers that the paper prints, from the one file that holds them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from .catalogue import CLONE
from .experiment import ReproduceError

FILE = CLONE / "tests" / "data" / "published.json"


@cache
def published() -> dict[str, Any]:
    """Tables by name; see the file."""
    if not FILE.exists():
        raise ReproduceError("The paper's numbers are in tests/data/published.json of a clone, and this is none.")
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
