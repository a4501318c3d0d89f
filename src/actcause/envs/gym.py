"""Gymnasium environments on top of the domains: bookkeeping, nothing else.

    >>> import gymnasium
    >>> import numpy as np
    >>> import actcause.envs.gym  # registers the ids
    >>> env = gymnasium.make("actcause/Push-v0")
    >>> observation, info = env.reset(seed=0)
    >>> sorted(observation)
    ['block', 'obstacle1', 'obstacle2', 'obstacle3', 'pusher', 'target']
    >>> observation, reward, terminated, truncated, info = env.step(np.zeros(2))
    >>> info["cause"].tolist()
    [0, 0, 1, 0, 0, 0, 0]

`info["cause"]` is the binary vector over `info["factors"]`: which of them actually caused the outcome
factor's value in this step. There is no task, so the reward is always 0.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from . import make
from .base import Array, Domain
from .canvas import Window
from .drawing import draw

# Gymnasium wants names of letters: `3-m-in` is registered as `ThreeMIn`.
IDS = {
    "1-in": "OneIn",
    "2-in": "TwoIn",
    "3-in": "ThreeIn",
    "3-chain": "ThreeChain",
    "3-m-in": "ThreeMIn",
    "d-20": "D20",
    "tau-1": "Tau1",
    "push": "Push",
    "break": "Break",
    "mover-1d": "Mover1D",
    "block-1d": "Block1D",
    "reactor": "Reactor",
}
BEGINNINGS = 64


class DomainEnv(gymnasium.Env[dict[str, Array], Any]):
    """One world of a domain.

    Observations are a dictionary of the factors' features, but for the action; the action space is the
    domain's. Parameters of the domain are keyword arguments of `gymnasium.make`.
    """

    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 15}  # noqa: RUF012 - Gymnasium's own interface

    def __init__(self, domain: str, render_mode: str | None = None, **parameters: Any) -> None:
        self.domain: Domain = make(domain, **parameters)
        self.render_mode = render_mode
        low, high = self.domain.bounds
        low, high = np.where(low == high, low - 1, low), np.where(low == high, high + 1, high)  # a Box has a width
        observed = [factor for factor in self.domain.factors if factor != self.domain.action]
        self._observed = [(factor, self.domain.index(factor), len(self.domain.features[factor])) for factor in observed]
        low, high = low.astype(np.float32), high.astype(np.float32)
        boxes: dict[str, gymnasium.Space[Any]] = {
            factor: gymnasium.spaces.Box(low[index, :width], high[index, :width], dtype=np.float32)
            for factor, index, width in self._observed
        }
        self.observation_space: gymnasium.spaces.Dict[Any] = gymnasium.spaces.Dict(boxes)  # type: ignore[assignment]
        self._choices = self.domain.choices
        if self._choices is not None:
            self.action_space = gymnasium.spaces.Discrete(len(self._choices))
        else:
            self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (self.domain.action_size,), dtype=np.float32)
        self._factors = self.domain.factors
        self._states: Array | None = None
        self._beginnings: list[Array] = []
        self._shown: tuple[Array, Array | None] | None = None  # the world as last seen, and its causes
        self._window: Window | None = None
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or not self._beginnings:
            # Many beginnings at once cost hardly more than one.
            self._beginnings = list(self.domain.reset(self.np_random, BEGINNINGS))
        self._states = self._beginnings.pop()[None]
        self._shown = (self._states[0], None)
        self._steps = 0
        if self.render_mode == "human":
            self.render()
        return self._observe(), {"factors": self._factors}

    def step(self, action: Any) -> tuple[dict[str, Array], float, bool, bool, dict[str, Any]]:
        if self._states is None:
            raise gymnasium.error.ResetNeeded("Call reset before the first step.")
        chosen = self._choices[int(action)] if self._choices is not None else action
        acted = np.asarray(chosen, dtype=float).reshape(1, -1)
        step = self.domain.step(self._states, self.domain.with_noise(self.np_random, acted))
        self._states = step.states
        self._shown = (step.seen[0], step.cause[0])
        self._steps += 1
        if self.render_mode == "human":
            self.render()
        info = {
            "factors": self._factors,
            "cause": step.cause[0].astype(np.int8),
            **{name: values[0] for name, values in step.extra.items()},
        }
        return self._observe(), 0.0, bool(step.terminated[0]), self._steps >= self.domain.horizon, info

    def render(self) -> Any:
        """Draw the last step, with an arrow from each true cause to the outcome."""
        if self.render_mode is None:
            return None
        if self._shown is None:
            raise gymnasium.error.ResetNeeded("Call reset before render.")
        world, cause = self._shown
        picture = draw(self.domain, world, cause=cause)
        if self.render_mode == "rgb_array":
            return picture
        if self._window is None:
            self._window = Window(self.domain.title, self.metadata["render_fps"])
        self._window.show(picture)
        return None

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None

    def _observe(self) -> dict[str, Array]:
        assert self._states is not None
        world = self._states[0].astype(np.float32)
        return {factor: world[index, :width] for factor, index, width in self._observed}


def register() -> None:
    """Register every domain with Gymnasium; importing this module does it."""
    for name, title in IDS.items():
        identity = f"actcause/{title}-v0"
        if identity not in gymnasium.registry:
            gymnasium.register(identity, entry_point="actcause.envs.gym:DomainEnv", kwargs={"domain": name})


register()
