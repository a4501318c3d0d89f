"""WHAT a cause is: one definition, one file."""

from .base import Definition
from .but_for import ButFor
from .direct import Direct
from .functional import Functional
from .modified_hp import ModifiedHP
from .original_hp import OriginalHP
from .search import Deadline, OutOfBudget, Search, report_causes
from .strong import Strong
from .updated_hp import UpdatedHP

DEFINITIONS: dict[str, Definition] = {
    definition.name: definition
    for definition in (ButFor(), OriginalHP(), UpdatedHP(), ModifiedHP(), Direct(), Strong(), Functional())
}

__all__ = ["DEFINITIONS", "Deadline", "Definition", "OutOfBudget", "Search", "report_causes"]
