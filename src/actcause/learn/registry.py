"""The methods by name; a method's file, and torch with it, is imported when the method is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import suggest
from .errors import LearnError

if TYPE_CHECKING:
    from .learner import Learner

# The class of each method and the file of `methods/` that it lives in; the default first.
HOMES = {
    "jaci-auto": ("jaci", "JACI"),
    "jaci-em": ("mask_jaci", "MaskJACI"),
    "jaci-exchange": ("exchange", "ExchangeJACI"),
    "jaci": ("paper_jaci", "PaperJACI"),
    "grad": ("grad", "Gradient"),
    "attn": ("attn", "Attention"),
    "cf": ("cf", "Counterfactual"),
    "cmi": ("cmi", "LeaveOneOut"),
    "ncd": ("ncd", "GumbelMask"),
    "ncii": ("ncii", "NullCounterfactual"),
    "granger": ("granger", "Pairwise"),
    "proximity": ("proximity", "Proximity"),
    "never": ("trivial", "Never"),
    "always": ("trivial", "Always"),
}


class _Methods(Mapping[str, "type[Learner]"]):
    """Methods by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> type[Learner]:
        file, kind = HOMES[name]
        found: type[Learner] = getattr(import_module(f"{__package__}.methods.{file}"), kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


METHODS: Mapping[str, type[Learner]] = _Methods()


def names() -> tuple[str, ...]:
    """Return the names of all methods, the default first."""
    return tuple(HOMES)


def make(name: str, **options: Any) -> Learner:
    """Build a learner by its method's name; options are those of its class, checked when it is fitted.

    >>> make("jaci-me")
    Traceback (most recent call last):
    ...
    actcause.learn.errors.LearnError: Unknown method 'jaci-me'; did you mean 'jaci-em'?
    """
    if not isinstance(name, str) or name not in HOMES:
        hint = suggest(str(name), HOMES) or f"; choose one of {', '.join(HOMES)}."
        raise LearnError(f"Unknown method {name!r}{hint}")
    method = METHODS[name]
    known = [field.name for field in fields(method)]
    for option in options:
        if option not in known:
            hint = suggest(option, known) or f"; it takes {', '.join(known)}."
            raise LearnError(f"The method {name} does not take the option '{option}'{hint}")
    return method(**options)
