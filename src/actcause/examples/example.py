"""What an example is made of, and the themes that collect them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from textwrap import dedent
from types import MappingProxyType
from typing import Any

from ..core.model import Model
from ..core.text import parse_event
from ..errors import QueryError, suggest
from .citations import COMPUTED

BUT_FOR = ("but-for",)
ORIGINAL = ("original-hp",)
UPDATED = ("updated-hp",)
MODIFIED = ("modified-hp",)
FUNCTIONAL = ("functional",)
TWO_HP = ORIGINAL + UPDATED
ALL_HP = TWO_HP + MODIFIED
SUFFICIENCY = ("direct", "strong")


@dataclass(frozen=True, eq=False)
class Published:
    """What a publication says of one event under one definition, in the example's context; or what we computed."""

    event: Mapping[str, int]
    definition: str
    holds: bool
    source: str

    @property
    def computed(self) -> bool:
        """Whether nobody published this: it is what the definition's own words give, found with both solvers."""
        return self.source == COMPUTED


@dataclass(frozen=True, eq=False)
class Example:
    """A model from the literature, what happened in it, and what was published about its causes.

    `outcome` is the variable to partition the states by: the last of `text` unless given. The effect is `outcome == 1`
    unless given, the source that of the first published verdict. The two shares are the settings under which functional
    actual causes were published, or ours where `notes` say so; None where there are none. `notes` also say where the
    literature argues, or where a definition and intuition part. `theme` is the part of the catalogue. An example with
    `steps` has time: its model is `text` unrolled so far.

    >>> loader = load("loader")
    >>> [(verdict.definition, verdict.holds) for verdict in loader.verdicts if verdict.event == {"A": 1}]
    [('original-hp', True), ('updated-hp', False), ('modified-hp', False)]
    """

    title: str
    story: str
    text: str
    context: Mapping[str, int]
    source: str = ""
    effect: str = ""
    outcome: str = ""
    verdicts: tuple[Published, ...] = ()
    alpha_sufficiency: float | None = None
    alpha_necessity: float | None = None
    notes: tuple[str, ...] = ()
    name: str = ""
    theme: str = ""
    steps: int | None = None

    def __post_init__(self) -> None:
        fix = object.__setattr__
        fix(self, "text", dedent(self.text).strip())
        fix(self, "context", MappingProxyType(dict(self.context)))
        fix(self, "outcome", self.outcome or self.text.split("\n")[-1].split()[0])
        fix(self, "source", self.source or next((one.source for one in self.verdicts if not one.computed), ""))
        fix(self, "effect", self.effect or f"{self.outcome} == 1")

    @cached_property
    def model(self) -> Model:
        """The model, parsed from `text` when first read, and unrolled if it has time."""
        model = Model.from_text(self.text)
        return model if self.steps is None else model.unrolled(self.steps)

    @property
    def model_text(self) -> str:
        """The text of `model`: that of the example, unless it has time."""
        return self.text if self.steps is None else self.model.to_text()

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name:
            return (load, (self.name,))
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        return (_rebuild, (given | {"context": dict(self.context)},))


def _rebuild(given: dict[str, Any]) -> Example:
    return Example(**given)


class Theme:
    """A part of the catalogue: decorates the functions that describe its examples.

    An example has its function's name; its model is parsed when it is first read. `alpha_necessity` holds for all.
    """

    def __init__(self, title: str, alpha_necessity: float | None = None) -> None:
        self.title, self.alpha_necessity = title, alpha_necessity
        self.names: list[str] = []

    def __call__(self, describe: Callable[[], Example]) -> Callable[[], Example]:
        name = describe.__name__.replace("_", "-")
        self.names.append(name)
        _EXAMPLES[name] = replace(describe(), name=name, theme=self.title, alpha_necessity=self.alpha_necessity)
        return describe


_EXAMPLES: dict[str, Example] = {}


def load(name: str) -> Example:
    """Look an example up, with the nearest name suggested if there is none.

    >>> load("loader").model.variables
    ('A', 'B', 'C', 'D')
    """
    if not isinstance(name, str) or name not in _EXAMPLES:
        raise QueryError(
            f"Unknown example {name!r}{suggest(str(name), list(_EXAMPLES)) or '.'} "
            f"actcause.examples.names() lists them all."
        )
    return _EXAMPLES[name]


def yes(definitions: Iterable[str], source: str, *events: str) -> tuple[Published, ...]:
    """Publish that each of these events is a cause under each of these definitions."""
    parsed = [MappingProxyType(parse_event(event)) for event in events]
    return tuple(Published(event, definition, True, source) for event in parsed for definition in definitions)


def no(definitions: Iterable[str], source: str, *events: str) -> tuple[Published, ...]:
    """Publish that none of these events is a cause under any of these definitions."""
    return tuple(replace(verdict, holds=False) for verdict in yes(definitions, source, *events))
