"""Pictures in one style: told apart in grey by marker, dash and hatch; the same bytes for the same data and version.

A picture's file holds the digest of the data behind it, so that a test can tell whether it is up to date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError
from ..io.atomic import write_whole_path
from .experiment import Plot

INK = ("#0b3c78", "#d55e00", "#009e73", "#7a3e9d", "#8a6d00", "#555555", "#c2185b", "#2b8cbe", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 3)), (0, (10, 3, 1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*", "<")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "|||")
STYLE: Any = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 10, "axes.grid": True, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "lines.linewidth": 1.6, "lines.markersize": 5, "legend.frameon": False, "legend.fontsize": 8,
    "figure.constrained_layout.use": True, "svg.hashsalt": "actcause",
}  # fmt: skip


def digest(data: Any) -> str:
    """Give the data behind a picture a short name."""
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def save(plot: Plot, path: Path) -> None:
    """Draw the picture: SVG, or PNG if the file's name says so."""
    with _matplotlib() as figure_of:
        figure = figure_of(figsize=plot.size)
        plot.draw(figure, plot.data)
        note = f"data {digest(plot.data)}"
        about = {"Description": note, "Date": None} if path.suffix == ".svg" else {"Description": note}
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole_path(path) as partial:
            figure.savefig(partial, metadata=about, dpi=150)


@contextmanager
def _matplotlib() -> Iterator[Any]:
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError("Drawing pictures", "plots") from None

    def figure_of(**options: Any) -> Any:
        figure = Figure(**options)
        FigureCanvasAgg(figure)
        return figure

    with matplotlib.rc_context(STYLE):
        yield figure_of


# -- what several pictures draw ------------------------------------------------------------------------


def lines(axes: Any, series: Mapping[str, Sequence[Mapping[str, float]]], *, shaded: bool = True) -> None:
    """Draw a line for each name through points {x, mean, low, high}; the range between seeds is shaded."""
    for position, (name, points) in enumerate(series.items()):
        at = [point["x"] for point in points]
        style: dict[str, Any] = {"color": INK[position % len(INK)], "linestyle": DASHES[position % len(DASHES)]}
        style["marker"] = MARKERS[position % len(MARKERS)]
        axes.plot(at, [point["mean"] for point in points], label=name, **style)
        if shaded:
            low, high = [point["low"] for point in points], [point["high"] for point in points]
            axes.fill_between(at, low, high, color=style["color"], alpha=0.15, linewidth=0)


def bars(axes: Any, groups: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> None:
    """Draw groups of bars, one bar of each group for each name; None is left out."""
    width = 0.8 / max(len(series), 1)
    for position, (name, values) in enumerate(series.items()):
        at = [k + (position - (len(series) - 1) / 2) * width for k, value in enumerate(values) if value is not None]
        shown = [value for value in values if value is not None]
        axes.bar(
            at, shown, width, label=name, color=INK[position % len(INK)], hatch=HATCHES[position % len(HATCHES)],
            edgecolor="white", linewidth=0.5,
        )  # fmt: skip
    axes.set_xticks(range(len(groups)), groups)


def marks(axes: Any, groups: Sequence[str], series: Mapping[str, Sequence[Sequence[float]]], least: float) -> None:
    """Draw on a logarithmic scale: every seed a small mark, their mean a large one, in each group side by side."""
    width = 0.8 / max(len(series), 1)
    for position, (name, found) in enumerate(series.items()):
        shift = (position - (len(series) - 1) / 2) * width
        look: dict[str, Any] = {"color": INK[position % len(INK)], "marker": MARKERS[position % len(MARKERS)]}
        look["linestyle"] = "none"
        seeds = [(k + shift, max(value, least)) for k, values in enumerate(found) for value in values]
        means = [(k + shift, max(sum(each) / len(each), least)) for k, each in enumerate(found) if each]
        if seeds:
            axes.plot(*zip(*seeds, strict=True), markersize=2.5, alpha=0.6, **look)
            axes.plot(*zip(*means, strict=True), markersize=7, label=name, markeredgecolor="white", **look)
    axes.set_yscale("log")
    axes.set_ylabel("error in %")
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(visible=False, axis="x")


def point(x: float, values: Sequence[float]) -> dict[str, float]:
    """Return one point of a line: the mean over seeds and their range.

    >>> point(1, [2.0, 4.0])
    {'x': 1, 'mean': 3.0, 'low': 2.0, 'high': 4.0}
    """
    return {"x": x, "mean": sum(values) / len(values), "low": min(values), "high": max(values)}
