import sys

import imageio_ffmpeg as ffmpeg
import numpy as np
import pytest
from PIL import Image

from actcause.data import DataError, collect
from actcause.data.film import replay
from actcause.envs import make
from actcause.envs.canvas import PREDICTED, TRUE, rgb
from actcause.errors import MissingExtraError

PARAMETERS = {"push": {}, "break": {}, "block-1d": {"obstacles": 2}, "mover-1d": {}}


def record_domain(name, frames=400):
    domain = make(name, **PARAMETERS[name])
    return domain, collect(domain, frames, seed=3, worlds=20)


@pytest.fixture(scope="module")
def push():
    return record_domain("push")


def gif_frames(path):
    with Image.open(path) as film:
        frames = []
        for number in range(film.n_frames):
            film.seek(number)
            frames.append((np.array(film.convert("RGB")), film.info["duration"]))
        return frames


def overlay(picture, colour):
    """How many pixels below the legend have this colour."""
    return int((picture[44:] == rgb(colour)).all(axis=2).sum())


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_gif_has_a_frame_for_each_step(name, tmp_path):
    domain, data = record_domain(name)
    written = replay(data, domain, tmp_path / "episode.gif", fps=10)
    frames = gif_frames(tmp_path / "episode.gif")
    assert len(frames) == written.steps == (data.episode == written.episode).sum()
    assert {duration for _, duration in frames} == {100}
    assert all(overlay(picture, TRUE) for picture, _ in frames)
    assert [path.name for path in tmp_path.iterdir()] == ["episode.gif"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_mp4_has_a_frame_for_each_step(name, tmp_path):
    domain, data = record_domain(name)
    written = replay(data, domain, tmp_path / "episode.MP4")
    frames, seconds = ffmpeg.count_frames_and_secs(str(tmp_path / "episode.MP4"))
    assert frames == written.steps
    assert seconds == pytest.approx(written.steps / 12, abs=0.02)
    assert [path.name for path in tmp_path.iterdir()] == ["episode.MP4"]


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_the_same_recording_gives_the_same_bytes(push, ending, tmp_path):
    domain, data = push
    for name in ("one", "other"):
        replay(data, domain, tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"other.{ending}").read_bytes()


def test_the_first_episode_with_a_cause_other_than_the_outcome_is_the_default(push, tmp_path):
    domain, data = push
    cause = np.zeros_like(data.cause)
    cause[:, domain.index("block")] = True
    third = np.unique(data.episode)[2]
    cause[np.flatnonzero(data.episode == third)[4], domain.index("pusher")] = True
    assert replay(data.replaced(cause=cause), domain, tmp_path / "a.gif").episode == third
    assert replay(data.replaced(cause=None), domain, tmp_path / "a.gif", predicted=cause).episode == third
    assert replay(data.replaced(cause=None), domain, tmp_path / "a.gif").episode == data.episode[0]
    assert replay(data, domain, tmp_path / "a.gif", episode=5).episode == 5


def test_predictions_get_arrows_of_their_own_in_their_own_steps(push, tmp_path):
    domain, data = push
    predicted = np.zeros_like(data.cause)
    rows = np.flatnonzero(data.episode == 2)
    predicted[rows[1], domain.index("pusher")] = True
    replay(data, domain, tmp_path / "a.gif", episode=2, predicted=predicted)
    seen = [overlay(picture, PREDICTED) > 20 for picture, _ in gif_frames(tmp_path / "a.gif")]
    assert seen == [step == 1 for step in range(len(rows))]


@pytest.mark.parametrize(
    ("out", "options", "says"),
    [
        ("a.avi", {}, "written as .gif or .mp4. Got 'a.avi'"),
        ("gif", {}, "written as .gif or .mp4"),
        ("none/a.gif", {}, "does not exist; make it first"),
        ("a.gif", {"episode": 10**6}, "no episode 1000000; this recording's episodes are 0 to"),
        ("a.gif", {"fps": 0}, "more than 0 and at most 50"),
        ("a.gif", {"predicted": [[1]]}, "0 or 1 for each row and factor"),
        ("folder.gif", {}, "Cannot write .*: Is a directory"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_one_sentence_and_leaves_no_file(push, out, options, says, tmp_path):
    (tmp_path / "folder.gif").mkdir()
    domain, data = push
    with pytest.raises(DataError, match=says) as refusal:
        replay(data, domain, tmp_path / out, **options)
    assert "\n" not in str(refusal.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.gif"]


def test_a_recording_of_another_domain_is_refused(push, tmp_path):
    with pytest.raises(DataError, match="must be those of push"):
        replay(push[1], make("push", obstacles=1), tmp_path / "a.gif")


def test_a_recording_without_episodes_is_refused(push, tmp_path):
    domain, data = push
    with pytest.raises(DataError, match="which rows are an episode"):
        replay(data.replaced(episode=None), domain, tmp_path / "a.gif")


def test_a_failure_half_way_leaves_the_older_file_as_it_was(push, tmp_path, monkeypatch):
    domain, data = push
    (tmp_path / "a.gif").write_bytes(b"older")

    def fail(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("actcause.data.film.draw", fail)
    with pytest.raises(KeyboardInterrupt):
        replay(data, domain, tmp_path / "a.gif")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"older"]


def test_a_missing_extra_is_named_with_its_install_line(push, tmp_path, monkeypatch):
    domain, data = push
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'actcause\[pictures\]'"):
        replay(data, domain, tmp_path / "a.mp4")
