"""Why did the episode fail? The chain that ends where the object ended, and what the agent had to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.trace import trace
from ..errors import QueryError, quote
from .arguments import check_recording
from .graph_sources import ask_in_hindsight

if TYPE_CHECKING:
    from ..core.chain import Chain
    from ..data import Recording

PLACES = ("x", "y", "z")


@dataclass(frozen=True)
class FailureExplanation:
    """The chain behind where an object ended, and how far that was from where it should have been.

    `last_touch` is the last step in which something else than itself had a part in what the object did, None where
    nothing ever did. `distance` is how far from the goal it ended, None where no goal was named.
    """

    chain: Chain
    last_touch: int | None
    distance: float | None

    def __str__(self) -> str:
        factor = self.chain.factor
        ended = f"{factor} ended {self.distance:.3g} from the goal" if self.distance is not None else f"{factor} failed"
        if self.last_touch is None:
            return f"{ended}: nothing but itself had a part in it."
        acted = "" if self.chain.actions else ", none of them an action"
        return f"{ended}: last touched at step {self.last_touch}{acted}.\n{self.chain}"


def explain_failure(
    episode: Recording, *, factor: str, goal: str | None = None, step: int | None = None, graphs: Any = None
) -> FailureExplanation:
    """Trace what became of an object at the end of an episode back to the actions behind it.

    Args:
        episode: The rows of one episode, such as `recording.take_episode(3)`.
        factor: The object that should have been elsewhere, or otherwise.
        goal: The factor that says where, if there is one; its place is compared with the object's.
        step: The step at which it failed; by default the last.
        graphs: Who caused what: an array `(rows, outcomes, factors)`, or whatever has `predict(recording)`, or better
            `explain(recording)`; by default the true graphs of the recording.

    >>> from actcause.rl import GoalPush, record_agent
    >>> env = GoalPush(arena=6, margin=0.5, max_steps=30)
    >>> away = record_agent(env, lambda observation: observation["observation"][:2] - observation["observation"][2:], 1)
    >>> print(explain_failure(away, factor="block", goal="target"))
    block ended 0.894 from the goal: nothing but itself had a part in it.
    """
    check_recording(episode, "episode")
    numbers = np.unique(episode.episode)
    if len(numbers) != 1:
        raise QueryError(
            "{parameter} must hold the rows of one episode, such as recording.take_episode({first}). Got {count}.",
            parameter="episode", first=int(numbers[0]), count=len(numbers),
        )  # fmt: skip
    found = ask_in_hindsight(graphs, episode) if hasattr(graphs, "predict") else graphs
    last = int(episode.step.max()) if step is None else step
    chain = trace(episode, episode=int(numbers[0]), step=last, factor=factor, graphs=found)
    touches = [link.step for link in chain.links if link.outcome == factor]
    return FailureExplanation(chain, max(touches, default=None), _measure_distance(episode, factor, goal, last))


def _measure_distance(episode: Recording, factor: str, goal: str | None, step: int) -> float | None:
    """Return how far apart object and goal were after a step."""
    if goal is None:
        return None
    one, two = episode.index(factor), episode.index(goal)
    row = int(np.flatnonzero(episode.step == step)[0])
    own, wanted = episode.features[factor], episode.features[goal]
    shared = [(own.index(name), wanted.index(name)) for name in PLACES if name in own and name in wanted]
    if not shared:
        raise QueryError(
            "{parameter} must be a factor with a place, as {factor} has one. Got {got} instead.",
            parameter="goal", factor=factor, got=quote(goal),
        )  # fmt: skip
    after = episode.next_state[row]
    return float(np.sqrt(sum((after[one, a] - after[two, b]) ** 2 for a, b in shared)))
