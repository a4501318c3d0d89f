"""What the columns of a user's own file mean: a role each, guessed from their names or chosen on the page.

A column is the state of a factor, the outcome's next value, the episode, a true cause, the presence of an object, or
none of these. Roles become a mapping as `actcause.data.load` takes it, which the page keeps beside the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import DataError
from .column_summary import summarise_columns
from .mapping import ColumnMap
from .parquet import is_ours, is_parquet
from .tables import column_names, has_decimal_comma, is_missing

ROLES = ("state", "next", "episode", "cause", "present", "none")
NAMED = {"state": ("factor", "feature"), "next": ("feature",), "cause": ("factor",), "present": ("factor",)}
SIDECAR = ".mapping.json"  # beside a recording: which of its columns are which factors
VALUE = "value"  # the feature of a factor that has only one
EPISODES = ("episode", "episode_id", "episodes", "traj", "trajectory", "run", "trial")


@dataclass(frozen=True)
class ChosenMapping:
    """The mapping that a file is read with, None where its columns say all, and a sentence where nobody gave it."""

    mapping: Any
    note: str | None = None


def choose_mapping(path: str | PathLike[str], given: Any = None) -> ChosenMapping:
    """Choose how a file is read: as given, as the mapping beside it says, as its columns say, or as they suggest.

    Only names that tell what is explained, such as `ball_x_next`, are guessed from.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mine.csv")
    ...     _ = file.write_text("ball_x,hand_x,ball_x_next")
    ...     choose_mapping(file).mapping["outcome"]
    {'ball': {'x': 'ball_x_next'}}
    """
    if given is not None:
        return ChosenMapping(given)
    source = Path(path)
    stored = find_mapping(source)
    if stored is not None:
        return ChosenMapping(stored, f"the columns of {source.name} are read as {stored.name} says.")
    if not source.is_file() or (is_parquet(source) and is_ours(source)):
        return ChosenMapping(None)
    names = column_names(source)
    try:
        ColumnMap.resolve(names)
        return ChosenMapping(None)
    except DataError as unsaid:
        try:
            guess = guess_roles(names)
            mapping = build_mapping(guess["roles"], guess["outcome"], guess["own"] or None, find_texts(source, names))
            found = ColumnMap.resolve(names, mapping)
        except DataError:
            raise unsaid from None
        if found.following is None:
            raise
    factors = ", ".join(f"{name} ({', '.join(found.layout.features[name])})" for name in found.layout.factors)
    read = f"factors {factors}; the outcome {found.layout.outcome_factor} is in {', '.join(found.following)}"
    return ChosenMapping(mapping, f"the columns of {source.name} were guessed: {read}.")


def find_mapping(path: Path) -> Path | None:
    """Find the mapping that the page stored beside a file."""
    beside = path.with_name(path.name + SIDECAR)
    return beside if beside.is_file() else None


def find_texts(path: str | PathLike[str], names: Sequence[str]) -> frozenset[str]:
    r"""Find the columns of text, which are categories; one with a number in it has a slip instead.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mine.csv")
    ...     _ = file.write_text("x,door\n1,open\ntwo,shut\n")
    ...     sorted(find_texts(file, ["x", "door"]))
    ['door']
    """
    try:
        columns = summarise_columns(path, names, most_rows=1).columns
    except DataError:  # said where its rows are read
        return frozenset()
    words = {one.name: [word for word in one.words if not is_missing(word)] for one in columns if one.type == "text"}
    return frozenset(name for name, said in words.items() if said and not any(map(_is_number, said)))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return has_decimal_comma(word)
    return True


def build_mapping(
    roles: Sequence[Mapping[str, str]], outcome: str, own: str | None, texts: Collection[str] = ()
) -> dict[str, Any]:
    """Build a mapping of roles; what the columns in `texts` hold is categorical.

    >>> roles = [
    ...     {"column": "bx", "role": "state", "factor": "ball", "feature": "x"},
    ...     {"column": "bx2", "role": "next", "factor": "", "feature": "x"},
    ... ]
    >>> build_mapping(roles, "ball", None)["outcome"]
    {'ball': {'x': 'bx2'}}
    """
    factors: dict[str, dict[str, str]] = {}
    following: dict[str, str] = {}
    flags: dict[str, dict[str, str]] = {"cause": {}, "present": {}}
    episode: str | bool = False
    categorical: list[str] = []
    for one in roles:
        column, role, factor, feature = (one[key] for key in ("column", "role", "factor", "feature"))
        lacking = next((word for word in NAMED.get(role, ()) if not one[word]), None)
        if lacking:
            raise DataError(f"The column '{column}' needs the name of its {lacking}.")
        if role == "state":
            _put(factors.setdefault(factor, {}), feature, column, f"'{factor}.{feature}'")
        elif role == "next":
            _put(following, feature, column, f"the next '{feature}'")
            factor = "next"  # as its categories are called
        elif role in flags:
            _put(flags[role], factor, column, f"the {role} of '{factor}'")
        elif role == "episode":
            if episode:
                raise DataError(f"Both '{episode}' and '{column}' are said to number the episodes: choose one.")
            episode = column
        if column in texts and role in ("state", "next"):
            categorical.append(f"{factor}.{feature}")
    if not factors:
        raise DataError("No column is the state of a factor yet: give at least two factors a column each.")
    if not outcome:
        raise DataError("Say what is to be explained: choose the outcome.")
    mapping: dict[str, Any] = {"factors": factors, "outcome": {outcome: following} if following else outcome}
    mapping |= {"categorical": categorical} if categorical else {}
    return mapping | {"episode": episode} | ({"own": own} if own else {}) | flags


def _put(table: dict[str, str], name: str, column: str, what: str) -> None:
    if name in table:
        raise DataError(f"Both '{table[name]}' and '{column}' are said to be {what}: choose one.")
    table[name] = column


def guess_roles(names: Sequence[str]) -> dict[str, Any]:
    """Guess what the columns mean, from names such as `ball.x`, `ball_x`, `next.ball.x`, `ball_x_next`."""
    roles, outcomes = [], []
    for name in names:
        word = name.lower()
        whole, number = _split_number(name)
        kind, rest = _split_kind(whole)
        factor, feature = _split_factor(rest)
        if number:
            feature = ("x" if feature == VALUE else feature) + number
        if word in EPISODES:
            role = {"role": "episode", "factor": "", "feature": ""}
        elif kind == "next":
            outcomes.append(factor)
            role = {"role": "next", "factor": "", "feature": feature}
        elif kind in ("cause", "present"):
            role = {"role": kind, "factor": rest, "feature": ""}
        elif kind == "extra":
            role = {"role": "none", "factor": "", "feature": ""}
        else:
            role = {"role": "state", "factor": factor, "feature": feature}
        roles.append({"column": name, **role})
    known = [one["factor"] for one in roles if one["role"] == "state"]
    outcome = outcomes[0] if outcomes else (known[0] if known else "")
    return {"roles": roles, "outcome": outcome, "own": outcome if outcome in known else ""}


def read_roles(mapping: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Read the roles that a stored mapping gives; one that was not made here may fall back to a guess."""
    blank = {name: {"column": name, "role": "none", "factor": "", "feature": ""} for name in names}
    try:
        for factor, features in mapping["factors"].items():
            for feature, column in features.items():
                blank[column].update(role="state", factor=factor, feature=feature)
        outcome = mapping["outcome"]
        if not isinstance(outcome, str):
            [(outcome, following)] = outcome.items()
            for feature, column in following.items():
                blank[column].update(role="next", feature=feature)
        for kind in ("cause", "present"):
            for factor, column in mapping[kind].items():
                blank[column].update(role=kind, factor=factor)
        if mapping["episode"]:
            blank[mapping["episode"]].update(role="episode")
    except (AttributeError, KeyError, TypeError, ValueError):
        return guess_roles(names)
    own = mapping.get("own", outcome if outcome in mapping["factors"] else "")
    return {"roles": list(blank.values()), "outcome": outcome, "own": own}


