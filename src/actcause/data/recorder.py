"""Recording any Gymnasium environment: a wrapper that keeps the factors of every step.

    env = Recorder(gymnasium.make("MyWorld-v0"), outcome="block", factors={"hand": "observation[0:2]", ...})
    ...                                       # use it as the environment that it wraps
    data = env.transitions(history=1)         # what an actcause learner takes; env.save(path) writes it

Needs the extra `envs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces

from ..errors import DataError, quote
from .categories import MOST
from .layout import check_factor
from .observations import FLAT, Factors, list_entries, split_observation
from .transitions import Transitions

Named = Mapping[str, Mapping[str, Any]]  # the values of the features of each factor that is there
Truth = Callable[[Any, Any, Any, Mapping[str, Any]], Iterable[str] | Mapping[str, bool]]
FactorFunction = Callable[[Any], Mapping[str, Any]]


class Recorder(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Keeps the factors before every step and the outcome after it, while the environment is used as ever.

    `factors` says what the factors of an observation are. By default every entry of a Dict is one; of a flat Box give
    slices, `{"hand": "observation[0:2]", "block": slice(2, 4)}`; or give a function from the observation to
    `{"ball": {"x": 0.2, "colour": "red"}, "wall": [0.1, 0.9]}`. An object that the function leaves out, gives as None
    or as NaN is absent. `features` names the features of factors that come as arrays. The action is a factor of the
    name `action` (None leaves it out). Discrete spaces and texts are categories; `categorical` lists more features or
    factors.

    `outcome` is the factor that is explained, or some `outcome_features` of it; steps from or to a state without it are
    not recorded. `truth(before, action, after, info)`, with the observations as the environment gives them, returns the
    factors that caused the outcome of the step: their names, or `{factor: bool}`. `classes`, `edges`, `places`,
    `periods` and `metadata` are those of a [mapping](../data.md#your-own-csv).

    >>> class Drift(gymnasium.Env):
    ...     observation_space = spaces.Dict({"block": spaces.Box(-9, 9, (1,)), "wind": spaces.Box(-1, 1, (1,))})
    ...     action_space = spaces.Discrete(2)
    ...     def reset(self, *, seed=None, options=None):
    ...         super().reset(seed=seed)
    ...         self.x = 0.0
    ...         return self.look(), {}
    ...     def look(self):
    ...         return {"block": np.array([self.x]), "wind": self.np_random.uniform(-1, 1, 1)}
    ...     def step(self, action):
    ...         self.x += action
    ...         return self.look(), 0.0, False, False, {}
    >>> record(Drift(), "block", 50, truth=lambda before, action, after, info: ["action"] if action else [])
    <Transitions: 50 rows in 1 episodes of block, wind, action; outcome block, true causes known>
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        outcome: str,
        *,
        factors: Factors | FactorFunction = None,
        features: Mapping[str, Sequence[str]] | None = None,
        action: str | None = "action",
        outcome_features: Sequence[str] | None = None,
        truth: Truth | None = None,
        categorical: Sequence[str] = (),
        classes: Mapping[str, str] | None = None,
        edges: Sequence[str] | None = None,
        places: Sequence[str] | None = None,
        periods: Mapping[str, float] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            several = " A vector environment holds several: record one." if hasattr(env, "num_envs") else ""
            raise DataError(
                "What is recorded must be a Gymnasium environment, such as gymnasium.make('CartPole-v1'). "
                f"Got {quote(env)} instead.{several}"
            )
        super().__init__(env)
        self._outcome, self._factors, self._action, self._truth = outcome, factors, action, truth
        self._names = {factor: list(names) for factor, names in (features or {}).items()}
        self._named = tuple(self._names)
        self._seen = set() if action is None else {action}
        self._categorical = list(categorical)
        name = getattr(env.spec, "id", None) or type(env.unwrapped).__name__
        self._mapping = {
            "outcome_features": outcome_features,
            "classes": classes,
            "edges": edges,
            "places": places,
            "periods": periods,
            "metadata": {"environment": name, **(metadata or {})},
        }
        self._columns: dict[str, list[Any]] = {}
        self._rows = 0
        self._episode = -1
        self._before: tuple[Any, Named] | None = None

    @property
    def rows(self) -> int:
        """The number of transitions so far."""
        return self._rows

    # -- as an environment -------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._episode += 1
        self._before = observation, self._name(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take a step and keep it."""
        if self._before is None:
            raise DataError("Nothing can be recorded before the environment is reset: call reset() first.")
        observation, reward, terminated, truncated, info = self.env.step(action)
        seen, before = self._before
        after = self._name(observation)
        if self._outcome in before and self._outcome in after:
            self._keep(before, seen, action, observation, after[self._outcome], info)
        else:
            self._episode += 1  # what comes after a gap does not follow what was before it
        self._before = observation, after
        return observation, reward, terminated, truncated, info

    # -- what was recorded -------------------------------------------------------------------------

    def transitions(self, *, history: int = 0, differences: bool | Sequence[str] = False) -> Transitions:
        """Return what was recorded so far; `history` and `differences` as in `Transitions.with_history`."""
        if not self._rows:
            if self._before is not None and self._before[1]:
                check_factor(self._outcome, list(self._before[1]), "outcome")
            raise DataError("Nothing was recorded: reset the environment and take steps.")
        columns = {name: _as_array(values) for name, values in self._columns.items()}
        features: dict[str, dict[str, str]] = {}
        for column in columns:
            factor, _, feature = column.partition(".")
            if factor not in ("next", "cause", "episode"):
                features.setdefault(factor, {})[feature] = column
        if not callable(self._factors):  # a function may leave an object out all the time
            for factor in self._named:
                check_factor(factor, sorted(self._seen), "features")
        known = {
            f"{factor}.{feature}": column for factor, named in features.items() for feature, column in named.items()
        }
        texts = [name for name, column in known.items() if columns[column].dtype == object]
        discrete = [name for name in self._list_discrete() if name in known and name not in texts]
        mapping = {
            **{key: value for key, value in self._mapping.items() if value is not None},
            "factors": features,
            "outcome": {self._outcome: {name: f"next.{self._outcome}.{name}" for name in features[self._outcome]}},
            "cause": {factor: f"cause.{factor}" for factor in features} if self._truth is not None else False,
            "episode": "episode",
            "categorical": [*self._categorical, *texts, *discrete],
        }
        return Transitions.from_frame(columns, {**mapping, "history": history, "differences": differences})

    def save(self, path: str | PathLike[str], **past: Any) -> None:
        """Write what was recorded so far to one Parquet file; options as of `transitions`."""
        self.transitions(**past).save(path)

    # -- steps -------------------------------------------------------------------------------------

    def _name(self, observation: Any) -> Named:
        """Return the factors of an observation that are there, with the values of their features by name."""
        if callable(self._factors):
            given = self._factors(observation)
            if not isinstance(given, Mapping):
                raise DataError(f"The function of the factors must return a table of them. Got {quote(given)} instead.")
        else:
            entries = observation if isinstance(observation, Mapping) else {FLAT: observation}
            wanted = list_entries(entries, self._factors)
            rows = {str(name): _as_row(entries[name], str(name)) for name in wanted}
            given = split_observation(rows, self._factors)
        self._seen.update(map(str, given))
        named = {str(factor): self._name_features(str(factor), values) for factor, values in given.items()}
        return {factor: values for factor, values in named.items() if values}

    def _name_features(self, factor: str, values: Any) -> dict[str, Any]:
        if values is None:
            return {}
        if not isinstance(values, Mapping):
            row = _as_row(values, factor)
            names = self._names.setdefault(factor, [f"x{position}" for position in range(len(row))])
            if len(names) != len(row):
                raise DataError(f"'{factor}' has the features {', '.join(names)}. Got {len(row)} values instead.")
            values = dict(zip(names, row.tolist(), strict=True))
        numbers = [value for value in values.values() if not isinstance(value, str)]
        gone = len(numbers) == len(values) and all(value is None or value != value for value in numbers)
        return {} if gone else {str(name): _as_scalar(value, f"{factor}.{name}") for name, value in values.items()}

    def _keep(
        self, before: Named, seen: Any, action: Any, observation: Any, after: Mapping[str, Any], info: Mapping[str, Any]
    ) -> None:
        state = dict(before)
        if self._action is not None:
            if self._action in state:
                raise DataError(f"The observation has a factor '{self._action}' already: give the action another name.")
            state[self._action] = self._name_features(self._action, action)
        row = {f"{factor}.{name}": value for factor, named in state.items() for name, value in named.items()}
        row |= {f"next.{self._outcome}.{name}": value for name, value in after.items()}
        if self._truth is not None:
            causes = self._read_truth(self._truth(seen, action, observation, info), list(state))
            row |= {f"cause.{factor}": factor in causes or factor == self._outcome for factor in state}
        row["episode"] = self._episode
        for name in row:
            if name not in self._columns:
                self._columns[name] = [False if name.startswith("cause.") else None] * self._rows
        for name, values in self._columns.items():
            values.append(row.get(name, False if name.startswith("cause.") else None))
        self._rows += 1

    def _read_truth(self, given: Any, factors: Sequence[str]) -> set[str]:
        if isinstance(given, Mapping):
            given = [name for name, holds in given.items() if holds]
        named = [] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
        if (
            isinstance(given, str)
            or not isinstance(given, Iterable)
            or any(not isinstance(name, str) for name in named)
        ):
            raise DataError(
                "The truth must be the names of the factors that were causes, such as ['hand'], or [] for none. "
                f"Got {quote(given)} instead."
            )
        return {check_factor(name, factors, "truth") for name in named}

    def _list_discrete(self) -> list[str]:
        """List the features that discrete spaces give: their values are kinds."""
        observed = self.env.observation_space
        entries = dict(observed.items()) if isinstance(observed, spaces.Dict) else {FLAT: observed}
        given = dict(entries)
        if isinstance(self._factors, Mapping):  # a factor that is an entry has its space
            whole = {str(name): written for name, written in self._factors.items() if isinstance(written, str)}
            given = {name: entries[written] for name, written in whole.items() if written in entries}
        elif callable(self._factors):
            given = {}
        if self._action is not None:
            given[self._action] = self.env.action_space
        return [
            f"{factor}.{name}"
            for factor, space in given.items()
            if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)) and int(np.max(_count(space))) <= MOST
            for name in self._names.get(factor, ())
        ]


