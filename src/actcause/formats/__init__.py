r"""Models from elsewhere and to elsewhere: fault trees, Boolean networks, Bayesian networks, graphs, drawings.

>>> print(parse("A, A\nB, B\nC, A & !B", "bnet").model)
A
B
C = A and not B
>>> from actcause import Model
>>> print(export(Model.from_text("A\nB = not A"), "bnet"))
targets, factors
A, A
B, !A
<BLANKLINE>
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import PurePath
from typing import Any

from ..core.model import Model
from ..errors import ModelError, ParseError, QueryError, quote, suggest
from ..io.text_file import read_text
from .graphs import from_networkx, to_networkx
from .imported import Imported, Prior

__all__ = [
    "FORMATS",
    "Format",
    "Imported",
    "Prior",
    "export",
    "find_format",
    "from_networkx",
    "parse",
    "read",
    "to_networkx",
]


@dataclass(frozen=True)
class Format:
    """A format: what it is, what its files end in, and how it is read and written."""

    about: str
    suffixes: tuple[str, ...]
    read: Callable[[str], Imported] | None = None
    write: Callable[[Model, str, Prior], str] | None = None


def _import_later(file: str, function: str) -> Callable[..., Any]:
    """Return a function of a format's file, which is imported when it is first called: most questions need none."""
    return lambda *given: getattr(import_module(f"{__name__}.{file}"), function)(*given)


def _with_title(file: str, function: str) -> Callable[[Model, str, Prior], str]:
    """Return a function that writes a model under a title, without probabilities."""
    write = _import_later(file, function)
    return lambda model, title, prior: write(model, title)


read_bnet = _import_later("bnet", "read_bnet")
FORMATS: Mapping[str, Format] = {
    "open-psa": Format(
        "fault trees (XML)",
        (".xml", ".opsa"),
        _import_later("open_psa", "read_open_psa"),
        _import_later("open_psa_writer", "write_open_psa"),
    ),
    "bnet": Format(
        "Boolean networks", (".bnet",), read_bnet, lambda model, *_: _import_later("bnet", "write_bnet")(model)
    ),
    "bif": Format(
        "Bayesian networks with tables",
        (".bif",),
        _import_later("bif", "read_bif"),
        _import_later("bif_writer", "write_bif"),
    ),
    "hp2sat": Format(
        "causal models in the style of HP2SAT (JSON)",
        (".causalmodel",),
        _import_later("hp2sat", "read_hp2sat"),
        _with_title("hp2sat", "write_hp2sat"),
    ),
    "dot": Format("drawings for Graphviz", (".dot", ".gv"), None, _with_title("dot", "write_dot")),
    "mermaid": Format("drawings for Mermaid", (".mmd", ".mermaid"), None, _with_title("mermaid", "write_mermaid")),
    "tikz": Format("drawings for LaTeX", (".tex", ".tikz"), None, _with_title("tikz", "write_tikz")),
    "text": Format(
        "model text",
        (".txt",),
        lambda text: Imported(Model.from_text(text)),
        lambda model, title, prior: model.to_text() + "\n",
    ),
}

OTHER_NAMES = {"latex": "tikz", "graphviz": "dot", "openpsa": "open-psa"}


def find_format(path: str) -> str | None:
    """Find the format whose files end as this one does; None where none does.

    >>> find_format("tank.xml"), find_format("model")
    ('open-psa', None)
    """
    suffix = PurePath(path).suffix.lower()
    return next((name for name, one in FORMATS.items() if suffix in one.suffixes), None)


def parse(text: str, kind: str, *, steps: int | None = None) -> Imported:
    """Read a model from text of the format `kind`; with `steps`, unroll model text or a Boolean network in time."""
    reader = _find(kind).read
    if reader is None:
        raise QueryError(f"The format {kind} is only written; {_list_readers()} are read.")
    if steps is None:
        return reader(text)
    if kind == "text":
        return Imported(Model.from_text(text).unrolled(steps))
    if kind != "bnet":
        raise QueryError(
            "{parameter} is for model text and Boolean networks (bnet), which have time.", parameter="steps"
        )
    imported: Imported = read_bnet(text, steps)
    return imported


def read(path: str | PathLike[str], kind: str | None = None, *, steps: int | None = None) -> Imported:
    """Read a model from a file, '-' being standard input; its ending says the format unless `kind` does."""
    shown = str(path)
    chosen = kind or find_format(shown)
    if chosen is None:
        raise QueryError(f"'{shown}' does not say its format by its ending; name one of {_list_readers()}.")
    _find(chosen)
    content = read_text(shown, what="a file of another tool")
    try:
        return parse(content, chosen, steps=steps)
    except ParseError as error:
        raise QueryError(f"{shown}, {error}") from None
    except ModelError as error:
        raise QueryError(f"{shown}: {error}") from None


def export(model: Model, kind: str, *, title: str = "", prior: Prior | None = None) -> str:
    """Write a model in the format `kind`; formats with probabilities take a `prior` of roots."""
    writer = _find(kind).write
    if writer is None:
        raise QueryError(f"The format {kind} is only read.")
    return writer(model, title, prior or {})


def _find(kind: str) -> Format:
    if isinstance(kind, str):
        kind = OTHER_NAMES.get(kind, kind)
    if not isinstance(kind, str) or kind not in FORMATS:
        hint = suggest(str(kind), [*FORMATS, *OTHER_NAMES]) or "."
        raise QueryError(f"Unknown format {quote(kind)}{hint} Known are {', '.join(FORMATS)}.")
    return FORMATS[kind]


def _list_readers() -> str:
    return ", ".join(name for name, one in FORMATS.items() if one.read is not None)