def _split_number(name: str) -> tuple[str, str]:
    """Split the number of a part of an array from its name.

    >>> _split_number("next.ball[1]"), _split_number("ball_x")
    (('next.ball', '1'), ('ball_x', ''))
    """
    match = re.fullmatch(r"(.+)\[(\d+)\]", name)
    return (match[1], match[2]) if match else (name, "")


def _split_kind(name: str) -> tuple[str, str]:
    """Split what the first or last part of a name says from the rest.

    >>> _split_kind("next.ball.x"), _split_kind("ball_x_next"), _split_kind("ball_next_0"), _split_kind("ball_x")
    (('next', 'ball.x'), ('next', 'ball_x'), ('next', 'ball_0'), ('state', 'ball_x'))
    """
    numbered = re.fullmatch(r"(?i)(.+)[._ ]next([._ ]\d+)", name)
    if numbered:  # as in s_next_0
        return "next", numbered[1] + numbered[2]
    for kind in ("next", "cause", "present", "extra"):
        match = re.fullmatch(rf"(?i){kind}[._ ](.+)", name) or re.fullmatch(rf"(?i)(.+)[._ ]{kind}", name)
        if match:
            return kind, match[1]
    return "state", name


def _split_factor(name: str) -> tuple[str, str]:
    """Split factor and feature.

    >>> _split_factor("ball.x"), _split_factor("red_ball_x"), _split_factor("speed")
    (('ball', 'x'), ('red_ball', 'x'), ('speed', 'value'))
    """
    for mark in (".", "_", " "):
        factor, mark_there, feature = name.partition(mark) if mark == "." else name.rpartition(mark)
        if mark_there and factor and feature:
            return factor.replace(".", "_"), feature
    return name, VALUE
