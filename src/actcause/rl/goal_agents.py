"""Many agents that learn to reach goals, as one computation: DDPG whose every weight has an axis for the agent.

Lillicrap et al., "Continuous control with deep reinforcement learning", ICLR 2016. Agents of different seeds and of
different memories never see each other's numbers; side by side they cost little more than one.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..learn.training.layers import Linear
from .episode_memory import RelabelledBatch
from .goal_views import GoalView

DISCOUNT = 0.98
FOLLOW = 0.02  # how far the slow networks follow in an update
RATE = 1e-3
SMALL = 0.1  # weights of the last layer at the beginning, beside those of others
ACTION_COST = 0.01  # of a squared action, so that actors do not get stuck at its bounds


class GoalAgents:
    """Actors and critics with two hidden layers each, and slow copies of both; `view` is what they see.

    With `apart` they are also told by one more input whether it is the goal that counts, or a bonus apart from it.
    """

    def __init__(
        self, seeds: Sequence[int], view: GoalView, tolerance: float, width: int, device: torch.device, *,
        apart: bool = False,
    ) -> None:  # fmt: skip
        self.view, self.tolerance, self.apart = view, tolerance, apart
        inputs = view.inputs + apart
        self.actor = _build(seeds, inputs, width, view.actions).to(device)
        self.critic = _build([seed + 10_000 for seed in seeds], inputs + view.actions, width, 1).to(device)
        self.slow_actor, self.slow_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        for network in (self.slow_actor, self.slow_critic):
            network.requires_grad_(False)
        self._actor_steps = torch.optim.Adam(self.actor.parameters(), lr=RATE)
        self._critic_steps = torch.optim.Adam(self.critic.parameters(), lr=RATE)
        self._fast: list[Tensor] = [*self.actor.parameters(), *self.critic.parameters()]
        self._slow: list[Tensor] = [*self.slow_actor.parameters(), *self.slow_critic.parameters()]

    @torch.no_grad()
    def act(self, state: Tensor, goal: Tensor, apart: Tensor | None = None) -> Tensor:
        """Return the actions, `(agents, rows, numbers)`, that the actors take."""
        return torch.tanh(self.actor(self._observe(state, goal, apart)))

    def _observe(self, state: Tensor, goal: Tensor, apart: Tensor | None) -> Tensor:
        seen = self.view.observe(state, goal)
        if not self.apart:
            return seen
        told = seen.new_zeros(seen.shape[:-1]) if apart is None else apart.to(seen.dtype)
        return torch.cat([seen, told[..., None]], dim=-1)

    @torch.no_grad()
    def act_alone(self, agent: int, state: Tensor, goal: Tensor) -> Tensor:
        """Return the actions, `(1, rows, numbers)`, that one of the actors takes in states `(1, rows, width)`."""
        seen = self._observe(state, goal, None)
        for layer in self.actor:
            if isinstance(layer, Linear):
                seen = torch.baddbmm(layer.bias[agent, None], seen, layer.weight[agent, None])
            else:
                seen = layer(seen)
        return torch.tanh(seen)

    def update(self, batch: RelabelledBatch) -> None:
        """Take one step of every critic and every actor."""
        now, after = (self._observe(state, batch.goal, batch.apart) for state in (batch.before, batch.after))
        with torch.no_grad():
            reward = -(self.view.measure(batch.after, batch.goal) >= self.tolerance).float()
            if batch.apart is not None and batch.earned is not None:
                reward = torch.where(batch.apart, batch.earned - 1, reward)
            later = torch.tanh(self.slow_actor(after))
            value = self.slow_critic(torch.cat([after, later], dim=-1)).squeeze(-1)
            target = reward + DISCOUNT * value
            if batch.bonus is None or batch.most is None:
                target = target.clamp(-1 / (1 - DISCOUNT), 0)
            else:  # the values of an agent that is worth something in every step are the greatest
                target = (target + batch.bonus).clamp(min=-1 / (1 - DISCOUNT))
                target = torch.minimum(target, batch.most / (1 - DISCOUNT))
        told = self.critic(torch.cat([now, batch.action], dim=-1)).squeeze(-1)
        loss = (told - target).square().mean(dim=1).sum()  # of each agent its own
        self._critic_steps.zero_grad(set_to_none=True)
        loss.backward()
        self._critic_steps.step()
        action = torch.tanh(self.actor(now))
        self.critic.requires_grad_(False)
        worth = self.critic(torch.cat([now, action], dim=-1)).squeeze(-1)
        loss = (ACTION_COST * action.square().sum(dim=-1) - worth).mean(dim=1).sum()
        self._actor_steps.zero_grad(set_to_none=True)
        loss.backward()
        self._actor_steps.step()
        self.critic.requires_grad_(True)
        with torch.no_grad():
            torch._foreach_lerp_(self._slow, self._fast, FOLLOW)


def _build(seeds: Sequence[int], inputs: int, width: int, outputs: int) -> nn.Sequential:
    """Build networks side by side, each with the weights of its own seed."""
    groups = len(seeds)
    parts = [Linear(groups, inputs, width), nn.ReLU(), Linear(groups, width, width), nn.ReLU()]
    network = nn.Sequential(*parts, Linear(groups, width, outputs))
    layers = [layer for layer in network if isinstance(layer, Linear)]
    with torch.no_grad():
        for position, seed in enumerate(seeds):
            generator = torch.Generator().manual_seed(seed)
            for layer in layers:
                gain = SMALL if layer is layers[-1] else 1.0
                drawn = torch.randn(layer.weight.shape[1:], generator=generator)
                layer.weight[position] = gain * math.sqrt(2 / layer.weight.shape[1]) * drawn
    return network
