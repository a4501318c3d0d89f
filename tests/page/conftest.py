"""The explorer without a browser: requests go straight to the application."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import Gate, wait_for_job

from actcause.page.server.app import build_application
from actcause.page.server.child import Child
from actcause.page.server.settings import Limits, Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # newer versions want another HTTP library than the one that older ones need
    from starlette.testclient import TestClient


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of the session's explorer, with folders of its own; on a busy machine
    its jobs do not give way to other tests, and processes that have imported something are kept."""
    data, runs = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("runs")
    return Settings(Path(data), Path(runs), limits=Limits(niceness=0, rest=3600))


@pytest.fixture(scope="session")
def client(settings: Settings) -> Iterator[TestClient]:
    """Requests to an explorer with running workers and jobs, from this machine."""
    app = build_application(settings)
    with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="session")
def small_run(client: TestClient) -> tuple[str, dict[str, Any]]:
    """The name of a small run that was trained on 1-in, and its job."""
    options = {"steps": 20, "distil_steps": 20, "width": 4, "batch": 16}
    asked = {"source": {"domain": "1-in", "frames": 1000}, "method": "jaci-em", "options": options, "name": "My run!"}
    begun = client.post("/api/runs", json=asked).json()
    return begun["run"], wait_for_job(client, begun["job"])


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Where functions of `trial.py` wait in their processes."""
    return Gate(tmp_path)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """All that processes have sent so far."""
    received: list[dict[str, Any]] = []
    receive = Child.receive

    async def receive_and_note(child: Child) -> dict[str, Any]:
        received.append(await receive(child))
        return received[-1]

    monkeypatch.setattr(Child, "receive", receive_and_note)
    return received
