"""The best public tool that pip installs, `actualcauses`, on the rock throwers, used as its documentation shows.

Two of its settings. *Exact* is its ISI algorithm as it comes: like ours it finds every cause, and like
ours its silence means "no". *Beam* is ISI with a beam of one: an approximate search, which may miss causes.
We tried eleven settings on 11 variables, once each. Of four of its beam search MBS only the exhaustive one
named T1, in a thousand times ISI's time; the seven of ISI (exact, beams of 1 and 10, with and without its
heuristic) all named it. Three with a beam of one were then tried up to 201 variables and took 0.37 to 0.40 s
there, one run each; we took the one with its own heuristic and its default options.
The model is a vectorised one (`BaseNumpyModel`), which its documentation recommends for speed.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from measure import Other, call_in_fresh_process

INSTALL = "actualcauses is not installed; to measure it side by side: pip install actualcauses==2.0.0"
SETTINGS: dict[str, dict[str, Any]] = {
    "exact": {"ISI": True},
    "beam": {"ISI": True, "beam_size": 1, "max_steps": -1},
}


def available() -> bool:
    return find_spec("actualcauses") is not None


@cache
def _model_class() -> type:
    import numpy as np
    from actualcauses import BaseNumpyModel

    class RockThrowers(BaseNumpyModel):
        """Each of n throwers hits unless one before him did."""

        sub_N = 1 << 40  # one batch: chunks after the first are lost in version 2.0.0  # noqa: N815

        def __init__(self, throwers: int) -> None:
            self.throws = [f"T{i}" for i in range(1, throwers + 1)]
            self.hits = [f"H{i}" for i in range(1, throwers + 1)]
            self.names = [*self.throws, *self.hits, "BS"]
            super().__init__(self.names)

        def simulate(self, context: list[int]) -> None:
            for name, value in zip(self.throws, context, strict=True):
                self[name] = value
            shattered = np.zeros(len(self.S), dtype=bool)
            for throw, hit in zip(self.throws, self.hits, strict=True):
                self[hit] = self[throw] & ~shattered
                shattered = shattered | self[hit]
            self["BS"] = shattered

    return RockThrowers


def rock_throwers(setting: str, throwers: int) -> tuple[float, bool]:
    """Seconds of the search, and whether it names T1 as a cause."""
    from actualcauses import SCM

    model = _model_class()(throwers)
    parents = {throw: [] for throw in model.throws}
    parents |= {hit: [f"T{i}", *model.hits[: i - 1]] for i, hit in enumerate(model.hits, 1)}
    parents["BS"] = list(model.hits)
    scm = SCM(
        V=model.names,
        U=[f"u{i}" for i in range(throwers)],
        D=(0, 1),
        u=(1,) * throwers,
        model=model,
        dag=parents,
    )
    start = perf_counter()
    scm.find_causes(**SETTINGS[setting])
    return perf_counter() - start, {"T1"} in [set(cause) for cause in scm.causes]


def measure_search(setting: str, throwers: int, seconds: float, memory: int) -> Other:
    """Run one search in a fresh process, within limits."""
    tool = f"actualcauses ({setting})"
    outcome = call_in_fresh_process(rock_throwers, setting, throwers, seconds=seconds, memory=memory)
    if outcome.failure is not None:
        return Other(tool, None, note=outcome.failure)
    spent, found = outcome.result
    return Other(tool, spent, note="" if found else "T1 not found")
