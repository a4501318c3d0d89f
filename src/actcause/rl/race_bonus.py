"""A bonus for causing something, of many agents at once: what it is for, and what it is worth by now.

What `InteractionBonus` and `InteractionReplayBuffer` do together, and ways to do one thing otherwise, so that they can
be raced:

    bonus      in every step in which the agent moves the object, with the weight of now
    steady     the same, whether it is seldom that the agent moves the object or not
    stored     the same, with the weight that it had when the step was taken
    once       only in the first such step of an episode
    unending   with a weight that never falls
    apart      as a task of its own, in some episodes, that the same networks learn and are told of by one more input

The last leaves the task's own rewards, and with them the values of its goals, as they are: a goal-conditioned agent
learns many tasks anyway, and moving the object is one more. Its weight says in how many episodes the agent is at it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..errors import QueryError, quote
from .rarity import EPISODES, ROWS, measure_news

KINDS = ("", "bonus", "steady", "stored", "once", "unending", "apart")  # "" for none


class RaceBonus:
    """What the steps of episodes are worth besides the task's reward, `(agents, episodes, steps)`.

    The weight of an agent's bonus is `scale` times the share of recent episodes in which it did not move the object. It
    also falls with each episode in which it did, and is 0 after `times` of them.
    """

    def __init__(
        self, kinds: Sequence[str], episodes: int, steps: int, scale: float, times: int, device: torch.device
    ) -> None:
        unknown = sorted(set(kinds) - set(KINDS))
        if unknown:
            raise QueryError(
                "Unknown bonus {got}; choose from {known}.", got=quote(unknown[0]), known=", ".join(KINDS[1:])
            )
        self.kinds, self.scale, self.times = tuple(kinds), scale, times
        self.counts = torch.zeros(len(kinds), device=device)  # episodes in which each agent moved the object
        self.rates = torch.zeros(len(kinds), device=device)  # the share of recent ones
        self._caused = torch.zeros(len(kinds), episodes, steps, device=device)
        self._given, self._lasting, self._stored, self._steady = (
            torch.tensor([kind in names for kind in kinds], device=device)
            for names in (KINDS[1:], ("unending",), ("stored",), ("unending", "steady"))
        )
        self.apart = torch.tensor([kind == "apart" for kind in kinds], device=device)
        self._agents = torch.arange(len(kinds), device=device)[:, None]
        self._kept = 0
        self.weights = self._weigh() * ~self.apart

    @property
    def episodes(self) -> Tensor:
        """The share of each agent's next episodes that are for a bonus apart."""
        return EPISODES * self._weigh(scale=1.0) * self.apart

    def draw_apart(self, episode: Tensor, step: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
        """Say of rows, by numbers drawn from [0, 1), which are for a bonus apart, and in which it is earned."""
        return drawn < ROWS * (self.episodes > 0)[:, None], self._caused[self._agents, episode, step]

    @property
    def most(self) -> Tensor:
        """The most that a step is worth to each agent, `(agents, 1)`."""
        return torch.where(self._stored, self.scale, self.weights)[:, None]

    def add(self, caused: Tensor) -> None:
        """Keep the steps of new episodes, `(agents, episodes, steps)`, in which agents moved the object."""
        end = self._kept + caused.shape[1]
        earned = caused.float()
        for agent, kind in enumerate(self.kinds):
            if kind == "once":
                earned[agent] *= earned[agent].cumsum(dim=1) == 1
            elif kind == "stored":
                earned[agent] *= self.weights[agent]
        self._caused[:, self._kept : end] = earned
        self._kept = end
        moved = caused.any(dim=2).float()
        self.counts += moved.sum(dim=1)
        self.rates += (moved.mean(dim=1) - self.rates) * measure_news(caused.shape[1], end)
        self.weights = self._weigh() * ~self.apart

    def read(self, episode: Tensor, step: Tensor) -> Tensor:
        """Return what steps are worth now, `(agents, rows)`."""
        now = torch.where(self._stored, 1.0, self.weights)[:, None]
        return self._caused[self._agents, episode, step] * now

    def _weigh(self, scale: float | None = None) -> Tensor:
        """Return what a step is worth to each agent now; 0 for one without a bonus."""
        left = torch.where(self._lasting, 1.0, (1 - self.counts / self.times).clamp(min=0))
        seldom = torch.where(self._steady, 1.0, 1 - self.rates)
        return torch.where(self._given, (self.scale if scale is None else scale) * left * seldom, 0.0)
