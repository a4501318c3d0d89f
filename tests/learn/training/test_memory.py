"""A training keeps to the memory that it was given."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn import MaskJACI
from actcause.learn.errors import LearnError
from actcause.learn.training import memory
from actcause.learn.training.memory import cut_to_memory


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Transitions:
    monkeypatch.setattr(memory, "FIXED", 0.0)
    return collect("push", 20_000, seed=0)


def test_whole_episodes_are_left_out_evenly(data: Transitions) -> None:
    assert data.episode is not None
    cut = cut_to_memory(data, 0.01)
    assert cut.episode is not None
    assert 1000 < len(cut) < 15_000
    kept = np.unique(cut.episode)
    assert sum(np.isin(data.episode, kept)) == len(cut)
    assert np.diff(kept).max() <= np.diff(kept).min() + 1


def test_rows_without_episodes_are_spread_over_the_recording(data: Transitions) -> None:
    cut = cut_to_memory(data.replaced(episode=None), 0.01)
    assert 1000 < len(cut) < 15_000
    assert np.array_equal(cut.state[-1], data.state[-1])


def test_twice_the_memory_holds_twice_the_rows(data: Transitions) -> None:
    one, two = (len(cut_to_memory(data, most)) for most in (0.005, 0.01))
    assert two / one == pytest.approx(2, rel=0.05)


@pytest.mark.usefixtures("brief_surprises")
def test_a_learner_says_that_it_left_rows_out(data: Transitions) -> None:
    options = {"steps": 10, "distil_steps": 5, "width": 8, "batch": 32, "device": "cpu"}
    learner = MaskJACI(max_memory=0.01, **options).fit(data)
    assert any("of 20000 rows were learned from" in note for note in learner.notes_)
    assert not any("max_memory" in note for note in MaskJACI(max_memory=2.0, **options).fit(data).notes_)


def test_too_small_a_budget_is_refused_with_what_is_needed() -> None:
    with pytest.raises(LearnError, match=r"'max_memory' parameter must be at least 0\.6\d GiB .* Got 0\.1"):
        cut_to_memory(collect("push", 5000), 0.1)
    with pytest.raises(LearnError, match="positive, or None"):
        MaskJACI(max_memory=-1.0).fit(collect("push", 500))


MEASURED = """
import resource, sys
import numpy as np
from actcause.data import Transitions
from actcause.learn import JACI
rows = 300_000
generator = np.random.default_rng(0)
state = generator.standard_normal((rows, 8, 6), dtype=np.float32)
hit = np.abs(state[:, 1, :1] - state[:, 0, :1]) < 0.1
data = Transitions(factors=list("abcdefgh"), state=state, outcome=state[:, 0] + hit * state[:, 1], own="a",
                   episode=np.arange(rows) // 50)
small = {"steps": 50, "distil_steps": 20, "batch": 64, "device": "cpu", "width": 16}
JACI(**small).fit(data.subset(slice(0, 2000)))  # what libraries take
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
JACI(max_memory=float(sys.argv[1]), **small).fit(data)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20)
"""


@pytest.mark.slow
def test_what_a_training_takes_stays_within_its_budget() -> None:
    for most in ("0.8", "1.2"):
        done = subprocess.run([sys.executable, "-c", MEASURED, most], capture_output=True, text=True, check=True)
        assert float(done.stdout) < float(most)
