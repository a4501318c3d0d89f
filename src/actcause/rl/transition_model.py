"""A learned forward model of whole states, and how far it can be trusted: what tells an exchange that cannot be.

Graphs say which factors have nothing to do with each other; where they are wrong, an exchange gives a transition that
the world would never have given. A forward model sees that: it predicts something else. Two models are trained, each on
half of the episodes, so that each has rows that it has not seen, and how far it is off there is known without a label.
The *gap* of a row is how far it lies from what a model predicts, in those units, at the outcome where that is most.

How large may a gap be? Suppose that a row that is not exact is off by anything up to the size of an outcome's changes,
evenly, and that there are as many such rows as others. Then the share of them within a limit is known from what the
models are usually off by: the better the models, the smaller. The limit is the largest at which no more than a given
share of the kept rows would be wrong. No label has a part in that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..envs.base import Array
from ..errors import QueryError
from .arguments import check_count, check_recording, refuse
from .relation_network import RelationNetwork

if TYPE_CHECKING:
    from ..data import Recording

HALVES = 2
BLOCK = 1024  # rows predicted at once
RATE = 2e-2
RARE = 0.3  # share of the rows in which something changes that counts as seldom
HUBER = 0.1  # spreads of an outcome beyond which errors count by their size
SUSPECTED = 0.5  # share of the rows that are taken to be wrong before any is looked at
GRID = 60  # limits that are tried
FLOOR = 1e-4  # of a feature's unit


class TransitionModel:
    """Two networks of all factors (`RelationNetwork`) that predict how every outcome changes.

    Args:
        steps: Of training, with `rows` each.
        width: Of the hidden layers.
        seed: Of weights, halves and order.

    >>> from actcause.data import collect_recording
    >>> recording = collect_recording("push", frames=400)
    >>> model = TransitionModel(steps=20, width=16).fit(recording)
    >>> model.measure_gaps(recording).shape
    (400,)
    """

    def __init__(
        self, *, steps: int = 3000, rows: int = 256, width: int = 48, seed: int = 0, device: str = "cpu"
    ) -> None:
        for name, value, least in (("steps", steps, 1), ("rows", rows, 1), ("width", width, 1), ("seed", seed, 0)):
            check_count(name, value, least)
        try:
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError, TypeError):
            refuse("device", "one that torch has here, such as 'cpu'", device)
        self.steps, self.rows, self.width, self.seed, self.device = steps, rows, width, seed, device

    def fit(self, recording: Recording) -> TransitionModel:
        """Learn how outcomes change; labels are not looked at."""
        check_recording(recording)
        place = [recording.index(outcome) for outcome in recording.outcomes]
        change = (recording.next_state - recording.state)[:, place]
        self.moving_ = np.argwhere(change.any(axis=0))  # (outcome, feature) pairs that change at all
        if not len(self.moving_):
            raise QueryError("Nothing in the recording ever changes: there is nothing to predict.")
        self.factors_, self.places_ = recording.factors, place
        self._choose_names(recording)
        wanted = self._read_change(recording)
        moved = np.abs(wanted) > 0
        self.unit_ = np.maximum(np.sqrt((wanted**2).sum(axis=0) / moved.sum(axis=0)), FLOOR)  # of those that changed
        rare = moved & (moved.mean(axis=0) < RARE)
        codes = np.unique(recording.episode, return_inverse=True)[1]
        if codes.max() < HALVES - 1:
            raise QueryError("The recording must have two episodes or more. Got one; record more.")
        order = np.random.default_rng(self.seed).permutation(int(codes.max()) + 1)
        half = order[codes] % HALVES
        self._train(recording, wanted / self.unit_, half, rare.any(axis=1))
        unseen = np.zeros_like(wanted)
        predicted = self._predict(recording)
        for number in range(HALVES):
            apart = half != number
            unseen[apart] = (predicted[number] - wanted)[apart]
        # What a model is usually off by, of each feature, where it has not seen the row.
        self.error_ = np.maximum(np.sqrt((unseen**2).mean(axis=0)), FLOOR * self.unit_)
        self.gaps_ = np.sort(np.abs(unseen / self.error_).max(axis=1))
        return self

    def measure_gaps(self, recording: Recording) -> Array:
        """Return for each row how far it lies from what the models predict; the larger of both models' gaps."""
        if not hasattr(self, "gaps_"):
            raise QueryError("This model has not been fitted; call fit(recording) first.")
        if recording.factors != self.factors_:
            raise QueryError(f"The model was fitted to {', '.join(self.factors_)}. Got {', '.join(recording.factors)}.")
        off = np.abs(self._predict(recording) - self._read_change(recording)) / self.error_
        return np.asarray(off.max(axis=(0, 2)))

    def choose_limit(self, gaps: Array, wrong: float = 0.02) -> float:
        """Return the largest gap at which an estimated share of at most `wrong` of the rows within it are not exact.

        Where none is small enough, return that with the smallest estimate.
        """
        limits = np.quantile(self.gaps_, np.linspace(0.01, 0.99, GRID))
        shares = np.array([self.estimate_wrong(gaps, limit) for limit in limits])
        good = np.flatnonzero(shares <= wrong)
        return float(limits[good[-1]] if len(good) else limits[int(shares.argmin())])

    def estimate_wrong(self, gaps: Array, limit: float) -> float:
        """Estimate the share of rows within a limit that are not exact."""
        within = float((gaps <= limit).mean())
        coarsest = float((self.error_ / self.unit_).max())
        return min(1.0, SUSPECTED * limit * coarsest / within) if within else 1.0

    # -- helpers -----------------------------------------------------------------------------------

    def _choose_names(self, recording: Recording) -> None:
        """Choose a column for each name of a feature, whoever has it, and what its values are scaled by."""
        names = list(dict.fromkeys(name for factor in recording.factors for name in recording.features[factor]))
        self.columns_ = [
            [(names.index(name), k) for k, name in enumerate(recording.features[factor])]
            for factor in recording.factors
        ]
        shared = np.zeros((len(recording.factors), len(names)), dtype=np.float32)
        self.middle_, self.spread_ = np.zeros(len(names)), np.ones(len(names))
        for at, columns in enumerate(self.columns_):
            for column, _ in columns:
                shared[at, column] = 1
        for column in range(len(names)):
            held = [recording.state[:, at, k] for at, each in enumerate(self.columns_) for c, k in each if c == column]
            self.middle_[column] = np.mean(held)
            self.spread_[column] = np.std(held) + 1e-6
        kinds = list(dict.fromkeys(recording.classes.values()))
        self.shared_ = shared
        self.kinds_ = [kinds.index(recording.classes[factor]) for factor in recording.factors]
        self.outputs_ = [
            (self.places_[outcome], next(c for c, k in self.columns_[self.places_[outcome]] if k == feature))
            for outcome, feature in self.moving_
        ]

    def _read(self, recording: Recording) -> Tensor:
        values = np.zeros((len(recording), *self.shared_.shape), dtype=np.float32)
        for at, columns in enumerate(self.columns_):
            for column, k in columns:
                values[:, at, column] = (recording.state[:, at, k] - self.middle_[column]) / self.spread_[column]
        return torch.as_tensor(values, device=self.device)

    def _read_change(self, recording: Recording) -> Array:
        change = (recording.next_state - recording.state)[:, self.places_]
        return np.asarray(change[:, self.moving_[:, 0], self.moving_[:, 1]], dtype=np.float32)

    def _train(self, recording: Recording, wanted: Array, half: Array, rare: Array) -> None:
        """Train on batches of which half are rows in which something changes that seldom does."""
        torch.manual_seed(self.seed)
        shared, kinds = torch.as_tensor(self.shared_), torch.as_tensor(self.kinds_)
        self.network_ = RelationNetwork(HALVES, shared, kinds, self.width).to(self.device)
        values, target = self._read(recording), torch.as_tensor(wanted, dtype=torch.float32, device=self.device)
        optimiser = torch.optim.Adam(self.network_.parameters(), lr=RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=self.steps)
        every = [_place(half == number, self.device) for number in range(HALVES)]
        seldom = [_place((half == number) & rare, self.device) for number in range(HALVES)]
        pools = [every, seldom if all(map(len, seldom)) else every]
        count = (self.rows + 1) // 2
        for _ in range(self.steps):
            picked = torch.cat([torch.stack([_draw(pool, count) for pool in each]) for each in pools], dim=1)
            off = self._take_outputs(self.network_(values[picked])) - target[picked]
            loss = torch.nn.functional.huber_loss(off, torch.zeros_like(off), delta=HUBER) * HALVES
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()

    def _take_outputs(self, changed: Tensor) -> Tensor:
        return torch.stack([changed[..., at, column] for at, column in self.outputs_], dim=-1)

    @torch.no_grad()
    def _predict(self, recording: Recording) -> Array:
        """Return what each model predicts, `(models, rows, outputs)`, in the recording's units."""
        parts = [
            self._take_outputs(self.network_(part.expand(HALVES, -1, -1, -1))).cpu().numpy()
            for part in torch.split(self._read(recording), BLOCK)
        ]
        return np.asarray(np.concatenate(parts, axis=1) * self.unit_)


def _place(chosen: Array, device: str) -> Tensor:
    return torch.as_tensor(np.flatnonzero(chosen), device=device)


def _draw(pool: Tensor, count: int) -> Tensor:
    return pool[torch.randint(len(pool), (count,), device=pool.device)]
