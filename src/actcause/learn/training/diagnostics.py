"""What went wrong in a training, one sentence each, with what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NOTHING = 0.0005  # shares below this are as good as never
UNEXPLAINED = 0.1  # a larger share of rows left without an explanation is worth a word
DISAGREEING = 0.1  # as `distance_from_hindsight` measures it: twice what it is at most in the paper's domains
DISAGREEING_OFTEN = 0.026  # the same where events are common: there, networks come nearer to hindsight
STOPPED = "Training stopped before its end, so the answers are provisional; resume it or give it more time."
MISSED = 0.5  # of what the own state misses in surprising rows; who sees all factors should miss less
TOGETHER, OFTEN = 0.98, 50  # factors named together in this share of their rows, and in so many, are one to us
LEARNED = 0.9  # a forward model must beat a constant by a tenth


def diagnose(*, shares: Mapping[str, float], full_error: float, blind_error: float, stopped: bool = False) -> list[str]:
    """Write sentences on collapse and on forward models that have not learned; none if all is well.

    `shares` says in which share of held-out rows each factor was found to be a cause; the errors are those of the
    forward model that sees everything and of the best constant.

    >>> diagnose(shares={"a": 0.4}, full_error=0.1, blind_error=0.9)
    []
    """
    found = []
    if stopped:
        found.append(STOPPED)
    if full_error > LEARNED * blind_error:
        found.append(
            f"The forward model has not learned: seeing every factor it misses by {full_error:.3g} where a constant "
            f"misses by {blind_error:.3g}; try more steps, a wider network, more rows, or factors that matter."
        )
    if all(share < NOTHING for share in shares.values()):
        found.append(
            "No factor is ever found to be a cause (all zeros): either the outcome's own state explains everything, or "
            "the penalty is too large; try a smaller penalty, more rows with events, or more steps."
        )
    elif all(share > 1 - NOTHING for share in shares.values()):
        found.append(
            "Every factor is always found to be a cause (all ones): the penalty is too small, or the forward model "
            "needs everything; try a larger penalty, more steps, or check that the outcome's own factor is named."
        )
    return found


def diagnose_events(
    learned: Mapping[str, Any], classes: Sequence[str], factors: Sequence[str], ties: Sequence[tuple[str, str]]
) -> list[str]:
    """Write sentences on what was left unexplained; none of it needs a label.

    `learned` holds the shares that were measured on held-out rows: `unexplained` of the surprising rows without a
    cause, `half_explained` of the rows with a cause whose causes bring the outcome about in less than half of the
    tries, `disagreement` of the network with hindsight, `shares` of rows in which each factor is named.
    """
    found = []
    if learned["unexplained"] > UNEXPLAINED:
        found.append(
            f"{learned['unexplained']:.0%} of the surprising rows get no cause: something that acts on the outcome may "
            "not be recorded, or the model has not learned it; record the missing object or past frames (history), or "
            "more rows with events."
        )
    if learned["half_explained"] > UNEXPLAINED:
        found.append(
            f"In {learned['half_explained']:.0%} of the rows with a cause no set of factors brings the outcome about "
            "in half of the tries: the model errs there; record more rows with events, or give it more steps."
        )
    if learned["disagreement"] > DISAGREEING:
        found.append(
            f"What the state alone says and what the outcome shows disagree ({learned['disagreement']:.2f}, where 0 is "
            "agreement): trust explain more than predict, try several seeds, and record more rows."
        )
    named = dict.fromkeys(classes, 0.0)
    for factor, kind in zip(factors, classes, strict=True):
        if factor in learned["shares"]:
            named[kind] = max(named[kind], learned["shares"][factor])
    silent = [f for f, k in zip(factors, classes, strict=True) if f in learned["shares"] and named[k] < NOTHING]
    if silent and len(silent) < len(learned["shares"]):
        found.append(f"Never named as a cause: {', '.join(silent)}. If that cannot be, record rows in which they act.")
    for one, two in ties:
        found.append(
            f"'{one}' and '{two}' are causes only together, so that nobody could tell them apart: record rows in which "
            "one acts without the other."
        )
    return found


def measure_doubt(learned: Mapping[str, Any], *, rare: bool) -> float:
    """Measure how far a result is from what may be left open, where events are `rare` or common: up to 1 all is well.

    Masks are also doubted where their model, which sees all factors, does no better than a constant (`missed`).

    >>> found = {"unexplained": 0.05, "omitted": 0.0, "disagreement": 0.06}
    >>> measure_doubt(found, rare=True) < 1 < measure_doubt(found, rare=False)
    True
    >>> measure_doubt({**found, "missed": 1.8}, rare=True)
    2.0
    """
    most = DISAGREEING if rare else DISAGREEING_OFTEN
    left = max(learned["unexplained"], learned["omitted"]) / UNEXPLAINED
    return float(max(left, learned["disagreement"] / most, learned.get("missed", 0.0) / LEARNED))


def diagnose_model(learned: Mapping[str, Any]) -> list[str]:
    """Write sentences on a model that errs where it matters, and on factors that only tell episodes apart.

    `learned` holds `event_error`, the error on surprising held-out rows as a share of that by the own state, `omitted`,
    the share of those with a cause that hang on another factor too, `idle`, the factors whose exchange makes no
    difference, and `shares` of rows in which each was named before that was known.

    >>> diagnose_model({"event_error": 0.1, "omitted": 0.0, "idle": ["goal"], "shares": {"goal": 0.0}})
    []
    """
    found = []
    if learned["omitted"] > UNEXPLAINED:
        found.append(
            f"{learned['omitted']:.0%} of the surprising rows with a cause hang on a factor, too, that is not named: "
            "a set of causes is named in part; record rows in which each of them varies while the others stay, or more "
            "rows with events."
        )
    if learned["event_error"] > MISSED:
        found.append(
            f"On surprising rows the model errs by {learned['event_error']:.0%} of what the outcome's own state alone "
            "errs by, though it may see every factor: chance decides there, or something is not recorded, or not "
            "learned; record what is missing, more rows with events, or give it more steps."
        )
    blamed = [name for name in learned["idle"] if learned["shares"].get(name, 0.0) >= NOTHING]
    if blamed:
        found.append(
            f"Left out: {', '.join(blamed)}. Constant within every episode, and of no use in episodes that were not "
            "learned from: it tells episodes apart, and is no cause. If it should be one, record more episodes."
        )
    return found


def find_ties(found: Any, factors: Sequence[str], own: int | None) -> list[tuple[str, str]]:
    """List pairs of factors that are always named together, often enough to say so; `found` is (rows, factors).

    >>> import numpy as np
    >>> find_ties(np.ones((60, 3), dtype=bool), ["a", "b", "y"], 2)
    [('a', 'b')]
    """
    scored = [k for k in range(len(factors)) if k != own]
    pairs = []
    for place, one in enumerate(scored):
        for two in scored[place + 1 :]:
            both, either = int((found[:, one] & found[:, two]).sum()), int((found[:, one] | found[:, two]).sum())
            if both >= OFTEN and both >= TOGETHER * either:
                pairs.append((factors[one], factors[two]))
    return pairs
