"""What reinforcement learning does with actual causes: more data, better goals, bonuses and explanations.

>>> from actcause import rl
>>> "augment" in dir(rl)
True

Importing this package needs numpy alone. The environments need Gymnasium, the replay buffer Stable-Baselines3: both
come with the extra `rl`. After `import actcause.rl.gym`, `gymnasium.make("actcause/GoalPush-v0")` gives an environment.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from .action_explanation import ActionExplanation, explain_action, read_policy
    from .augmentation import Augmentation, augment
    from .bonus import InteractionBonus
    from .chains import follow_actions
    from .contact_graphs import ContactGraphs
    from .failure_explanation import FailureExplanation, explain_failure
    from .goal_env import GoalEnv, GoalLayout
    from .goal_fetch import GoalFetchPush
    from .goal_pucks import GoalPucks
    from .goal_push import GoalPush
    from .goal_recording import record_agent, record_observations
    from .graph_sources import GraphsByOutcome, GraphSource, MovedGraphs, NearGraphs, TrueGraphs
    from .online_graphs import OnlineGraphs
    from .puck_graphs import PuckGraphs
    from .relabelling import InteractionReplayBuffer
    from .transition_model import TransitionModel

# Where the names live that are imported when they are first asked for.
_HOMES = {
    "action_explanation": ("ActionExplanation", "explain_action", "read_policy"),
    "augmentation": ("Augmentation", "augment"),
    "bonus": ("InteractionBonus",),
    "chains": ("follow_actions",),
    "contact_graphs": ("ContactGraphs",),
    "failure_explanation": ("FailureExplanation", "explain_failure"),
    "goal_env": ("GoalEnv", "GoalLayout"),
    "goal_fetch": ("GoalFetchPush",),
    "goal_pucks": ("GoalPucks",),
    "goal_push": ("GoalPush",),
    "goal_recording": ("record_agent", "record_observations"),
    "graph_sources": ("GraphSource", "GraphsByOutcome", "MovedGraphs", "NearGraphs", "TrueGraphs"),
    "online_graphs": ("OnlineGraphs",),
    "puck_graphs": ("PuckGraphs",),
    "relabelling": ("InteractionReplayBuffer",),
    "transition_model": ("TransitionModel",),
}
_FILES = {name: file for file, names in _HOMES.items() for name in names}
_BROUGHT = ("gymnasium", "stable_baselines3", "torch")  # by the extra


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in _BROUGHT:
            raise
        raise MissingExtraError(f"actcause.rl.{name}", "rl") from missing


def __dir__() -> list[str]:
    return sorted([*globals(), *_FILES])


__all__ = [
    "ActionExplanation", "Augmentation", "ContactGraphs", "FailureExplanation", "GoalEnv", "GoalFetchPush",
    "GoalLayout", "GoalPucks", "GoalPush", "GraphSource", "GraphsByOutcome", "InteractionBonus",
    "InteractionReplayBuffer", "MovedGraphs", "NearGraphs", "OnlineGraphs", "PuckGraphs", "TransitionModel",
    "TrueGraphs", "augment", "explain_action", "explain_failure", "follow_actions", "read_policy", "record_agent",
    "record_observations",
]  # fmt: skip
