"""Checks of what callers of `actcause.rl` give: one clear line for what will not do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..data.recording import Recording
from ..errors import QueryError, quote

TASK = (
    "one goal-conditioned environment with layout and outcomes, as GoalPush has; put another one into a wrapper that "
    "has them (GoalLayout)"
)


def check_recording(value: Any, parameter: str = "recording") -> None:
    """Refuse what is no recording of whole states."""
    if not isinstance(value, Recording):
        refuse(parameter, "a Recording of whole states, such as collect_recording gives", value)


def check_count(parameter: str, value: Any, least: int = 1) -> None:
    """Refuse what is no whole number, or one that is too small."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        refuse(parameter, f"an integer of at least {least}", value)


def check_amount(parameter: str, value: Any) -> None:
    """Refuse what is no number from 0 on."""
    known = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not known or not 0 <= value < math.inf:
        refuse(parameter, "a number of at least 0", value)


def find_task(env: Any) -> Any:
    """Return what tells the factors of an environment: itself, what it wraps, or a wrapper around somebody else's."""
    at = env
    while at is not None and not (hasattr(at, "layout") and hasattr(at, "outcomes")):
        at = getattr(at, "env", None)
    if at is None:
        refuse("env", TASK, env)
    check_layout(at.layout, at.outcomes, env.observation_space, env.action_space)
    return at


def check_layout(layout: Any, outcomes: Sequence[str], space: Any, actions: Any) -> None:
    """Refuse a layout that does not fit observations and actions, or outcomes that lack one of its bodies."""
    if not hasattr(layout, "read_states"):
        refuse("layout", "a GoalLayout", layout)
    for name in (layout.driven, layout.moving):
        if name not in outcomes:
            refuse("outcomes", f"factors with {name} among them, which the layout names", ", ".join(outcomes))
    try:
        sizes = {name: space[name].shape for name in ("observation", "achieved_goal", "desired_goal")}
    except (KeyError, TypeError):
        refuse("env", "an environment of Dict observations: observation, achieved_goal, desired_goal", space)
    wanted = {"observation": layout.size, "achieved_goal": layout.places, "desired_goal": layout.places}
    for name, size in wanted.items():
        if sizes[name] != (size,):
            raise QueryError(
                "The layout has {size} numbers for {name}, and the environment gives {got}; name the features of "
                "every factor in the order in which they stand there.", size=size, name=name, got=sizes[name],
            )  # fmt: skip
    used, size = len(layout.features[layout.action]), math.prod(actions.shape)
    if used != size:
        raise QueryError(
            "The layout has {used} features for {action}, and an action of the environment has {size}; name as many "
            "(a discrete action has one, its number).", used=used, action=layout.action, size=size,
        )  # fmt: skip


def check_callable(parameter: str, value: Any, wanted: str) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        refuse(parameter, wanted, value)


def read_names(parameter: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return names without repeats; a single string is no list of names."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        refuse(parameter, "a list of names", value)
    return tuple(dict.fromkeys(value))


def refuse(parameter: str, wanted: str, got: Any) -> NoReturn:
    """Raise the error that says what was expected and what came."""
    raise QueryError("{parameter} must be {wanted}. Got {got} instead.", parameter=parameter, wanted=wanted,
                     got=shorten(got))  # fmt: skip


def shorten(value: Any) -> str:
    """Return a value in a few words: one that prints long by its kind."""
    shown = quote(value)
    return shown if len(shown) <= 60 and "\n" not in shown else f"a {type(value).__name__}"
