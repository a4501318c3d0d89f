"""The loop: stages of steps, each on freshly drawn rows, that can be cut off anywhere and resumed.

Steps come in chunks. At the start of each chunk every source of randomness is seeded afresh, so that a snapshot
taken between chunks is all there is to remember. On CUDA a stage's step is captured once as a graph and replayed.
Several processes may train as one (`distributed.py`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import RunError
from .batches import Sampler, seed_of
from .distributed import average_gradients, training_processes
from .muon import Muon

CHUNK = 50  # steps between two seedings
GRAPH_AFTER = 3  # steps taken before a step is captured as a CUDA graph
Settings = Mapping[str, Tensor]
LossValues = tuple[Tensor, dict[str, Tensor]]  # what is minimised, and what is told of it
Loss = Callable[[Tensor, Settings, torch.Generator], LossValues]


@dataclass(frozen=True)
class Stage:
    """Some steps with one loss. `settings` gives the loss its numbers for a share of the stage done."""

    name: str
    steps: int
    loss: Loss
    sampler: Callable[[], Sampler]
    nets: Mapping[str, float]  # the networks trained, with a factor on the learning rate
    learning_rate: Callable[[float], float]
    settings: Callable[[float], Mapping[str, float]] = lambda done: {}
    weight_decay: Mapping[str, float] = field(default_factory=dict)
    fresh: bool = False  # whether the optimisers of its networks begin anew
    end: Callable[[], None] = lambda: None  # what later stages need; run again when resumed after it
    graph: bool = True
    clip: float | None = None  # the largest norm of a gradient, in place of the trainer's
    wanted: Callable[[], bool] = lambda: True  # whether it is run at all, known when the stages before have ended
    muon: bool = False  # whether matrices are moved by Muon instead of AdamW
    watch: Callable[[int], Mapping[str, float]] | None = None  # what else is told after a chunk, from held-out rows
    over: Callable[[Sequence[Mapping[str, Any]]], bool] | None = None  # whether what was told shows that it is enough


@dataclass(frozen=True)
class TrainingProgress:
    """What a callback is told after every chunk."""

    stage: str
    step: int  # of all stages
    steps: int
    seconds: float  # in this process
    values: Mapping[str, float]  # means over the chunk


class Stopped(Exception):  # noqa: N818 - not an error: a budget ran out, or the user asked
    """Training was stopped between two chunks; the trainer's snapshot goes on from here."""


class StageOver(Exception):  # noqa: N818 - not an error either
    """Raised by a callback: this stage has done enough, the next may begin."""


