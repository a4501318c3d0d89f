"""Every benchmark: run them, print their figures beside others' and the bars, write them down.

    python benchmarks/run.py                      all of them, into benchmarks/results.json
    python benchmarks/run.py or_tree start_up     some of them; nothing is written unless --json says where
    python benchmarks/run.py or_tree --keep       the same, and put their figures in the place of those in results.json
    python benchmarks/run.py --readme             the tables of benchmarks/README.md and docs/scale.md from results.json

The exit code is 1 if an answer is wrong; a bar that is missed shows in the table.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measure import Figure, Other, machine, versions

BENCHMARKS = (
    *("rock_throwers", "or_tree", "cause_sets", "halpern_pearl", "state_spaces", "domains", "start_up"),
    "contrast_normality",
    "explanations",
    "controller",
    "black_boxes",
)
LONG = (
    "learning",
    "loop",
    "explorer",
    "questions",
    "out_of_core",
    "annotation",
    "sweeps",
)  # by name only: minutes and more
HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
README = HERE / "README.md"
SCALE = HERE.parent / "docs" / "scale.md"
SCALING = ("annotation", "questions", "out_of_core", "sweeps")  # shown in docs/scale.md too
MARKERS = ("<!-- results: written by run.py --readme -->", "<!-- end of results -->")


@dataclass(frozen=True)
class Arguments:
    """What the command line sets."""

    names: tuple[str, ...] = ()
    json: Path | None = None
    keep: bool = False
    readme: bool = False


# -- showing ---------------------------------------------------------------------------------------


def show_value(value: float | None, unit: str = "s", limit: float | None = None) -> str:
    """Write a figure in sensible digits.

    >>> show_value(0.00412), show_value(0.5561), show_value(None, limit=60), show_value(412.7, "MiB")
    ('4.1 ms', '556 ms', '> 60 s', '413 MiB')
    """
    if value is None:
        return "—" if limit is None else f"> {limit:g} {unit}"
    if unit == "s" and value < 1:
        return f"{value * 1e3:.1f} ms" if value < 0.01 else f"{value * 1e3:.0f} ms"
    return f"{value:.2f} {unit}" if value < 10 else f"{value:.1f} {unit}" if value < 100 else f"{value:,.0f} {unit}"


def show_other(other: Other, unit: str) -> str:
    value = "" if other.value is None and other.note else show_value(other.value, unit, other.limit)
    words = [value, f"({other.note})" if value and other.note else other.note, "(reported)" if other.reported else ""]
    return f"{other.tool}: {' '.join(word for word in words if word)}"


def cells(figure: Figure) -> list[str]:
    ours = show_value(figure.ours, figure.unit, figure.limit)
    if figure.parts:
        ours += f" ({', '.join(f'{part} {show_value(value, figure.unit)}' for part, value in figure.parts.items())})"
    others = "; ".join(show_other(other, figure.unit) for other in figure.others)
    bar = (
        "" if figure.bar is None else f"{show_value(figure.bar, figure.unit)}, {'met' if figure.met else '**missed**'}"
    )
    doubt = {False: " **(wrong)**", None: "" if figure.ours is None else " (not checked)"}
    answer = figure.answer + doubt.get(figure.right, "")
    return [figure.what, ours, others, bar, answer]


HEADINGS = ["", "ours", "others", "bar", "answer"]


def markdown(figures: Iterable[Figure]) -> str:
    rows = [HEADINGS, ["---"] * len(HEADINGS), *map(cells, figures)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def report(results: dict[str, Any], only: Sequence[str] = ()) -> str:
    """Write the generated part of the README, or of a page about some of the benchmarks."""
    figures = [read_figure(entry) for entry in results["figures"] if not only or entry["benchmark"] in only]
    barred = [figure for figure in figures if figure.bar is not None]
    missed = [figure.what for figure in barred if not figure.met]
    facts = ", ".join(f"{name} {value}" for name, value in (results["machine"] | results["versions"]).items())
    parts = [
        f"Measured on: {facts}.",
        f"{len(barred) - len(missed)} of {len(barred)} figures meet their bar."
        + (f" Missed: {'; '.join(missed)}." if missed else ""),
    ]
    for name in dict.fromkeys(figure.benchmark for figure in figures):
        mine = [figure for figure in figures if figure.benchmark == name]
        parts += [f"### {importlib.import_module(name).TITLE}", markdown(mine)]
    return "\n\n".join(parts)


def with_report(readme: str, results: dict[str, Any], only: Sequence[str] = ()) -> str:
    """Replace the generated part of a document."""
    before, _, rest = readme.partition(MARKERS[0])
    _, _, after = rest.partition(MARKERS[1])
    return f"{before}{MARKERS[0]}\n\n{report(results, only)}\n\n{MARKERS[1]}{after}"


# -- running and writing -----------------------------------------------------------------------------


def run(name: str, arguments: Any = None) -> Iterator[Figure]:
    """One benchmark, with arguments of its own if they are not the published ones."""
    benchmark = importlib.import_module(name)
    yield from benchmark.run(benchmark.Arguments() if arguments is None else arguments)


def read_figure(entry: dict[str, Any]) -> Figure:
    return Figure(**{**entry, "others": tuple(Other(**other) for other in entry["others"])})


def round_values(value: Any) -> Any:
    """Round to four significant digits: more than a noisy machine gives."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: round_values(item) for key, item in value.items()}
    return [round_values(item) for item in value] if isinstance(value, (list, tuple)) else value


