"""Registers the goal-conditioned environments with Gymnasium.

>>> import gymnasium
>>> import actcause.rl.gym  # registers the ids
>>> env = gymnasium.make("actcause/GoalPush-v0", arena=8)
>>> observation, info = env.reset(seed=0)
>>> sorted(observation)
['achieved_goal', 'desired_goal', 'observation']
"""

from __future__ import annotations

import gymnasium

IDS = {
    "actcause/GoalPush-v0": "actcause.rl.goal_push:GoalPush",
    "actcause/GoalPucks-v0": "actcause.rl.goal_pucks:GoalPucks",
    "actcause/GoalFetchPush-v0": "actcause.rl.goal_fetch:GoalFetchPush",
}


def register() -> None:
    """Register every environment; importing this module does it."""
    for identity, entry in IDS.items():
        if identity not in gymnasium.registry:
            gymnasium.register(identity, entry_point=entry)


register()
