"""How good answers are: their errors against the true causes, over the factors in question; numpy alone.

Only the recording's `edges` count, and of these only the rows in which the object is present. This is the one place
that looks at true causes; no learner does. A figure that is not defined (an AUC without a single cause) is None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Transitions
from .errors import LearnError
from .intervals import SeedInterval as SeedInterval
from .intervals import bootstrap_interval as bootstrap_interval
from .intervals import student_interval as student_interval

if TYPE_CHECKING:
    from .learner import Learner

Array = np.ndarray[Any, Any]
COLUMNS = ("recall", "precis.", "F1", "AUC", "AP", "rate")  # of a printed table, after the error
MISSED = 0.5  # a factor that is missed in more of the states that it caused is named in the last line
BINS = 15  # of a reliability curve


@dataclass(frozen=True)
class Scores:
    """Scores of one factor, or of all together, as shares of the states counted."""

    edge_error: float
    auc: float | None
    average_precision: float | None
    recall: float | None  # of the states that it caused, those in which it is named
    precision: float | None  # of the states in which it is named, those that it caused
    f1: float | None
    false_positive_rate: float | None
    false_negative_rate: float | None
    rate: float  # how often it truly is a cause
    states: int

    @classmethod
    def of(cls, truth: Array, predicted: Array, probability: Array) -> Scores:
        """Score arrays that have one entry for each state counted."""
        hit, false = int((truth & predicted).sum()), int((~truth & predicted).sum())
        causes, others = int(truth.sum()), int((~truth).sum())
        missed = causes - hit
        return cls(
            edge_error=(false + missed) / len(truth),
            auc=auc(truth, probability),
            average_precision=average_precision(truth, probability),
            recall=hit / causes if causes else None,
            precision=hit / (hit + false) if hit + false else None,
            f1=2 * hit / (2 * hit + false + missed) if hit + false + missed else None,
            false_positive_rate=false / others if others else None,
            false_negative_rate=missed / causes if causes else None,
            rate=causes / len(truth),
            states=len(truth),
        )


@dataclass(frozen=True)
class Evaluation:
    """Answers scored against the truth: over all factors in question, factor by factor, and beside trivial answers.

    Where causes are rare the edge error is small even if every one of them is missed: look at `balanced_error`, the
    mean of the edge errors of states with a cause (`caused_error`) and without one (`uncaused_error`), and at the
    recall of each factor. `exact_error` is the share of states with any factor wrong, `exact_accuracy` that of states
    whose whole set is right. `trivial` holds the edge errors of saying never, of saying always, and the expected one of
    guessing each factor at its own true rate. `moved` is the edge error without pinned contacts (push), `hindsight`
    that of `explain`; None where they do not apply.
    """

    edge_error: float
    balanced_error: float
    caused_error: float | None
    uncaused_error: float | None
    exact_error: float
    exact_accuracy: float
    auc: float | None
    average_precision: float | None
    recall: float | None
    precision: float | None
    f1: float | None
    false_positive_rate: float | None
    false_negative_rate: float | None
    calibration_error: float
    per_factor: Mapping[str, Scores]
    trivial: Mapping[str, float]
    states: int
    resampled: bool
    moved: float | None = None
    hindsight: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all figures, errors as shares of 1; None where one is not defined."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        factors = {name: dataclasses.asdict(scores) for name, scores in self.per_factor.items()}
        return plain | {"per_factor": factors, "trivial": dict(self.trivial)}

    def __str__(self) -> str:
        lines = [f"{'':<16} {'error':>8}" + "".join(f" {title:>7}" for title in COLUMNS)]
        lines += [_line(name, scores, scores.rate) for name, scores in self.per_factor.items()]
        if len(self.per_factor) > 1:
            lines.append(_line("all", self))
        lines += [f"{name:<16} {error:>8.2%}" for name, error in self.trivial.items()]
        return "\n".join([*lines, self.summarise()])

    def summarise(self) -> str:
        """Say in one line what the edge error hides: the error on rows with a cause, and which causes are missed.

        >>> rare = Transitions(
        ...     factors=["ball", "wall"], own="ball", state=[[[0.0], [0.0]]] * 10, outcome=[[k / 10] for k in range(10)],
        ...     cause=[[True, k == 0] for k in range(10)],
        ... )
        >>> print(evaluate(rare.cause & [True, False], rare).summarise())
        Balanced error 50.00% (states with a cause 100.00%, without 0.00%); whole sets right in 90.00%. MISSED: wall in 100% of the states that it caused.
        """  # noqa: E501
        kinds = {"with a cause": self.caused_error, "without": self.uncaused_error}
        listed = ", ".join(f"{kind} {error:.2%}" for kind, error in kinds.items() if error is not None)
        lost = {name: 1 - one.recall for name, one in self.per_factor.items() if one.recall is not None}
        missed = [f"{name} in {share:.0%}" for name, share in lost.items() if share > MISSED]
        warning = f" MISSED: {', '.join(missed)} of the states that it caused." if missed else ""
        return (
            f"Balanced error {self.balanced_error:.2%} (states {listed}); "
            f"whole sets right in {self.exact_accuracy:.2%}.{warning}"
        )


def edge_error(data: Transitions, predicted: Any) -> float:
    """Measure the share of wrong answers, over the factors in question where they are present.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> edge_error(data, data.cause)
    0.0
    """
    truth, counted = _truth(data)
    wrong = (_decisions(data, predicted) != truth) & counted
    return float(wrong.sum() / counted.sum())


def exact_error(data: Transitions, predicted: Any) -> float:
    """Measure the share of states in which any factor in question is wrong."""
    truth, counted = _truth(data)
    wrong = (_decisions(data, predicted) != truth) & counted
    return float(wrong.any(axis=1).sum() / counted.any(axis=1).sum())


def error_by_kind(data: Transitions, predicted: Any) -> tuple[float | None, float | None]:
    """Measure the edge errors of states with a true cause among the factors in question, and of those without.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> error_by_kind(data, data.cause)
    (0.0, 0.0)
    """
    truth, counted = _truth(data)
    wrong = (_decisions(data, predicted) != truth) & counted
    caused = (truth & counted).any(axis=1)
    with_cause, without = (
        float(wrong[rows].sum() / counted[rows].sum()) if counted[rows].any() else None for rows in (caused, ~caused)
    )
    return with_cause, without


def balanced_error(data: Transitions, predicted: Any) -> float:
    """Average the edge errors of states with a cause and of states without one, however rare either kind is."""
    kinds = [error for error in error_by_kind(data, predicted) if error is not None]
    return sum(kinds) / len(kinds)


def evaluate(
    answers: Learner | Any,
    data: Transitions,
    *,
    resample: bool = False,
    seed: int = 0,
    hindsight: bool = True,
    threshold: float = 0.5,
) -> Evaluation:
    """Measure a fitted learner, or answers of shape (rows, factors): booleans, or probabilities with a threshold.

    With `resample` half of the states scored are non-trivial, as in the paper's push and break.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> evaluate(data.cause, data).edge_error
    0.0
    """
    if resample:
        chosen = list_resampled_rows(data, seed)
        answers = answers if hasattr(answers, "predict_proba") else _check_shape(data, answers)[chosen]
        data = data.subset(chosen)
    truth, counted = _truth(data)
    explained = None
    if hasattr(answers, "predict_proba"):
        probability, predicted = answers.predict_proba(data), answers.predict(data)
        explained = edge_error(data, answers.explain(data)) if hindsight else None
    else:
        probability = _check_shape(data, answers).astype(np.float64)
        predicted = probability > threshold
    edges = [data.layout.index(name) for name in data.edges]
    each = {
        name: Scores.of(*(values[counted[:, k], k] for values in (truth, predicted, probability)))
        for name, k in zip(data.edges, edges, strict=True)
        if counted[:, k].any()
    }
    pooled = Scores.of(*(values[counted] for values in (truth, predicted, probability)))
    guessed = sum(2 * one.rate * (1 - one.rate) * one.states for one in each.values()) / pooled.states
    free = ~np.asarray(data.extra["pinned"], dtype=bool) if "pinned" in data.extra else np.zeros(len(data), dtype=bool)
    caused, uncaused = error_by_kind(data, predicted)
    inexact = exact_error(data, predicted)
    return Evaluation(
        **{name: value for name, value in vars(pooled).items() if name not in ("rate", "states")},
        balanced_error=balanced_error(data, predicted),
        caused_error=caused,
        uncaused_error=uncaused,
        exact_error=inexact,
        exact_accuracy=1 - inexact,
        calibration_error=calibration(data, probability).error,
        per_factor=MappingProxyType(each),
        trivial=MappingProxyType({"never": pooled.rate, "always": 1 - pooled.rate, "rate": guessed}),
        states=len(data),
        resampled=resample,
        moved=edge_error(data.subset(free), predicted[free]) if bool(counted[free].any()) else None,
        hindsight=explained,
    )


# -- resampling ------------------------------------------------------------------------------------


def resampled(data: Transitions, seed: int = 0) -> Transitions:
    """Keep as many rows with a non-trivial cause (some factor in question) as without: all of the rarer kind.

    The paper does so for the test states of push and break (Appendix "2D Robot Pushing").

    >>> from actcause.data import collect
    >>> data = resampled(collect("push", 2000))
    >>> round(float(data.cause[:, data.layout.index("pusher")].mean()), 2)
    0.5
    """
    return data.subset(list_resampled_rows(data, seed))


def list_resampled_rows(data: Transitions, seed: int = 0) -> Array:
    """List the rows that `resampled` keeps, in their order."""
    truth, counted = _truth(data)
    caused = (truth & counted).any(axis=1)
    kinds = [np.flatnonzero(caused), np.flatnonzero(~caused)]
    count = min(map(len, kinds))
    if count == 0:
        always = "every" if len(kinds[0]) else "no"
        raise LearnError(
            f"Half of the states cannot be made non-trivial: in {always} row a factor in question is a cause; "
            "score the rows as they are."
        )
    generator = np.random.default_rng(seed)
    return np.sort(np.concatenate([generator.choice(kind, count, replace=False) for kind in kinds]))


# -- ranking ---------------------------------------------------------------------------------------


def auc(truth: Any, score: Any) -> float | None:
    """Measure how often a cause scores higher than a factor that is none; ties count half. None unless both occur.

    >>> auc([True, False, False], [0.5, 0.1, 0.5])
    0.75
    """
    truth, score = np.asarray(truth, dtype=bool), np.asarray(score)
    causes, others = int(truth.sum()), int((~truth).sum())
    if not causes or not others:
        return None
    _, which, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2  # the mean rank of equal scores
    return float((rank[which][truth].sum() - causes * (causes + 1) / 2) / (causes * others))


def average_precision(truth: Any, score: Any) -> float | None:
    """Average the precision over the steps of recall, equal scores being one step; None without a cause.

    >>> average_precision([True, False, True], [0.9, 0.5, 0.5])
    0.8333333333333333
    """
    truth, score = np.asarray(truth, dtype=bool), np.asarray(score)
    if not truth.any():
        return None
    values, which = np.unique(score, return_inverse=True)
    found = np.bincount(which, weights=truth, minlength=len(values))[::-1]
    said = np.bincount(which, minlength=len(values))[::-1]
    return float((found * np.cumsum(found) / np.cumsum(said)).sum() / truth.sum())


# -- probabilities ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration:
    """For bins of the probability given: how often it came true, and the mean gap over all states."""

    said: tuple[float, ...]
    found: tuple[float, ...]
    states: tuple[int, ...]
    error: float


def calibration(data: Transitions, probability: Any, *, bins: int = BINS) -> Calibration:
    """Measure how reliable probabilities are by the true causes (expected calibration error; Guo et al., 2017).

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> calibration(data, data.cause).error
    0.0
    """
    truth, counted = _truth(data)
    said, found = _check_shape(data, probability)[counted].astype(np.float64), truth[counted]
    which = np.clip((said * bins).astype(np.int64), 0, bins - 1)
    count = np.bincount(which, minlength=bins)
    filled = count > 0
    means = [np.bincount(which, weights=values, minlength=bins)[filled] / count[filled] for values in (said, found)]
    return Calibration(
        tuple(map(float, means[0])),
        tuple(map(float, means[1])),
        tuple(map(int, count[filled])),
        float((np.abs(means[0] - means[1]) * count[filled]).sum() / len(said)),
    )


# -- shared ----------------------------------------------------------------------------------------


def _truth(data: Transitions) -> tuple[Array, Array]:
    """Return the true causes (rows, factors), and which of these bits count."""
    if data.cause is None:
        raise LearnError("The data hold no true causes, so answers cannot be scored; give data with a 'cause'.")
    counted = np.zeros(data.cause.shape, dtype=bool)
    counted[:, [data.layout.index(name) for name in data.edges]] = True
    if data.mask is not None:
        counted &= data.mask
    if not counted.any():
        raise LearnError("No factor in question is ever present, so there is nothing to score; see the data's 'edges'.")
    return data.cause, counted


def _check_shape(data: Transitions, answers: Any) -> Array:
    given = np.asarray(answers)
    shape = (len(data), len(data.factors))
    if given.shape != shape or given.dtype.kind not in "biuf":
        raise LearnError(
            f"Answers must be numbers or booleans of shape {shape}: (rows, factors). "
            f"Got {given.dtype} of shape {given.shape} instead."
        )
    if not ((given >= 0) & (given <= 1)).all():
        raise LearnError("Answers must be booleans, or probabilities between 0 and 1. Got others, or NaN.")
    return given


def _decisions(data: Transitions, predicted: Any) -> Array:
    given = _check_shape(data, predicted)
    if given.dtype.kind == "f":
        raise LearnError("Errors are counted of decisions, not of probabilities. Got floats; compare with a threshold.")
    return given.astype(bool)


def _line(name: str, scores: Scores | Evaluation, *more: float) -> str:
    values = (scores.recall, scores.precision, scores.f1, scores.auc, scores.average_precision, *more)
    cells = "".join(f" {'-':>7}" if value is None else f" {value:>7.3f}" for value in values)
    return f"{name:<16} {scores.edge_error:>8.2%}{cells}"
