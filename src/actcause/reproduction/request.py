"""What `reproduce` is asked for, and how it is answered: list, run, take in results, write pages.

Exit codes: 0; 1 if a bar of the full size is missed; mistakes are raised as errors of one sentence.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError
from ..io.console import print_json, print_note
from ..parallel import Engine, engine
from . import pages
from .catalogue import Listed, catalogue, chosen, folder
from .experiment import SIZES, Experiment, Record, ReproduceError, as_fields
from .machine import CHANGED, commit
from .running import Plan, execute, packs, told, with_torch
from .store import State, Store, read_archive
from .tables import duration

SHOWN = ("full", "small")  # what pages show: the full size, or else the small one
TOGETHER = 64  # pieces that a GPU runs as one computation, at most


@dataclass(frozen=True)
class Request:
    """What the command line sets."""

    names: tuple[str, ...] = ()
    size: str = "full"
    results: Path | None = None
    experiments: Path | None = None
    docs: Path | None = None
    device: str = "auto"
    together: int | None = None
    only: tuple[str, ...] = ()
    keep_stale: bool = False
    max_seconds: float | None = None
    archive: Path | None = None
    take: Path | None = None
    pages: bool = False
    as_json: bool = False
    workers: int | None = None
    engine: str = "local"
    address: str | None = None


def reproduce(request: Request) -> int:
    """Do what is asked for and return the exit code."""
    try:
        return _answer(request)
    except BrokenPipeError:
        raise
    except OSError as wrong:
        raise ReproduceError(told(wrong)) from None


def _answer(request: Request) -> int:
    if request.size not in SIZES:
        raise ReproduceError(f"A size is one of {', '.join(SIZES)}. Got '{request.size}'.")
    where = folder(request.experiments)
    known = catalogue(where)
    asked = chosen(known, request.names)
    home = where.parent
    results = home / "results" if request.results is None else request.results
    if request.take is not None:
        return _take(request, known, results, commit(home))
    if request.pages:
        return _pages(request, list(known.values()), results, home)
    if not request.names and request.size == "full":
        return _list(request, asked, results)
    with engine(request.engine, request.workers, request.address) as workers:
        return _run(request, asked, results, workers)


# -- the list ----------------------------------------------------------------------------------------


def _list(request: Request, asked: Sequence[Listed], results: Path) -> int:
    plans = [Plan.of(one, request.size, results, request.only) for one in asked]
    if request.as_json:
        print_json([_document(plan) for plan in plans])
        return 0
    rows = [("experiment", "state", "expected time", "what it is")]
    for plan in plans:
        experiment = plan.listed.experiment
        rows.append((experiment.name, plan.sentence, experiment.expected, experiment.title))
    _print_columns(rows)
    print("\nRun one with: actcause reproduce NAME. A small version of all: actcause reproduce --quick.")
    return 0


def _document(plan: Plan) -> dict[str, Any]:
    experiment = plan.listed.experiment
    return {
        "name": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "expected": experiment.expected,
        "command": f"actcause reproduce {experiment.name}",
        "state": "done" if plan.sentence == "done" else "stale" if not plan.count(State.MISSING) else "missing",
        **{state.value: plan.count(state) for state in State},
    }


def _print_columns(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


# -- running -----------------------------------------------------------------------------------------


def _run(request: Request, asked: Sequence[Listed], results: Path, workers: Engine) -> int:
    began = time.monotonic()
    left = (lambda: False) if request.max_seconds is None else _over(began + request.max_seconds)
    say = print_note if request.as_json else _say
    done: list[dict[str, Any]] = []
    missed: list[str] = []
    for listed in asked:
        plan = Plan.of(listed, request.size, results, request.only)
        try:
            ran = _run_one(request, plan, workers, left, say)
        except KeyboardInterrupt:
            print_note(f"stopped; what is finished is in {plan.store.folder}, and the same command goes on from there.")
            return 130
        after = Plan.of(listed, request.size, results, request.only)
        done.append(_document(after) | {"ran": ran, "size": request.size})
        if request.size == "full":
            missed += listed.experiment.missed(pages.results_of(listed.experiment, results, ("full",)))
    unfinished = [each["name"] for each in done if each["state"] != "done"]
    drawn = None if request.size in SHOWN else _preview(asked, results, request.size)
    if request.as_json:
        print_json({"experiments": done, "missed": missed, "pages": None if drawn is None else str(drawn)})
    else:
        ending = f"; not finished: {', '.join(unfinished)}" if unfinished else ""
        print(f"{sum(each['ran'] for each in done)} pieces in {duration(time.monotonic() - began)}{ending}.")
        for sentence in missed:
            print(f"missed: {sentence}")
        if drawn is not None:
            print(f"Pages of this size: {drawn}")
        else:
            print("Write the pages with: actcause reproduce --pages")
    return 1 if missed else 0


def _run_one(
    request: Request, plan: Plan, workers: Engine, enough: Callable[[], bool], say: Callable[[str], None]
) -> int:
    """Run what has to be run, telling of each pack; how many pieces that were."""
    name, todo = plan.listed.experiment.name, plan.todo(keep_stale=request.keep_stale)
    there = len(plan.states) - len(todo)
    if not todo:
        say(f"{name}: nothing to run, {there} are there")
        return 0
    together = _together(request, plan.listed.experiment)
    say(f"{name}: {len(todo)} to run in {len(packs(plan, todo, together))} packs, {there} are there")
    ran = 0
    for records in execute(
        plan,
        todo,
        device=request.device,
        together=together,
        archive=request.archive,
        enough=enough,
        workers=workers,
    ):
        ran += len(records)
        say(f"  {ran}/{len(todo)}  {_pack_name(records)}  {sum(one.seconds for one in records):.1f} s")
    return ran


def _pack_name(records: Sequence[Record]) -> str:
    """What the pieces of a pack have in common, and the range of the rest."""
    parts = []
    for name in records[0].piece:
        values = list(dict.fromkeys(str(one.piece[name]) for one in records))
        parts.append(values[0] if len(values) == 1 else f"{values[0]}..{values[-1]}")
    return " ".join(parts)


def _together(request: Request, experiment: Experiment) -> int:
    """How many pieces are run as one computation: as asked for, else all of a pack on a GPU and one on a CPU."""
    if request.together is not None:
        return request.together
    if not experiment.packs or request.device == "cpu":
        return 1
    with with_torch():
        import torch

    return TOGETHER if torch.cuda.is_available() else 1


def _over(deadline: float) -> Callable[[], bool]:
    return lambda: time.monotonic() > deadline


def _say(line: str) -> None:
    print(line)
    sys.stdout.flush()


def _preview(asked: Sequence[Listed], results: Path, size: str) -> Path | None:
    """The pages of a size that is not published, beside its results."""
    target = Store.of(results, size).folder / "pages"
    try:
        pages.write(pages.documents(asked, results, (size,)), target)
    except MissingExtraError as missing:
        print_note(missing)
        return None
    return target


# -- results from elsewhere --------------------------------------------------------------------------


def _take(request: Request, known: dict[str, Listed], results: Path, here: str | None) -> int:
    """Merge a file of results; a stale one never replaces one that is up to date."""
    assert request.take is not None
    records = list(read_archive(request.take))
    places = {name: _places(one) for name in {record.experiment for record in records} for one in chosen(known, [name])}
    # Every result is checked before any is written.
    placed = [(known[record.experiment], *_place(places, record), record) for record in records]
    taken = kept = 0
    for listed, piece, size, record in placed:
        store, code = Store.of(results, size), listed.code(piece)
        if store.state(listed.experiment, listed.experiment.size(size), piece, code) is State.DONE:
            kept += 1
            continue
        if record.code == code and not _clean(record.commit):
            record = replace(record, commit=here)  # made elsewhere, by this very code
        store.write(record)
        taken += 1
    if request.as_json:
        print_json({"taken": taken, "kept": kept})
    else:
        print(f"{taken} results taken from {request.take}; {kept} were there already.")
    return 0


def _clean(commit: str | None) -> bool:
    return commit is not None and not commit.endswith(CHANGED)


def _places(listed: Listed) -> dict[str, tuple[Any, str]]:
    """By piece and settings: the piece, and the size that it is of."""
    found: dict[str, tuple[Any, str]] = {}
    for size in SIZES:
        arguments = listed.experiment.size(size)
        for piece in listed.experiment.pieces(arguments):
            found.setdefault(_identity(as_fields(piece), listed.experiment.settings(piece, arguments)), (piece, size))
    return found


def _identity(piece: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    return json.dumps([piece, settings], sort_keys=True)


def _place(places: Mapping[str, Mapping[str, tuple[Any, str]]], record: Record) -> tuple[Any, str]:
    found = places[record.experiment].get(_identity(record.piece, record.settings))
    if found is None:
        raise ReproduceError(
            f"A result of {record.experiment} has a piece or settings that no size of it has: {dict(record.piece)}."
        )
    return found


# -- pages -------------------------------------------------------------------------------------------


def _pages(request: Request, known: Sequence[Listed], results: Path, home: Path) -> int:
    docs = home / "docs" / "results" if request.docs is None else request.docs
    made = pages.documents(known, results, SHOWN)
    written = pages.write(made, docs)
    for listed in known:  # a page cannot say so itself: it is written from results alone
        size = pages.results_of(listed.experiment, results, SHOWN).size
        stale = Plan.of(listed, size, results).count(State.STALE)
        if stale:
            print_note(f"{listed.experiment.name} shows {stale} stale results of the {size} size, made by other code.")
    readme = home / "README.md"
    section = next((one.page.summary for one in made if one.page.summary), None)
    if request.docs is None and section is not None and readme.exists():
        readme.write_text(pages.with_section(readme.read_text(encoding="utf-8"), section), encoding="utf-8")
    if request.as_json:
        print_json({"written": [str(path) for path in written]})
    else:
        print(f"{len(written)} files in {docs}")
    return 0
