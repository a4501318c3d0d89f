"""The numbers that the paper prints, from the one file that holds them (`published.json`)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

SOURCE = "Chuck et al., Automated Discovery of Functional Actual Causes in Complex Environments, accuracy table"
METHODS = ("jaci", "grad", "attn", "cf")


@cache
def read_published() -> dict[str, Any]:
    """Read all tables, by name; see the file."""
    tables: dict[str, Any] = json.loads(files(__package__).joinpath("published.json").read_text(encoding="utf-8"))
    return tables


def read_published_errors() -> dict[str, dict[str, float]]:
    """Return the accuracy table: the mean error in percent of each method in each domain.

    >>> read_published_errors()["jaci"]["push"]
    13.0
    """
    table = read_published()["accuracy_error_percent"]
    return {method: {domain: row[method]["mean"] for domain, row in table.items()} for method in METHODS}
