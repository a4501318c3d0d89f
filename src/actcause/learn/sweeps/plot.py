"""A picture of a sweep: the score of every trial over the settings, and beside it the true error where it is known.

The same table gives the same bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from ...errors import MissingExtraError
from .ranking import Ranking

INK = ("#0b3c78", "#d55e00", "#009e73", "#7a3e9d", "#8a6d00", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "X")
LINES = 12  # values of the second setting that have a line of their own
STYLE: Any = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd",
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 8,
    "figure.constrained_layout.use": True, "svg.hashsalt": "actcause",
}  # fmt: skip


def draw_ranking(ranking: Ranking) -> bytes:
    """Draw it as SVG: over the first setting that is not the seed, with a line for each value of the next."""
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError("Drawing the sweep", "plots") from None
    scored = [trial for trial in ranking.trials if trial["score"] is not None]
    panels = {"score": "score (no labels)"}
    if any(trial["true_error"] is not None for trial in scored):
        panels["true_error"] = "true error (never used for choosing)"
    names = sorted(ranking.names, key=lambda name: name == "seed")  # the seed last: it is what is averaged over
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.5 * len(panels), 3.4))
        FigureCanvasSVG(figure)
        for position, (key, label) in enumerate(panels.items(), 1):
            axes = figure.add_subplot(1, len(panels), position)
            _draw_panel(axes, [trial for trial in scored if trial[key] is not None], names, key, ranking.winner)
            axes.set_xlabel(names[0])
            axes.set_ylabel(label)
        content = io.BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


def _draw_panel(
    axes: Any, trials: Sequence[Mapping[str, Any]], names: Sequence[str], key: str, winner: str | None
) -> None:
    """Draw every trial as a point, and lines through the means of those that differ in the other settings only."""
    values = _order([trial["settings"][names[0]] for trial in trials])
    place = {_text(value): at for at, value in enumerate(values)}
    second = names[1] if len(names) > 1 and names[1] != "seed" else None
    groups = [None] if second is None else _order([trial["settings"][second] for trial in trials])
    for position, group in enumerate(groups if len(groups) <= LINES else [None]):
        mine = [trial for trial in trials if group is None or trial["settings"][second] == group]
        style = {"color": INK[position % len(INK)], "marker": MARKERS[position % len(MARKERS)]}
        at = [place[_text(trial["settings"][names[0]])] for trial in mine]
        axes.scatter(at, [trial[key] for trial in mine], s=14, alpha=0.5, **style)
        means = {x: fmean(t[key] for t, where in zip(mine, at, strict=True) if where == x) for x in sorted(set(at))}
        label = None if group is None else f"{second}={_text(group)}"
        axes.plot(list(means), list(means.values()), linewidth=1.4, label=label, **style)
    for trial in trials:
        if trial["name"] == winner:
            at_winner = place[_text(trial["settings"][names[0]])]
            axes.scatter([at_winner], [trial[key]], s=130, facecolors="none", edgecolors="black", label="the winner")
    axes.set_xticks(range(len(values)), [_text(value) for value in values], rotation=45 if len(values) > 6 else 0)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()


def _order(values: Sequence[Any]) -> list[Any]:
    """List each value once: numbers by size, before others by their text."""
    once = {_text(value): value for value in values}

    def key(value: Any) -> tuple[bool, float, str]:
        number = isinstance(value, int | float)
        return not number, float(value) if number else 0.0, _text(value)

    return sorted(once.values(), key=key)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
