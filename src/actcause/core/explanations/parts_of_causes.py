"""Which variables are part of a cause in one context.

is V part of a cause?
    while some set of variables with V meets AC2 and contains no cause already found:
        shrink it to a minimal one, and note all its variables
        if V is among them: yes
    no
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from ..answer import Cause, Query, Status
from ..definitions import DEFINITIONS, OutOfBudget, Search
from ..find import causes
from ..solvers import ENCODINGS, Encoding, Exhaustive, TooManyClausesError


class PartsOfCauses:
    """Finds, for a query, whether a variable is part of a cause; what was found is kept.

    Every variable counts that can influence the effect, and those of the effect too: a conjunction with one of these
    can be a cause.
    """

    def __init__(self, query: Query, max_seconds: float | None = None) -> None:
        self.query = query
        self.search = Search(query, max_seconds=max_seconds)
        self._found: dict[str, Cause] = {}
        self._refuted = set(query.model.variables) - set(query.relevant if query.happened else ())
        self._encoding: Encoding | None = None

    def cause_with(self, name: str) -> Cause | None:
        """Find a cause that the variable is part of, None if there is none."""
        if name not in self._found and name not in self._refuted:
            try:
                if self.query.definition in ENCODINGS:
                    self._look_for(name)
                else:
                    self._note_all(self._ask_all())
            except TooManyClausesError:
                self._note_all(self._try_all())
        return self._found.get(name)

    def close(self) -> None:
        if self._encoding is not None:
            self._encoding.close()
            self._encoding = None

    def _look_for(self, name: str) -> None:
        if self._encoding is None:
            self._encoding = ENCODINGS[self.query.definition](self.search, self.query.relevant)
        encoding = self._encoding
        while name not in self._found and encoding.solve([-encoding.waived, encoding.chosen[name]]):
            # This rules out the cause too, which does no harm: all its variables are known from now on.
            names, witness = encoding.shrink(encoding.chosen_names())
            self._note(Cause({part: self.query.actual[part] for part in names}, witness, self.query))
        if name not in self._found:
            self._refuted.add(name)

    def _note(self, cause: Cause) -> None:
        for name in cause.event:
            self._found.setdefault(name, cause)

    def _note_all(self, every: Iterable[Cause]) -> None:
        for cause in every:
            self._note(cause)
        self._refuted |= set(self.query.model.variables) - self._found.keys()

    def _ask_all(self) -> Iterator[Cause]:
        """List the causes of a definition that has a solver of its own."""
        answer = causes(max_seconds=self.search.remaining, **self.query.arguments)
        yield from answer
        if answer.status is not Status.COMPLETE:
            raise OutOfBudget(answer.status)

    def _try_all(self) -> Iterator[Cause]:
        """List all causes by the definition's own words, where its clauses would not fit."""
        query, oracle = self.query, Exhaustive(DEFINITIONS[self.query.definition])
        minimal: list[set[str]] = []
        for size in range(1, len(query.relevant) + 1):
            for names in combinations(query.relevant, size):
                if not any(smaller <= set(names) for smaller in minimal):
                    event = {name: query.actual[name] for name in names}
                    witness = oracle.witness(self.search, event)
                    if witness is not None:
                        minimal.append(set(names))
                        yield Cause(event, witness, query)
