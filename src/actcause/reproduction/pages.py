"""Pages written from results alone: what was run, on what, in what time, ours beside the paper's, what differs.

Nothing of the present code but the experiments' own texts and settings and the revisions enters, so the same results
give the same page. Their states are therefore not those beside the present code, which `actcause reproduce` lists, but
beside the code of the last certificate or of a later result; the page names the commit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..io.atomic import write_whole_bytes
from .catalogue import ExperimentFile
from .certificates import Certificates
from .experiment import Experiment, Page, Record, Results, piece_key
from .machine import CHANGED
from .states import OTHER_SETTINGS, describe_states, judge_pieces
from .store import Store
from .tables import duration, table

MARK = "<!-- written by: actcause reproduce --pages -->"
README_MARKS = ("<!-- accuracy: written by actcause reproduce --pages -->", "<!-- end of accuracy -->")
OURS = re.compile("<dc:description>data [0-9a-f]{16}<")  # a picture that `plots.save` drew
FEW = 3  # digests of code, or commits, that are listed
NOTE = {
    "small": "**The full size is missing.** These are results of a small size that two CPU cores can do; "
    "read them as a check that everything runs, not as the table.",
    "quick": "These are results of the quick size: a look at whether everything runs.",
    "tiny": "These are results of a size for tests; the numbers mean nothing.",
}


@dataclass(frozen=True)
class Document:
    """A page with its file name, and the pictures that it shows."""

    name: str
    text: str
    page: Page


# -- what was run ------------------------------------------------------------------------------------


def read_results(experiment: Experiment, folder: Path, sizes: Sequence[str]) -> Results:
    """Read the results of the first of these sizes of which there are any; where some are missing the next as well."""
    for at, size in enumerate(sizes):
        results = _read_size(experiment, folder, size)
        if results.records or size == sizes[-1]:
            if len(results.records) == results.wanted or size == sizes[-1]:
                return results
            smaller = read_results(experiment, folder, sizes[at + 1 :])
            return replace(results, smaller=smaller if smaller.records else None)
    raise AssertionError


def _read_size(experiment: Experiment, folder: Path, size: str) -> Results:
    """Read the results for the present settings; judge them by the code of the newest, or of a certificate."""
    arguments, records = experiment.size(size), Store.of(folder, size).read(experiment.name)
    certificates, pieces = Certificates.read(folder), experiment.pieces(arguments)
    parts = {piece_key(piece): frozenset(experiment.uses(piece)) for piece in pieces}
    used_records = [(parts[key], record) for record in records if (key := piece_key(record.piece)) in parts]
    newest = {
        each: certificates.newest(experiment.name, each, [record for used, record in used_records if used == each])
        for each in set(parts.values())
    }
    judges = [newest[parts[piece_key(piece)]] for piece in pieces]
    codes = {piece_key(piece): code for piece, (code, _) in zip(pieces, judges, strict=True)}
    standings = judge_pieces(
        experiment, arguments, pieces, records, lambda piece: codes[piece_key(piece)], certificates
    )
    shown = [
        (one.state, one.record, commit)
        for one, (_, commit) in zip(standings, judges, strict=True)
        if one.record is not None and one.reason != OTHER_SETTINGS
    ]
    return Results(
        size,
        tuple(record for _, record, _ in shown),
        len(pieces),
        arguments,
        Counter(state for state, _, _ in shown),
        tuple(dict.fromkeys(commit for _, _, commit in shown if commit is not None)),
    )


def write_document(experiment: Experiment, results: Results) -> Document:
    """Write the page of one experiment."""
    page = experiment.page(results) if results.records else Page("There are no results yet.")
    option = "" if results.size == "full" else f" --size {results.size}"
    parts = [
        f"# {experiment.title}",
        MARK,
        f"{experiment.paper} Expected time: {experiment.expected}.",
        f"```text\nactcause reproduce {experiment.name}{option}\n```",
        *([NOTE[results.size]] if results.size in NOTE and results.records else []),
        *_describe_runs(results),
        page.body.strip(),
        *(f"![{plot.alt}]({plot.name}.svg)" for plot in page.plots if f"({plot.name}.svg)" not in page.body),
        *_number(page.deviations),
    ]
    return Document(experiment.name, "\n\n".join(parts) + "\n", page)


def _number(sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return ["## Deviations from the paper", "None."]
    return ["## Deviations from the paper", "\n".join(f"{k}. {one}" for k, one in enumerate(sentences, start=1))]


def _describe_runs(results: Results) -> list[str]:
    if not results.records:
        return []
    machines = Counter(_name_machine(one) for one in results.records)
    versions = sorted({", ".join(f"{k} {v}" for k, v in one.versions.items()) for one in results.records})
    commits = sorted({one.commit or "no repository" for one in results.records})
    lines = [f"- **Results**: {len(results.records)} of {results.wanted} pieces"]
    if len(results.records) < results.wanted:
        lines[0] += "; the rest is missing"
    lines.append(f"- **State**: {describe_states(results.states)}{_show_judge(results)}")
    lines += [f"- **Machine**: {name}, {count} of them" if len(machines) > 1 else f"- **Machine**: {name}"
              for name, count in sorted(machines.items())]  # fmt: skip
    lines += [
        f"- **Time**: {duration(sum(one.seconds for one in results.records))} in all",
        *(f"- **Versions**: {one}" for one in versions),
        f"- **Commit**: {', '.join(f'`{one}`' for one in commits)}; {_show_codes(results.records)}",
    ]
    if any(one.commit is not None and one.commit.endswith(CHANGED) for one in results.records):
        lines.append("- **Not of a commit**: the sources had changes, which may have differed between results")
    merged = _merge_settings(results.records)
    if merged:
        lines.append(f"- **Settings**: {merged}")
    return ["\n".join(lines)]


def _show_judge(results: Results) -> str:
    if not results.judged_by:
        return ""
    commits = ", ".join(f"`{one}`" for one in results.judged_by)
    if len(results.judged_by) > FEW:
        commits = f"{len(results.judged_by)} commits, `{results.judged_by[-1]}` among them"
    return f" at {commits} (see [what that means](index.md#states))"


def _show_codes(records: Sequence[Record]) -> str:
    codes = sorted({one.code for one in records})
    if len(codes) > FEW:
        return f"{len(codes)} digests of the code, each in its result"
    return f"code {', '.join(f'`{one}`' for one in codes)}"


def _name_machine(record: Record) -> str:
    known = record.machine
    return f"GPU {known['GPU']}" if "GPU" in known else f"{known['cores']} cores of {known['CPU']}, no GPU"


def _merge_settings(records: Sequence[Record]) -> str:
    """Name what all settings have in common, and the values of what they have not."""
    found: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.settings.items():
            shown = _show(value)
            if shown and shown not in found.setdefault(name, []):
                found[name].append(shown)
    return "; ".join(f"{name} {' or '.join(values)}" for name, values in found.items() if values)


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


# -- all of them -------------------------------------------------------------------------------------


def write_documents(known: Sequence[ExperimentFile], folder: Path, sizes: Sequence[str]) -> list[Document]:
    """Write every experiment's page, and the list of them."""
    shown = [(one.experiment, read_results(one.experiment, folder, sizes)) for one in known]
    pages = [write_document(experiment, results) for experiment, results in shown]
    notes = [one.note for one in Certificates.read(folder).entries if one.note]
    return [*pages, Document("index", _write_index(shown, notes), Page(""))]


