"""What learning every outcome costs beside learning one, and how far errors differ.

    python benchmarks/local_graphs.py [DOMAIN] [--frames N] [--steps N] [--seed S]

Prints the CPU time of `LocalGraphs` and of `MaskJACI` on each outcome alone, with the edge errors of both on other
rows. The defaults are short: minutes on one core.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from actcause import data
from actcause.learn import LocalGraphs, MaskJACI, edge_error, measure_errors
from actcause.learn.outcome_views import find_classes


def main() -> None:
    """Measure and print a line for each outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domain", nargs="?", default="push")
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    options: dict[str, Any] = {"steps": given.steps, "distil_steps": given.steps // 2, "width": given.width}
    train = data.collect_recording(given.domain, given.frames, seed=given.seed)
    test = data.collect_recording(given.domain, 8000, seed=given.seed + 100)
    # What torch loads at its first training is no cost of either.
    LocalGraphs(steps=2, distil_steps=1, width=8).fit(data.collect_recording(given.domain, 500, seed=given.seed))
    began = time.process_time()
    graphs = LocalGraphs(seed=given.seed, **options).fit(train)
    together = time.process_time() - began
    errors = measure_errors(test, graphs.predict(test))
    print(f"all outcomes of {given.domain}: {together:.1f} s of one core")
    print("outcome      alone: time   all/one    error   together: error")
    for group in find_classes(train)[0]:
        outcome = group.members[0]
        began = time.process_time()
        learner = MaskJACI(seed=given.seed, **options).fit(train.view(outcome))
        alone = time.process_time() - began
        view = test.view(outcome)
        error = edge_error(view, learner.predict(view))
        print(f"{outcome:<12} {alone:>9.1f} s {together / alone:>9.2f} {error:>8.2%} {errors[outcome]:>17.2%}")


if __name__ == "__main__":
    main()
