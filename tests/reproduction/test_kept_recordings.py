from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.errors import DataError
from actcause.reproduction.kept_recordings import VARIABLE, load_arrays, recall, save_arrays


def absent() -> Transitions:
    """A recording without true causes in which a factor is absent now and then."""
    generator = np.random.default_rng(0)
    state = generator.normal(size=(7, 2, 3))
    mask = generator.random((7, 2)) < 0.7
    mask[:, 0] = True
    return Transitions(factors=["ball", "hand"], state=state, outcome=state[:, 0, :1], own="ball", mask=mask)


@pytest.mark.parametrize("data", [collect("push", 50, seed=1), absent()], ids=["push", "absent"])
def test_what_is_kept_is_what_was_recorded(data: Transitions, tmp_path: Path) -> None:
    save_arrays(data, tmp_path / "kept.npz")
    kept = load_arrays(tmp_path / "kept.npz")
    assert kept.layout == data.layout
    assert dict(kept.metadata) == dict(data.metadata)
    for name in ("state", "outcome", "cause", "mask", "episode"):
        one, two = getattr(kept, name), getattr(data, name)
        assert (one is None) == (two is None)
        assert one is None or (one.dtype == two.dtype and np.array_equal(one, two))


def test_a_recording_is_made_once_where_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def record() -> Transitions:
        made.append(1)
        return collect("push", 200, seed=len(made))

    assert len(recall("one", record)) == len(recall("one", record)) == 200
    assert len(made) == 2
    monkeypatch.setenv(VARIABLE, str(tmp_path / "folder"))
    first, second = recall("one", record), recall("one", record)
    assert len(made) == 3
    assert np.array_equal(first.state, second.state)


def test_a_file_that_is_none_of_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"bad\.npz holds no recording"):
        load_arrays(tmp_path / "bad.npz")
