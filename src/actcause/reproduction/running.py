"""Running what is missing, pack by pack, each result saved as soon as it is there."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ActCauseError, MissingExtraError, suggest
from ..parallel import Engine, engine
from .catalogue import Listed, catalogue
from .experiment import Experiment, Record, ReproduceError, as_fields, piece_key
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


@dataclass(frozen=True)
class Pack:
    """Pieces that are run as one computation, in words that every process understands."""

    experiments: Path
    name: str
    size: str
    keys: tuple[str, ...]
    codes: tuple[str, ...]  # of the code as it was when the command began
    commit: str | None
    results: Path
    device: str


def execute(
    plan: Plan,
    pieces: Sequence[Any],
    *,
    device: str = "auto",
    together: int = 1,
    archive: Path | None = None,
    enough: Callable[[], bool] = lambda: False,
    workers: Engine | None = None,
) -> Iterator[list[Record]]:
    """Run the pieces; yields the results of each pack once they are written. Begins no pack once it is enough.

    The archive has one writer, so that its lines stay whole and in order.
    """
    listed = plan.listed
    made_at = commit(listed.file.parents[1])
    asked = (
        Pack(
            experiments=listed.file.parent,
            name=listed.experiment.name,
            size=plan.size,
            keys=tuple(map(piece_key, pack)),
            codes=tuple(map(listed.code, pack)),
            commit=made_at,
            results=plan.store.folder.absolute(),
            device=device,
        )
        for pack in packs(plan, pieces, together)
    )
    begun: list[Pack] = []

    def tasks() -> Iterator[Pack]:
        for pack in asked:
            if enough():
                return
            begun.append(pack)
            yield pack

    for number, outcome in enumerate((workers or engine()).run(made, tasks())):
        if outcome.value is None:
            raise ReproduceError(f"{begun[number].name} {begun[number].keys[0]}: {outcome.error}")
        if archive is not None:
            append(archive, outcome.value)
        yield outcome.value


def made(pack: Pack) -> list[Record]:
    """Run a pack and write its results: what a worker does."""
    try:
        return _made(pack)
    except OSError as wrong:
        raise ReproduceError(told(wrong)) from None
    except ActCauseError:
        raise
    except Exception:  # a mistake in an experiment: whoever writes one needs the line
        traceback.print_exc()
        raise


def told(wrong: OSError) -> str:
    """What the system refused: a disk that is full, a folder that is a file or must not be written."""
    return f"{wrong.strerror}." if wrong.filename is None else f"{wrong.strerror}: {wrong.filename}."


def _made(pack: Pack) -> list[Record]:
    listed = catalogue(pack.experiments)[pack.name]
    experiment, arguments = listed.experiment, listed.experiment.size(pack.size)
    known = {piece_key(piece): piece for piece in experiment.pieces(arguments)}
    pieces = [known[key] for key in pack.keys]
    if tuple(map(listed.code, pieces)) != pack.codes:  # this process began later than the command
        raise ReproduceError(f"The code of {pack.name} was changed while it ran; run the same command again.")
    began = time.perf_counter()
    with with_torch(), _one_thread(pack.device) if _learns(experiment, pieces) else nullcontext():
        found = experiment.run(pieces, arguments, pack.device)
    seconds = (time.perf_counter() - began) / len(pieces)
    records = [
        Record(
            experiment=experiment.name,
            piece=as_fields(piece),
            settings=experiment.settings(piece, arguments),
            value=value,
            versions=versions(),
            machine=machine(),
            seconds=round(seconds, 3),
            commit=pack.commit,
            code=code,
        )
        for piece, value, code in zip(pieces, found, pack.codes, strict=True)
    ]
    for record in records:
        Store(pack.results).write(record)
    gc.collect()  # networks and CUDA graphs hang in cycles, and the next pack needs their memory
    return records


def _learns(experiment: Experiment, pieces: Sequence[Any]) -> bool:
    return any(module.startswith("learn.") for piece in pieces for module in experiment.uses(piece))


@contextmanager
def _one_thread(device: str) -> Iterator[None]:
    """On a CPU sums depend on how many threads share them: one, wherever and however many workers run."""
    import torch

    before = torch.get_num_threads()
    if device == "cpu" or not torch.cuda.is_available():
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def with_torch() -> Iterator[None]:
    """Say what to install where torch is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in ("torch", "safetensors"):
            raise
        raise MissingExtraError("Learning from data", "learn") from None


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
