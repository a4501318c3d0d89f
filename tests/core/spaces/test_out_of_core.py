"""State spaces past memory: what is found part by part is what is found at once."""

from __future__ import annotations

import importlib
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
import run
from actcause.cli import main
from actcause.core.equation import Equation
from actcause.core.spaces import out_of_core
from actcause.core.spaces.mask_file import write_masks
from actcause.core.spaces.out_of_core import frequent_outcomes as frequent
from actcause.core.spaces.out_of_core import problem, result, search
from actcause.parallel import engine
from strategies import many, models

PUSHER = ac.examples.load("pusher-1d")
UNDER_HALF = st.sampled_from([0, "1/10", "1/5", "1/3", "2/5", "49/100"])
ANY_SHARE = st.sampled_from([None, 0, "1/100", "1/4", "1/2", "2/3", "9/10", 1])


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few states and blocks of a few outcomes, so that small spaces have many."""
    monkeypatch.setattr(search, "CELLS", 50)
    monkeypatch.setattr(frequent, "CELLS", 5)


def both(model: ac.Model, outcome: str, sufficiency, necessity, where: str | None = None):
    shares = {"alpha_sufficiency": sufficiency, "alpha_necessity": necessity}
    whole = ac.partitions(model, outcome, where=where, **shares)
    return whole, out_of_core.partitions(model, outcome, where=where, **shares)


def agree(whole: ac.Partitions, parts: out_of_core.OutOfCorePartitions) -> None:
    assert (parts.cost, parts.count, parts.states) == (whole.cost, whole.count, len(whole.space))
    assert parts.preimages == {preimage.binary: len(preimage) for preimage in whole.first().preimages}
    assert parts.to_json(max_pairs=20) == whole.to_json(max_pairs=20)
    assert parts.to_json(3, max_states=7) == whole.to_json(3, max_states=7)
    contexts = whole.space.contexts
    for index in range(0, len(whole.space), 5):
        context = {name: int(column[index]) for name, column in contexts.items()}
        assert parts.binaries(context) == whole.binaries(index)
    with engine() as alone:
        file = io.BytesIO()
        write_masks(parts, file, alone)
    file.seek(0)
    assert np.load(file).tolist() == whole.first().masks.tolist()


@pytest.mark.usefixtures("small_parts")
@given(model=models(max_range=4), sufficiency=UNDER_HALF, necessity=ANY_SHARE, data=st.data())
@many(320)
def test_parts_give_the_costs_counts_binaries_and_pairs_of_the_whole_space(model, sufficiency, necessity, data):
    outcome = data.draw(st.sampled_from([name for name in model.endogenous if name in model.equations]))
    assume(len(model.endogenous) > 1 and model.roots)
    agree(*both(model, outcome, sufficiency, necessity))


@st.composite
def tables(draw: st.DrawFn) -> ac.Model:
    """Two or three roots and any function of them, with many outcomes of which some are more frequent."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = rng.integers(2, 9, size=draw(st.integers(2, 3)))
    kinds = draw(st.sampled_from([2, 3, 20, 40]))
    rows = np.where(rng.random(sizes) < draw(st.sampled_from([0.1, 0.5])), rng.integers(-3, kinds - 3, sizes), 1)
    first = rng.random(sizes[0]) < 0.5  # where this holds the first root alone decides
    rows[first] = rng.integers(-3, kinds - 3, (int(first.sum()),) + (1,) * (len(sizes) - 1))
    names = [f"R{i}" for i in range(len(sizes))]
    ranges = {name: range(size) for name, size in zip(names, sizes, strict=True)}
    result = Equation(tuple(names), function=lambda *roots: rows[roots], vectorized=True)
    return ac.Model({**ranges, "Y": range(-3, kinds)}, {"Y": result})


@pytest.mark.usefixtures("small_parts")
@given(model=tables(), sufficiency=UNDER_HALF, necessity=ANY_SHARE)
@many(160)
def test_parts_agree_with_the_whole_where_outcomes_are_many(model, sufficiency, necessity):
    agree(*both(model, "Y", sufficiency, necessity))


CHAIN = """
    exogenous U in 0..2
    A in 0..4
    B in 0..3
    C in 0..5
    D in 0..4 = min(A, B) if U else 0
    E in 0..9 = C + D if C < 4 else 4 + U
    Y in 0..3 = 3 if E > 6 else min(2, E // 2 * (B != 1))
"""


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("where", [None, "A > B", "U == 1 and E != 4", "C == 5 and A == 4 and B == 0 and U == 0"])
@pytest.mark.parametrize("outcome", ["Y", "E", "D + 2 * Y", "Y > B"])
@pytest.mark.parametrize("rows", [0, 30, 1 << 20])
def test_parts_agree_with_the_whole_however_much_is_counted_beforehand(where, outcome, rows, monkeypatch):
    """What is not counted beforehand is tried out in each state."""
    monkeypatch.setattr(search, "MOST_ROWS", rows)
    agree(*both(ac.Model.from_text(CHAIN), outcome, 0.3, 0.2, where))


@pytest.mark.parametrize("positions", [601, 1001])
def test_the_pusher_in_parts_is_the_pusher_at_once(positions):
    model = ac.Model.from_text(PUSHER.text.replace("0..1000", f"0..{positions - 1}"))
    whole, parts = both(model, "Y", PUSHER.alpha_sufficiency, PUSHER.alpha_necessity)
    assert parts.to_json(2, max_states=500) == whole.to_json(2, max_states=500)
    assert parts.preimages == {preimage.binary: len(preimage) for preimage in whole.first().preimages}


