"""Tasks on Ray through Ray Data: a data set of tasks, mapped by the workers of the cluster.

Ray Data begins a task whose worker died again, without end. So attempts are counted, as on every other engine: a task
that was lost too often is answered with that instead of being begun once more.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ...data.errors import optional
from ...parallel import EngineError, Outcome
from ...parallel.base import attempt
from ...parallel.ordering import lost
from ...parallel.ray_cluster import Ray

T = TypeVar("T")
R = TypeVar("R")
BLOCKS = 10_000  # at most; Ray keeps a record of each


class Attempts:
    """How often each task was begun without coming to an end; one of them serves all workers."""

    def __init__(self) -> None:
        self._begun: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        self._begun[number] += 1
        return self._begun[number]

    def end(self, number: int) -> None:
        """Forget a task that ended: those beside it in a block may still lose their worker."""
        del self._begun[number]


class RayData:
    """The workers of an engine's cluster."""

    def __init__(self, engine: Ray) -> None:
        self.workers, self._gpus = engine.workers, engine.gpus

    def run(self, function: Callable[[T], R], tasks: Iterable[T], *, retries: int = 2) -> Iterator[Outcome[R]]:
        """Outcomes in the order of the tasks; one whose worker died is begun again, `retries` times at most."""
        ray, datasets = optional("ray", "The engine 'ray'", "scale"), optional("ray.data", "Ray Data", "scale")
        listed = list(enumerate(tasks))
        if not listed:
            return
        context = datasets.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        context.execution_options.verbose_progress = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        counter = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(Attempts).remote()

        def outcome(number: int, task: T) -> Outcome[R]:
            begun = ray.get(counter.begin.remote(number))
            if begun > retries + 1:
                return Outcome(None, lost(begun - 1), begun - 1)
            found = Outcome(*attempt(function, task), begun)
            ray.get(counter.end.remote(number))
            return found

        data = datasets.from_items(listed, override_num_blocks=min(len(listed), BLOCKS))
        mapped = data.map_batches(
            lambda batch: {"outcome": [outcome(*item) for item in batch["item"]]},
            batch_size=1,
            concurrency=self.workers,
            num_cpus=1,
            num_gpus=self._gpus or None,
        )
        try:
            for row in mapped.iter_rows():
                yield row["outcome"]
        except ray.exceptions.RayError as gone:
            reason = str(gone).strip().splitlines()[0]
            raise EngineError(f"Ray gave up: {reason} The same command goes on where it stopped.") from gone
