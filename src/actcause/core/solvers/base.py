"""The contract between a question and the ways of answering it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from ..answer import Assignment, Cause, Query, Status, Verdict, Witness
from ..definitions import OutOfBudget, Search


class Solver(ABC):
    """Decides one event, and finds all minimal causes."""

    @abstractmethod
    def necessary(self, search: Search, event: Assignment) -> Witness | None:
        """Find a witness that the event can undo the effect (AC2a alone, asked before AC2b); None if it cannot."""

    @abstractmethod
    def witness(self, search: Search, event: Assignment) -> Witness | None:
        """Find a witness that meets AC2a and AC2b together; None if none does."""

    @abstractmethod
    def smaller(self, search: Search, event: Assignment) -> Assignment | None:
        """Find a strictly smaller part of the event that meets AC2; None if the event is minimal (AC3)."""

    @abstractmethod
    def causes(self, search: Search) -> Iterator[Cause]:
        """Yield every minimal cause, once each, as soon as it is found."""

    def judge(self, search: Search, event: Assignment) -> Verdict:
        """Check AC1, AC2a, AC2b and AC3 one by one; a budget that runs out leaves the rest open."""
        conditions: dict[str, bool | None] = dict.fromkeys(("AC1", "AC2a", "AC2b", "AC3"))
        witness: Witness | None = None
        smaller: Assignment | None = None
        status = Status.COMPLETE
        try:
            conditions["AC1"] = meets_ac1(search.query, event)
            if conditions["AC1"]:
                witness = self.necessary(search, event)
                conditions["AC2a"] = witness is not None
                if witness is not None:
                    both = self.witness(search, event)
                    conditions["AC2b"] = both is not None
                    witness = both or witness
                smaller = self.smaller(search, event)
                conditions["AC3"] = smaller is None
        except OutOfBudget as ended:
            status = ended.status
        return Verdict(search.query, event, conditions, witness, status, smaller, search.statistics)


def meets_ac1(query: Query, event: Assignment) -> bool:
    """Check AC1: the event and the effect are what actually happened."""
    return query.happened and all(query.actual[name] == value for name, value in event.items())