# -- workers -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ray warns of itself
@pytest.mark.parametrize("name", ["local", pytest.param("ray", marks=pytest.mark.ray)])
def test_two_workers_find_what_one_finds(name, monkeypatch, request):
    if name == "ray":
        request.getfixturevalue("cluster")
    monkeypatch.setattr(search, "CELLS", 1000)
    monkeypatch.setattr(frequent, "CELLS", 200)
    asked = {"alpha_sufficiency": 0.3, "alpha_necessity": 0.2, "where": "A > B"}
    model = ac.Model.from_text(CHAIN)
    alone = out_of_core.partitions(model, "Y", **asked)
    with engine(name, workers=2) as two:
        shared = out_of_core.partitions(model, "Y", **asked, workers=two)
        files = [io.BytesIO(), io.BytesIO()]
        write_masks(shared, files[0], two)
    with engine() as one:
        write_masks(alone, files[1], one)
    assert shared.to_json() == alone.to_json()
    assert files[0].getvalue() == files[1].getvalue()


# -- limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [None, 0.5, 1])
def test_states_that_compete_cannot_be_taken_apart(share):
    with pytest.raises(ac.QueryError, match="only where alpha_sufficiency is under 1/2"):
        out_of_core.partitions(PUSHER.model, "Y", alpha_sufficiency=share)


def test_time_that_runs_out_is_a_status():
    found = out_of_core.partitions(PUSHER.model, "Y", alpha_sufficiency=0.2, max_seconds=1e-6)
    assert (found.status, found.cost, found.count) == (ac.Status.OUT_OF_TIME, None, None)
    assert found.to_json()["pairs"] == []
    with pytest.raises(ac.QueryError, match="There is no pair to show: The search ran out of time"):
        found.binaries({"P": 1, "X": 1})


def test_a_restriction_that_nothing_satisfies_is_refused():
    with pytest.raises(ac.QueryError, match="No context satisfies"):
        out_of_core.partitions(PUSHER.model, "Y", alpha_sufficiency=0.2, where="P > X and X > P")


def test_a_space_of_more_than_four_billion_states_is_refused_before_anything_is_counted():
    roots = [f"R{i}" for i in range(40)]
    model = ac.Model.from_text("\n".join(roots) + "\nY = " + " and ".join(roots))
    with pytest.raises(ac.QueryError, match="1,099,511,627,776 contexts; at most 4,294,967,296"):
        out_of_core.partitions(model, "Y", alpha_sufficiency=0.2)


def test_a_number_of_pairs_too_long_to_be_written_is_given_as_powers(monkeypatch):
    monkeypatch.setattr(result, "WRITTEN_BITS", 3)
    model = ac.Model.from_text("A in 0..9\nB in 0..9\nY = A > 0 and B > 0")
    whole, parts = both(model, "Y", 0.2, None)
    document = parts.to_json()
    assert (document["count"], document["ways"]) == (None, {"2": 81})
    assert parts.count == whole.count == 2**81


# -- the command -------------------------------------------------------------------------------------


def partition(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    assert main(["partition", *map(str, arguments)]) == 0
    return capsys.readouterr()


def test_a_large_space_is_solved_in_parts_with_the_same_document_and_a_note(capsys, monkeypatch):
    asked = ("rocket-ship", "--where", "X < 600 and X > 490", "--json")
    monkeypatch.setattr(search, "CELLS", 600)
    whole, quiet = partition(capsys, *asked)
    monkeypatch.setattr(problem, "LARGE", 1000)
    parts, said = partition(capsys, *asked)
    shared, _ = partition(capsys, *asked, "--workers", 2)
    assert (whole, quiet) == (parts, "")
    assert whole == shared
    assert said == "actcause: the space is too large to be held at once, so its 436 states were solved in parts.\n"


def test_people_are_shown_how_many_states_have_which_binary(capsys, monkeypatch):
    monkeypatch.setattr(problem, "LARGE", 1000)
    page, _ = partition(capsys, "pusher-1d")
    assert "minimal cost: 2,003    pairs of minimal cost: 1" in page
    assert "999,999" in page


@pytest.mark.parametrize("large", [1000, 1 << 24])
def test_the_pair_is_written_to_a_file_whole(capsys, monkeypatch, tmp_path, large):
    monkeypatch.setattr(problem, "LARGE", large)
    out = tmp_path / "masks.npy"
    partition(capsys, "rocket-ship", "--json", "--max-pairs", 0, "--out", out)
    masks = np.load(out)
    assert masks.dtype == np.uint8
    expected = ac.partitions(ac.examples.load("rocket-ship").model, "Y", alpha_sufficiency=0.2, alpha_necessity=0.01)
    assert masks.tolist() == expected.first().masks.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["masks.npy"]


def test_a_folder_that_cannot_be_written_to_is_one_sentence(capsys, tmp_path):
    assert main(["partition", "rocket-ship", "--out", str(tmp_path / "none" / "masks.npy")]) == 2
    assert "masks.npy: No such file or directory." in capsys.readouterr().err


def test_a_space_too_large_whose_states_compete_names_the_remedy(capsys, tmp_path):
    Path(tmp_path / "large.txt").write_text(PUSHER.text.replace("0..1000", "0..10000"), encoding="utf-8")
    assert main(["partition", str(tmp_path / "large.txt"), "--outcome", "Y"]) == 2
    assert "With --alpha-sufficiency under 1/2 it would be solved in parts." in capsys.readouterr().err


def test_the_benchmark_knows_what_comes_out_of_the_pusher() -> None:
    figures = list(run.run("out_of_core", importlib.import_module("out_of_core").TINY))
    assert [figure.right for figure in figures] == [True, True]
