"""Recorded traces: what they fill, what they are held against, what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import actcause as ac

MODEL = ac.Model.from_text("valve\nlevel in 0..9 = 3\nlevel' = min(9, level + 2 * valve)\nfull = level == 9")


def test_a_trace_fills_inputs_and_is_cut_to_the_model() -> None:
    trace = ac.Trace({"valve": [1, 0, 1, 1], "level": [3, 5, 5, 7], "full": [0, None, 0, 0]})
    assert trace.steps == 3
    assert trace.context(MODEL.unrolled(3)) == {"valve@0": 1, "valve@1": 0, "valve@2": 1, "valve@3": 1}
    assert trace.context(MODEL.unrolled(1)) == {"valve@0": 1, "valve@1": 0}


def test_numbers_hold_at_every_step_and_names_with_a_step_at_one() -> None:
    assert ac.Trace({"valve@1": 0, "valve": 1}).context(MODEL.unrolled(2)) == {"valve@0": 1, "valve@1": 0, "valve@2": 1}
    assert ac.Trace({"valve": 1}).steps is None


def test_constants_have_one_value() -> None:
    model = ac.Model.from_text("k in 0..2\nn in 0..2 = 0\nn' = min(n + k, 2)").unrolled(2, constant=["k"])
    assert ac.Trace({"k": [2, 2, 2]}).context(model) == {"k": 2}
    with pytest.raises(ac.QueryError, match="one value of k at all steps; got 1 and 2"):
        ac.Trace({"k": [1, 2, 2]}).context(model)


def test_a_first_value_is_missed_at_its_step_alone() -> None:
    unrolled = ac.Model.from_text("cold\nwet@0\nwet@1 = wet@0 and not cold")
    with pytest.raises(ac.QueryError, match=r"no value of wet@0, which follows from nothing; give it one\."):
        ac.Trace({"cold": 1}).context(unrolled)
    several = ac.Model.from_text("\n".join(f"X{i}@0\nX{i}@1 = X{i}@0" for i in range(6)))
    with pytest.raises(ac.QueryError, match=r"of X1@0, X2@0, X3@0, X4@0 and 1 more, which follow .* give each one\."):
        ac.Trace({"X0": 1}).context(several)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "trace has no value of valve, which follows from nothing"),
        ({"level": [3, 3, 3]}, "trace has no value of valve, which follows from nothing"),
        ({"valve": [1, 1]}, "trace has no value of valve at step 2: it ends at step 1."),
        ({"valve": [1, None, 1]}, "trace has no value of valve at step 1, which follows from nothing; give it one."),
        ({"valve": 1, "valv": 0}, "trace has valv, which is no variable of the model; did you mean 'valve'?"),
        (
            {"valve": 1, "time": [0, 1, 2]},
            "trace has time, which is no variable of the model; leave it out, or call it",
        ),
        ({"valve": [1, 2, 0]}, "trace must have valve in {0, 1}; got 2 at step 1."),
        ({"valve": [1, 0.5, 0]}, "trace must have whole numbers of valve; got 0.5 at step 1."),
        ({"valve": "101"}, "trace must have whole numbers of valve; got '101'."),
        ({"valve": [1, 1], "level": [3]}, "trace has 2 values of valve and 1 of level; give as many of each."),
        ({"valve": []}, "trace has no steps"),
        ({"valve@1": [1]}, "trace must have one whole number for valve@1"),
        (
            {"valve": [1, 0, 0], "level": [3, 5, 7]},
            "trace has level=7 at step 2, but the equation level@2 = min(9, level@1 + 2 * valve@1) gives 5 at "
            "level@1=5, valve@1=0; correct one of them, or leave level out.",
        ),
        ([1], "trace must map names to their values at each step, such as {'valve': [1, 0]}; got [1]."),
    ],
)
def test_a_wrong_trace_is_refused_in_one_sentence(columns: dict[str, object], said: str) -> None:
    with pytest.raises(ac.QueryError) as caught:
        ac.Trace(columns).context(MODEL.unrolled(2))  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert caught.value.parameter == "trace"


def test_traces_are_read_from_csv_and_parquet(tmp_path: Path) -> None:
    rows = {"step": [0, 1, 2], "valve": [1, 0, 1], "full": [False, None, False]}
    text = tmp_path / "trace.csv"
    text.write_text("step, valve, full\n0,1,false\n1,0.0,\n2,+1,0\n")
    columns = ac.read_trace(text).columns
    assert columns == {"valve": (1, 0, 1), "full": (0, None, 0)}
    parquet = pytest.importorskip("pyarrow.parquet")
    table = tmp_path / "trace.parquet"
    parquet.write_table(pytest.importorskip("pyarrow").table(rows), table)
    assert ac.read_trace(table).columns == columns


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; give a CSV or Parquet file"),
        ("valve\n", "holds no steps"),
        ("valve,valve\n1,1\n", "has two columns called 'valve'; rename one"),
        ("valve,level\n1\n", "line 2: expected 2 values; got 1"),
        ("valve;level\n1;3\n", "line 1: columns must be separated by commas; got 'valve;level'"),
        ("valve\nopen\n", "line 2: valve must be a whole number, or empty; got 'open'"),
        ("valve\n0.5\n", "the trace must have whole numbers of valve; got 0.5 at step 0"),
        ("step,valve\n1,1\n", "must count steps from 0 in its column 'step'; got 1 in row 1"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(ac.QueryError) as caught:
        ac.read_trace(path)
    assert said in str(caught.value)
    with pytest.raises(ac.QueryError, match="There is no file"):
        ac.read_trace(tmp_path / "none.csv")
