"""The state of a result: current, certified, stale or missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .certificates import Certificates
from .experiment import Experiment, Record, piece_key
from .machine import CHANGED
from .revisions import read_revisions


class State(Enum):
    """Whether a piece's result is there, and whether this code would give it again."""

    CURRENT = "current"  # made by this code, for these settings
    CERTIFIED = "certified"  # made by other code that certificates join with this one
    STALE = "stale"
    MISSING = "missing"


GOOD = (State.CURRENT, State.CERTIFIED)
OTHER_SETTINGS = "other settings"


@dataclass(frozen=True)
class Demand:
    """What a piece's result has to agree with."""

    experiment: str
    settings: Mapping[str, Any]
    revisions: Mapping[str, int]
    code: str

    @classmethod
    def of(cls, experiment: Experiment, piece: Any, arguments: Any, code: str) -> Demand:
        revisions = read_revisions(tuple(experiment.uses(piece)))
        return cls(experiment.name, plain(experiment.settings(piece, arguments)), revisions, code)

    @property
    def parts(self) -> frozenset[str]:
        """Those whose canaries have to be equal."""
        return frozenset((*self.revisions, f"experiment:{self.experiment}"))


@dataclass(frozen=True)
class Standing:
    """The state of a piece: its result, and why it is stale."""

    state: State
    record: Record | None = None
    reason: str = ""


def judge_pieces(
    experiment: Experiment,
    arguments: Any,
    pieces: Sequence[Any],
    records: Sequence[Record],
    digest_code: Callable[[Any], str],
    certificates: Certificates,
) -> list[Standing]:
    """Judge the result of each piece beside the code that is demanded for it."""
    by_piece: dict[str, list[Record]] = {}
    for record in records:
        by_piece.setdefault(piece_key(record.piece), []).append(record)
    return [
        judge(
            by_piece.get(piece_key(piece), ()),
            Demand.of(experiment, piece, arguments, digest_code(piece)),
            certificates,
        )
        for piece in pieces
    ]


def judge(records: Sequence[Record], demand: Demand, certificates: Certificates) -> Standing:
    """Take the newest result that is current or certified; else the newest for these settings, else the newest."""
    standings = [judge_one(record, demand, certificates) for record in reversed(records)]
    good = [one for one in standings if one.state in GOOD]
    same = [one for one in standings if one.reason != OTHER_SETTINGS]
    return next(iter((*good, *same, *standings)), Standing(State.MISSING))


def judge_one(record: Record, demand: Demand, certificates: Certificates) -> Standing:
    """Compare one result with what is demanded."""
    if record.settings != demand.settings:
        return Standing(State.STALE, record, OTHER_SETTINGS)
    for part, revision in demand.revisions.items():
        recorded = 1 if record.revisions is None else record.revisions.get(part)
        if recorded != revision:
            return Standing(State.STALE, record, f"revision of {part} was {recorded}, now {revision}")
    if record.code == demand.code:
        return Standing(State.CURRENT, record)
    if demand.code in certificates.reach(demand.experiment, record.code, demand.parts):
        return Standing(State.CERTIFIED, record)
    commit = None if record.commit is None else record.commit.removesuffix(CHANGED)
    reason = certificates.explain_gap(demand.experiment, record.code, demand.parts, commit)
    return Standing(State.STALE, record, reason)


def describe_states(counts: Mapping[State, int]) -> str:
    """Count the states that occur: "3 current, 987 certified"."""
    return ", ".join(f"{count} {state.value}" for state, count in counts.items() if count)


def plain(value: Any) -> Any:
    """Return a value as it comes back from JSON, so that tuples equal lists."""
    return json.loads(json.dumps(value))
