"""The errors a user can meet: one base class, one sentence each.

Every message says what was expected, what came, and what to do about it. A message that is about a parameter
is a template, written once: each front end passes `describe` a function that names parameters in its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any

# Characters compared (the name's length times that of all candidates) to find a near name.
SUGGESTION_BUDGET = 2_000_000


# How a front end writes a parameter, given its Python name and the value it should have ("" for none).
Naming = Callable[[str, str], str]


def name_in_python(parameter: str, value: str = "") -> str:
    """Name a parameter as Python's callers know it.

    >>> name_in_python("max_seconds"), name_in_python("solver", "auto"), name_in_python("resume", "True")
    ('max_seconds', "solver='auto'", 'resume=True')
    """
    return f"{parameter}={value if value == 'True' else repr(value)}" if value else parameter


def fill(template: str, naming: Naming, values: Mapping[str, object] | None = None) -> str:
    """Put values and the names of parameters into a template.

    A field that is not among the values is a parameter, with the value it should have after a colon. A value
    with a `describe` of its own (a status, another error) speaks in the same words.

    >>> fill("raise {max_seconds}, or use {solver:auto}; got {got}", name_in_python, {"got": 1})
    "raise max_seconds, or use solver='auto'; got 1"
    """
    return template.format_map(_Fields(naming, values or {}))


class _Fields(dict[str, object]):
    def __init__(self, naming: Naming, values: Mapping[str, object]) -> None:
        super().__init__(
            {name: value.describe(naming) if hasattr(value, "describe") else value for name, value in values.items()}
        )
        self._naming = naming

    def __missing__(self, parameter: str) -> _Reference:
        return _Reference(parameter, self._naming)


class _Reference:
    def __init__(self, parameter: str, naming: Naming) -> None:
        self._parameter, self._naming = parameter, naming

    def __format__(self, value: str) -> str:
        return self._naming(self._parameter, value)


class ActCauseError(ValueError):
    """Base class of every error that a user's input can raise.

    `parameter` is the Python name of the parameter that was wrong, None where no single one was. With it, or with
    values, the message is a template (see `fill`) in which `{parameter}` stands for that one.

    >>> error = ActCauseError("{parameter} must be positive; got {got}.", parameter="max_seconds", got=-1)
    >>> str(error)
    'max_seconds must be positive; got -1.'
    >>> error.describe(lambda parameter, value: f"the field '{parameter}'")
    "the field 'max_seconds' must be positive; got -1."
    """

    parameter: str | None = None
    _values: Mapping[str, object] | None = None
    _prefixed = False

    def __init__(self, message: str = "", *, parameter: str | None = None, **values: object) -> None:
        super().__init__(message)
        self.parameter = parameter
        self._values = values if parameter is not None or values else None

    def describe(self, naming: Naming = name_in_python) -> str:
        """Word the message with parameters as a front end names them."""
        name = "" if self.parameter is None else naming(self.parameter, "")
        message = super().__str__()
        if self._values is not None:
            message = fill(message, naming, {**self._values, "parameter": name})
        if not self._prefixed:
            return message
        return f"{name}, {message}" if isinstance(self, ParseError) else f"{name}: {message}"

    def __str__(self) -> str:
        return self.describe()


class ModelError(ActCauseError):
    """A model that cannot be built or evaluated: a cycle, a missing value, a value outside its range.

    `variable` is the one whose line of the model is wrong, None where no single one is.
    """

    def __init__(
        self, message: str = "", *, parameter: str | None = None, variable: str | None = None, **values: object
    ) -> None:
        super().__init__(message, parameter=parameter, **values)
        self.variable = variable


class ParseError(ModelError):
    """Text that is not a model, a formula or an event.

    `line` and `column` count from 1; `source` is the offending line.
    """

    def __init__(self, message: str, *, line: int, column: int, source: str) -> None:
        self.reason = message
        self.line = line
        self.column = column
        self.source = escape(source if len(source) <= 200 else source[:200] + "…")
        super().__init__(f"line {line}, column {column}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_parse_error, (self.reason, self.line, self.column, self.source), self.__dict__)


def _parse_error(message: str, line: int, column: int, source: str) -> ParseError:
    return ParseError(message, line=line, column=column, source=source)


@contextmanager
def blaming(parameter: str) -> Iterator[None]:
    """Say in which parameter's text a mistake is, since there are several texts."""
    try:
        yield
    except ModelError as error:
        error.parameter, error._prefixed = parameter, True
        raise


class QueryError(ActCauseError):
    """A question that cannot be asked of this model."""


class TooLargeError(QueryError):
    """A question whose answer would take more memory than it may."""


class DataError(ActCauseError):
    """Data that cannot be built, read or written; the message says where and what to do."""


class MissingExtraError(ActCauseError, ImportError):
    """An optional dependency that is not installed; the message holds the exact install line."""

    def __init__(self, what: str, extra: str) -> None:
        self.what = what
        self.extra = extra
        super().__init__(f"{what} needs an extra that is not installed: pip install 'actcause[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return (MissingExtraError, (self.what, self.extra))


def import_extra(module: str, what: str, extra: str) -> Any:
    """Import a module that only an extra brings, where it is used.

    >>> import_extra("no_such_module", "Reading dreams", "data")
    Traceback (most recent call last):
    ...
    actcause.errors.MissingExtraError: Reading dreams needs an extra that is not installed: pip install 'actcause[data]'
    """
    try:
        return import_module(module)
    except ImportError as missing:
        raise MissingExtraError(what, extra) from missing


class ContractError(AssertionError, ActCauseError):
    """A model, a definition, a solver or a learner that breaks its contract; the message says how."""


def escape(text: str) -> str:
    r"""Write what no terminal can print (lone surrogates, control characters) as escapes.

    >>> escape("a\x00")
    'a\\x00'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\t\n" else c.encode("unicode_escape").decode() for c in text)


def quote(value: object) -> str:
    """Quote a value from outside in a message: its `repr`, cut where it is long.

    >>> quote(1.5), quote(10**100)[-5:]
    ('1.5', '0000…')
    """
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print an integer of more than 4,300 digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= 60 else text[:59] + "…"


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``'; did you mean 'SH'?'`` when a known name is near, else an empty string."""
    # A name that is three times as long is never near.
    candidates = [candidate for candidate in known if len(candidate) <= 3 * len(name)]
    if len(name) * sum(map(len, candidates)) > SUGGESTION_BUDGET:
        return ""
    near = [candidate for candidate in candidates if candidate.lower() == name.lower()][:1]
    if not near:
        near = get_close_matches(name, candidates, n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""
