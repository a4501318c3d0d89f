"""Tasks on Ray through Ray Data: a data set of tasks, mapped by the workers of the cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..data.errors import optional
from ..engines import EngineError, Outcome
from ..engines.base import attempt

T = TypeVar("T")
R = TypeVar("R")
BLOCKS = 10_000  # at most; Ray keeps a record of each


class RayData:
    """So many workers of the cluster that the process is connected to."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[Outcome[R]]:
        """Outcomes in the order of the tasks; one whose worker died Ray begins again, as often as that happens."""
        ray, datasets = optional("ray", "The engine 'ray'", "scale"), optional("ray.data", "Ray Data", "scale")
        listed = list(tasks)
        if not listed:
            return
        context = datasets.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        context.execution_options.verbose_progress = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)

        def outcomes(batch: dict[str, Any]) -> dict[str, list[Any]]:
            return {"outcome": [Outcome(*attempt(function, task), 1) for task in batch["item"]]}

        data = datasets.from_items(listed, override_num_blocks=min(len(listed), BLOCKS))
        gpus = min(1.0, ray.cluster_resources().get("GPU", 0.0) / self.workers)
        mapped = data.map_batches(
            outcomes,
            batch_size=1,
            concurrency=self.workers,
            num_cpus=1,
            num_gpus=gpus or None,
        )
        try:
            for row in mapped.iter_rows():
                yield row["outcome"]
        except ray.exceptions.RayError as lost:
            reason = str(lost).strip().splitlines()[0]
            raise EngineError(f"Ray gave up: {reason} The same command goes on where it stopped.") from lost
