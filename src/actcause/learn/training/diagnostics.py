"""What went wrong in a training, one sentence each, with what to try."""

from __future__ import annotations

from collections.abc import Mapping

NOTHING = 0.0005  # shares below this are as good as never
LEARNED = 0.9  # a forward model must beat a constant by a tenth


def diagnose(*, shares: Mapping[str, float], full_error: float, blind_error: float, stopped: bool = False) -> list[str]:
    """Sentences on collapse and on forward models that have not learned; empty if all is well.

    `shares` says in which share of held-out rows each factor was found to be a cause; the errors are those of the
    forward model that sees everything and of the best constant.

    >>> diagnose(shares={"a": 0.4}, full_error=0.1, blind_error=0.9)
    []
    """
    found = []
    if stopped:
        found.append("Training stopped before its end, so the answers are provisional; resume it or give it more time.")
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
