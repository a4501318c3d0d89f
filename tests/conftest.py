"""Hypothesis profiles: the same examples every time; `HYPOTHESIS_PROFILE=ci` looks at more of them."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))  # the fuzzer runs as a test too

collect_ignore_glob = ["conftest.py", "*/conftest.py"]  # they hold no doctests, and share one name

STEADY = settings(derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", STEADY, max_examples=100)
settings.register_profile("ci", STEADY, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
