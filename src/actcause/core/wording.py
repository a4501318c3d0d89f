"""How events and lists are written in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def write_list(parts: Sequence[str], limit: int = 8) -> str:
    """Write `a, b and c`, the rest counted if there are many.

    >>> write_list(["a", "b", "c"]), write_list(["a", "b", "c"], limit=1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(parts[:limit])
    if len(parts) > limit:
        shown.append(f"{len(parts) - limit} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def write_assignments(assignment: Mapping[str, int]) -> str:
    """Write `ST=1 and BT=0`."""
    return write_list([f"{name}={value}" for name, value in assignment.items()])


def write_event(event: Mapping[str, int], labels: Mapping[str, str]) -> str:
    """Write the event with its verb: `ST=1 is`, `L=1 and MD=1 together are`."""
    text = write_list([f"{labels[n]} {n}={v}" if n in labels else f"{n}={v}" for n, v in event.items()])
    return f"{text} is" if len(event) == 1 else f"{text} together are"


def open_with_event(event: Mapping[str, int], labels: Mapping[str, str]) -> str:
    """Write the same for the start of a sentence; a variable's own name keeps its case."""
    text = write_event(event, labels)
    return text[0].upper() + text[1:] if next(iter(event)) in labels else text