def record(
    env: gymnasium.Env[Any, Any],
    outcome: str,
    frames: int,
    *,
    policy: Callable[[Any], Any] | None = None,
    seed: int = 0,
    history: int = 0,
    differences: bool | Sequence[str] = False,
    out: str | PathLike[str] | None = None,
    **options: Any,
) -> Transitions:
    """Record `frames` steps of an environment, episode after episode; with `out` to a file too.

    `policy` gives an action for each observation, by default one drawn from the action space. The seed fixes these
    draws and the first reset. `options` are those of `Recorder`.
    """
    if not isinstance(frames, int) or isinstance(frames, bool) or frames < 1:
        raise DataError(f"The number of frames must be a positive integer. Got {quote(frames)} instead.")
    recorder = Recorder(env, outcome, **options)
    recorder.action_space.seed(seed)
    observation, _ = recorder.reset(seed=seed)
    for _ in range(frames):
        action = recorder.action_space.sample() if policy is None else policy(observation)
        observation, _, terminated, truncated, _ = recorder.step(action)
        if terminated or truncated:
            observation, _ = recorder.reset()
    data = recorder.transitions(history=history, differences=differences)
    if out is not None:
        data.save(out)
    return data


def _as_row(values: Any, name: str) -> Any:
    """Return the values of an entry in one row of numbers."""
    if isinstance(values, str):
        return np.array([values], dtype=object)
    array = np.asarray(values) if not isinstance(values, (Mapping, tuple)) else np.empty(0, dtype=object)
    if array.dtype.kind not in "fiub" and not (array.dtype == object and array.size and isinstance(array.flat[0], str)):
        raise DataError(f"Entry '{name}' must be an array of numbers; of nested entries a function makes factors.")
    return array.reshape(-1)


def _as_scalar(value: Any, name: str) -> Any:
    """Return a number, a text, or None where there is no value."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise DataError(f"A feature must be one number or text. Got {quote(value)} for '{name}' instead.")
    return array.item()


def _as_array(values: Sequence[Any]) -> Any:
    """Return a column: numbers with NaN where there are none, or objects where there is text."""
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if all(isinstance(value, bool) for value in values):
        return np.array(values)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else float(value) for value in values])


def _count(space: spaces.Discrete | spaces.MultiDiscrete) -> Any:
    return space.n if isinstance(space, spaces.Discrete) else space.nvec
