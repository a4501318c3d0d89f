"""One file for what was learned: it comes back as it was, and what is not such a file is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save, save_file

from actcause.data import Transitions, collect, load
from actcause.learn import Learner, MaskJACI, RunError
from actcause.learn import checkpoint as files
from actcause.learn import load as load_learner
from actcause.learn.loading import read_layout

pytestmark = pytest.mark.usefixtures("brief_surprises")


@pytest.fixture(scope="module")
def data() -> Transitions:
    return collect("1-in", 1500, seed=1)


@pytest.fixture(scope="module")
def learner(data: Transitions) -> Learner:
    return MaskJACI(steps=60, distil_steps=50, width=8, batch=32, device="cpu").fit(data)


@pytest.fixture
def path(learner: Learner, tmp_path: Path) -> Path:
    learner.save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def edit_header(path: Path, **changes: object) -> Path:
    """The same file with another header; None takes an entry out."""
    header = files.read(path).header | changes
    kept = {name: value for name, value in header.items() if value is not None}
    save_file(load_file(path), path, {files.KEY: json.dumps(kept)})
    return path


def test_a_learner_comes_back_as_it_was(learner: Learner, data: Transitions, path: Path) -> None:
    again = load_learner(path)
    assert again.settings() == learner.settings()
    assert again.learned_ == learner.learned_
    assert again.notes_ == learner.notes_
    assert again.history_ == learner.history_
    assert np.array_equal(again.predict_proba(data), learner.predict_proba(data))
    assert np.array_equal(again.explain_proba(data), learner.explain_proba(data))
    assert np.array_equal(again.unsure(data), learner.unsure(data))


def test_a_learner_that_came_back_is_saved_to_the_same_bytes(path: Path, tmp_path: Path) -> None:
    load_learner(path).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_loading_uses_up_no_one_s_random_numbers(path: Path) -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    load_learner(path)
    assert torch.equal(torch.rand(2), expected)


def test_the_header_says_what_was_learned_from_what(path: Path, learner: Learner) -> None:
    header = files.read(path).header
    assert (header["format"], header["version"], header["method"]) == (files.FORMAT, files.VERSION, "jaci-em")
    assert header["layout"]["factors"] == ["a1", "y"]
    assert header["settings"]["width"] == 8
    assert read_layout(header["layout"]) == learner.encoder_.layout


def test_a_learner_without_training_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="has not been fitted"):
        MaskJACI().save(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_written_nothing_is_left(learner: Learner, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="Cannot write"):
        learner.save(tmp_path / "missing" / "model.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    with pytest.raises(RunError, match="Cannot write"):
        learner.save(tmp_path / "folder.safetensors")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.safetensors"]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_refused(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(RunError, match="cut short"):
        load_learner(path)


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "foreign.safetensors"
    with pytest.raises(RunError, match="There is no run"):
        load_learner(path)
    path.write_bytes(save({"weight": torch.zeros(2)}, {"format": "pt"}))
    with pytest.raises(RunError, match="not written by actcause"):
        load_learner(path)
    path.write_bytes(b"PK\x03\x04 a pickle in a zip")
    with pytest.raises(RunError, match="no safetensors file"):
        load_learner(path)
    with pytest.raises(RunError, match=r"holds no model\.safetensors"):
        load_learner(tmp_path)


def test_another_version_is_refused(path: Path) -> None:
    with pytest.raises(RunError, match="version 99 of the format"):
        load_learner(edit_header(path, version=99))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "jaci-me"}, "not known here.*did you mean 'jaci-em'"),
        ({"settings": {"stepz": 3}}, "not known here.*did you mean 'steps'"),
        ({"format": None}, "cannot be understood"),
        ({"layout": {"factors": ["a"]}}, "cannot be understood"),
        ({"layout": 3}, "cannot be understood"),
        ({"encoder": {"mean": []}}, "cannot be understood"),
        ({"learned": None}, "cannot be understood"),
        ({"encoder": None}, "training under way"),
    ],
)
def test_a_header_that_was_edited_is_refused(path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(RunError, match=message):
        load_learner(edit_header(path, **change))


def test_what_is_no_path_is_refused_in_one_line() -> None:
    with pytest.raises(RunError, match=r"load takes the path of a saved learner or of a run's folder\. Got None"):
        load_learner(None)  # type: ignore[arg-type]


def test_weights_that_are_missing_strange_or_of_another_shape_are_refused(path: Path) -> None:
    saved = files.read(path)
    name = next(key for key in saved.tensors if key.endswith("weight"))
    for tensors, message in (
        ({key: value for key, value in saved.tensors.items() if key != name}, "lacks the weights"),
        ({key: value for key, value in saved.tensors.items() if "binary" not in key}, "of the network 'binary'"),
        ({**saved.tensors, name: torch.zeros(3)}, "of shape"),
        ({**saved.tensors, "net.stranger.weight": torch.zeros(3)}, "stranger"),
        ({**saved.tensors, "alone": torch.zeros(3)}, "alone"),
    ):
        files.write(path, saved.header, tensors)
        with pytest.raises(RunError, match=message):
            load_learner(path)


# -- fingerprints ----------------------------------------------------------------------------------


def test_a_fingerprint_is_that_of_the_rows_whatever_the_file(data: Transitions, tmp_path: Path) -> None:
    data.save(tmp_path / "data.parquet")
    wider = np.concatenate([data.state, np.zeros((*data.state.shape[:2], 2))], axis=2)
    expected = files.fingerprint(data)
    assert files.fingerprint(load(tmp_path / "data.parquet")) == expected
    assert files.fingerprint(data.replaced(state=data.state.astype(np.float64))) == expected
    assert files.fingerprint(data.replaced(state=wider)) == expected
    assert files.fingerprint(data.replaced(cause=None, metadata={}, extra={"a": np.zeros(len(data))})) == expected


def test_other_rows_have_another_fingerprint(data: Transitions) -> None:
    others = [
        data,
        data.subset(slice(1, None)),
        data.subset(np.arange(len(data))[::-1]),
        data.replaced(state=data.state + np.float32(1e-3)),
        data.replaced(outcome=data.outcome * 2),
        data.replaced(episode=None),
        data.replaced(episode=np.arange(len(data))),
        data.replaced(mask=np.ones((len(data), 2), dtype=bool)),
        collect("1-in", 1500, seed=2),
    ]
    assert len({files.fingerprint(each) for each in others}) == len(others)


def test_a_fingerprint_does_not_depend_on_the_size_of_the_blocks(data: Transitions, monkeypatch) -> None:
    expected = files.fingerprint(data)
    monkeypatch.setattr(files, "BLOCK", 7)
    assert files.fingerprint(data) == expected