def gather(figures: Iterable[Figure]) -> dict[str, Any]:
    return {
        "machine": machine(),
        "versions": versions(),
        "figures": [round_values(asdict(figure)) for figure in figures],
    }


def replace_figures(results: dict[str, Any], figures: Sequence[Figure]) -> dict[str, Any]:
    """Put the figures of some benchmarks in the place of earlier ones of the same."""
    measured = gather(figures)
    if measured["machine"] != results["machine"]:
        raise SystemExit(f"results.json is of another machine ({results['machine']}); measure all of them again.")
    names = {figure.benchmark for figure in figures}
    others = [entry for entry in results["figures"] if entry["benchmark"] not in names]
    return {**results, "figures": others + measured["figures"]}


def parse_arguments() -> Arguments:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join((*BENCHMARKS, *LONG))}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    parser.add_argument("--keep", action="store_true", help="put the figures in the place of those in results.json")
    parser.add_argument("--readme", action="store_true", help="rewrite the README's tables from results.json")
    given = parser.parse_args()
    if unknown := set(given.names) - {*BENCHMARKS, *LONG}:
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join((*BENCHMARKS, *LONG))}")
    return Arguments(tuple(given.names), given.json, given.keep, given.readme)


def main() -> int:
    arguments = parse_arguments()
    if arguments.readme:
        results = json.loads(RESULTS.read_text())
        for path, only in ((README, ()), (SCALE, SCALING)):
            path.write_text(with_report(path.read_text(), results, only))
        print("README.md and docs/scale.md now show results.json.")
        return 0
    print(", ".join(f"{name} {value}" for name, value in (machine() | versions()).items()))
    figures: list[Figure] = []
    for name in arguments.names or BENCHMARKS:
        print(f"\n{importlib.import_module(name).TITLE}", flush=True)
        for figure in run(name):
            figures.append(figure)
            print("  " + " | ".join(cell for cell in cells(figure) if cell), flush=True)
    missed = [figure.what for figure in figures if figure.met is False]
    wrong = [figure.what for figure in figures if figure.right is False]
    print(f"\nBars missed: {'; '.join(missed) or 'none'}. Wrong answers: {'; '.join(wrong) or 'none'}.")
    target = arguments.json or (None if arguments.names else RESULTS)
    if target is not None:
        target.write_text(json.dumps(gather(figures), indent=1, ensure_ascii=False) + "\n")
        print(f"Written to {target.name}; show it in the README with: python benchmarks/run.py --readme")
    if arguments.keep:
        RESULTS.write_text(
            json.dumps(replace_figures(json.loads(RESULTS.read_text()), figures), indent=1, ensure_ascii=False) + "\n"
        )
        print(f"Kept in {RESULTS.name}; show it in the README with: python benchmarks/run.py --readme")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
