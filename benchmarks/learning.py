"""Learning: time to its bar in each domain, and the error among many factors.

python benchmarks/run.py learning      # half an hour: nine domains, one seed each

*Time to its bar* is a whole `fit` with default options on the paper's number of frames, data not counted; the answer
is the error on transitions recorded apart. With 30 factors all but one are distractors.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from actcause.data import collect
from actcause.learn import JACI
from actcause.learn.evaluation import evaluate
from loop import with_distractors
from measure import Figure

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))
from accuracy import BARS, RESAMPLED, VECTORS, record_domain

TITLE = "Learning"
SECONDS = {**dict.fromkeys(VECTORS, 90.0), **dict.fromkeys(RESAMPLED, 1200.0)}
MEMORY = 3.0  # GiB
MANY, MANY_ERROR = 30, 2.0


@dataclass(frozen=True)
class Arguments:
    """How much is learned."""

    domains: tuple[str, ...] = (*VECTORS, *RESAMPLED)
    share: float = 1.0  # of the frames
    many: bool = True


TINY = Arguments(domains=(), many=False)


def run(arguments: Arguments) -> Iterator[Figure]:
    for domain in arguments.domains:
        frames = int((500_000 if domain in RESAMPLED else 100_000) * arguments.share)
        train, test = record_domain(domain, 0, frames)
        began = time.perf_counter()
        learner = JACI().fit(train)
        seconds = time.perf_counter() - began
        scored = evaluate(learner, test, resample=domain in RESAMPLED)
        yield Figure(
            "learning", f"{domain}: fit on {frames:,} frames", seconds, bar=SECONDS[domain],
            answer=f"{100 * scored.edge_error:.2f}% error", right=100 * scored.edge_error <= BARS[domain],
        )  # fmt: skip
    if arguments.domains:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        yield Figure("learning", "peak memory of all of these", peak, unit="GiB", bar=MEMORY)
    if arguments.many:
        domain = with_distractors(MANY)
        learner = JACI().fit(collect(domain, 100_000, seed=0))
        test = collect(domain, 20_000, seed=1)
        wrong = learner.predict(test) != test.cause
        error = 100 * float(wrong[:, [k for k, name in enumerate(test.factors) if name != test.own]].mean())
        edge = 100 * evaluate(learner, test).edge_error
        yield Figure(
            "learning", f"{MANY} factors, one of them a cause: error in %", edge, unit="", bar=MANY_ERROR,
            answer=f"{error:.3f}% over all factors", right=edge <= MANY_ERROR,
        )  # fmt: skip
