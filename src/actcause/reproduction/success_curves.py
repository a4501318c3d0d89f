"""Tables and pictures of how agents succeed: steps to a goal, and one curve with its band for all seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from .plots import lines

DRAWS = 10_000  # of the bootstrap


def describe_steps(found: Sequence[Any], goal: int) -> str:
    """Write the mean number of steps to `goal` per cent of success, and how many seeds got there if not all did."""
    reached = [one.value[f"steps_{goal}"] for one in found]
    there = [at for at in reached if at is not None]
    if not there:
        return "not reached"
    return f"{fmean(there):,.0f}" + ("" if len(there) == len(reached) else f" ({len(there)} of {len(reached)} seeds)")


def compare_steps(base: Sequence[Any], other: Sequence[Any], goal: int) -> tuple[float, float, float] | None:
    """Return how many times fewer steps the others take than the base, with a bootstrap interval over shared seeds.

    A seed that never came to the goal counts with all its steps; nothing is returned where none of the others did.
    """
    pairs = _pair(base, other, lambda one: _count_steps(one, goal))
    if not len(pairs) or all(one.value[f"steps_{goal}"] is None for one in other):
        return None
    drawn = _draw_means(pairs)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    means = pairs.mean(axis=0)
    return float(means[0] / means[1]), float(low), float(high)


def compare_values(base: Sequence[Any], other: Sequence[Any], name: str) -> tuple[float, float, float] | None:
    """Return how much greater a value is with the others, with a bootstrap interval over shared seeds."""
    pairs = _pair(base, other, lambda one: float(one.value[name]))
    if not len(pairs):
        return None
    drawn = _draw_means(pairs)
    low, high = np.quantile(drawn[:, 1] - drawn[:, 0], [0.025, 0.975])
    return float((pairs[:, 1] - pairs[:, 0]).mean()), float(low), float(high)


def write_interval(found: tuple[float, float, float] | None, form: str = ".2f") -> str:
    """Write what was compared, with its interval."""
    if found is None:
        return "—"
    middle, low, high = (format(number, form) for number in found)
    return middle if low == high else f"{middle} ({low} to {high})"


def _pair(base: Sequence[Any], other: Sequence[Any], read: Callable[[Any], float]) -> Any:
    values = [{one.piece["seed"]: read(one) for one in found} for found in (base, other)]
    shared = sorted(set(values[0]) & set(values[1]))
    return np.array([[each[seed] for each in values] for seed in shared], dtype=float)


def _draw_means(pairs: Any) -> Any:
    """Draw seeds with replacement; return the means of each draw."""
    return pairs[np.random.default_rng(0).integers(len(pairs), size=(DRAWS, len(pairs)))].mean(axis=1)


def _count_steps(found: Any, goal: int) -> int:
    reached = found.value[f"steps_{goal}"]
    return int(found.value["curve"][-1][0] if reached is None else reached)


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
