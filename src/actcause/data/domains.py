"""Domains and their recordings: what a recording says of its domain, and the domain that it was recorded in."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import envs
from ..envs import Domain
from ..errors import DataError
from .layout import Layout


def domain_layout(domain: Domain) -> Layout:
    """Name what the recordings of a domain hold."""
    return Layout.build(domain.factors, domain.features, own=domain.outcome, edges=domain.edges)


def domain_metadata(domain: Domain) -> dict[str, Any]:
    """Give a domain's name, draw, parameters as far as JSON can hold them, and the classes of its factors."""
    given: Any = domain
    fields = dataclasses.fields(given) if dataclasses.is_dataclass(given) else ()
    values = {field.name: getattr(given, field.name) for field in fields}
    parameters: dict[str, Any] = json.loads(json.dumps(values, default=_to_json))
    return {
        "domain": domain.name,
        "draw": parameters.pop("draw", None),
        "parameters": parameters,
        "classes": dict(domain.classes),
    }


def rebuild_domain(metadata: Mapping[str, Any]) -> Domain:
    """Build the domain that a recording's metadata speak of.

    >>> rebuild_domain(domain_metadata(envs.make("push", obstacles=2))).factors
    ('action', 'pusher', 'block', 'target', 'obstacle1', 'obstacle2')
    """
    name = metadata.get("domain")
    if name not in envs.names():
        raise DataError("The recording does not say which domain it is of; only those that do have pictures.")
    draw = {} if metadata.get("draw") is None else {"draw": metadata["draw"]}
    given = {**metadata.get("parameters", {}), **draw}
    return envs.make(name, **{parameter: _to_tuples(value) for parameter, value in given.items()})


def _to_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def _to_tuples(value: Any) -> Any:
    """Turn lists, which is what a file holds, into the tuples that a frozen domain wants."""
    return tuple(map(_to_tuples, value)) if isinstance(value, list) else value