def _write_index(shown: Sequence[tuple[Experiment, Results]], notes: Sequence[str]) -> str:
    rows = []
    for experiment, results in shown:
        chips = sorted({"GPU" if "GPU" in one.machine else "CPU" for one in results.records})
        there = f"{len(results.records)} of {results.wanted}" + ("" if results.size == "full" else f", {results.size}")
        rows.append(
            [
                f"[{experiment.title}]({experiment.name}.md)",
                experiment.paper.rstrip("."),
                there if results.records else "missing",
                describe_states(results.states),
                " and ".join(chips),
                f"`actcause reproduce {experiment.name}`",
            ]
        )
    headings = ["experiment", "of the paper", "results", "state", "on", "command"]
    page = files(__package__).joinpath("index.md").read_text(encoding="utf-8")
    page = page.replace("{table}", table(headings, rows))
    return page.replace("{notes}\n\n", "".join(f"{note}\n\n" for note in notes))


def save_documents(pages: Sequence[Document], docs: Path) -> list[Path]:
    """Write the pages and draw their pictures; a picture of an earlier time that no page shows any more is removed."""
    from .plots import save

    docs.mkdir(parents=True, exist_ok=True)
    written = []
    for one in pages:
        write_whole_bytes(docs / f"{one.name}.md", one.text.encode())
        written.append(docs / f"{one.name}.md")
        for plot in one.page.plots:
            save(plot, docs / f"{plot.name}.svg")
            written.append(docs / f"{plot.name}.svg")
    for path in set(docs.glob("*.svg")) - set(written):
        if OURS.search(path.read_text(encoding="utf-8", errors="replace")):
            path.unlink()
    return written


def replace_section(readme: str, section: str) -> str:
    """Replace the generated part of a README; one without the marks stays as it is."""
    before, first, rest = readme.partition(README_MARKS[0])
    _, second, after = rest.partition(README_MARKS[1])
    return f"{before}{first}\n\n{section}\n\n{second}{after}" if first and second else readme
