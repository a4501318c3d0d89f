"""Hypothesis profiles (`HYPOTHESIS_PROFILE=thorough` looks at more examples), and one Ray cluster for all tests."""

import gc
import os
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

collect_ignore_glob = ["conftest.py", "*/conftest.py"]  # they hold no doctests, and share one name

STEADY = settings(derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", STEADY, max_examples=100)
settings.register_profile("thorough", STEADY, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_finish() -> None:
    """Spare garbage collections all modules and tests; with these, each takes half a second."""
    gc.freeze()


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """A Ray cluster with two workers, which `--engine ray` uses and leaves alone; to start one takes seconds."""
    pytest.importorskip("ray")
    from actcause.parallel import engine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray warns of itself
        with engine("ray", workers=2) as found:
            assert found.workers == 2
            yield
