"""Names of other formats as names of model text."""

import re
from collections.abc import Iterable

from ..core.parser import MAX_NAME, is_name

MARKS = re.compile("['@]")
LABEL_BREAKS = re.compile(r'["\s]+')


def rename(foreign: Iterable[str], *, timeless: bool = False) -> dict[str, str]:
    """Give every foreign name one that model text can have: itself where it can, else the nearest that is free.

    With `timeless`, marks of time (`x'`, `x@3`) are taken out too.

    >>> rename(["pump-1", "pump_1", "2nd", "not"])
    {'pump-1': 'pump_1_', 'pump_1': 'pump_1', '2nd': '_2nd', 'not': 'not_'}
    """
    names = list(dict.fromkeys(foreign))
    chosen = {name: name for name in names if is_name(name) and not (timeless and MARKS.search(name))}
    taken = set(chosen.values())
    for name in names:
        if name in chosen:
            continue
        new = re.sub(r"\W", "_", name)[: MAX_NAME - 20] or "_"
        new = new if re.match(r"[^\W\d]", new) else f"_{new}"
        while new in taken or not is_name(new):
            new += "_"
        chosen[name] = new
        taken.add(new)
    return {name: chosen[name] for name in names}


def describe_renaming(chosen: dict[str, str]) -> tuple[str, ...]:
    """Say what was renamed, in a sentence; nothing if nothing was."""
    changed = [f"{old} is {new}" for old, new in chosen.items() if old != new]
    if not changed:
        return ()
    more = f", and {len(changed) - 5:,} more" if len(changed) > 5 else ""
    return (f"Names that model text cannot have were changed: {', '.join(changed[:5])}{more}.",)


def make_label(text: str) -> str | None:
    """Make a label of one line without quotation marks; None where nothing is left."""
    return LABEL_BREAKS.sub(" ", text).strip()[:200] or None
