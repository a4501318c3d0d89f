"""Many tasks on several workers, with the same outcomes in the same order whoever ran them.

    with engine("local", workers=2) as workers:
        for value in values(workers.run(function, tasks)):
            ...

`local` runs processes of this machine, `ray` tasks of a Ray cluster. A new engine is a file with a pool (see
`ordering.py`) and a line in `engine`.
"""

from __future__ import annotations

from ..errors import QueryError, suggest
from .base import Engine, EngineError, Outcome, values

__all__ = ["ENGINES", "Engine", "EngineError", "Outcome", "engine", "values"]

ENGINES = ("local", "ray")


def engine(name: str = "local", workers: int | None = None, address: str | None = None) -> Engine:
    """Return the engine of this name; by default `local` has one worker, and `ray` one for each CPU of its cluster.

    >>> with engine("local", workers=1) as one:
    ...     list(values(one.run(abs, [-1, 2, -3])))
    [1, 2, 3]
    """
    if name not in ENGINES:
        hint = suggest(name, ENGINES) or "."
        raise QueryError(f"An engine is one of {', '.join(ENGINES)}. Got '{name}'{hint}")
    if workers is not None and workers < 1:
        raise QueryError(f"The number of workers must be at least 1. Got {workers}.")
    if name == "ray":
        from .ray_cluster import Ray

        return Ray(workers, address)
    if address is not None:
        raise QueryError(f"An address is that of a Ray cluster: say --engine ray, or leave out '{address}'.")
    from .processes import Local

    return Local(workers or 1)
