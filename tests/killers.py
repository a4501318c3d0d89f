"""What workers do that one question, or one row group, kills each time; a module that is light to import."""

from __future__ import annotations

import os
import signal
from typing import Any

KILLING_EVENT = "BT=1"
KILLING_FILE, KILLING_GROUP = "b.parquet", 1


def answer_batch(batch: tuple[Any, ...]) -> Any:
    from actcause.questions.file import answer_batch

    if any(line.asked["event"] == KILLING_EVENT for line in batch):
        os.kill(os.getpid(), signal.SIGKILL)
    return answer_batch(batch)


def predict_group(task: Any) -> Any:
    from actcause.learn.prediction.row_groups import predict_group

    if (task.source.name, task.group) == (KILLING_FILE, KILLING_GROUP):
        os.kill(os.getpid(), signal.SIGKILL)
    return predict_group(task)
