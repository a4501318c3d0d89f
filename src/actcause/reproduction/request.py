"""What `reproduce` is asked for, and how it is answered: list, run, certify, take in results, write pages.

Exit codes: 0; 1 if a bar of the full size is missed or canaries differ; mistakes are raised as errors of one sentence.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError
from ..io.atomic import write_whole_bytes
from ..io.console import print_json, print_note
from ..parallel import Engine, engine
from . import pages
from .catalogue import ExperimentFile, catalogue, choose, find_folder
from .certificates import append_certificates
from .certify import certify
from .experiment import SIZES, Experiment, Record, ReproduceError
from .merge import merge_results
from .running import Plan, execute, explain_refusal, pack_pieces, require_torch
from .states import GOOD, State
from .store import Store
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
    certify: str | None = None
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
        raise ReproduceError(explain_refusal(wrong)) from None


def _answer(request: Request) -> int:
    if request.size not in SIZES:
        raise ReproduceError(f"A size is one of {', '.join(SIZES)}. Got '{request.size}'.")
    where = find_folder(request.experiments)
    known = catalogue(where)
    chosen = choose(known, request.names)
    home = where.parent
    results = home / "results" if request.results is None else request.results
    if request.take is not None:
        return _take_results(request, known, results)
    if request.certify is not None:
        return _certify(request, list(known.values()), results, home)
    if request.pages:
        return _write_pages(request, list(known.values()), results, home)
    if not request.names and request.size == "full":
        return _list(request, chosen, results)
    with engine(request.engine, request.workers, request.address) as workers:
        return _run(request, chosen, results, workers)


# -- the list ----------------------------------------------------------------------------------------


def _list(request: Request, experiments: Sequence[ExperimentFile], results: Path) -> int:
    plans = [Plan.of(one, request.size, results, request.only) for one in experiments]
    listed = [(plan.listed.experiment, plan.sentence) for plan in plans]
    rows = [("experiment", "state", "expected time", "what it is")]
    rows += [(experiment.name, state, experiment.expected, experiment.title) for experiment, state in listed]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    stale = sum((Counter(plan.reasons) for plan in plans), Counter())
    _report(
        request,
        [_document(plan) for plan in plans],
        *("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows),
        "",
        *(f"{count} stale: {reason}." for reason, count in stale.items()),
        "Run one with: actcause reproduce NAME. A small version of all: actcause reproduce --quick.",
    )
    return 0


def _document(plan: Plan) -> dict[str, Any]:
    experiment = plan.listed.experiment
    return {
        **{name: getattr(experiment, name) for name in ("name", "title", "paper", "expected")},
        "command": f"actcause reproduce {experiment.name}",
        "state": plan.state,
        "done": plan.count(*GOOD),
        **{state.value: plan.count(state) for state in State},
        "reasons": plan.reasons,
    }


# -- running -----------------------------------------------------------------------------------------


def _run(request: Request, experiments: Sequence[ExperimentFile], results: Path, workers: Engine) -> int:
    start = time.monotonic()
    out_of_time = (lambda: False) if request.max_seconds is None else _check_deadline(start + request.max_seconds)
    say = print_note if request.as_json else _print_at_once
    documents: list[dict[str, Any]] = []
    missed: list[str] = []
    for listed in experiments:
        plan = Plan.of(listed, request.size, results, request.only)
        try:
            ran = _run_one(request, plan, workers, out_of_time, say)
        except KeyboardInterrupt:
            print_note(f"stopped; what is finished is in {plan.store.folder}, and the same command goes on from there.")
            return 130
        after = Plan.of(listed, request.size, results, request.only)
        documents.append(_document(after) | {"ran": ran, "size": request.size})
        if request.size == "full":
            missed += listed.experiment.missed(pages.read_results(listed.experiment, results, ("full",)))
    unfinished = [each["name"] for each in documents if each["state"] != "done"]
    preview = None if request.size in SHOWN else _write_preview(experiments, results, request.size)
    ending = f"; not finished: {', '.join(unfinished)}" if unfinished else ""
    _report(
        request,
        {"experiments": documents, "missed": missed, "pages": None if preview is None else str(preview)},
        f"{sum(each['ran'] for each in documents)} pieces in {duration(time.monotonic() - start)}{ending}.",
        *(f"missed: {sentence}" for sentence in missed),
        "Write the pages with: actcause reproduce --pages" if preview is None else f"Pages of this size: {preview}",
    )
    return 1 if missed else 0


def _run_one(
    request: Request, plan: Plan, workers: Engine, enough: Callable[[], bool], say: Callable[[str], None]
) -> int:
    """Run what has to be run, tell of each pack, and count the pieces."""
    name, todo = plan.listed.experiment.name, plan.todo(keep_stale=request.keep_stale)
    there = len(plan.standings) - len(todo)
    if not todo:
        say(f"{name}: nothing to run, {there} are there")
        return 0
    for reason, count in plan.reasons.items():
        say(f"{name}: {count} stale: {reason}")
    together = _count_together(request, plan.listed.experiment)
    say(f"{name}: {len(todo)} to run in {len(pack_pieces(plan, todo, together))} packs, {there} are there")
    ran = 0
    for records in execute(
        plan, todo, device=request.device, together=together, archive=request.archive, enough=enough, workers=workers
    ):
        ran += len(records)
        say(f"  {ran}/{len(todo)}  {_pack_name(records)}  {sum(one.seconds for one in records):.1f} s")
    return ran


def _pack_name(records: Sequence[Record]) -> str:
    """Name what the pieces of a pack have in common, and the range of the rest."""
    parts = []
    for name in records[0].piece:
        values = list(dict.fromkeys(str(one.piece[name]) for one in records))
        parts.append(values[0] if len(values) == 1 else f"{values[0]}..{values[-1]}")
    return " ".join(parts)


def _count_together(request: Request, experiment: Experiment) -> int:
    """Count the pieces that are run as one computation: as asked for, else all of a pack on a GPU and one on a CPU."""
    if request.together is not None:
        return request.together
    if not experiment.packs or request.device == "cpu":
        return 1
    with require_torch():
        import torch

    return TOGETHER if torch.cuda.is_available() else 1


def _check_deadline(deadline: float) -> Callable[[], bool]:
    return lambda: time.monotonic() > deadline


def _print_at_once(line: str) -> None:
    print(line, flush=True)


def _write_preview(experiments: Sequence[ExperimentFile], results: Path, size: str) -> Path | None:
    """Write the pages of a size that is not published, beside its results."""
    target = Store.of(results, size).folder / "pages"
    try:
        pages.save_documents(pages.write_documents(experiments, results, (size,)), target)
    except MissingExtraError as missing:
        print_note(missing)
        return None
    return target


# -- certificates ------------------------------------------------------------------------------------


def _certify(request: Request, known: Sequence[ExperimentFile], results: Path, home: Path) -> int:
    """Compare an earlier commit with the present tree, and keep what came out."""
    assert request.certify is not None
    print_note(f"running the canaries on {request.certify} and on the present tree, where their code differs.")
    certificates = certify(request.certify, home, known, results)
    path, certificate = append_certificates(results, certificates), certificates[-1]
    ran, same = len(certificate.equal) - len(certificate.same_code), len(certificate.same_code)
    trees = f"{certificate.from_commit} and {certificate.to_commit}"
    lines = [f"{trees} have the same code in {same} parts and gave the same bytes in {ran} others; {path} says so."]
    lines += [f"They differ in {', '.join(certificate.different)}."] if certificate.different else []
    _report(request, asdict(certificate), *lines)
    return 1 if certificate.different else 0


# -- results from elsewhere --------------------------------------------------------------------------


def _take_results(request: Request, known: dict[str, ExperimentFile], results: Path) -> int:
    assert request.take is not None
    taken, kept = merge_results(request.take, known, results)
    sentence = f"{taken} results taken from {request.take}; {kept} were there already."
    _report(request, {"taken": taken, "kept": kept}, sentence)
    return 0


# -- pages -------------------------------------------------------------------------------------------


def _write_pages(request: Request, known: Sequence[ExperimentFile], results: Path, home: Path) -> int:
    docs = home / "docs" / "results" if request.docs is None else request.docs
    documents = pages.write_documents(known, results, SHOWN)
    written = pages.save_documents(documents, docs)
    for listed in known:  # a page cannot say so itself: it is written from results alone
        size = pages.read_results(listed.experiment, results, SHOWN).size
        stale = Plan.of(listed, size, results).count(State.STALE)
        if stale:
            print_note(f"{listed.experiment.name} shows {stale} stale results of the {size} size.")
    readme = home / "README.md"
    section = next((one.page.summary for one in documents if one.page.summary), None)
    if request.docs is None and section is not None and readme.exists():
        write_whole_bytes(readme, pages.replace_section(readme.read_text(encoding="utf-8"), section).encode())
    _report(request, {"written": [str(path) for path in written]}, f"{len(written)} files in {docs}")
    return 0


def _report(request: Request, document: Any, *lines: str) -> None:
    """Print a document, or else lines for people."""
    if request.as_json:
        print_json(document)
    else:
        print("\n".join(lines))
