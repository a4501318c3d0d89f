"""Domains with ground truth: worlds in which the actual cause of every transition is known.

    >>> from actcause import envs
    >>> domain = envs.make("push", obstacles=2)
    >>> domain.outcome
    'block'

Importing this package needs numpy alone. After `import actcause.envs.gym`, which needs Gymnasium,
`gymnasium.make("actcause/Push-v0")` gives the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from ..errors import QueryError, suggest
from .base import Domain, Step
from .block_1d import Block1D
from .breakout import Breakout
from .mover_1d import Mover1D
from .push import Push
from .random_vectors import PRESETS, RandomVectors, Relation, random_vectors

DOMAINS: Mapping[str, Callable[..., Domain]] = MappingProxyType(
    {
        **{preset: partial(random_vectors, preset) for preset in PRESETS},
        "push": Push,
        "break": Breakout,
        "mover-1d": Mover1D,
        "block-1d": Block1D,
    }
)


def names() -> tuple[str, ...]:
    """The names of all domains."""
    return tuple(DOMAINS)


def make(name: str, **parameters: Any) -> Domain:
    """Build a domain by its name; parameters are those of its class.

    >>> make("puhs")
    Traceback (most recent call last):
    ...
    actcause.errors.QueryError: Unknown domain 'puhs'; did you mean 'push'?
    """
    if not isinstance(name, str) or name not in DOMAINS:
        hint = suggest(str(name), list(DOMAINS)) or f"; choose one of {', '.join(DOMAINS)}."
        raise QueryError(f"Unknown domain {name!r}{hint}")
    try:
        return DOMAINS[name](**parameters)
    except TypeError as error:
        raise QueryError(f"The domain {name} does not take these parameters: {error}.") from None


__all__ = [
    "DOMAINS",
    "Block1D",
    "Breakout",
    "Domain",
    "Mover1D",
    "Push",
    "RandomVectors",
    "Relation",
    "Step",
    "make",
    "names",
    "random_vectors",
]
