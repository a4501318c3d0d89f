"""Domains by name, ours and other people's, and the metadata by which a recording names its domain."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import envs, worlds
from ..envs import BaseDomain, Domain
from ..errors import DataError, QueryError, suggest
from ..worlds import World
from .layout import Layout


def domain_names() -> tuple[str, ...]:
    """List the names of all domains: ours, then other people's worlds."""
    return (*envs.names(), *worlds.names())


def make_domain(name: str, **parameters: Any) -> Domain | World:
    """Build a domain or a world by its name; parameters are those of its class.

    >>> make_domain("door-key").factors
    ('action', 'agent', 'key', 'goal', 'door')
    >>> make_domain("puhs")
    Traceback (most recent call last):
    ...
    actcause.errors.QueryError: Unknown domain 'puhs'; did you mean 'push'?
    """
    if not isinstance(name, str) or name not in domain_names():
        hint = suggest(str(name), domain_names()) or f"; choose one of {', '.join(domain_names())}."
        raise QueryError(f"Unknown domain {name!r}{hint}")
    return worlds.make(name, **parameters) if name in worlds.names() else envs.make(name, **parameters)


def make_seeded_domain(name: str, seed: int, draw: int | None = None, **given: Any) -> Domain | World:
    """Build a domain whose random parameters, where it has any, are those of `draw`: by default of the seed."""
    if name in envs.names():
        return envs.make_seeded(name, seed, draw, **given)
    return make_domain(name, **({} if draw is None else {"draw": draw}), **given)


def domain_layout(domain: BaseDomain) -> Layout:
    """Name what the recordings of a domain hold."""
    return Layout.build(
        domain.factors,
        domain.features,
        own=domain.outcome,
        outcome_features=domain.outcome_features,
        edges=domain.edges,
    )


def domain_metadata(domain: BaseDomain) -> dict[str, Any]:
    """Give a domain's name, draw, parameters as far as JSON can hold them, and the classes of its factors.

    A world's recordings also say which features are categorical, and which simulator made them.
    """
    given: Any = domain
    fields = dataclasses.fields(given) if dataclasses.is_dataclass(given) else ()
    values = {field.name: getattr(given, field.name) for field in fields}
    parameters: dict[str, Any] = json.loads(json.dumps(values, default=_to_json))
    known = {
        "domain": domain.name,
        "draw": parameters.pop("draw", None),
        "parameters": parameters,
        "classes": dict(domain.classes),
    }
    if domain.categorical:
        known["categorical"] = list(domain.categorical)
    if isinstance(domain, World):
        known["simulator"] = f"{domain.simulator} {domain.version}"
    return known


def rebuild_domain(metadata: Mapping[str, Any]) -> Domain | World:
    """Build the domain that a recording's metadata speak of.

    >>> rebuild_domain(domain_metadata(envs.make("push", obstacles=2))).factors
    ('action', 'pusher', 'block', 'target', 'obstacle1', 'obstacle2')
    """
    name = metadata.get("domain")
    if name not in domain_names():
        raise DataError("The recording does not say which domain it is of; only those that do have pictures.")
    draw = {} if metadata.get("draw") is None else {"draw": metadata["draw"]}
    given = {**metadata.get("parameters", {}), **draw}
    return make_domain(name, **{parameter: _to_tuples(value) for parameter, value in given.items()})


def _to_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def _to_tuples(value: Any) -> Any:
    """Turn lists, which is what a file holds, into the tuples that a frozen domain wants."""
    return tuple(map(_to_tuples, value)) if isinstance(value, list) else value
