"""Doctests of learners show how these are called: what they learn besides their own steps is cut short."""

from __future__ import annotations

import pytest

collect_ignore_glob = ["conftest.py"]  # it holds no doctests


@pytest.fixture(autouse=True)
def brief_surprises(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let methods learn what surprises for a few steps: no doctest looks at a score."""
    if request.node.name.startswith("actcause.learn"):
        from actcause.learn.training import surprises

        monkeypatch.setattr(surprises, "STEPS", 20)
