"""An edge of Random Vectors: parents that push a target together, in some states."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import QueryError, quote


@dataclass(frozen=True)
class Relation:
    """Parents and the target that they push: in some states, and then all of them together.

    >>> Relation(parents=("a1", "a2"), target="y")
    Relation(parents=('a1', 'a2'), target='y')
    """

    parents: tuple[str, ...]
    target: str

    def __post_init__(self) -> None:
        if not isinstance(self.parents, tuple | list) or not all(isinstance(name, str) for name in self.parents):
            raise QueryError(f"A relation's parents are a tuple of names, such as ('a1',). Got {quote(self.parents)}.")
        object.__setattr__(self, "parents", tuple(self.parents))
        for name in (*self.parents, self.target):
            if not (isinstance(name, str) and name.isidentifier()):
                raise QueryError(f"A variable's name is a word such as 'a1'. Got {quote(name)}.")
        if not self.parents:
            raise QueryError(f"The relation into '{self.target}' has no parents; give it at least one.")
        if len(set(self.parents)) < len(self.parents):
            raise QueryError(f"The relation into '{self.target}' names a parent twice: {', '.join(self.parents)}.")
        if self.target in self.parents:
            raise QueryError(
                f"'{self.target}' is a parent of itself; leave it out of the parents, "
                "since every variable's own previous value enters its dynamics anyway."
            )

    @classmethod
    def from_text(cls, text: str) -> tuple[Relation, ...]:
        """Read relations from text: parents, an arrow, the target; a semicolon separates two relations.

        >>> Relation.from_text("wind, slope -> fire; rain -> fire")
        (Relation(parents=('wind', 'slope'), target='fire'), Relation(parents=('rain',), target='fire'))
        """
        relations = []
        for part in filter(str.strip, text.split(";")):
            parents, arrow, target = part.partition("->")
            if not arrow:
                raise QueryError(f"A relation is written as 'a1, a2 -> y'. Got {quote(part.strip())} instead.")
            relations.append(cls(tuple(name.strip() for name in parents.split(",")), target.strip()))
        return tuple(relations)
