"""Pages written from results alone: what was run, on what, in what time, ours beside the paper's, what differs.

Nothing of the present code but the experiments' own texts and settings enters, so the same results give the same page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .catalogue import Listed
from .experiment import Experiment, Page, Record, Results
from .machine import CHANGED
from .store import Store
from .tables import duration, table

MARK = "<!-- written by: actcause reproduce --pages -->"
README_MARKS = ("<!-- accuracy: written by actcause reproduce --pages -->", "<!-- end of accuracy -->")
OURS = re.compile("<dc:description>data [0-9a-f]{16}<")  # a picture that `plots.save` drew
FEW = 3  # fingerprints that are listed
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


def results_of(experiment: Experiment, folder: Path, sizes: Sequence[str]) -> Results:
    """The results of the first of these sizes of which there are any."""
    for size in sizes:
        arguments = experiment.size(size)
        records = Store.of(folder, size).matching(experiment, arguments)
        if records or size == sizes[-1]:
            return Results(size, records, len(experiment.pieces(arguments)), arguments)
    raise AssertionError


def document(experiment: Experiment, results: Results) -> Document:
    """The page of one experiment."""
    page = experiment.page(results) if results.records else Page("There are no results yet.")
    option = "" if results.size == "full" else f" --size {results.size}"
    parts = [
        f"# {experiment.title}",
        MARK,
        f"{experiment.paper} Expected time: {experiment.expected}.",
        f"```text\nactcause reproduce {experiment.name}{option}\n```",
        *([NOTE[results.size]] if results.size in NOTE and results.records else []),
        *_ran(results),
        page.body.strip(),
        *(f"![{plot.alt}]({plot.name}.svg)" for plot in page.plots if f"({plot.name}.svg)" not in page.body),
        *_deviations(page.deviations),
    ]
    return Document(experiment.name, "\n\n".join(parts) + "\n", page)


def _deviations(sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return ["## Deviations from the paper", "None."]
    return ["## Deviations from the paper", "\n".join(f"{k}. {one}" for k, one in enumerate(sentences, start=1))]


def _ran(results: Results) -> list[str]:
    if not results.records:
        return []
    machines = Counter(_machine(one) for one in results.records)
    versions = sorted({", ".join(f"{k} {v}" for k, v in one.versions.items()) for one in results.records})
    commits = sorted({one.commit or "no repository" for one in results.records})
    lines = [f"- **Results**: {len(results.records)} of {results.wanted} pieces"]
    if len(results.records) < results.wanted:
        lines[0] += "; the rest is missing"
    lines += [f"- **Machine**: {name}, {count} of them" if len(machines) > 1 else f"- **Machine**: {name}"
              for name, count in sorted(machines.items())]  # fmt: skip
    lines += [
        f"- **Time**: {duration(sum(one.seconds for one in results.records))} in all",
        *(f"- **Versions**: {one}" for one in versions),
        f"- **Commit**: {', '.join(f'`{one}`' for one in commits)}; {_codes(results.records)}",
    ]
    if any(one.commit is not None and one.commit.endswith(CHANGED) for one in results.records):
        lines.append("- **Not of a commit**: the sources had changes, which may have differed between results")
    settings = _settings(results.records)
    if settings:
        lines.append(f"- **Settings**: {settings}")
    return ["\n".join(lines)]


def _codes(records: Sequence[Record]) -> str:
    codes = sorted({one.code for one in records})
    if len(codes) > FEW:
        return f"{len(codes)} fingerprints of the code, each in its result"
    return f"code {', '.join(f'`{one}`' for one in codes)}"


def _machine(record: Record) -> str:
    known = record.machine
    return f"GPU {known['GPU']}" if "GPU" in known else f"{known['cores']} cores of {known['CPU']}, no GPU"


def _settings(records: Sequence[Record]) -> str:
    """What all settings have in common, and the values of what they have not."""
    found: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.settings.items():
            shown = _shown(value)
            if shown and shown not in found.setdefault(name, []):
                found[name].append(shown)
    return "; ".join(f"{name} {' or '.join(values)}" for name, values in found.items() if values)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


# -- all of them -------------------------------------------------------------------------------------


def documents(known: Sequence[Listed], folder: Path, sizes: Sequence[str]) -> list[Document]:
    """Every experiment's page, and the list of them."""
    found = [(one.experiment, results_of(one.experiment, folder, sizes)) for one in known]
    pages = [document(experiment, results) for experiment, results in found]
    return [*pages, Document("index", _index(found), Page(""))]


def _index(found: Sequence[tuple[Experiment, Results]]) -> str:
    rows = []
    for experiment, results in found:
        chips = sorted({"GPU" if "GPU" in one.machine else "CPU" for one in results.records})
        there = f"{len(results.records)} of {results.wanted}" + ("" if results.size == "full" else f", {results.size}")
        rows.append(
            [
                f"[{experiment.title}]({experiment.name}.md)",
                experiment.paper.rstrip("."),
                there if results.records else "missing",
                " and ".join(chips),
                f"`actcause reproduce {experiment.name}`",
            ]
        )
    intro = (
        "Every table and figure of the paper, and some of our own, each made by one command and shown beside the "
        "paper's. The numbers come from the JSON files under `results/` and from nowhere else."
    )
    how = (
        "`actcause reproduce` lists the experiments with their state: *done*, *stale* (made by other code or with "
        "other settings) or *missing*. `actcause reproduce NAME` runs what is missing or stale; what was finished when "
        "it is cut off stays. `actcause reproduce --quick` runs a small version of all of them on two cores in a few "
        "minutes. What ran on a GPU is marked so; *small* marks a stand-in whose full size has not been run."
    )
    packing = (
        "On a GPU all seeds of a domain and a method are trained as one computation, and several processes share the "
        "GPU (`experiments/on_gpu.sh` packs them). A machine that has torch and numpy and "
        "nothing else can run any of them from the sources, in parts if need be, and its results come home as a file:"
    )
    commands = (
        "```text\nPYTHONPATH=src python -m actcause.reproduction curves --device cuda --max-seconds 500 "
        "--archive curves.jsonl\nactcause reproduce --take curves.jsonl\nactcause reproduce --pages\n```"
    )
    headings = ["experiment", "of the paper", "results", "on", "command"]
    differ = "[Where and why our baselines differ from the paper's](baselines.md)."
    return "\n\n".join(["# Results", MARK, intro, table(headings, rows), how, packing, commands, differ]) + "\n"


def write(pages: Sequence[Document], docs: Path) -> list[Path]:
    """Write the pages and draw their pictures; a picture of an earlier time that no page shows any more is removed."""
    from .plots import save

    docs.mkdir(parents=True, exist_ok=True)
    made = []
    for one in pages:
        (docs / f"{one.name}.md").write_text(one.text, encoding="utf-8")
        made.append(docs / f"{one.name}.md")
        for plot in one.page.plots:
            save(plot, docs / f"{plot.name}.svg")
            made.append(docs / f"{plot.name}.svg")
    for path in set(docs.glob("*.svg")) - set(made):
        if OURS.search(path.read_text(encoding="utf-8", errors="replace")):
            path.unlink()
    return made


def with_section(readme: str, section: str) -> str:
    """A README with its generated part replaced; one without the marks is returned as it is."""
    before, first, rest = readme.partition(README_MARKS[0])
    _, second, after = rest.partition(README_MARKS[1])
    return f"{before}{first}\n\n{section}\n\n{second}{after}" if first and second else readme
