"""Tasks of a Ray cluster: one of this machine that ends with the engine, or one that is there already.

Ray is told not to retry: lost tasks are counted and begun again as on every other engine.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from types import TracebackType
from typing import Any, Self, TypeVar

from ..errors import MissingExtraError
from .base import EngineError, Outcome
from .child_process import environment
from .ordering import LostWorker, Reply, run_in_order
from .processes import attempt

T = TypeVar("T")
R = TypeVar("R")
PATIENCE = 10.0  # seconds
GRACE = 1.0  # seconds in which abandoned tasks may end by themselves
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the default warns that it will change
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # every line about a worker's end goes to stdout, which is for results
}


class Ray:
    """Workers that are processes of a Ray cluster, which is begun or called upon once there is a task for it."""

    def __init__(self, workers: int | None, address: str | None) -> None:
        _ray()  # what is missing is said at once
        self._wanted, self._address = workers, address
        self._ours = False

    @cached_property
    def workers(self) -> int:
        ray = _ray()
        if not ray.is_initialized():
            _connect(ray, self._wanted, self._address)
            self._ours = True
        return self._wanted or max(1, int(ray.cluster_resources().get("CPU", 1)))

    @cached_property
    def gpus(self) -> float:
        """What a task asks for; Ray hides GPUs from one that asks for none."""
        workers = self.workers  # the cluster is there from now on
        return min(1.0, float(_ray().cluster_resources().get("GPU", 0.0)) / workers)

    @cached_property
    def _function(self) -> Any:
        return _ray().remote(num_cpus=1, num_gpus=self.gpus, max_retries=0)(attempt)

    def run(
        self, function: Callable[[T], R], tasks: Iterable[T], *, retries: int = 2, isolated: bool = False
    ) -> Iterator[Outcome[R]]:
        coming = iter(tasks)
        for first in coming:
            pool, workers = _SubmittedTasks(self._function), self.workers
            yield from run_in_order(pool, workers, function, chain([first], coming), retries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ours:
            _ray().shutdown()


class _SubmittedTasks:
    """The pool of one run: which task of the cluster is which of ours."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._numbers: dict[Any, int] = {}

    def begin(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        self._numbers[self._function.remote(function, task)] = number

    def collect_finished(self, *, wait: bool) -> Iterable[tuple[int, Reply]]:
        ray = _ray()
        references = list(self._numbers)
        ready, _ = ray.wait(references, num_returns=len(references), timeout=0) if references else ([], [])
        if wait and not ready:
            ready, _ = ray.wait(references, num_returns=1)
        return [(self._numbers.pop(reference), self._reply(reference)) for reference in ready]

    def _reply(self, reference: Any) -> Reply:
        ray = _ray()
        try:
            reply: Reply = ray.get(reference)
        except ray.exceptions.RayTaskError as wrong:  # a module that the cluster has not, a value that cannot be sent
            return None, str(wrong.cause).strip().splitlines()[-1]  # what led there comes before
        except ray.exceptions.RayError as wrong:
            return LostWorker(f"as {type(wrong).__name__}")
        return reply

    def abandon(self, numbers: Iterable[int]) -> None:
        """End these tasks, and wait until they have ended.

        Ray ends a task by ending its worker, and does not notice if the worker has begun another by then. So tasks that
        are nearly done are left to end, and nothing is begun before the others are gone.
        """
        ray = _ray()
        if ray.is_initialized() and self._numbers:
            references = list(self._numbers)
            _, running = ray.wait(references, num_returns=len(references), timeout=GRACE)
            for reference in running:
                ray.cancel(reference, force=True)
            if running:
                ray.wait(running, num_returns=len(running), timeout=PATIENCE)


def _connect(ray: Any, workers: int | None, address: str | None) -> None:
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        with environment(QUIET | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}):
            if address is None:
                ray.init("local", num_cpus=workers, include_dashboard=False, **quiet)
            else:
                _check_reachable(address)
                ray.init(address, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        if address is None:
            raise EngineError(f"Ray does not start on this machine: {reason}.") from None
        raise EngineError(
            f"No Ray cluster answers at '{address}': {reason}; if it asks for a token, set RAY_AUTH_TOKEN."
        ) from None


def _check_reachable(address: str) -> None:
    """See whether anybody listens: Ray would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon:  # 'auto' looks for a cluster of this machine, and finds out at once
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()


def _ray() -> Any:
    try:
        with environment(QUIET):
            import ray
    except ModuleNotFoundError as missing:
        if missing.name != "ray":
            raise
        raise MissingExtraError("The engine 'ray'", "scale") from None
    return ray
