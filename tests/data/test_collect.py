"""Collecting: exact numbers of rows, whole episodes, the same bytes, nothing left behind; and descriptions."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from actcause import envs
from actcause.data import DataError, Transitions, Writer, collect, count_rows, describe, load
from actcause.envs.base import Array, Domain, Step
from waiting import wait_until


@dataclass(frozen=True)
class Counter(Domain):
    """Counts up by the action; the episode is over once the count is 7 or more. Worlds are told apart by `world`."""

    name: ClassVar[str] = "counter"
    title: ClassVar[str] = "Counter"
    horizon: ClassVar[int] = 10

    draw: int = 4
    gain: float = 1.0

    @property
    def factors(self) -> tuple[str, ...]:
        return ("count", "world", "action")

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        return {"count": ("n", "age"), "world": ("id",), "action": ("add",)}

    @property
    def outcome(self) -> str:
        return "count"

    @property
    def edges(self) -> tuple[str, ...]:
        return ("action",)

    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        states = np.zeros((worlds, 3, 2))
        states[:, 1, 0] = generator.random(worlds)
        return states

    def sample_actions(self, generator: np.random.Generator, states: Array) -> Array:
        return generator.integers(0, 3, (len(states), 1))

    def scripted_actions(self, states: Array) -> Array:
        return np.ones((len(states), 1))

    def step(self, states: Array, actions: Array) -> Step:
        following = states.copy()
        following[:, 0, 0] += self.gain * actions[:, 0]
        following[:, 0, 1] += 1
        cause = np.zeros((len(states), 3), dtype=bool)
        cause[:, 0] = True
        cause[:, 2] = actions[:, 0] > 0
        doubled = {"doubled": actions[:, 0] == 2}
        return Step(self.with_action(states, actions), following, cause, following[:, 0, 0] >= 7, doubled)


def check_episodes(data: Transitions) -> None:
    """Every episode stands together, in order, in one world, from its beginning on."""
    assert data.episode is not None
    assert set(np.diff(data.episode)) <= {0, 1}
    assert data.episode[0] == 0
    for number in range(int(data.episode.max()) + 1):
        rows = data.subset(data.episode == number)
        assert rows.state[:, 0, 1].tolist() == list(range(len(rows)))
        assert len(set(rows.state[:, 1, 0])) == 1
        assert np.array_equal(rows.outcome[:-1], rows.state[1:, 0])
        assert (rows.outcome[:-1, 0] < 7).all()
        assert len(rows) <= 10


@pytest.mark.parametrize("frames", [1, 2, 9, 10, 99, 1000])
@pytest.mark.parametrize("worlds", [None, 1, 7, 2000])
def test_the_number_of_frames_is_exact_and_episodes_are_whole(frames: int, worlds: int | None) -> None:
    data = collect(Counter(), frames, seed=1, worlds=worlds)
    assert len(data) == frames
    check_episodes(data)


def test_only_the_last_episodes_are_unfinished() -> None:
    data = collect(Counter(), 1000, seed=1, worlds=20)
    assert data.episode is not None
    unfinished = [
        number
        for number in range(int(data.episode.max()) + 1)
        if (rows := data.subset(data.episode == number)).outcome[-1, 0] < 7 and len(rows) < 10
    ]
    assert len(unfinished) <= 20
    assert unfinished == list(range(int(data.episode.max()) + 1 - len(unfinished), int(data.episode.max()) + 1))


def test_what_is_recorded_is_what_the_domain_did() -> None:
    data = collect(Counter(gain=2.0), 200, seed=3)
    assert data.edges == ("action",)
    assert data.own == data.outcome_factor == "count"
    assert np.array_equal(data.change[:, 0], 2 * data.state[:, 2, 0])
    assert data.cause is not None
    assert np.array_equal(data.cause[:, 2], data.state[:, 2, 0] > 0)
    assert np.array_equal(data.extra["doubled"], data.state[:, 2, 0] == 2)
    expected = {"domain": "counter", "draw": 4, "parameters": {"gain": 2.0}, "seed": 3, "policy": "random"}
    assert {key: data.metadata[key] for key in expected} == expected


def test_a_file_holds_what_would_be_returned(tmp_path: Path) -> None:
    collect(Counter(), 500, seed=2, out=tmp_path / "a.parquet", metadata={"note": "x"})
    assert load(tmp_path / "a.parquet") == collect(Counter(), 500, seed=2, metadata={"note": "x"})


@pytest.mark.parametrize("name", envs.names())
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path, name: str) -> None:
    digests = []
    for number, seed in enumerate((0, 0, 1)):
        path = tmp_path / f"{number}.parquet"
        collect(name, 2000, seed=seed, out=path)
        digests.append(hashlib.sha256(path.read_bytes()).hexdigest())
    assert digests[0] == digests[1] != digests[2]
    found = describe(tmp_path / "0.parquet")
    assert found.rows == 2000
    assert found.metadata["domain"] == name
    assert found.metadata["classes"] == envs.make(name).classes
    assert found.edges == envs.make(name).edges
    assert load(tmp_path / "0.parquet").notes == found.notes


def test_the_scripted_policy_and_a_policy_of_ones_own_act() -> None:
    scripted = collect(Counter(), 50, policy="scripted")
    assert (scripted.state[:, 2, 0] == 1).all()
    assert scripted.metadata["policy"] == "scripted"

    def lazy(generator: np.random.Generator, states: Array) -> Array:
        return np.zeros((len(states), 1))

    idle = collect(Counter(), 50, policy=lazy)
    assert not idle.state[:, 2, 0].any()
    assert idle.metadata["policy"] == "lazy"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"frames": 0}, "frames must be an integer of at least 1"),
        ({"frames": 1.5}, "frames must be an integer"),
        ({"frames": 5, "seed": -1}, "seed must be an integer of at least 0"),
        ({"frames": 5, "worlds": 0}, "worlds must be an integer of at least 1"),
        ({"frames": 5, "dtype": "int8"}, "float32 or float64"),
        ({"frames": 5, "policy": "clever"}, "policy of counter must be random or scripted. Got 'clever'"),
    ],
)
def test_a_mistake_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        collect(Counter(), **arguments)


def test_a_domain_without_a_script_says_which_policies_it_has() -> None:
    with pytest.raises(DataError, match=r"policy of random-vectors must be random\. Got 'scripted'"):
        collect("1-in", 10, policy="scripted")


def test_progress_reaches_the_end() -> None:
    told: list[tuple[int, int]] = []
    collect(Counter(), 95, worlds=10, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (10, 95)
    assert told[-1] == (95, 95)
    assert told == sorted(told)


def test_not_more_than_the_running_episodes_and_a_row_group_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []

    class Watched(Writer):
        def append(self, batch: Transitions) -> None:
            held.append(self.held + len(batch))
            super().append(batch)

    monkeypatch.setattr(sys.modules["actcause.data.collect"], "Writer", Watched)
    monkeypatch.setattr(Writer.__init__, "__kwdefaults__", Writer.__init__.__kwdefaults__ | {"rows_per_group": 128})
    collect(Counter(), 20_000, worlds=30, out=tmp_path / "a.parquet")
    assert count_rows(tmp_path / "a.parquet") == 20_000
    assert max(held) < 128 + 30 * 10


def test_an_exception_in_the_middle_leaves_no_file(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done > 500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(Counter(), 1000, out=tmp_path / "a.parquet", worlds=10, progress=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_killed_process_leaves_no_file_under_the_name(tmp_path: Path, sent: signal.Signals) -> None:
    out = tmp_path / "a.parquet"
    program = f"from actcause.data import collect; collect('1-in', 10**9, out={str(out)!r})"
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: process.poll() is not None or any(p.stat().st_size > 10_000 for p in tmp_path.iterdir()))
        assert process.poll() is None
        process.send_signal(sent)
        assert process.wait(60) != 0
    assert not out.exists()
    assert all(path.name.startswith(".a.parquet.") for path in tmp_path.iterdir())


# -- descriptions ----------------------------------------------------------------------------------


def test_a_description_is_that_of_the_rows(tmp_path: Path) -> None:
    data = collect(Counter(), 3000, seed=0)
    data.save(tmp_path / "a.parquet")
    found = describe(tmp_path / "a.parquet")
    assert found.size == (tmp_path / "a.parquet").stat().st_size
    assert (found.rows, found.episodes) == (3000, len(np.unique(data.episode)))  # type: ignore[arg-type]
    assert found.mean_length == pytest.approx(3000 / len(np.unique(data.episode)))  # type: ignore[arg-type]
    assert {name: factor.rate for name, factor in found.factors.items()} == pytest.approx(data.rates())
    feature = found.factors["count"].features["n"]
    assert (feature.low, feature.high) == (data.state[:, 0, 0].min(), data.state[:, 0, 0].max())
    assert feature.std == pytest.approx(float(data.state[:, 0, 0].std()), rel=1e-4)
    assert feature.values == 7
    assert found.factors["world"].features["id"].values is None
    assert found.factors["world"].clipped < 0.02
    json.dumps(found.to_json(), allow_nan=False)
    from_value = describe(data).to_json()
    assert from_value | {"source": None, "size": None} == found.to_json() | {"source": None, "size": None}


def test_clipped_values_constants_and_stillness_are_counted() -> None:
    values = np.clip(np.random.default_rng(0).normal(size=4000), -1, 1)
    state = np.stack([values, np.full(4000, 3.0)], axis=1)[:, :, None]
    outcome = values[:, None] + (np.arange(4000)[:, None] % 4 == 0)
    found = describe(Transitions(factors=["a", "b"], state=state, outcome=outcome, own="a"))
    assert found.factors["a"].clipped == pytest.approx(float((np.abs(values) == 1).mean()))
    assert found.factors["b"].features["x0"].constant
    assert found.factors["b"].clipped == 0
    assert found.still == 0.75
    assert (found.episodes, found.mean_length, found.factors["a"].rate) == (None, None, None)
    assert found.notes == ("'b' never changes, so nothing can be learned about it from these rows.",)


def test_a_description_has_the_notes_of_the_whole(tmp_path: Path) -> None:
    data = collect(Counter(), 300, seed=0, worlds=3)
    scattered = data.subset(np.argsort(data.state[:, 0, 1], kind="stable"))
    assert describe(data).notes == data.notes == ()
    assert describe(scattered).notes == scattered.notes == (
        "The rows of an episode do not all stand next to one another.",
    )  # fmt: skip


def test_absent_objects_do_not_count() -> None:
    mask = np.ones((100, 2), dtype=bool)
    mask[50:, 1] = False
    state = np.random.default_rng(0).normal(size=(100, 2, 1)) + 5
    found = describe(Transitions(factors=["a", "b"], state=state, outcome=state[:, 0], own="a", mask=mask))
    assert found.factors["b"].present == 0.5
    assert found.factors["b"].features["x0"].mean == pytest.approx(float(state[:50, 1].mean()))
    assert found.factors["b"].features["x0"].low > 1


def test_someone_elses_file_is_described_with_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("u,v\n1,2\n2,4\n")
    found = describe(tmp_path / "a.csv", {"factors": {"a": ["u"]}, "outcome": {"y": ["v"]}})
    assert (found.rows, found.outcome_factor, found.still) == (2, "y", None)
