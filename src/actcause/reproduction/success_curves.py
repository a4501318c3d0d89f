"""How success of several agents is told and drawn: steps to a goal, and one curve with its band for all seeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from .plots import lines


def describe_steps(found: Sequence[Any], goal: int) -> str:
    """Write the mean of the steps to so many per cent of success, and how many seeds came there if not all did."""
    reached = [one.value[f"steps_{goal}"] for one in found]
    there = [at for at in reached if at is not None]
    if not there:
        return "not reached"
    return f"{fmean(there):,.0f}" + ("" if len(there) == len(reached) else f" ({len(there)} of {len(reached)} seeds)")


def join_curves(found: Sequence[Any]) -> list[dict[str, float]]:
    """Join the curves of all seeds: at each number of steps the mean, the least and the largest success."""
    points = []
    for steps in sorted({at for one in found for at, _ in one.value["curve"]}):
        shares = [share for one in found for at, share in one.value["curve"] if at == steps]
        points.append({"x": steps, "mean": fmean(shares), "low": min(shares), "high": max(shares)})
    return points


def draw_success(figure: Any, data: Any) -> None:
    """Draw success against steps."""
    axes = figure.subplots()
    lines(axes, data)
    axes.set_xlabel("steps")
    axes.set_ylabel("success in %")
    axes.set_ylim(bottom=0)
    axes.legend()
