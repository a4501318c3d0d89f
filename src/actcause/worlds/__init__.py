"""Worlds: other people's simulators as domains, with the true cause of every step read from the simulator itself.

    >>> from actcause import worlds
    >>> worlds.make("door-key").outcome
    'door'

Importing this package needs numpy alone; the simulators come with the extra `worlds` and are imported when a world
is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from ..envs.base import refuse_unknown_parameters
from ..errors import QueryError, suggest
from .ale_breakout import AleBreakout
from .base import World, WorldRow
from .door_key import DoorKey
from .fetch import FetchPush, FetchSlide
from .functional_cause import find_functional_cause
from .highway import Highway
from .mujoco_pucks import MujocoPucks

WORLDS: Mapping[str, type[World]] = MappingProxyType(
    {
        "door-key": DoorKey,
        "highway": Highway,
        "mujoco-pucks": MujocoPucks,
        "fetch-push": FetchPush,
        "fetch-slide": FetchSlide,
        "ale-breakout": AleBreakout,
    }
)


def names() -> tuple[str, ...]:
    """List the names of all worlds, installed or not."""
    return tuple(WORLDS)


def make(name: str, **parameters: Any) -> World:
    """Build a world by its name; parameters are those of its class. Its simulator is not needed yet.

    >>> make("door-kee")
    Traceback (most recent call last):
    ...
    actcause.errors.QueryError: Unknown world 'door-kee'; did you mean 'door-key'?
    """
    if not isinstance(name, str) or name not in WORLDS:
        hint = suggest(str(name), names()) or f"; choose one of {', '.join(WORLDS)}."
        raise QueryError(f"Unknown world {name!r}{hint}")
    kind: Any = WORLDS[name]
    refuse_unknown_parameters(name, [field.name for field in fields(kind)], parameters)
    world: World = kind(**parameters)
    return world


__all__ = ["WORLDS", "World", "WorldRow", "find_functional_cause", "make", "names"]
