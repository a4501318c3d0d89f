"""WHAT a cause is: one definition, one file."""

from __future__ import annotations

from ...errors import QueryError, suggest
from .base import Definition
from .but_for import ButFor
from .direct import Direct
from .functional import Functional
from .modified_hp import ModifiedHP
from .original_hp import OriginalHP
from .search import Deadline, OutOfBudget, Search
from .strong import Strong
from .updated_hp import UpdatedHP

DEFINITIONS: dict[str, Definition] = {
    definition.name: definition
    for definition in (ButFor(), OriginalHP(), UpdatedHP(), ModifiedHP(), Direct(), Strong(), Functional())
}


def get_definition(name: str) -> Definition:
    """Look a definition up, with the nearest name suggested if there is none."""
    if not isinstance(name, str) or name not in DEFINITIONS:
        known = ", ".join(DEFINITIONS)
        hint = suggest(str(name), list(DEFINITIONS)) or f"; choose one of {known}."
        raise QueryError("Unknown definition {name!r}{hint}", parameter="definition", name=name, hint=hint)
    return DEFINITIONS[name]


__all__ = ["DEFINITIONS", "Deadline", "Definition", "OutOfBudget", "Search", "get_definition"]
