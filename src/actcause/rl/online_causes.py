"""Who moved the object, learned while agents gather experience: a mixture with one account for each body.

    change of the object  ~  w0 N(at rest)  +  w1 N(moved by the agent)  +  w2 N(moved by another body)  +  ...

The account of a body sees nothing but that body, its motion (of the agent: its action) and the object, and says how
likely it is to move the object, where to, and how sharply. The account of rest has a constant scale: that of chance,
taken from the median change, which contacts do not bear on while they are rare. Weights and accounts are fitted by
gradient to the transitions as they come, at their natural frequency; no label is used. The agent is a cause where its
account is the likelier one of what came about. After Jordan and Jacobs, "Hierarchical mixtures of experts and the EM
algorithm", Neural Computation 1994. All agents are one computation; none sees another's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..learn.training.layers import Linear
from .episode_memory import EpisodeMemory

RATE = 2e-3
FINEST = 1e-3  # the least scale of an account, in units of the arena: what is smaller is no motion
USUAL = 0.5  # the scale that accounts of bodies begin with, in strides
RARE = -3.0  # their log weight at the beginning, beside 0 of rest
AT_ONCE = 256  # episodes judged at a time
VIEW = 8  # features: the body's place, its motion, the object's place, and how this lies from the body


class OnlineCauses:
    """Mixtures of some agents of a memory, `agents`, each with the weights of its own seed.

    `learn` takes steps on what is remembered, `find_first` judges all of it.
    """

    def __init__(
        self,
        agents: Sequence[int],
        seeds: Sequence[int],
        arena: float,
        others: int,
        device: torch.device,
        *,
        width: int = 64,
        rows: int = 512,
    ) -> None:
        self.agents, self.arena, self.others, self.rows = list(agents), arena, others, rows
        self._own = _build(seeds, width).to(device)
        self._other = _build([seed + 20_000 for seed in seeds], width).to(device) if others else None
        parts = [self._own] + ([self._other] if self._other is not None else [])
        parameters = [parameter for part in parts for parameter in part.parameters()]
        self._steps = torch.optim.Adam(parameters, lr=RATE) if seeds else None
        self._draws = torch.Generator(device=device).manual_seed(min(seeds, default=0) + 1)
        self._at = torch.tensor(self.agents, dtype=torch.long, device=device)[:, None]
        self._chance = torch.full((len(self.agents), 1, 2), FINEST, device=device)

    def learn(self, memory: EpisodeMemory, updates: int) -> None:
        """Take some steps on transitions drawn from all that is remembered."""
        if self._steps is None:
            return
        moves = memory.states[self._at[:, 0], : memory.count, :, -2:].diff(dim=2).abs().flatten(1, 2)
        self._chance = (1.48 * moves.median(dim=1, keepdim=True).values).clamp(min=FINEST)
        for _ in range(updates):
            drawn = torch.rand(2, len(self.agents), self.rows, generator=self._draws, device=self._at.device)
            episode, step = (drawn[0] * memory.count).long(), (drawn[1] * memory.steps).long()
            loss = -torch.logsumexp(self._weigh(memory, episode, step), dim=-1).mean(dim=1).sum()
            self._steps.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self._steps.step()

    @torch.no_grad()
    def judge(self, memory: EpisodeMemory) -> Tensor:
        """Return whether the agent moved the object, `(agents, episodes, steps)`, in all that is remembered."""
        found = []
        step = torch.arange(memory.steps, device=self._at.device)
        for begin in range(0, memory.count, AT_ONCE):
            some = torch.arange(begin, min(begin + AT_ONCE, memory.count), device=self._at.device)
            episode = some.repeat_interleave(memory.steps).expand(len(self.agents), -1)
            weights = self._weigh(memory, episode, step.repeat(len(some)).expand(len(self.agents), -1))
            caused = weights[..., 1] > torch.logsumexp(weights[..., [0, *range(2, weights.shape[-1])]], dim=-1)
            found.append(caused.reshape(len(self.agents), len(some), memory.steps))
        return torch.cat(found, dim=1)

    def find_first(self, memory: EpisodeMemory) -> Tensor:
        """Return the first step of each episode in which the agent moved the object; the last and one where none."""
        caused = self.judge(memory)
        first = caused.to(torch.int8).argmax(dim=-1)
        return torch.where(caused.any(dim=-1), first, memory.steps)

    def _weigh(self, memory: EpisodeMemory, episode: Tensor, step: Tensor) -> Tensor:
        """Return the log of weight times density of each account, `(agents, rows, accounts)`: rest, agent, others."""
        before, after = (memory.states[self._at, episode, step + k] for k in (0, 1))
        place, change = before[..., -2:], after[..., -2:] - before[..., -2:]
        views = [torch.cat([before[..., :2], memory.actions[self._at, episode, step]], dim=-1)]
        if self.others:
            views += torch.split(memory.others[self._at, episode, step], 4, dim=-1)
        accounts = [self._own(self._see(views[0], place))]
        if self._other is not None:
            rows = step.shape[1]
            told = self._other(torch.cat([self._see(view, place) for view in views[1:]], dim=1))
            accounts += torch.split(told, rows, dim=1)
        chance = self._chance.expand_as(change)
        logits = torch.stack([torch.zeros_like(change[..., 0])] + [one[..., 0] + RARE for one in accounts], dim=-1)
        dense = [_density(change, chance)]
        for one in accounts:
            spread = torch.maximum(USUAL * torch.exp(one[..., 3:].clamp(-8, 2)), chance)
            dense.append(_density(change - one[..., 1:3], spread))
        return torch.log_softmax(logits, dim=-1) + torch.stack(dense, dim=-1)

    def _see(self, body: Tensor, place: Tensor) -> Tensor:
        half = self.arena / 2
        where, motion = body[..., :2], body[..., 2:]
        return torch.cat([(where - half) / half, motion, (place - half) / half, place - where], dim=-1)


def _density(away: Tensor, spread: Tensor) -> Tensor:
    return -((away / spread).square() / 2 + spread.log()).sum(dim=-1) - math.log(2 * math.pi)


def _build(seeds: Sequence[int], width: int) -> nn.Sequential:
    """Build networks side by side, each with the weights of its own seed."""
    groups = len(seeds)
    layers = [Linear(groups, VIEW, width), Linear(groups, width, width), Linear(groups, width, 5)]
    with torch.no_grad():
        for position, seed in enumerate(seeds):
            generator = torch.Generator().manual_seed(seed)
            for layer in layers:
                drawn = torch.randn(layer.weight.shape[1:], generator=generator)
                gain = 0.1 if layer is layers[-1] else 1.0
                layer.weight[position] = gain * math.sqrt(2 / layer.weight.shape[1]) * drawn
    return nn.Sequential(layers[0], nn.SiLU(), layers[1], nn.SiLU(), layers[2])
