"""The loop: stages, what callbacks are told, and going on from a snapshot as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from actcause.learn.training.batches import FOLDS, Sampler, seed_of
from actcause.learn.training.layers import perceptron
from actcause.learn.training.loop import (
    CHUNK,
    Settings,
    Stage,
    Stopped,
    Trainer,
    TrainingProgress,
    clip_groups,
    one_cycle,
)

CPU = torch.device("cpu")
ROWS = 64


class Lesson:
    """Two networks, three stages: "first" trains a, "both" a and b, "last" b with a new optimiser.

    What "both" ends with sets b to a's weights, as methods do that hand over from one network to another.
    """

    def __init__(self, replicas: int = 1, steps: tuple[int, int, int] = (120, 70, 100), seeds: tuple[int, ...] = (0,)):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.nets: dict[str, nn.Module] = {name: perceptron(FOLDS * replicas, 2, 4, 1, 1) for name in ("a", "b")}
        numbers = torch.Generator().manual_seed(1)
        self.inputs = torch.randn(replicas * ROWS, 2, generator=numbers)
        self.target = self.inputs.prod(dim=1, keepdim=True)
        self.steps, self.seeds = steps, seeds
        self.groups = [
            torch.arange(ROWS * replica + fold, ROWS * (replica + 1), FOLDS)
            for replica in range(replicas)
            for fold in range(FOLDS)
        ]
        self.ended: list[str] = []

    def loss(self, *names: str) -> Callable[[Tensor, Settings, torch.Generator], tuple[Tensor, dict[str, Tensor]]]:
        def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
            noise = settings["noise"] * torch.randn(index.shape, generator=generator).unsqueeze(-1)
            missed = [self.nets[n](self.inputs[index]) - self.target[index] + noise for n in names]
            error = torch.stack([each.square().mean(dim=(1, 2)) for each in missed])
            return error.sum(), {"error": error.mean(), "noise": settings["noise"]}

        return loss

    def stages(self) -> list[Stage]:
        def sampler(stage: str) -> Callable[[], Sampler]:
            seeds = [seed for seed in self.seeds for _ in range(FOLDS)]
            return lambda: Sampler([[group] for group in self.groups], 8, seeds, stage)

        def hand_over() -> None:
            self.nets["b"].load_state_dict(self.nets["a"].state_dict())
            self.ended.append("both")

        def noise(done: float) -> dict[str, float]:
            return {"noise": 0.1 * (1 - done)}

        first, both, last = self.steps
        return [
            Stage("first", first, self.loss("a"), sampler("first"), {"a": 1.0}, one_cycle(1e-2), noise,
                  weight_decay={"a": 0.1}, end=lambda: self.ended.append("first")),
            Stage("both", both, self.loss("a", "b"), sampler("both"), {"a": 0.1, "b": 1.0}, one_cycle(1e-2), noise,
                  end=hand_over),
            Stage("last", last, self.loss("b"), sampler("last"), {"b": 1.0}, one_cycle(1e-2), noise, fresh=True),
        ]  # fmt: skip

    def weights(self) -> Tensor:
        return torch.cat([p.detach().flatten() for net in self.nets.values() for p in net.parameters()])


def train(lesson: Lesson, callback: Callable[[TrainingProgress], None] | None = None) -> Trainer:
    trainer = Trainer(lesson.nets, 0, CPU, callback)
    trainer.run(lesson.stages())
    return trainer


def copy_snapshot(snapshot: tuple[dict[str, Tensor], dict[str, object]]) -> tuple[dict[str, Tensor], dict[str, object]]:
    """As a file would have it."""
    tensors, place = snapshot
    return {name: value.clone() for name, value in tensors.items()}, {
        key: list(value) if isinstance(value, list) else value for key, value in place.items()
    }


def moments(steps: tuple[int, int, int]) -> int:
    return sum(-(-each // CHUNK) for each in steps)


def test_a_callback_is_told_of_every_chunk_and_of_the_whole_course() -> None:
    told: list[TrainingProgress] = []
    lesson = Lesson()
    trainer = train(lesson, told.append)
    assert [moment.step for moment in told] == [50, 100, 120, 170, 190, 240, 290]
    assert {moment.steps for moment in told} == {290}
    assert [moment.stage for moment in told] == ["first"] * 3 + ["both"] * 2 + ["last"] * 2
    assert told[0].values["noise"] == pytest.approx(0.1 * (1 - 24.5 / 120), rel=1e-4)  # the mean over the chunk
    assert told[2].values["error"] < told[0].values["error"]
    assert [entry["step"] for entry in trainer.history] == [moment.step for moment in told]
    assert lesson.ended == ["first", "both"]


def test_the_same_seed_gives_the_same_weights() -> None:
    one, other = Lesson(), Lesson()
    train(one)
    train(other)
    assert torch.equal(one.weights(), other.weights())


@pytest.mark.parametrize("chunk", range(moments((120, 70, 100))))
def test_a_training_stopped_after_any_chunk_goes_on_bit_for_bit(chunk: int) -> None:
    whole = Lesson()
    wanted = train(whole)
    cut = Lesson()
    seen: list[TrainingProgress] = []

    def stop(moment: TrainingProgress) -> None:
        seen.append(moment)
        if len(seen) == chunk + 1:
            raise Stopped

    before = Trainer(cut.nets, 0, CPU, stop)
    with pytest.raises(Stopped):
        before.run(cut.stages())
    snapshot = copy_snapshot(before.snapshot())

    resumed = Lesson()
    trainer = Trainer(resumed.nets, 0, CPU)
    trainer.restore(*snapshot)
    trainer.run(resumed.stages())
    assert torch.equal(resumed.weights(), whole.weights())
    assert trainer.history == wanted.history


def test_a_training_resumed_when_it_was_over_stays_as_it_is() -> None:
    whole = Lesson()
    snapshot = copy_snapshot(train(whole).snapshot())
    again = Lesson()
    trainer = Trainer(again.nets, 0, CPU)
    trainer.restore(*snapshot)
    trainer.run(again.stages())
    assert torch.equal(again.weights(), whole.weights())


def test_runs_trained_together_do_not_mix() -> None:
    """Other data and another seed of the second replica leave the first replica's weights as they are."""
    one = Lesson(replicas=2, seeds=(0, 1))
    other = Lesson(replicas=2, seeds=(0, 2))
    other.target[ROWS:] += 5
    train(one)
    train(other)
    for name in one.nets:
        for ours, theirs in zip(one.nets[name].parameters(), other.nets[name].parameters(), strict=True):
            assert torch.equal(ours[:FOLDS], theirs[:FOLDS])
            assert not torch.equal(ours[FOLDS:], theirs[FOLDS:])


