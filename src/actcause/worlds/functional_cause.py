"""The functional actual cause of one step, found by doing: exchange factors, step again, compare.

A set of factors is *sufficient* if the outcome stays what it was while all factors outside it are exchanged for
others: in all but the share `alpha` of the tries. The cause is the smallest such set. It is *necessary* too: every
factor of it, exchanged with those outside, undoes the outcome more often than that, or a smaller set would do.

For every size, in the order of the factors: the sets of that size are tried until one is sufficient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

ALPHA = 0.1
BODY_ALPHA = 0.25  # where factors are bodies: one that is put anywhere lands in the outcome's way now and then
TRIES = 24

Exchange = Callable[[tuple[str, ...]], bool]


def find_functional_cause(
    factors: Sequence[str], changes: Exchange, *, alpha: float = ALPHA, tries: int = TRIES
) -> tuple[str, ...]:
    """Return the smallest set of `factors` that keeps the outcome while the others are exchanged.

    `changes` exchanges the factors that it is given for other values, at random, steps once more and says whether the
    outcome is another. The outcome's own previous value is never exchanged.

    >>> import random
    >>> draw = random.Random(0)
    >>> def changes(exchanged):  # a lamp burns (it does) if both switches are on; the weather is of no matter
    ...     switches = [draw.random() < 0.5 if name in exchanged else True for name in ("one", "two")]
    ...     return not all(switches)
    >>> find_functional_cause(("one", "weather", "two"), changes)
    ('one', 'two')
    """
    allowed = int(alpha * tries)
    for size in range(len(factors)):
        for held in combinations(factors, size):
            exchanged = tuple(factor for factor in factors if factor not in held)
            if _is_sufficient(exchanged, changes, allowed, tries):
                return held
    return tuple(factors)


def _is_sufficient(exchanged: tuple[str, ...], changes: Exchange, allowed: int, tries: int) -> bool:
    """Try until more than `allowed` of the tries changed the outcome."""
    changed = 0
    for _ in range(tries):
        changed += changes(exchanged)
        if changed > allowed:
            return False
    return True
