"""What an experiment is, what a piece of it gave, and what a page shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..errors import ActCauseError

SIZES = ("full", "small", "quick", "tiny")
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class ReproduceError(ActCauseError):
    """An experiment that is not there, a piece that does not exist, a file that holds no results."""


@dataclass(frozen=True)
class Record:
    """What one piece gave: its value, and everything needed to judge it or to make it again. Never changed."""

    experiment: str
    piece: Mapping[str, Any]
    settings: Mapping[str, Any]
    value: Any
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    seconds: float
    commit: str | None  # the one that ran, with "+changes" where the sources differed from it
    code: str  # the digest of the code that ran
    revisions: Mapping[str, int] | None = (
        None  # of the parts that it depends on; None: the first, before they were kept
    )

    @classmethod
    def from_json(cls, given: Any) -> Record:
        """Check a record field by field."""
        kinds: dict[str, Any] = {
            "experiment": str, "piece": dict, "settings": dict, "versions": dict, "machine": dict,
            "seconds": (int, float), "commit": (str, type(None)), "code": str, "revisions": dict,
        }  # fmt: skip
        names = {one.name for one in fields(cls)}
        if not isinstance(given, dict) or not names - {"revisions"} <= set(given) <= names:
            raise ReproduceError(f"A result is an object with {', '.join(sorted(names))}.")
        for name, kind in kinds.items():
            if name in given and not isinstance(given[name], kind):
                raise ReproduceError(f"The '{name}' of a result has the wrong type: {type(given[name]).__name__}.")
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """Return all fields; revisions only where they are known."""
        return {name: value for name, value in vars(self).items() if name != "revisions" or value is not None}


@dataclass(frozen=True)
class Results:
    """The results that a page is written from, all of one size."""

    size: str
    records: tuple[Record, ...]
    wanted: int  # how many there would be if all were there
    arguments: Any
    states: Mapping[Any, int]  # how many are current, certified, stale
    judged_by: tuple[str, ...]  # the commits whose code they were compared with: one for all that use the same parts
    smaller: Results | None = None  # those of the next size that has any, where some of these are missing

    def where(self, **piece: Any) -> list[Record]:
        """Return the records of the pieces with these fields."""
        return [one for one in self.records if all(one.piece.get(name) == value for name, value in piece.items())]

    def values(self, name: str, **piece: Any) -> list[Any]:
        """Return one entry of the value of each of these pieces, where it is there."""
        return [one.value[name] for one in self.where(**piece) if one.value.get(name) is not None]

    def every(self, name: str) -> list[Any]:
        """List the values that a field of the pieces takes, in order, each once."""
        return list(dict.fromkeys(one.piece[name] for one in self.records))


@dataclass(frozen=True)
class Plot:
    """A picture: the data behind it, as JSON can hold them, and a function that draws them into a figure."""

    name: str
    alt: str
    data: Any
    draw: Callable[[Any, Any], None]  # (figure, data)
    size: tuple[float, float] = (7.0, 3.6)  # inches


@dataclass(frozen=True)
class Page:
    """What a page says besides how it was made: Markdown, pictures, what differs from the paper, and a summary.

    A body may show a picture where it likes, as `![alt](name.svg)`; others come after it. The summary is what the
    README shows.
    """

    body: str
    plots: tuple[Plot, ...] = ()
    deviations: tuple[str, ...] = ()
    summary: str = ""


def _keep_apart(piece: Any) -> Hashable:
    return piece_key(piece)


def _say_nothing(results: Results) -> list[str]:
    return []


@dataclass(frozen=True)
class Experiment:
    """A table or a figure, and how to make it.

    `arguments` are the published ones; `small` ones fit two CPU cores and stand in where the full ones are missing,
    `quick` ones take seconds, `tiny` ones are for tests. `run` is given pieces for which `together` gives the same
    answer, the arguments and a device, and returns a value for each. `settings` say what the value of a piece depends
    on besides the piece, `uses` the parts whose revisions count: "exact", "domain:push", "method:jaci-em".
    `missed` lists bars that are not met.
    """

    name: str
    title: str
    paper: str  # which table or figure of the paper, or that it is ours
    expected: str  # how long the full size takes, on what
    arguments: Any
    quick: Any
    tiny: Any
    pieces: Callable[[Any], Sequence[Any]]
    settings: Callable[[Any, Any], dict[str, Any]]
    run: Callable[[Sequence[Any], Any, str], Sequence[Any]]
    page: Callable[[Results], Page]
    uses: Callable[[Any], Iterable[str]]
    small: Any = None
    order: int = 99  # its place in a list
    together: Callable[[Any], Hashable] = _keep_apart
    missed: Callable[[Results], list[str]] = _say_nothing

    @property
    def packs(self) -> bool:
        """Whether there are pieces that can be run as one computation."""
        return self.together is not _keep_apart

    def size(self, name: str) -> Any:
        """Return the arguments of a size; where there is no small one the full one is small enough."""
        given = {"full": self.arguments, "small": self.small, "quick": self.quick, "tiny": self.tiny}[name]
        return self.arguments if given is None else given


def piece_key(piece: Any) -> str:
    """Return the name of a piece.

    >>> @dataclass(frozen=True)
    ... class Piece:
    ...     domain: str
    ...     seed: int
    >>> piece_key(Piece("1-in", 3))
    '1-in_3'
    """
    parts = [str(value) for value in as_fields(piece).values()]
    wrong = next((part for part in parts if not SAFE.fullmatch(part)), None)
    if wrong is not None:
        raise ReproduceError(f"The parts of a piece's name are letters, digits, '.', '_' and '-'. Got '{wrong}'.")
    return "_".join(parts)


def as_fields(piece: Any) -> dict[str, Any]:
    """Return the fields of a piece by name."""
    return dict(piece) if isinstance(piece, Mapping) else asdict(piece)
