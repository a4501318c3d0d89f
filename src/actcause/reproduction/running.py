"""Running what is missing, pack by pack, each result saved as soon as it is there."""

from __future__ import annotations

import gc
import time
import traceback
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ActCauseError, MissingExtraError, suggest
from ..parallel import Engine, engine
from .catalogue import ExperimentFile, catalogue
from .certificates import Certificates
from .experiment import Record, ReproduceError, as_fields, piece_key
from .machine import describe_machine, list_versions, read_commit
from .states import GOOD, Demand, Standing, State, describe_states, judge_pieces
from .store import Store, append_lines


@dataclass(frozen=True)
class Plan:
    """The pieces of an experiment, and how each stands."""

    listed: ExperimentFile
    size: str
    store: Store
    standings: tuple[tuple[Any, Standing], ...]

    @classmethod
    def of(cls, listed: ExperimentFile, size: str, results: Path, only: Sequence[str] = ()) -> Plan:
        """Look at what is there; `only` ("domain=push,break") leaves the other pieces out."""
        experiment, store = listed.experiment, Store.of(results, size)
        arguments, records = experiment.size(size), store.read(experiment.name)
        pieces, certificates = _filter(experiment.pieces(arguments), only), Certificates.read(results)
        standings = judge_pieces(experiment, arguments, pieces, records, listed.digest_code, certificates)
        return cls(listed, size, store, tuple(zip(pieces, standings, strict=True)))

    def count(self, *states: State) -> int:
        return sum(standing.state in states for _, standing in self.standings)

    @property
    def reasons(self) -> dict[str, int]:
        """Why results are stale, and how many are for each reason."""
        return dict(Counter(standing.reason for _, standing in self.standings if standing.state is State.STALE))

    @property
    def state(self) -> str:
        """In one word: done if all are current or certified, else missing if some are, else stale."""
        return "missing" if self.count(State.MISSING) else "stale" if self.count(State.STALE) else "done"

    @property
    def sentence(self) -> str:
        """The state in words: how many are current, certified, stale and missing."""
        total = len(self.standings)
        if self.state == "done":
            return f"done, {describe_states({state: self.count(state) for state in GOOD})}"
        counts = {state: self.count(state) for state in (State.MISSING, State.STALE, *GOOD)}
        return ", ".join(f"{state.value} {count} of {total}" for state, count in counts.items() if count)

    def todo(self, *, keep_stale: bool = False) -> list[Any]:
        """List what has to be run: what is missing, and what is stale unless that is kept."""
        left = {State.MISSING} if keep_stale else {State.MISSING, State.STALE}
        return [piece for piece, standing in self.standings if standing.state in left]


def pack_pieces(plan: Plan, pieces: Sequence[Any], most: int) -> list[list[Any]]:
    """Group the pieces, in their order, that can be run as one computation, at most so many in each."""
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
    codes: tuple[str, ...]  # of each, as they were when the command began
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
    """Run the pieces; yield the results of each pack once they are written. Begin no pack once it is enough.

    The archive has one writer, so that its lines stay whole and in order.
    """
    listed = plan.listed
    here = read_commit(listed.file.parents[1])
    planned = (
        Pack(
            experiments=listed.file.parent,
            name=listed.experiment.name,
            size=plan.size,
            keys=tuple(map(piece_key, pack)),
            codes=tuple(map(listed.digest_code, pack)),
            commit=here,
            results=plan.store.folder.absolute(),
            device=device,
        )
        for pack in pack_pieces(plan, pieces, together)
    )
    begun: list[Pack] = []

    def tasks() -> Iterator[Pack]:
        for pack in planned:
            if enough():
                return
            begun.append(pack)
            yield pack

    for number, outcome in enumerate((workers or engine()).run(run_pack, tasks())):
        if outcome.value is None:
            raise ReproduceError(f"{begun[number].name} {begun[number].keys[0]}: {outcome.error}")
        if archive is not None:
            append_lines(archive, [record.to_json() for record in outcome.value])
        yield outcome.value


