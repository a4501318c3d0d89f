"""The two answers that need no learning: no factor ever, and every factor always. A method must beat both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from ..learner import Array, Learner
from ..training.encoding import Encoded, Encoder

if TYPE_CHECKING:
    from torch import nn

    from ..training.replica import Replica
from ..training.session import Session


class _Unlearned(Learner):
    """What needs neither networks nor training."""

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {}

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        for replica in replicas:
            replica.learner.finish(replica, {}, {})


@final
@dataclass(kw_only=True)
class Never(_Unlearned):
    """Never names a factor besides the outcome's own (`never`).

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> Never().fit(data).predict(data).any(axis=0).tolist()
    [False, True]
    """

    method: ClassVar[str] = "never"
    summary: ClassVar[str] = "no factor ever: what a method must beat"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def _probabilities(self, encoded: Encoded) -> Array:
        return np.zeros(encoded.inputs.shape[:2])


@final
@dataclass(kw_only=True)
class Always(_Unlearned):
    """Always names every factor that is there (`always`).

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> Always().fit(data).predict(data).all()
    np.True_
    """

    method: ClassVar[str] = "always"
    summary: ClassVar[str] = "every factor always: what a method must beat"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def _probabilities(self, encoded: Encoded) -> Array:
        return np.ones(encoded.inputs.shape[:2])
