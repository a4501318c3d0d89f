"""What holds for every world."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actcause import envs, worlds
from actcause.cli import main
from actcause.data import DataError, Transitions, collect, describe_domain, film_recording, load
from actcause.envs.drawing import draw_scene
from actcause.errors import MissingExtraError, QueryError
from actcause.learn.training_source import TrainingSource
from actcause.worlds import World
from actcause.worlds.base import EVIDENCE
from actcause.worlds.drawing import build_scene

ROWS = 120


@pytest.fixture(params=worlds.names(), scope="module")
def world_and_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    world = worlds.make(request.param)
    if world.version is None:
        pytest.skip(f"{world.simulator} is not installed")
    path = tmp_path_factory.mktemp("worlds") / f"{world.name}.parquet"
    collect(world.name, ROWS, seed=1, out=path)
    return world, path


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(world_and_file: tuple[World, Path]) -> None:
    world, path = world_and_file
    again, other = path.with_suffix(".again"), path.with_suffix(".other")
    collect(world.name, ROWS, seed=1, out=again)
    collect(world.name, ROWS, seed=2, out=other)
    assert path.read_bytes() == again.read_bytes() != other.read_bytes()


def test_a_recording_says_what_the_world_says(world_and_file: tuple[World, Path]) -> None:
    world, path = world_and_file
    data = load(path)
    assert (data.factors, data.own, data.edges) == (world.factors, world.outcome, world.edges)
    assert (dict(data.features), data.outcome_features) == (dict(world.features), world.outcome_features)
    assert data.metadata["domain"] == world.name
    assert data.metadata["classes"] == world.classes
    assert data.metadata["simulator"] == f"{world.simulator} {world.version}"
    assert tuple(data.metadata.get("categorical", ())) == world.categorical
    assert (data.mask is not None) == world.absent


def test_a_recording_knows_the_cause_of_every_row(world_and_file: tuple[World, Path]) -> None:
    world, path = world_and_file
    data = load(path)
    assert len(data) == ROWS
    assert data.cause is not None
    assert data.cause[:, world.index(world.outcome)].all()
    assert data.episode is not None
    assert np.bincount(data.episode).max() <= world.horizon
    if data.mask is not None:
        assert not (data.cause & ~data.mask).any()


def test_factors_of_one_class_have_the_same_features(world_and_file: tuple[World, Path]) -> None:
    world, _ = world_and_file
    for factor, name in world.classes.items():
        alike = [other for other in world.factors if world.classes[other] == name]
        assert {world.features[other] for other in alike} == {world.features[factor]}


def test_what_speaks_about_the_truth_is_a_flag_of_a_factor(world_and_file: tuple[World, Path]) -> None:
    world, path = world_and_file
    for name, values in load(path).extra.items():
        kind, _, factor = name.partition(".")
        if kind in EVIDENCE:
            assert factor in world.edges
            assert values.dtype == bool


def test_a_recording_becomes_a_film_without_the_simulator(
    world_and_file: tuple[World, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = world_and_file
    monkeypatch.setattr(World, "load", lambda self, module: pytest.fail("the simulator was imported"))
    film = film_recording(path, path.with_suffix(".gif"))
    assert film.path.read_bytes()[:3] == b"GIF"


@pytest.mark.parametrize("far", [-1e12, 0.5, 1e12])
@pytest.mark.parametrize("name", worlds.names())
def test_what_no_simulator_would_give_is_drawn_without_trouble(name: str, far: float) -> None:
    world = worlds.make(name)
    scene = build_scene(world, np.full((len(world.factors), world.width), far))
    shown = {body.name for body in scene.bodies} | ({scene.action[0]} if scene.action else set())
    assert shown == set(world.factors)
    assert draw_scene(world, scene, cause=world.factors, predicted=world.factors).any()


def test_an_absent_factor_is_not_drawn() -> None:
    world = worlds.make("highway")
    scene = build_scene(world, np.zeros((7, 4)), np.arange(7) != 3)
    assert {body.name for body in scene.bodies} == set(world.factors) - {"car3"}


def test_a_check_changes_nothing_but_adds_what_it_found(world_and_file: tuple[World, Path]) -> None:
    world, path = world_and_file
    kind: Any = type(world)
    if "check" not in kind.__dataclass_fields__:
        pytest.skip(f"{world.name} cannot be stepped twice from one state")
    plain = load(path).subset(slice(0, 40))
    checked = collect(worlds.make(world.name, check=True), 40, seed=1)
    for name in ("state", "outcome", "cause", "episode"):
        assert np.array_equal(getattr(plain, name), getattr(checked, name))
    assert {name for name in checked.extra if name.startswith(("differs.", "fac."))}


@pytest.mark.parametrize("name", worlds.names())
def test_a_world_has_a_licence_and_a_revision(name: str) -> None:
    world = worlds.make(name)
    assert world.licence
    assert world.revision == len(world.revisions) > 0
    needs = describe_domain(name)["needs"]
    assert needs["extra"] in ("worlds", "atari")


@pytest.mark.parametrize("name", worlds.names())
def test_a_missing_simulator_is_one_line_with_the_remedy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = worlds.make(name)
    for module in ("minigrid", "gymnasium", "highway_env", "mujoco", "gymnasium_robotics", "ale_py"):
        for loaded in [known for known in sys.modules if known.split(".")[0] == module]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError):
        collect(name, 10)
    assert main(["collect", name, "--frames", "10", "--out", str(tmp_path / "a.parquet")]) == 2
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert f"pip install 'actcause[{world.extra}]'" in said
    assert not list(tmp_path.iterdir())


def test_an_unknown_world_or_parameter_is_refused_with_the_nearest() -> None:
    with pytest.raises(QueryError, match="did you mean 'door-key'"):
        worlds.make("doorkey")
    with pytest.raises(QueryError, match="does not take the parameter 'sice'; did you mean 'size'"):
        worlds.make("door-key", sice=6)


def test_a_world_acts_by_its_own_policy_one_at_a_time() -> None:
    with pytest.raises(DataError, match="policy of door-key must be random"):
        collect("door-key", 10, policy="scripted")
    with pytest.raises(DataError, match="one runs at a time"):
        collect("door-key", 10, worlds=3)


@pytest.mark.parametrize(("version", "says"), [("1.0", "installed"), (None, "pip install 'actcause[worlds]'")])
def test_worlds_are_listed_with_what_they_need_installed_or_not(
    version: str | None, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(World, "version", version)
    monkeypatch.setattr(envs, "names", lambda: ())  # whose rates take time
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["domains"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in worlds.names())
    assert f"minigrid (Apache-2.0), extra worlds: {says}" in listed


def test_a_world_can_be_trained_on_by_its_name() -> None:
    pytest.importorskip("minigrid")
    assert TrainingSource("door-key", frames=40).read(seed=1) == collect("door-key", 40, seed=1)


def test_progress_is_told_up_to_the_last_row() -> None:
    pytest.importorskip("minigrid")
    told: list[tuple[int, int]] = []
    data = collect("door-key", 50, progress=lambda done, total: told.append((done, total)))
    assert isinstance(data, Transitions)
    assert told[-1] == (50, 50)
    assert told == sorted(told)


def test_door_key_tells_the_causes_of_every_factor():
    from actcause.data import collect, collect_recording

    recording = collect_recording("door-key", 1500, seed=1)
    alone = collect("door-key", 1500, seed=1)
    assert recording.outcomes == ("agent", "key", "goal", "door")
    assert np.array_equal(recording.state, alone.state)
    assert np.array_equal(recording.cause[:, recording.outcome_index("door")], alone.cause)
    action, agent, key, door = (recording.index(name) for name in ("action", "agent", "key", "door"))
    for place, outcome in enumerate(recording.outcomes):
        at = recording.index(outcome)
        by_itself = recording.cause[:, place].sum(axis=1) == 1
        same = (recording.state[:, at] == recording.next_state[:, at]).all(axis=1)
        assert same[by_itself].all(), outcome
    graph = recording.cause
    assert graph[:, recording.outcome_index("agent"), action].all()
    carried = recording.state[:, key, 2] == 1
    keys = graph[:, recording.outcome_index("key")]
    assert keys[carried][:, [action, agent]].all()
    picked = ~carried & (recording.next_state[:, key, 2] == 1)
    assert picked.any()
    assert np.array_equal(keys[~carried, agent], picked[~carried])
    assert keys[carried, door].any()  # in the hand of an agent that the door stops or lets in


@pytest.mark.parametrize(("world", "why"), [("highway", "plans"), ("fetch-push", "joints"), ("ale-breakout", "memory")])
def test_a_world_without_whole_states_says_why(world, why):
    from actcause.data import collect_recording
    from actcause.errors import QueryError

    with pytest.raises(QueryError, match=why):
        collect_recording(world, 10)
