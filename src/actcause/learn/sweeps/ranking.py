"""Trials in order, the best first, by a score that no label enters.

    score = (1 - explained) + cost x named

`explained` and `named` are what `judge` measures on held-out transitions: sufficiency and minimality. What naming a
factor costs is one number for the whole sweep: half of what naming gains where it gains most, that is half of the
largest `explained / named` among the trials that explain at least half of what the best does. If that is what a true
cause is worth, one named in vain weighs as much as one that was missed, whether causes are rare or not. A penalty given
by hand would favour the trials that were trained with that one. Never naming anything scores 1.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Verdict = Mapping[str, Any]
MEASURED = ("explained", "named", "true_error")
ABOUT = (
    "score = (1 - explained) + cost x named, on held-out transitions and without labels; "
    "true_error is shown where the data hold true causes, and is never used for choosing"
)


@dataclass(frozen=True)
class Ranking:
    """All trials of a sweep, those that failed last."""

    names: tuple[str, ...]  # of the settings that are swept over
    cost: float
    trials: tuple[Verdict, ...]  # with their scores
    notes: tuple[str, ...] = ()  # sentences worth reading

    @property
    def winner(self) -> str | None:
        """The name of the best trial; None where all failed."""
        return next((trial["name"] for trial in self.trials if trial["score"] is not None), None)

    def to_json(self) -> dict[str, Any]:
        return {"criterion": ABOUT, "cost": self.cost, "winner": self.winner, "trials": [dict(t) for t in self.trials]}

    def json(self) -> bytes:
        return (json.dumps(self.to_json(), indent=1) + "\n").encode()

    def csv(self) -> bytes:
        """Write a line for each trial; an empty field is a number that there is not."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["rank", "run", *self.names, "status", "score", *MEASURED])
        for rank, trial in enumerate(self.trials, 1):
            settings = [_write_value(trial["settings"][name]) for name in self.names]
            numbers = [trial[key] for key in ("score", *MEASURED)]
            writer.writerow([rank, trial["name"], *settings, trial["status"], *numbers])
        return text.getvalue().encode()

    def __str__(self) -> str:
        width = max((len(trial["name"]) for trial in self.trials), default=0)
        known = any(trial["true_error"] is not None for trial in self.trials)
        lines = [f"{'run':<{width}}  {'score':>7} {'explained':>9} {'named':>7}{'  true error*' if known else ''}"]
        for trial in self.trials:
            name = f"{trial['name']:<{width}}"
            if trial["score"] is None:
                lines.append(f"{name}  {trial['status']}: {trial['notes'][0]}")
                continue
            line = f"{name}  {trial['score']:>7.3f} {trial['explained']:>9.1%} {trial['named']:>7.3f}"
            if known:
                line += f"{'-':>13}" if trial["true_error"] is None else f"{trial['true_error']:>13.2%}"
            lines.append(line if trial["status"] == "finished" else f"{line}  {trial['status']}")
        if known:
            lines.append("* of held-out states, by the true causes in the data; never used for choosing")
        return "\n".join(lines)


def rank_trials(names: Sequence[str], verdicts: Sequence[Verdict]) -> Ranking:
    """Put the trials in order; those that score the same in the order they came.

    >>> each = {"settings": {}, "status": "finished", "true_error": None, "notes": []}
    >>> measured = {"never": (0.0, 0.0), "right": (1.0, 0.5), "always": (1.0, 1.0), "half": (0.5, 0.25)}
    >>> found = [{**each, "name": name, "explained": e, "named": n} for name, (e, n) in measured.items()]
    >>> [(trial["name"], trial["score"]) for trial in rank_trials([], found).trials]
    [('right', 0.5), ('half', 0.75), ('never', 1.0), ('always', 1.0)]
    """
    judged = [verdict for verdict in verdicts if verdict["explained"] is not None]
    most = max((verdict["explained"] for verdict in judged), default=0.0)
    gains = [v["explained"] / v["named"] for v in judged if v["named"] > 0 and v["explained"] >= most / 2 > 0]
    cost = max(gains, default=0.0) / 2

    def score(verdict: Verdict) -> float | None:
        if verdict["explained"] is None:
            return None
        return float(1 - verdict["explained"] + cost * verdict["named"])

    scored = [{**verdict, "score": score(verdict)} for verdict in verdicts]
    order = sorted(scored, key=lambda trial: (trial["score"] is None, trial["score"] or 0.0))
    return Ranking(tuple(names), cost, tuple(order))


def _write_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
