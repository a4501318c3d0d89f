"""The stress command: what it kills, what it compares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STRESS = Path(__file__).parents[2] / "benchmarks" / "stress.py"


@pytest.mark.slow
def test_a_reproduction_whose_workers_are_killed_gives_the_same_bytes() -> None:
    ran = subprocess.run([sys.executable, STRESS, "--kills", "3", "reproduction"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 kills" in ran.stdout
