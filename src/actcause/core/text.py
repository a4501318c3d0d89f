"""What text can say: a model, a formula, an event, read (never by `eval`) and written into sentences.

The grammar is that of `parser.py`.
"""

from collections.abc import Mapping, Sequence

from .declarations import MAX_CHARACTERS as MAX_CHARACTERS  # the bounds are documented as those of model text
from .declarations import MAX_VARIABLES as MAX_VARIABLES
from .declarations import check_size, guard_stack
from .expression import Expression
from .model import Model
from .parser import END, TRUTH_VALUES, Parser
from .parser import MAX_BRANCHES as MAX_BRANCHES
from .parser import MAX_DEPTH as MAX_DEPTH
from .parser import MAX_DIGITS as MAX_DIGITS
from .parser import MAX_NAME as MAX_NAME
from .parser import MAX_RANGE_TOTAL as MAX_RANGE_TOTAL
from .ranges import MAX_RANGE as MAX_RANGE
from .steps import AT, hint_name, split_step

parse_model = Model.from_text
MOST_LISTED = 8  # parts of a sentence; the rest is counted


def parse_formula(text: str, names: Mapping[str, object] | None = None) -> Expression:
    """Read an effect such as ``BS == 1`` or ``not BS and X == 2``; check its names if `names` is given.

    >>> str(parse_formula("!BS & X == 2"))
    'not BS and X == 2'
    """
    check_size(text)
    parser = Parser(text, 1)
    if parser.tokens[0] == END:
        parser.fail("the formula is empty; write one such as 'BS == 1'")
    with guard_stack():
        expression = parser.whole_formula()
    parser.end("an operator or the end of the formula")
    if names is not None:
        for used in expression.names():
            if used not in names:
                parser.fail(f"unknown variable '{used}'{hint_name(used, names)}", parser.tokens.index(used))
    return expression


def parse_event(text: str, names: Mapping[str, object] | None = None) -> dict[str, int]:
    """Read an event or a context: assignments joined by commas (or `and`), ``=`` or ``==``.

    >>> parse_event("ST=1, BH=0")
    {'ST': 1, 'BH': 0}
    """
    check_size(text)
    parser = Parser(text, 1)
    event: dict[str, int] = {}
    while parser.tokens[parser.at] != END:
        at = parser.at
        name = parser.name()
        if names is not None and name not in names:
            parser.fail(f"unknown variable '{name}'{hint_name(name, names)}", at)
        if name in event:
            parser.fail(f"{name} is set twice", at)
        if parser.tokens[parser.at] not in ("=", "=="):
            parser.fail_expecting(f"'=' after {name}")
        parser.at += 1
        if (token := parser.tokens[parser.at]) in TRUTH_VALUES:
            event[name] = TRUTH_VALUES[token]
            parser.at += 1
        else:
            event[name] = parser.integer_with_sign()
        if parser.tokens[parser.at] in (",", "and", "&"):
            parser.at += 1
        else:
            parser.end("',' or the end")
    return event


def write_list(parts: Sequence[str]) -> str:
    """Write `a, b and c`, the rest counted if there are many.

    >>> write_list(["a", "b", "c"]), write_list([str(number) for number in range(1, 11)])
    ('a, b and c', '1, 2, 3, 4, 5, 6, 7, 8 and 2 more')
    """
    shown = list(parts[:MOST_LISTED])
    if len(parts) > MOST_LISTED:
        shown.append(f"{len(parts) - MOST_LISTED} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def write_value(name: str, value: int, verb: str = "=") -> str:
    """Write `ST=1`, or `ST been 1`; of a variable in time when it was so.

    >>> write_value("valve@3", 0), write_value("valve@3", 0, " been ")
    ('valve=0 at step 3', 'valve been 0 at step 3')
    """
    base, step = split_step(name) if AT in name else (name, None)
    return f"{base}{verb}{value}" + ("" if step is None else f" at step {step}")


def write_assignments(assignment: Mapping[str, int]) -> str:
    """Write `ST=1 and BT=0`."""
    return write_list([write_value(name, value) for name, value in assignment.items()])


def write_event(event: Mapping[str, int], labels: Mapping[str, str]) -> str:
    """Write the event with its verb: `ST=1 is`, `L=1 and MD=1 together are`."""
    text = write_list(
        [f"{labels[n]} {write_value(n, v)}" if n in labels else write_value(n, v) for n, v in event.items()]
    )
    return f"{text} is" if len(event) == 1 else f"{text} together are"


def open_with_event(event: Mapping[str, int], labels: Mapping[str, str]) -> str:
    """Write the same for the start of a sentence; a variable's own name keeps its case."""
    text = write_event(event, labels)
    return text[0].upper() + text[1:] if next(iter(event)) in labels else text
