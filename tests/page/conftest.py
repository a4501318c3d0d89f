"""The explorer without a browser: requests go straight to the application."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from actcause.page.server import workers
from actcause.page.server.app import application
from actcause.page.server.settings import Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # newer versions want another HTTP library than the one that older ones need
    from starlette.testclient import TestClient

TRIAL = """
import sys
sys.path.insert(0, {folder!r})
from actcause.page import workers
workers.ALLOWED += tuple(f"trial:{{name}}" for name in "double sleep work parts fill keep fail die".split())
workers.JOBS += tuple(f"trial:{{name}}" for name in "count careful break_off".split())
from actcause.page import child
child.main()
"""


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of the session's explorer, with folders of its own."""
    data, runs = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("runs")
    return Settings(Path(data), Path(runs))


@pytest.fixture(scope="session")
def client(settings: Settings) -> Iterator[TestClient]:
    """Requests to an explorer with running workers and jobs, from this machine."""
    with TestClient(application(settings), base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers and jobs call the functions of `trial.py` too."""
    code = TRIAL.format(folder=str(Path(__file__).parent))
    monkeypatch.setattr(workers, "COMMAND", (sys.executable, "-c", code))
