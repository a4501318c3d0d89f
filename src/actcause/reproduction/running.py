"""Running what is missing, pack by pack, each result saved as soon as it is there."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import suggest
from .catalogue import Listed
from .experiment import Record, ReproduceError, as_fields
from .machine import commit, machine, versions
from .store import State, Store, append


@dataclass(frozen=True)
class Plan:
    """The pieces of an experiment, and the state of each."""

    listed: Listed
    size: str
    store: Store
    states: tuple[tuple[Any, State], ...]

    @classmethod
    def of(cls, listed: Listed, size: str, results: Path, only: Sequence[str] = ()) -> Plan:
        """Look at what is there; `only` ("domain=push,break") leaves the other pieces out."""
        arguments, store = listed.experiment.size(size), Store.of(results, size)
        pieces = _filtered(listed.experiment.pieces(arguments), only)
        states = tuple((one, store.state(listed.experiment, arguments, one, listed.code(one))) for one in pieces)
        return cls(listed, size, store, states)

    @property
    def arguments(self) -> Any:
        return self.listed.experiment.size(self.size)

    def count(self, state: State) -> int:
        return sum(each is state for _, each in self.states)

    @property
    def sentence(self) -> str:
        """The state in words: done, stale, missing, and of how many."""
        total = len(self.states)
        if self.count(State.DONE) == total:
            return "done"
        parts = [(State.MISSING, self.count(State.MISSING)), (State.STALE, self.count(State.STALE))]
        return ", ".join(f"{state.value} {count} of {total}" for state, count in parts if count)

    def todo(self, *, keep_stale: bool = False) -> list[Any]:
        """What has to be run: what is missing, and what is stale unless that is kept."""
        left = {State.MISSING} if keep_stale else {State.MISSING, State.STALE}
        return [piece for piece, state in self.states if state in left]


def packs(plan: Plan, pieces: Sequence[Any], most: int) -> list[list[Any]]:
    """The pieces in their order, those that can be run as one computation together, at most so many."""
    groups: dict[Hashable, list[Any]] = {}
    for piece in pieces:
        groups.setdefault(plan.listed.experiment.together(piece), []).append(piece)
    return [group[at : at + most] for group in groups.values() for at in range(0, len(group), most)]


def execute(
    plan: Plan,
    pieces: Sequence[Any],
    *,
    device: str = "auto",
    together: int = 1,
    archive: Path | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> Iterator[list[Record]]:
    """Run the pieces; yields the results of each pack once they are written. Stops between packs when it is enough."""
    experiment = plan.listed.experiment
    codes = {id(piece): plan.listed.code(piece) for piece in pieces}  # of the code as it is now, before it is imported
    made_at = commit(plan.listed.file.parents[1])
    for pack in packs(plan, pieces, together):
        if enough():
            return
        began = time.perf_counter()
        values = experiment.run(pack, plan.arguments, device)
        seconds = (time.perf_counter() - began) / len(pack)
        records = [
            Record(
                experiment=experiment.name,
                piece=as_fields(piece),
                settings=experiment.settings(piece, plan.arguments),
                value=value,
                versions=versions(),
                machine=machine(),
                seconds=round(seconds, 3),
                commit=made_at,
                code=codes[id(piece)],
            )
            for piece, value in zip(pack, values, strict=True)
        ]
        for record in records:
            plan.store.write(record)
        if archive is not None:
            append(archive, records)
        gc.collect()  # networks and CUDA graphs hang in cycles, and the next pack needs their memory
        yield records


def _filtered(pieces: Sequence[Any], only: Sequence[str]) -> list[Any]:
    for text in only:
        name, equals, values = text.partition("=")
        known = sorted({field for piece in pieces for field in as_fields(piece)})
        if not equals or name not in known:
            hint = suggest(name, known) or f"; a piece has {', '.join(known)}."
            raise ReproduceError(f"--only takes a field and its values, such as {known[0]}=A,B. Got '{text}'{hint}")
        wanted = values.split(",")
        pieces = [piece for piece in pieces if str(as_fields(piece)[name]) in wanted]
        if not pieces:
            raise ReproduceError(f"No piece is left by --only {text}.")
    return list(pieces)