def run_pack(pack: Pack) -> list[Record]:
    """Run a pack and write its results: what a worker does."""
    try:
        return _run_pack(pack)
    except OSError as wrong:
        raise ReproduceError(explain_refusal(wrong)) from None
    except ActCauseError:
        raise
    except Exception:  # a mistake in an experiment: whoever writes one needs the line
        traceback.print_exc()
        raise


def explain_refusal(wrong: OSError) -> str:
    """Say what the system refused: a disk that is full, a folder that is a file or must not be written."""
    return f"{wrong.strerror}." if wrong.filename is None else f"{wrong.strerror}: {wrong.filename}."


def _run_pack(pack: Pack) -> list[Record]:
    listed, store = catalogue(pack.experiments)[pack.name], Store(pack.results)
    experiment, arguments = listed.experiment, listed.experiment.size(pack.size)
    known = {piece_key(piece): piece for piece in experiment.pieces(arguments)}
    pieces = [known[key] for key in pack.keys]
    if tuple(map(listed.digest_code, pieces)) != pack.codes:  # this process began later than the command
        raise ReproduceError(f"The code of {pack.name} was changed while it ran; run the same command again.")
    records = store.read(pack.name)
    standings = judge_pieces(experiment, arguments, pieces, records, listed.digest_code, Certificates())
    finished = [one.record for one in standings if one.record is not None and one.state is State.CURRENT]
    if len(finished) == len(pieces):  # by a worker that was killed before it could say so, or by another command
        return finished
    demands = [Demand.of(experiment, piece, arguments, listed.digest_code(piece)) for piece in pieces]
    began = time.perf_counter()
    with require_torch(), _one_thread(pack.device) if _trains_networks(demands) else nullcontext():
        values = experiment.run(pieces, arguments, pack.device)
    seconds = (time.perf_counter() - began) / len(pieces)
    records = [
        Record(
            experiment=experiment.name,
            piece=as_fields(piece),
            settings=demand.settings,
            value=value,
            versions=list_versions(),
            machine=describe_machine(),
            seconds=round(seconds, 3),
            commit=pack.commit,
            code=demand.code,
            revisions=demand.revisions,
        )
        for piece, value, demand in zip(pieces, values, demands, strict=True)
    ]
    store.append(experiment.name, records)
    if _trains_networks(demands):
        gc.collect()  # networks and CUDA graphs hang in cycles, and the next pack needs their memory
    return records


def _trains_networks(demands: Sequence[Demand]) -> bool:
    return any(part.startswith("method:") for demand in demands for part in demand.revisions)


@contextmanager
def _one_thread(device: str) -> Iterator[None]:
    """Compute with one thread on a CPU, however many workers run: sums depend on how many threads share them."""
    import torch

    before = torch.get_num_threads()
    if device == "cpu" or not torch.cuda.is_available():
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def require_torch() -> Iterator[None]:
    """Say what to install where torch is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in ("torch", "safetensors"):
            raise
        raise MissingExtraError("Learning from data", "learn") from None


def _filter(pieces: Sequence[Any], only: Sequence[str]) -> list[Any]:
    for text in only:
        name, equals, values = text.partition("=")
        known = sorted({field for piece in pieces for field in as_fields(piece)})
        if not equals or name not in known:
            hint = (suggest(name, known) if equals else "") or f"; a piece has {', '.join(known)}."
            raise ReproduceError(f"--only takes a field and its values, such as {known[0]}=A,B. Got '{text}'{hint}")
        wanted, there = values.split(","), list(dict.fromkeys(str(as_fields(piece)[name]) for piece in pieces))
        pieces = [piece for piece in pieces if str(as_fields(piece)[name]) in wanted]
        if not pieces:
            hint = suggest(wanted[0], there) or f"; {name} is one of {', '.join(there)}."
            raise ReproduceError(f"No piece is left by --only {text}{hint}")
    return list(pieces)
