"""The partition that a learner makes of its states, and how P1 and P2 are counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from actcause.data import Transitions, collect
from actcause.learn import Always, LearnError, Never
from actcause.learn.learner import Array, Learner
from actcause.learn.preimages import learned_preimages
from actcause.learn.training.encoding import Encoded, Encoder
from actcause.learn.training.networks import MaskedModel
from actcause.learn.training.replica import Replica
from actcause.learn.training.session import Session

REACH = 0.5


def make_pushes(rows: int = 2000, seed: int = 0, **others: Any) -> Transitions:
    """A near pusher shifts the block by 1; a stone does nothing."""
    state = np.random.default_rng(seed).uniform(-1, 1, (rows, 3, 1))
    near = np.abs(state[:, 1, 0] - state[:, 0, 0]) < REACH
    return Transitions(
        factors=["block", "pusher", "stone"],
        state=state,
        outcome=state[:, 0] + near[:, None],
        own="block",
        cause=np.stack([np.ones(rows), near, np.zeros(rows)], axis=1).astype(bool),
        **others,
    )


class Exact(MaskedModel):
    """The true dynamics of `make_pushes`, in the encoder's units."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(1, encoder.class_index, encoder.width, encoder.outputs, width=2, layers=1)
        self.embedding = nn.Identity()  # type: ignore[assignment]
        self.encoder = encoder

    def forward(self, embedded: Tensor, masks: Tensor) -> Tensor:
        apart = embedded[:, :, 1, 1] * float(self.encoder.scale[1, 1])
        change = ((apart.abs() < REACH).float() - float(self.encoder.target_mean[0])) / float(
            self.encoder.target_scale[0]
        )
        return change[:, None, :, None]


@final
@dataclass(kw_only=True)
class Told(Learner):
    """Knows the truth, and adds factors to it; its forward model is the true one."""

    also: tuple[int, ...] = ()

    method: ClassVar[str] = "told"
    summary: ClassVar[str] = "for tests"

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {"forward": Exact(encoder)}

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        for replica in replicas:
            replica.learner.finish(replica, replica.learner.networks(replica.encoder, 1), {})

    def _probabilities(self, encoded: Encoded) -> Array:
        raise NotImplementedError

    def predict(self, data: Transitions) -> Array:
        self._encode(data)
        found = np.array(data.cause)
        found[:, list(self.also)] = True
        return found


def test_every_state_is_in_one_preimage_and_costs_are_lengths() -> None:
    data = make_pushes()
    found = Told().fit(data).preimages(data)
    assert {one.binary for one in found.preimages} == {"100", "110"}
    assert sum(one.states for one in found.preimages) == len(data)
    assert sum(one.share for one in found.preimages) == pytest.approx(1)
    assert found.cost == found.truth == pytest.approx(data.cause[:, 1:].sum(axis=1).mean())
    assert (found.never, found.always) == (0, 2)
    assert [one.chosen for one in found.preimages if one.binary == "110"] == [("pusher",)]


def test_a_true_partition_violates_neither_p1_nor_p2() -> None:
    data = make_pushes()
    found = Told().fit(data).preimages(data, tolerance=0.1)
    assert found.compared > 1000
    assert found.p1_violations == 0
    assert found.p2_violations == 0
    assert found.necessity is not None
    assert set(found.necessity) == {"pusher"}


def test_causes_left_out_violate_p1() -> None:
    data = make_pushes()
    found = Never().fit(data).preimages(data)
    assert found.compared == len(data)
    assert found.p1_violations > 0.3 * len(data)


def test_factors_that_do_not_matter_violate_p2() -> None:
    data = make_pushes()
    found = Told(also=(2,)).fit(data).preimages(data)
    assert found.necessity is not None
    assert found.necessity["stone"].violations == found.necessity["stone"].states > 0
    assert found.necessity["pusher"].violations == 0


def test_without_a_forward_model_p2_is_not_known() -> None:
    data = make_pushes()
    found = Always().fit(data).preimages(data)
    assert found.necessity is None
    assert found.p2_violations is None
    assert "no forward model" in str(found)
    assert found.to_json()["p2_violations"] is None


def test_p1_is_counted_as_a_double_loop_would() -> None:
    data = make_pushes(300)
    learner = Never().fit(data)
    found = learner.preimages(data, tolerance=0.05, outcome_tolerance=0.3)
    encoded = learner.encoder_.encode(data)
    compared = violations = 0
    for row, here in enumerate(encoded.inputs[:, 0]):
        distance = [
            np.inf if other == row else np.sum((here - there) ** 2) for other, there in enumerate(encoded.inputs[:, 0])
        ]
        nearest = int(np.argmin(distance))
        if np.abs(here - encoded.inputs[nearest, 0]).max() <= 0.05:
            compared += 1
            violations += int(np.abs(encoded.target[row] - encoded.target[nearest]).max() > 0.3)
    assert found.compared == pytest.approx(compared, abs=1)  # equal but for rounding
    assert found.p1_violations == pytest.approx(violations, abs=1)


def test_rows_looked_at_are_bounded_and_the_seed_chooses_them() -> None:
    data = make_pushes()
    learner = Never().fit(data)
    few = learned_preimages(learner, data, samples=100)
    assert few.compared <= 100
    assert few == learned_preimages(learner, data, samples=100)
    assert few.preimages[0].states == len(data)


def test_absent_factors_are_replaced_by_present_ones_only_and_cost_nothing() -> None:
    data = make_pushes()
    mask = np.ones((len(data), 3), dtype=bool)
    mask[::2, 2] = False
    found = Always().fit(data.replaced(mask=mask)).preimages(data.replaced(mask=mask))
    assert found.always == 1.5
    assert {one.binary for one in found.preimages} == {"110", "111"}


def test_hindsight_groups_states_by_what_explains_them() -> None:
    data = collect("1-in", 500)
    assert Never().fit(data).preimages(data, hindsight=True).cost == 0


def test_the_document_is_json_and_the_table_has_a_line_for_each_binary() -> None:
    data = make_pushes()
    found = Told(also=(2,)).fit(data).preimages(data)
    document = json.loads(json.dumps(found.to_json()))
    assert {one["binary"] for one in document["preimages"]} == {"101", "111"}
    assert document["necessity"]["stone"]["states"] > 0
    lines = str(found).splitlines()
    assert len(lines) == 1 + 2 + 2
    assert "P2:" in lines[3]
    assert "truth" in lines[4]


@pytest.mark.parametrize("option", [{"tolerance": 0.0}, {"outcome_tolerance": -1.0}, {"samples": 1}, {"samples": 2.5}])
def test_options_that_make_no_sense_are_refused(option: dict[str, Any]) -> None:
    data = make_pushes(200)
    with pytest.raises(LearnError, match=f"The '{next(iter(option))}' of preimages must be"):
        Never().fit(data).preimages(data, **option)


def test_truth_is_not_needed() -> None:
    data = make_pushes().replaced(cause=None)
    found = Never().fit(data).preimages(data)
    assert found.truth is None
    assert "truth" not in str(found)


def test_the_models_groups_are_averaged() -> None:
    """What a learner expects is the mean over its folds' models."""
    data = make_pushes(200)
    learner = Told(also=(2,)).fit(data)
    model = MaskedModel(2, [0, 1, 2], learner.encoder_.width, 1, width=4, layers=1)
    with torch.no_grad():
        for weight in model.head.last.parameters():
            weight.zero_()
    learner.nets_ = {"forward": model}
    assert learner.preimages(data).p2_violations == sum(
        one.states for one in learner.preimages(data).necessity.values()
    )  # type: ignore[union-attr]