@dataclass(eq=False)
class Trainer:
    """Runs stages over named networks.

    `callback` is told of every chunk and may raise `Stopped` or `StageOver`. `snapshot` and `restore` carry
    everything across processes: weights, optimiser states and the place.
    """

    nets: Mapping[str, nn.Module]
    seed: int
    device: torch.device
    callback: Callable[[TrainingProgress], None] | None = None
    clip: float | None = None

    def __post_init__(self) -> None:
        self.processes = training_processes()
        self.history: list[dict[str, Any]] = []
        self._optimisers: dict[str, torch.optim.Optimizer] = {}
        self._place = (0, 0)  # stage, step
        self._restored: dict[str, Tensor] = {}

    def run(self, stages: Sequence[Stage]) -> None:
        began = time.monotonic()
        for position, stage in enumerate(stages):
            first, start = self._place
            if not stage.wanted():
                self._place = max(self._place, (position + 1, 0))
                continue
            if position < first:
                self._optimise(stage)
                stage.end()
                continue
            if start == 0:
                self._reload()  # before a stage whose optimisers begin anew
            before = sum(earlier.steps for earlier in stages[:position] if earlier.wanted())
            total = before + sum(later.steps for later in stages[position:] if later.wanted())
            for step, values in self._steps(position, stage, start if position == first else 0):
                self._place = (position, step)
                if stage.watch is not None:
                    values |= stage.watch(step)
                moment = TrainingProgress(stage.name, before + step, total, time.monotonic() - began, values)
                self.history.append({"stage": stage.name, "step": moment.step, **values})
                try:
                    self._report(moment)
                except StageOver:
                    break
                if stage.over is not None and stage.over(self.history):
                    break
            stage.end()
            self._place = (position + 1, 0)
        self._reload()

    def _report(self, moment: TrainingProgress) -> None:
        """Tell the callback; what one of several processes is stopped by stops all."""
        wish: BaseException | None = None
        try:
            if self.callback is not None:
                self.callback(moment)
        except BaseException as raised:
            if self.processes is None:
                raise
            wish = raised
        if self.processes is not None:
            # Anything but the two known wishes ends the other processes as a budget that ran out would.
            asked = 0 if wish is None else 1 if isinstance(wish, StageOver) else 2
            agreed = self.processes.any(asked, self.device)
            if wish is not None and asked == agreed:
                raise wish
            if agreed:
                raise StageOver if agreed == 1 else Stopped

    def snapshot(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Take all tensors by name, and the place."""
        tensors = {f"net.{n}.{k}": v for n, net in self.nets.items() for k, v in net.state_dict().items()}
        for name, optimiser in self._optimisers.items():
            for parameter, state in optimiser.state.items():
                number = self._number(name, parameter)
                tensors |= {f"optimiser.{name}.{number}.{k}": v for k, v in state.items() if isinstance(v, Tensor)}
        return tensors, {"place": list(self._place), "history": self.history}

    def restore(self, tensors: Mapping[str, Tensor], place: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        self._restored = dict(tensors)
        self._load_weights()
        stage, step = place["place"]
        self._place = (int(stage), int(step))
        self.history = list(place["history"])

    def _load_weights(self) -> None:
        for name, net in self.nets.items():
            prefix = f"net.{name}."
            given = {k.removeprefix(prefix): v for k, v in self._restored.items() if k.startswith(prefix)}
            try:
                net.load_state_dict(given)
            except RuntimeError as wrong:
                raise RunError(f"The checkpoint does not fit the network '{name}' that is to be trained.") from wrong

    # -- steps -------------------------------------------------------------------------------------

    def _steps(self, position: int, stage: Stage, start: int) -> Iterator[tuple[int, dict[str, float]]]:
        optimisers, sampler = self._optimise(stage), stage.sampler()
        self._reload()
        generator = torch.Generator(device=self.device)
        names = list(stage.settings(0.0))
        settings = {name: torch.zeros((), device=self.device) for name in names}
        rows = torch.zeros(0)
        graph: torch.cuda.CUDAGraph | None = None
        stats: dict[str, Tensor] = {}
        processes = self.processes
        most = self.clip if stage.clip is None else stage.clip
        cuda = self.device.type == "cuda" and stage.graph and processes is None
        compute = (
            stage.loss if processes is None else average_gradients(stage.loss, [self.nets[name] for name in stage.nets])
        )

        def step() -> dict[str, Tensor]:
            for optimiser in optimisers:
                optimiser.zero_grad(set_to_none=True)
            loss, found = compute(rows, settings, generator)
            loss.backward()
            if most is not None:
                for optimiser in optimisers:
                    clip_groups([p for group in optimiser.param_groups for p in group["params"]], most)
            for optimiser in optimisers:
                optimiser.step()
            return {name: value.detach() for name, value in found.items()}

        side = torch.cuda.Stream() if cuda else None  # type: ignore[no-untyped-call]
        taken = 0
        for chunk in range(math.ceil(start / CHUNK), math.ceil(stage.steps / CHUNK)):
            count = min(CHUNK, stage.steps - chunk * CHUNK)
            drawn = sampler.draw(chunk, count)
            member = 0 if processes is None else processes.rank
            if processes is not None:
                drawn = processes.share(drawn)
            if rows.shape != drawn.shape[1:]:
                rows = torch.zeros_like(drawn[0])
            generator.manual_seed(seed_of(self.seed, stage.name, chunk, *([member] if member else [])))
            sums: dict[str, Tensor] = {}
            for offset in range(count):
                done = (chunk * CHUNK + offset) / stage.steps
                rows.copy_(drawn[offset])
                for name, value in stage.settings(done).items():
                    settings[name].fill_(value)
                self._set_rates(stage, optimisers, done)
                if graph is not None:
                    graph.replay()
                elif side is not None:
                    side.wait_stream(torch.cuda.current_stream())
                    if taken < GRAPH_AFTER:
                        with torch.cuda.stream(side):
                            stats = step()
                        torch.cuda.current_stream().wait_stream(side)
                    else:
                        graph = torch.cuda.CUDAGraph()
                        graph.register_generator_state(generator)
                        for optimiser in optimisers:
                            optimiser.zero_grad(set_to_none=True)
                        with torch.cuda.graph(graph, stream=side):
                            stats = step()
                        graph.replay()
                else:
                    stats = step()
                taken += 1
                sums = {name: value + sums[name] if name in sums else value.clone() for name, value in stats.items()}
            if processes is not None:
                processes.average(list(sums.values()))
            yield chunk * CHUNK + count, {name: float(value) / count for name, value in sums.items()}

    def _optimise(self, stage: Stage) -> list[torch.optim.Optimizer]:
        used = []
        for name in stage.nets:
            if stage.fresh or name not in self._optimisers:
                decay = stage.weight_decay.get(name, 0.0)
                weights = [p for k, p in self.nets[name].named_parameters() if k.endswith("weight")]
                others = [p for k, p in self.nets[name].named_parameters() if not k.endswith("weight")]
                cuda = self.device.type == "cuda"
                rate: Any = torch.zeros((), device=self.device) if cuda else 0.0
                groups = [{"params": weights, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
                if stage.muon:
                    self._optimisers[name] = Muon(groups, rate)
                else:
                    self._optimisers[name] = torch.optim.AdamW(groups, lr=rate, fused=True, capturable=cuda)
            used.append(self._optimisers[name])
        return used

    def _reload(self) -> None:
        """Give networks and optimisers what a snapshot holds, once: when the place is reached where it was taken.

        The ends of earlier stages, which run again, may have set networks to what they were before that place.
        """
        if not self._restored:
            return
        self._load_weights()
        for name, optimiser in self._optimisers.items():
            parameters = list(self.nets[name].parameters())
            prefix = f"optimiser.{name}."
            for key, value in self._restored.items():
                if key.startswith(prefix):
                    number, field_name = key.removeprefix(prefix).split(".")
                    parameter = parameters[int(number)]
                    near = field_name != "step" or self.device.type == "cuda"
                    optimiser.state[parameter][field_name] = value.to(parameter.device) if near else value.cpu()
        self._restored = {}

    def _number(self, name: str, parameter: Tensor) -> int:
        return next(k for k, p in enumerate(self.nets[name].parameters()) if p is parameter)

    def _set_rates(self, stage: Stage, optimisers: Sequence[torch.optim.Optimizer], done: float) -> None:
        rate = stage.learning_rate(done)
        for factor, optimiser in zip(stage.nets.values(), optimisers, strict=True):
            for group in optimiser.param_groups:
                if isinstance(group["lr"], Tensor):
                    group["lr"].fill_(rate * factor)
                else:
                    group["lr"] = rate * factor


def clip_groups(parameters: Sequence[Tensor], most: float) -> None:
    """Scale every group's gradient to a norm of at most `most`, each group (first axis) on its own."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        return
    squares = torch.stack([g.flatten(1).square().sum(dim=1) for g in gradients]).sum(dim=0)
    factor = (most / squares.sqrt().clamp(min=1e-12)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor.view(-1, *[1] * (gradient.dim() - 1)))


def one_cycle(peak: float, rise: float = 0.1, start: float = 0.0, end: float = 1.0) -> Callable[[float], float]:
    """Rise by a cosine to `peak` in the first `rise` of all steps, then fall to 0; a stage is `start` to `end`."""

    def rate(done: float) -> float:
        at = start + (end - start) * done
        if at < rise:
            return peak * (0.04 + 0.96 * (1 - math.cos(math.pi * at / rise)) / 2)
        return peak * (1e-4 + (1 - 1e-4) * (1 + math.cos(math.pi * (at - rise) / (1 - rise))) / 2)

    return rate
