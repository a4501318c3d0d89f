"""Record what `actcause reproduce worlds` learns from and is scored on, for a machine that has no simulators.

    python experiments/record_worlds.py FOLDER              # here, where the extras `worlds` and `atari` are installed
    ACTCAUSE_RECORDINGS=FOLDER experiments/on_gpu.sh OUT 500 worlds     # there

A recording that is in the folder already is left as it is.
"""

from __future__ import annotations

import os
import sys

from actcause.reproduction.kept_recordings import VARIABLE
from actcause.reproduction.learned import record_domain
from worlds import FULL


def record(folder: str) -> None:
    """Record every world with every seed of the full size."""
    os.environ[VARIABLE] = folder
    for world in FULL.worlds:
        for seed in FULL.seeds:
            rows = [len(part) for part in record_domain(world, seed, FULL.frames, tests=FULL.tests)]
            print(f"{world} with seed {seed}: {rows[0]} rows to learn from, {rows[1]} to be scored on", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name a folder: python experiments/record_worlds.py FOLDER")
    record(sys.argv[1])
