"""What the baselines share: the training of a training and the plain forward model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.data import Transitions, collect
from actcause.learn import LearnError, fit_many
from actcause.learn.learner import Learner
from actcause.learn.methods.attn import Attention
from actcause.learn.methods.cf import Counterfactual
from actcause.learn.methods.cmi import LeaveOneOut
from actcause.learn.methods.grad import Gradient
from actcause.learn.methods.granger import Pairwise
from actcause.learn.methods.ncd import GumbelMask
from actcause.learn.training.forward import Batch, Training
from actcause.learn.training.layers import group_weights
from actcause.learn.training.loop import Stopped, TrainingProgress
from actcause.learn.training.replica import prepare_replica
from actcause.learn.training.session import Session

TRAINED: tuple[type[Learner], ...] = (Gradient, Attention, Counterfactual, LeaveOneOut, GumbelMask, Pairwise)
FEW = {"steps": 10, "width": 8, "batch": 64}


@pytest.mark.parametrize("kind", TRAINED)
def test_a_run_learns_the_same_whatever_is_learned_beside_it(kind: type[Learner]) -> None:
    data = [collect("1-in", 400, seed=seed) for seed in range(3)]
    one = fit_many([kind(seed=0, **FEW), kind(seed=1, **FEW)], [data[0], data[1]])[0]
    other = fit_many([kind(seed=0, **FEW), kind(seed=1, **FEW)], [data[0], data[2]])[0]
    assert np.array_equal(one.explain_proba(data[0]), other.explain_proba(data[0]))


def test_a_network_of_one_replica_is_a_copy_of_its_weights_and_builds_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    learners = [Gradient(seed=seed, **FEW) for seed in range(2)]
    replicas = [prepare_replica(one, collect("1-in", 400, seed=one.seed)) for one in learners]
    training = Training(replicas, Session(torch.device("cpu"), 0))
    monkeypatch.setattr(Gradient, "networks", None)
    before = torch.get_rng_state()
    one, again, other = (training.network_of(replica, "forward").state_dict() for replica in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    each = training.nets["forward"]
    groups = len(next(iter(each.state_dict().values()))) // 2
    wanted = [group_weights(each, slice(at, at + groups)) for at in (0, groups)]
    for name in one:
        assert torch.equal(one[name], wanted[0][name])
        assert torch.equal(other[name], wanted[1][name])
        assert one[name].data_ptr() != again[name].data_ptr()
    assert any(not torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("stage", ["passive", "forward", "threshold"])
def test_a_training_that_was_cut_off_goes_on_to_the_same_result(stage: str) -> None:
    data, few = collect("1-in", 400), {"steps": 60, "width": 8, "batch": 64, "samples": 2}
    sessions: list[Session] = []

    def cut(moment: TrainingProgress) -> None:
        if moment.stage == stage:
            raise Stopped

    fit_many([Counterfactual(**few)], [data], callback=cut, session=sessions.append)
    trainer = sessions[0].trainer
    assert trainer is not None
    resumed = fit_many([Counterfactual(**few)], [data], restored=trainer.snapshot())[0]
    assert np.array_equal(resumed.explain_proba(data), Counterfactual(**few).fit(data).explain_proba(data))


@pytest.mark.parametrize("kind", TRAINED)
def test_absent_factors_are_never_named(kind: type[Learner]) -> None:
    data = collect("3-in", 400)
    mask = np.ones((400, 4), dtype=bool)
    mask[::2, 0] = False
    masked = data.replaced(mask=mask, cause=None)
    learner = kind(**FEW).fit(masked)
    assert not learner.explain(masked)[::2, 0].any()
    assert np.isfinite(learner.explain_proba(masked)).all()


@pytest.mark.parametrize("kind", TRAINED)
def test_what_is_wrong_is_noted(kind: type[Learner]) -> None:
    generator = np.random.default_rng(0)
    state = generator.normal(size=(300, 2, 1))
    noise = Transitions(factors=["a", "b"], state=state, outcome=state[:, 0] + generator.normal(size=(300, 1)), own="a")
    learner = kind(**FEW).fit(noise)
    assert any("forward model has not learned" in note for note in learner.notes_)


@pytest.mark.parametrize("kind", TRAINED)
@pytest.mark.parametrize(("option", "value"), [("steps", 0), ("width", 1.5), ("batch", True), ("penalty", -1)])
def test_senseless_options_are_refused(kind: type[Learner], option: str, value: object) -> None:
    with pytest.raises(LearnError, match=f"The '{option}' parameter of {kind.__name__} must be"):
        kind(**{option: value}).fit(collect("1-in", 200))


def test_rows_without_a_mask_have_every_factor() -> None:
    data = collect("1-in", 200)
    learner = Gradient(**FEW).fit(data)
    batch = Batch.of(learner.encoder_.encode(data), learner.encoder_, torch.device("cpu"))
    assert bool((batch.present == 1).all())
    assert [len(block) for block in batch.blocks(150)] == [150, 50]


def test_rare_events_rescale_the_outcome() -> None:
    data = collect("break", 3000)
    learner = Gradient(steps=200, width=8).fit(data)
    assert 0 < learner.learned_["events"] < 0.25
    assert (learner.encoder_.target_scale > data.change.std(axis=0) * 1.5).any()
