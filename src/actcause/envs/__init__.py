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
from dataclasses import fields
from functools import partial
from types import MappingProxyType
from typing import Any

from ..errors import QueryError, suggest
from .base import BaseDomain, Domain, Step, refuse_unknown_parameters
from .block_1d import Block1D
from .breakout import Breakout
from .mover_1d import Mover1D
from .push import Push
from .random_vectors import PRESETS, RandomVectors, random_vectors
from .reactor import Reactor
from .relation import Relation

DOMAINS: Mapping[str, Callable[..., Domain]] = MappingProxyType(
    {
        **{preset: partial(random_vectors, preset) for preset in PRESETS},
        "push": Push,
        "break": Breakout,
        "mover-1d": Mover1D,
        "block-1d": Block1D,
        "reactor": Reactor,
    }
)
RESAMPLED = ("push", "break")  # the paper scores these on states of which half are non-trivial


def names() -> tuple[str, ...]:
    """List the names of all domains."""
    return tuple(DOMAINS)


def parameters(name: str) -> dict[str, Any]:
    """Return the parameters of a domain and their defaults.

    >>> parameters("block-1d")
    {'obstacles': 1, 'size': 100.0, 'reach': 2.0, 'body': 1.0, 'noise': 0.0}
    """
    domain: Any = make(name)
    return {field.name: getattr(domain, field.name) for field in fields(domain)}


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
    build: Any = DOMAINS[name]
    known = [field.name for field in fields(PRESETS.get(name, build))]
    refuse_unknown_parameters(name, known, parameters)
    domain: Domain = build(**parameters)
    return domain


def make_seeded(name: str, seed: int, draw: int | None = None, **given: Any) -> Domain:
    """Build a domain whose random parameters, where it has any, are those of `draw`: by default of the seed.

    >>> make_seeded("1-in", 3), make_seeded("push", 3)  # doctest: +ELLIPSIS
    (RandomVectors(...draw=3...), Push(...))
    """
    drawn = draw is not None or "draw" in parameters(name)
    return make(name, **({"draw": seed if draw is None else draw} if drawn else {}), **given)


__all__ = [
    "DOMAINS",
    "RESAMPLED",
    "BaseDomain",
    "Block1D",
    "Breakout",
    "Domain",
    "Mover1D",
    "Push",
    "RandomVectors",
    "Reactor",
    "Relation",
    "Step",
    "make",
    "make_seeded",
    "names",
    "parameters",
    "random_vectors",
]