def test_folds_do_not_mix_either() -> None:
    one, other = Lesson(), Lesson()
    other.target[1::2] += 5
    train(one)
    train(other)
    for ours, theirs in zip(one.nets["a"].parameters(), other.nets["a"].parameters(), strict=True):
        assert torch.equal(ours[0], theirs[0])
        assert not torch.equal(ours[1], theirs[1])


def test_gradients_are_clipped_group_by_group() -> None:
    net = perceptron(2, 3, 4, 1, 1)
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
        parameter.grad[1] *= 1e-6
    small = [parameter.grad[1].clone() for parameter in net.parameters() if parameter.grad is not None]
    clip_groups(list(net.parameters()), 0.5)
    size = sum(float(p.grad[0].square().sum()) for p in net.parameters() if p.grad is not None) ** 0.5
    assert size == pytest.approx(0.5, rel=1e-5)
    for kept, parameter in zip(small, net.parameters(), strict=True):
        assert parameter.grad is not None
        assert torch.equal(parameter.grad[1], kept)


def test_the_learning_rate_rises_and_falls_once_over_all_stages() -> None:
    rate = one_cycle(0.1, rise=0.2)
    training = [rate(k / 100) for k in range(101)]
    assert max(training) == pytest.approx(0.1)
    assert training.index(max(training)) == 20
    assert training[0] < 0.005
    assert training[-1] < 1e-4
    first, second = one_cycle(0.1, rise=0.2, end=0.4), one_cycle(0.1, rise=0.2, start=0.4)
    assert first(1.0) == pytest.approx(second(0.0)) == pytest.approx(rate(0.4))


def test_randomness_of_a_chunk_does_not_depend_on_what_came_before() -> None:
    """What makes a snapshot between chunks all there is to remember."""
    assert seed_of(0, "em", 3) != seed_of(0, "em", 4)
    short, long = Lesson(steps=(50, 50, 50)), Lesson(steps=(50, 100, 50))
    seen: dict[str, list[TrainingProgress]] = {"short": [], "long": []}
    train(short, seen["short"].append)
    train(long, seen["long"].append)
    assert seen["short"][0].values == seen["long"][0].values
