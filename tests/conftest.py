"""Hypothesis profiles (`thorough`: more examples; `campaign`: new ones), one Ray cluster, commands to run."""

import gc
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

collect_ignore_glob = ["conftest.py", "*/conftest.py"]  # they hold no doctests, and share one name

STEADY = settings(derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", STEADY, max_examples=20)
settings.register_profile("thorough", STEADY, max_examples=300)
settings.register_profile("campaign", STEADY, max_examples=300, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_finish() -> None:
    """Spare garbage collections all modules and tests; with these, each takes half a second."""
    gc.freeze()


@pytest.fixture(scope="module")
def brief_surprises() -> Iterator[None]:
    """Let methods learn what surprises for a few steps, however long they learn: for tests that look at no score."""
    from actcause.learn.training import surprises

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surprises, "STEPS", 20)
        yield


# -- one Ray cluster ---------------------------------------------------------------------------------

CLUSTER = ExitStack()


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """A Ray cluster with two workers, which `--engine ray` uses and leaves alone; to start one takes seconds."""
    pytest.importorskip("ray")
    from actcause.parallel import engine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray warns of itself
        found = CLUSTER.enter_context(engine("ray", workers=2))
        assert found.workers == 2
    yield
    CLUSTER.close()


def needs_cluster(item: pytest.Item) -> bool:
    return item.get_closest_marker("ray") is not None or "cluster" in getattr(item, "fixturenames", ())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the cluster first: one test process then starts one, not each of them."""
    items.sort(key=lambda item: not needs_cluster(item))


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the cluster after the last of these: its processes never rest quite."""
    if needs_cluster(item) and (nextitem is None or not needs_cluster(nextitem)):
        CLUSTER.close()


# -- commands --------------------------------------------------------------------------------------


@pytest.fixture
def bottle(tmp_path: Path) -> str:
    """A file with the model of rock throwing."""
    path = tmp_path / "bottle.txt"
    path.write_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def as_json(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command with --json; give its exit code and its document."""

    def run(*arguments: str) -> tuple[int, Any]:
        from actcause.cli import main

        code = main([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def mistake(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command that must end in exit code 2, nothing on stdout and one line on stderr; give the line."""

    def run(*arguments: str) -> str:
        from actcause.cli import main

        assert main(list(arguments)) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.count("\n") == 1
        assert output.err.startswith("actcause: ")
        assert "Traceback" not in output.err
        return output.err.strip()

    return run
