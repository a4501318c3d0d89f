"""The loop of training: the cost of one step beside a bare loop, and its growth with the number of factors.

python benchmarks/run.py loop

*The loop* is held against a bare one that makes the same passes through the same networks (forward, backward,
optimiser) on rows that never change, without sampling, posteriors or bookkeeping. For scale it is also shown over its
matrix products and nothing else, neither activations nor an optimiser; the bare loop is far from that too. *Growth* is
the time of one step with 4 to 32 factors, of which all but one are distractors.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from actcause.data import collect
from actcause.envs import Domain, make
from actcause.envs.random_vectors import RandomVectors
from actcause.learn import MaskJACI
from actcause.learn.methods.em import MaskEM
from actcause.learn.methods.mask_jaci import SMALL
from actcause.learn.training.batches import FOLDS
from actcause.learn.training.loop import Trainer
from actcause.learn.training.networks import MaskedModel, find_device
from actcause.learn.training.replica import prepare_replica
from actcause.learn.training.session import Session
from measure import Figure

TITLE = "The loop of training"
LOOP_SHARE = 0.8  # of the bare loop's steps a second


@dataclass(frozen=True)
class Arguments:
    """How many steps are timed, on a recording of how many rows, and with how many factors."""

    steps: int = 200
    rows: int = 20_000
    factors: tuple[int, ...] = (4, 8, 16, 32)


TINY = Arguments(steps=2, rows=1_000, factors=(4, 8))


def run(arguments: Arguments) -> Iterator[Figure]:
    training = training_of(make("1-in", draw=0), arguments.rows)
    ours = em_step_seconds(training, arguments.steps)
    for what, bare, bar in (
        ("the same passes in a bare loop", passes_seconds(training, arguments.steps), 1 / LOOP_SHARE),
        ("its matrix products alone", products_seconds(training, arguments.steps), None),
    ):
        yield Figure(
            "loop", f"1-in: a step of EM over {what}", ours / bare, unit="", bar=bar,
            answer=f"{1000 * ours:.2f} ms over {1000 * bare:.2f} ms",
        )  # fmt: skip
    for factors in arguments.factors:
        seconds = em_step_seconds(training_of(with_distractors(factors), arguments.rows), arguments.steps)
        yield Figure("loop", f"{factors} factors: one step of EM", seconds)


def with_distractors(factors: int) -> RandomVectors:
    """`1-in` among variables that push each other and never the outcome; so many factors, the outcome included."""
    others = [f"b{k + 1}" for k in range(factors - 2)]
    pairs = [f"{one} -> {other}" for one, other in zip(others[::2], others[1::2], strict=False)]
    if len(others) % 2:
        pairs.append(f"{others[-1]} -> {others[0]}")
    domain = make("1-in", relations="; ".join(["a1 -> y", *pairs]), draw=0)
    assert isinstance(domain, RandomVectors)
    return domain


def training_of(domain: Domain, rows: int) -> MaskEM:
    """Prepare a training that is about to begin its EM stage."""
    learner = MaskJACI()
    run = prepare_replica(learner, collect(domain, rows, seed=0))
    learner.sizes_ = dict(SMALL)
    return MaskEM(learner, [run], Session(find_device("cpu"), 0))


def em_step_seconds(training: MaskEM, steps: int) -> float:
    """Time one step, sampling and optimiser included."""
    stage = next(stage for stage in training.stages() if stage.name == "em")
    for count in (2, steps):  # the first steps fill caches
        timed = replace(stage, steps=count, end=lambda: None)
        began = time.perf_counter()
        Trainer(training.nets, 0, training.device).run([timed])
    return (time.perf_counter() - began) / steps


def passes_seconds(training: MaskEM, steps: int) -> float:
    """Time one step's passes through the networks, backward and optimiser included, and nothing else."""
    stage = next(stage for stage in training.stages() if stage.name == "em")
    rows = stage.sampler().draw(0, 1)[0]
    seen = training.rows.network_inputs(rows)
    groups, count, factors, _ = seen.shape
    assert training.listed is not None
    judged = training.listed[None, :, None].expand(groups, -1, count, factors).contiguous()
    learned = torch.ones(groups, 3, count, factors)  # a binary drawn, another one, and all factors
    together = seen.reshape(groups // FOLDS, FOLDS * count, factors, -1)
    forward, binary = training.nets["forward"], training.nets["binary"]
    assert isinstance(forward, MaskedModel)
    optimisers = [torch.optim.AdamW(net.parameters(), lr=1e-9, fused=True) for net in (forward, binary)]
    for repeated in (2, steps):
        began = time.perf_counter()
        for _ in range(repeated):
            for optimiser in optimisers:
                optimiser.zero_grad(set_to_none=True)
            with torch.no_grad():
                forward(forward.embedding(seen), judged)
            loss = forward(forward.embedding(seen), learned).sum() + binary(together).sum()
            loss.backward()
            for optimiser in optimisers:
                optimiser.step()
    return (time.perf_counter() - began) / steps


class Products(TorchDispatchMode):
    """Writes down the shapes of all matrix products, those of the backward pass too."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[torch.Size, torch.Size]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function.overloadpacket in (torch.ops.aten.bmm, torch.ops.aten.baddbmm):
            self.shapes.append((args[-2].shape, args[-1].shape))
        return function(*args, **(kwargs or {}))


def products_seconds(training: MaskEM, steps: int) -> float:
    """Time the matrix products of one step."""
    stage = next(stage for stage in training.stages() if stage.name == "em")
    rows = stage.sampler().draw(0, 1)[0]
    settings = {name: torch.tensor(value) for name, value in stage.settings(0.9).items()}
    with Products() as products:
        loss, _ = stage.loss(rows, settings, torch.Generator())
        loss.backward()
    pairs = [(torch.randn(one), torch.randn(other)) for one, other in products.shapes]
    for count in (2, steps):
        began = time.perf_counter()
        for _ in range(count):
            for one, other in pairs:
                torch.bmm(one, other)
    return (time.perf_counter() - began) / steps
