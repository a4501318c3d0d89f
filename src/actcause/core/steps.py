"""Names of variables in time: `level@3` is the value of `level` at step 3."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..errors import suggest

PRIME, AT = "'", "@"


def at_step(name: str, step: int) -> str:
    """Name a variable at a step.

    >>> at_step("level", 3)
    'level@3'
    """
    return f"{name}{AT}{step}"


def split_step(name: str) -> tuple[str, int | None]:
    """Take the step off a name; None if it has none.

    >>> split_step("level@3"), split_step("level")
    (('level', 3), ('level', None))
    """
    base, at, step = name.rpartition(AT)
    return (base, int(step)) if at and base and step.isdecimal() and step.isascii() else (name, None)


def find_last_step(names: Iterable[str]) -> int | None:
    """Find the last step that names mention.

    >>> find_last_step(["valve@2", "alarm@7", "pump"])
    7
    """
    return max((step for _, step in map(split_step, names) if step is not None), default=None)


def hint_name(name: str, known: Collection[str]) -> str:
    """Say what may have been meant by an unknown name: one at a step, one of a model in time, or one nearby.

    >>> hint_name("alarm", ["alarm@0", "alarm@1"])
    "; it has a value at each step: write 'alarm@1' for that at step 1"
    >>> hint_name("alarm@7", ["alarm", "alarm'"])
    '; unroll the model over at least 7 steps, as model.unrolled(7) or --steps 7 do'
    >>> hint_name("level", ["level'"])
    "; level' is its next value, so declare its first one too, such as 'level = 0'"
    """
    base, step = split_step(name)
    if step is None and at_step(name, 0) in known:
        last = max(number for other, number in map(split_step, known) if other == name and number is not None)
        return f"; it has a value at each step: write '{at_step(name, last)}' for that at step {last}"
    if step is not None and (
        at_step(base, 0) in known or (base in known and any(one.endswith(PRIME) for one in known))
    ):
        return f"; unroll the model over at least {step} steps, as model.unrolled({step}) or --steps {step} do"
    if name + PRIME in known:
        return f"; {name}{PRIME} is its next value, so declare its first one too, such as '{name} = 0'"
    return suggest(name, known)
