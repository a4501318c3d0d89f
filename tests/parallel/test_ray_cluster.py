"""Ray: a cluster that is there is used and left alone; one that is not is one sentence."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import pytest
from engine_tasks import PLACES, double, sleep

from actcause.cli import main
from actcause.parallel import EngineError, engine, ray_cluster, values

ray = pytest.importorskip("ray")

CLUSTER = """
import sys
import ray
from actcause.parallel import engine

with engine("ray", workers=1) as workers:
    assert not ray.is_initialized()
    assert workers.workers == 1
    print(ray.get_runtime_context().gcs_address, flush=True)
    sys.stdin.read()
assert not ray.is_initialized()
"""
CALLER = """
import sys
from actcause.parallel import engine, values
from engine_tasks import double, sleep

for _ in range(2):
    with engine("ray", address=sys.argv[1]) as workers:
        print(workers.workers, *values(workers.run(double, range(3))))
"""


def test_a_cluster_that_is_there_is_used_and_left_running() -> None:
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    given = {"env": {**os.environ, **token, "PYTHONPATH": PLACES}, "text": True, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, **given) as cluster:
        assert cluster.stdin is not None
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        caller = subprocess.run([sys.executable, "-c", CALLER, address], stderr=subprocess.PIPE, **given)
        cluster.stdin.close()
    assert caller.stdout.splitlines() == ["1 0 2 4"] * 2, caller.stderr
    assert cluster.returncode == 0


@pytest.mark.usefixtures("cluster")
def test_a_connection_of_the_caller_is_used_and_kept() -> None:
    with engine("ray", workers=1) as inner:
        assert list(values(inner.run(double, [1]))) == [2]
    assert ray.is_initialized()


@pytest.mark.usefixtures("cluster")
def test_abandoned_tasks_end_by_themselves_or_before_anything_else_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    def cancel(reference: object, force: bool) -> None:
        ended.append(reference)
        really(reference, force=force)

    really = ray.cancel
    monkeypatch.setattr(ray, "cancel", cancel)
    with engine("ray", workers=2) as workers:
        for seconds, grace, forced in ((0.3, 60.0, 0), (60.0, 0.0, 1)):
            monkeypatch.setattr(ray_cluster, "GRACE", grace)
            begun = workers.run(sleep, [0.0, seconds])
            next(begun)
            begun.close()
            assert len(ended) == forced
        assert ray.wait(ended, timeout=0)[0] == ended
        assert [outcome.attempts for outcome in workers.run(sleep, [0.0] * 4)] == [1] * 4


def test_a_cluster_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    workers = engine("ray", address="127.0.0.1:1")
    with pytest.raises(EngineError, match=r"^No Ray cluster answers at '127\.0\.0\.1:1': "):
        list(workers.run(double, [1]))


def test_without_a_task_no_cluster_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(*_: object) -> None:
        raise AssertionError("a cluster was begun")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr("actcause.parallel.ray_cluster._connect", begin)
    with engine("ray", workers=2) as workers:
        assert list(workers.run(double, [])) == []
    assert main(["ask", "rock-throwing", "--event", "ST=1", "--engine", "ray"]) == 0
    assert main(["partition", "rock-throwing", "--engine", "ray", "--workers", "2"]) == 0
