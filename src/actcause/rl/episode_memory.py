"""The memory of many agents at once: whole episodes, and goals in hindsight from the steps that a filter leaves.

Andrychowicz et al., "Hindsight Experience Replay", NeurIPS 2017. Every episode has a first step from which on its
outcomes may be goals: 0 is plain hindsight, the step of the first contact is hindsight filtered by causes, and the
length of the episode lets none of it be a goal. As many transitions are relabelled either way, drawn from the episodes
that have a goal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .race_bonus import RaceBonus


@dataclass(frozen=True)
class RelabelledBatch:
    """Transitions of every agent: `(agents, rows, ...)`; `goal` is where the object was to go.

    `bonus`, where there is any, is what each is worth now besides the task's reward, `most` the most that one can be
    worth to each agent, `(agents, 1)`. Rows that are `apart`, where there are any, are not for the goal: in these all
    that counts is whether something was `earned`.
    """

    before: Tensor
    action: Tensor
    after: Tensor
    goal: Tensor
    bonus: Tensor | None = None
    most: Tensor | None = None
    apart: Tensor | None = None
    earned: Tensor | None = None


class EpisodeMemory:
    """Episodes of one length, as many for every agent; the last `places` features of a state are the object's place.

    `others` has what agents do not see, bodies that move by themselves: of each its place and its motion. `bonus` says
    what steps are worth besides the task's reward; an action has `moves` numbers.
    """

    def __init__(
        self, agents: int, episodes: int, steps: int, width: int, device: torch.device, *, others: int = 0,
        bonus: RaceBonus | None = None, places: int = 2, moves: int = 2,
    ) -> None:  # fmt: skip
        self.steps, self.count, self.bonus, self.places = steps, 0, bonus, places
        self.states = torch.zeros(agents, episodes, steps + 1, width, device=device)
        self.actions = torch.zeros(agents, episodes, steps, moves, device=device)
        self.goals = torch.zeros(agents, episodes, places, device=device)
        self.others = torch.zeros(agents, episodes, steps, 4 * others, device=device)
        self.first = torch.full((agents, episodes), steps, dtype=torch.long, device=device)
        self._listed = torch.zeros(agents, episodes, dtype=torch.long, device=device)
        self._usable = torch.zeros(agents, dtype=torch.long, device=device)
        self._agents = torch.arange(agents, device=device)[:, None]

    def add(self, states: Tensor, actions: Tensor, goals: Tensor, first: Tensor, others: Tensor | None = None) -> None:
        """Keep episodes of every agent, `(agents, episodes, ...)`, and the first step that may be a goal in each."""
        end = self.count + states.shape[1]
        rows = slice(self.count, end)
        self.states[:, rows], self.actions[:, rows], self.goals[:, rows] = states, actions, goals
        self.first[:, rows] = first
        if others is not None:
            self.others[:, rows] = others
        self.count = end
        self.list_usable()

    def list_usable(self) -> None:
        """List the episodes that have a goal; to be called where `first` was changed."""
        usable = self.first[:, : self.count] < self.steps
        self._listed[:, : self.count] = torch.argsort((~usable).to(torch.int8), dim=1, stable=True)
        self._usable = usable.sum(dim=1)

    def sample(self, rows: int, share: float, generator: torch.Generator) -> RelabelledBatch:
        """Draw transitions of every agent, this share of them with a goal in hindsight."""
        agents, device = len(self.states), self.states.device

        def draw(count: int) -> Tensor:
            return torch.rand(agents, count, generator=generator, device=device)

        episode = (draw(rows) * self.count).long()
        step = (draw(rows) * self.steps).long()
        later = round(share * rows)
        some = (self._usable > 0)[:, None]
        picked = self._listed[self._agents, (draw(later) * self._usable[:, None]).long()]
        episode[:, :later] = torch.where(some, picked, episode[:, :later])
        goal = self.goals[self._agents, episode]
        low = torch.maximum(step[:, :later], self.first[self._agents, episode[:, :later]])
        chosen = (low + (draw(later) * (self.steps - low)).long()).clamp(max=self.steps - 1)
        achieved = self.states[self._agents, episode[:, :later], chosen + 1, -self.places :]
        goal[:, :later] = torch.where(some[:, :, None], achieved, goal[:, :later])
        before, after = (self.states[self._agents, episode, step + k] for k in (0, 1))
        batch = RelabelledBatch(before, self.actions[self._agents, episode, step], after, goal)
        if self.bonus is None:
            return batch
        batch = replace(batch, bonus=self.bonus.read(episode, step), most=self.bonus.most)
        if not self.bonus.apart.any():
            return batch
        apart, earned = self.bonus.draw_apart(episode, step, draw(rows))
        return replace(batch, apart=apart, earned=earned)
