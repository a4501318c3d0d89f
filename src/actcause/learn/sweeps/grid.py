"""What is combined: `penalty=0.01,0.02 seed=0..9` as names with values, and all combinations of these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from math import prod
from typing import Any

from ...errors import QueryError, quote
from ...io.settings import as_tuples

MOST = 10_000  # trials of one sweep
LONGEST = 120  # characters of a folder's name
RANGE = re.compile(r"\s*(-?\d{1,18})\.\.(-?\d{1,18})\s*")
SAFE = re.compile(r"[^\w.+-]")
EXAMPLE = "--sweep penalty=0.01,0.02 seed=0..9"


@dataclass(frozen=True)
class Grid:
    """Names, each with the values that it is to have."""

    values: Mapping[str, tuple[Any, ...]]

    @classmethod
    def read(cls, words: Iterable[str], others: Mapping[str, str]) -> Grid:
        """Read `NAME=VALUES` words; `others` are names that have an option of the command instead.

        >>> Grid.read(["penalty=0.01,0.02", "seed=0..2", "method=grad,cf"], {}).values["seed"]
        (0, 1, 2)
        """
        found: dict[str, tuple[Any, ...]] = {}
        for word in words:
            name, equals, written = (part.strip() for part in word.partition("="))
            if not equals or not name.isidentifier() or not written:
                raise QueryError(f"A sweep takes names with their values, such as {EXAMPLE}. Got {quote(word)}.")
            if name in others:
                raise QueryError(f"{name} cannot be swept over: it is the same for all trials, by {others[name]}.")
            if name in found:
                raise QueryError(f"{name} is swept over twice; give all of its values once: {name}=A,B.")
            found[name] = values(name, written)
        count = prod(map(len, found.values()))
        if count > MOST:
            raise QueryError(f"A sweep has at most {MOST:,} trials. Got {count:,}; give fewer values.")
        return cls(found)

    def settings(self) -> list[dict[str, Any]]:
        """List every combination, the last name's values changing fastest."""
        return [dict(zip(self.values, each, strict=True)) for each in product(*self.values.values())]


def values(name: str, written: str) -> tuple[Any, ...]:
    """Read the values in a list: JSON, text, and ranges of integers with both ends.

    >>> values("seed", "0..3,7"), values("steps", "null,600"), values("mixing", "soft,bernoulli")
    ((0, 1, 2, 3, 7), (None, 600), ('soft', 'bernoulli'))
    """
    try:
        found = [as_tuples(value) for value in json.loads(f"[{written}]")]
    except (ValueError, RecursionError):
        found = [value for part in written.split(",") for value in _part(name, part)]
    texts = [json.dumps(value) for value in found]
    twice = next((text for text in texts if texts.count(text) > 1), None) if len(texts) <= MOST else None
    if twice is not None:
        raise QueryError(f"The values of {name} have {twice} twice; each is one trial, so give it once.")
    return tuple(found)


def _part(name: str, part: str) -> Iterable[Any]:
    if not part.strip():
        raise QueryError(f"The values of {name} have an empty one; write them as {name}=A,B or {name}=0..9.")
    if ".." in part:
        ends = RANGE.fullmatch(part)
        if ends is None:
            raise QueryError(f"A range is two integers, such as {name}=0..9. Got '{part.strip()}'.")
        low, high = map(int, ends.groups())
        if high < low:
            raise QueryError(f"The range {name}={part.strip()} is empty; give the smaller number first.")
        if high - low >= MOST:
            raise QueryError(f"A sweep has at most {MOST:,} trials. Got {name}={part.strip()}; give fewer values.")
        return range(low, high + 1)
    try:
        return [as_tuples(json.loads(part))]
    except (ValueError, RecursionError):
        return [part.strip()]


def name_of(settings: Mapping[str, Any]) -> str:
    """Name a trial, and its folder.

    >>> name_of({"penalty": 0.01, "seed": 3}), name_of({"method": "grad"})
    ('penalty=0.01,seed=3', 'method=grad')
    """
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    plain = {name: SAFE.sub("_", text) for name, text in texts.items()}
    name = ",".join(f"{name}={text}" for name, text in plain.items())
    if plain == texts and len(name) <= LONGEST:
        return name
    digest = sha256(json.dumps(texts).encode()).hexdigest()[:8]  # what the name does not tell apart
    return f"{name[: LONGEST - 9]}-{digest}"
