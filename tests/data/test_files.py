"""Files: ours and broken ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from actcause.data import (
    DataError,
    Transitions,
    Writer,
    concatenate,
    count_rows,
    describe,
    load,
    read_batches,
)
from strategies import many


def data(rows: int = 12, **changes: Any) -> Transitions:
    generator = np.random.default_rng(0)
    made: dict[str, Any] = {
        "factors": ["ball", "paddle"],
        "features": {"ball": ["x", "vx"], "paddle": ["x"]},
        "state": generator.normal(size=(rows, 2, 2)) * np.array([[1, 1], [1, 0]]),
        "outcome": generator.normal(size=(rows, 2)),
        "own": "ball",
        "cause": generator.random((rows, 2)) < 0.5,
        "episode": np.arange(rows) // 3,
        "metadata": {"domain": "toy", "seed": 3},
    }
    return Transitions(**(made | changes))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    data().save(tmp_path / "toy.parquet")
    return tmp_path / "toy.parquet"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# -- ours ------------------------------------------------------------------------------------------


@st.composite
def recordings(draw: st.DrawFn) -> Transitions:
    rows, factors = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    widths = [draw(st.integers(1, 3)) for _ in range(factors)]
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    numbers = st.floats(-1e6, 1e6, width=32)
    state = draw(hnp.arrays(dtype, (rows, factors, max(widths)), elements=numbers)).copy()
    for position, width in enumerate(widths):
        state[:, position, width:] = 0
    own = draw(st.sampled_from([None, "f0"]))
    outcome = draw(hnp.arrays(dtype, (rows, widths[0]), elements=numbers)).copy()
    outcome[:, 0] = np.arange(rows)
    mask = draw(st.none() | hnp.arrays(bool, (rows, factors)))
    if mask is not None:
        mask = mask.copy()
        mask[:, 0] = True
    flags = hnp.arrays(bool, (rows, factors))
    cause = draw(st.none() | flags)
    return Transitions(
        factors=[f"f{position}" for position in range(factors)],
        features={f"f{position}": [f"x{k}" for k in range(width)] for position, width in enumerate(widths)},
        state=state,
        outcome=outcome,
        own=own,
        cause=cause if mask is None or cause is None else cause & mask,
        mask=mask,
        episode=draw(st.none() | hnp.arrays(np.int64, rows)),
        extra=draw(st.sampled_from([{}, {"n": np.arange(rows), "pinned": np.zeros(rows, dtype=bool)}])),
        metadata=draw(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans()), max_size=3)),
    )


@many(240)
@given(made=recordings(), group=st.integers(1, 5), rows=st.integers(1, 5))
def test_what_is_read_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, made: Transitions, group: int, rows: int
) -> None:
    path = tmp_path_factory.mktemp("trip") / "a.parquet"
    with Writer(path, made.layout, metadata=made.metadata, rows_per_group=group) as writer:
        writer.append(made)
    assert load(path) == made
    batches = list(read_batches(path, rows=rows))
    assert max(map(len, batches)) <= rows
    assert concatenate(batches) == made
    assert count_rows(path) == len(made)


def test_the_columns_are_readable_and_the_names_are_inside(file: Path) -> None:
    schema = pq.read_schema(file)
    assert schema.names == [
        *("ball.x", "ball.vx", "paddle.x", "next.ball.x", "next.ball.vx", "cause.ball", "cause.paddle", "episode")
    ]
    header = json.loads(schema.metadata[b"actcause"])
    assert header["version"] == 1
    assert header["factors"] == ["ball", "paddle"]
    assert header["features"] == {"ball": ["x", "vx"], "paddle": ["x"]}
    assert (header["own"], header["edges"]) == ("ball", ["paddle"])
    assert header["outcome"] == {"factor": "ball", "features": ["x", "vx"]}
    assert header["metadata"] == {"domain": "toy", "seed": 3}


def test_pandas_polars_and_duckdb_read_the_file(file: Path) -> None:
    made = data()
    expected = made.state[:, 0, 0]
    assert np.array_equal(pd.read_parquet(file)["ball.x"].to_numpy(), expected)
    assert np.array_equal(pl.read_parquet(file)["ball.x"].to_numpy(), expected)
    found = duckdb.sql(f"""SELECT avg("cause.paddle"::int) FROM '{file}'""").fetchall()
    assert found == [(pytest.approx(made.rates()["paddle"]),)]


def test_a_frame_of_our_columns_is_understood_without_a_mapping(file: Path) -> None:
    made = data(metadata={})
    assert Transitions.from_frame(pd.read_parquet(file)) == made
    assert Transitions.from_frame(pl.read_parquet(file)) == made
    pd.read_parquet(file).to_parquet(file.with_name("again.parquet"))  # pandas drops our header
    assert load(file.with_name("again.parquet")) == made
    pd.read_parquet(file).to_csv(file.with_name("again.csv"), index=False)
    assert load(file.with_name("again.csv")) == made


def test_the_same_rows_give_the_same_bytes_however_they_come(tmp_path: Path) -> None:
    made = data(50)
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    for path, size in zip(paths, (50, 7), strict=True):
        with Writer(path, made.layout, rows_per_group=16) as writer:
            for start in range(0, 50, size):
                writer.append(made.subset(slice(start, start + size)))
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_writer_holds_less_than_a_row_group(tmp_path: Path) -> None:
    made = data(1000)
    with Writer(tmp_path / "a.parquet", made.layout, rows_per_group=64) as writer:
        for start in range(0, 1000, 50):
            writer.append(made.subset(slice(start, start + 50)))
            assert writer.held == sum(map(len, writer._waiting)) < 64
    groups = pq.ParquetFile(tmp_path / "a.parquet").metadata
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [64] * 15 + [40]
    assert max(len(batch) for batch in read_batches(tmp_path / "a.parquet", rows=10)) == 10


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fail_midway(path: Path, error: type[BaseException]) -> None:
    """Write a row group, then fail."""
    with Writer(path, data().layout, rows_per_group=5) as writer:
        before = listing(path.parent)
        writer.append(data())
        assert listing(path.parent) == before
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_interrupted_writer_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error):
        fail_midway(tmp_path / "a.parquet", error)
    assert listing(tmp_path) == []


def test_an_interrupted_writer_leaves_the_file_that_was_there(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(RuntimeError):
        fail_midway(file, RuntimeError)
    assert file.read_bytes() == before
    data(20).save(file)
    assert count_rows(file) == 20
    assert listing(file.parent) == [file.name]


def test_a_writer_refuses_rows_that_do_not_fit(tmp_path: Path) -> None:
    made = data()
    with Writer(tmp_path / "a", made.layout) as writer:
        writer.append(made)
        with pytest.raises(DataError, match="other factors"):
            writer.append(data(edges=["ball"]))
        with pytest.raises(DataError, match="other columns"):
            writer.append(data(cause=None))
    with pytest.raises(DataError, match="not a single row"), Writer(tmp_path / "b", made.layout):
        pass
    with pytest.raises(DataError, match="inside its with block"):
        Writer(tmp_path / "b", made.layout).append(made)
    assert listing(tmp_path) == ["a"]
    assert load(tmp_path / "a") == data(metadata={})


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Cannot write .*: No such file or directory\."):
        data().save(tmp_path / "nowhere" / "a.parquet")
    with pytest.raises(DataError, match="it exists and is not a file"):
        data().save(tmp_path)
    with pytest.raises(DataError, match="it exists and is not a file"):
        data().save("/dev/null")
    with pytest.raises(DataError, match="Cannot write"):
        data().save(write(tmp_path / "text", "x") / "a.parquet")


def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "import numpy as np\n"
        "from actcause.data import DataError, Transitions\n"
        "values = np.random.default_rng(0).normal(size=(200_000, 1, 1))\n"
        "made = Transitions(factors=['a'], state=values, outcome=values[:, 0])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: made.save(sys.argv[1])\n"
        "except DataError as wrong: print(wrong)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.parquet")], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith(f"Cannot write {tmp_path / 'a.parquet'}: ")
    assert "File too large" in ran.stdout
    assert listing(tmp_path) == []


def test_batches_have_a_positive_size(file: Path) -> None:
    with pytest.raises(DataError, match="positive integer"):
        next(read_batches(file, rows=0))


# -- broken ----------------------------------------------------------------------------------------


def check_refusal(path: Path, message: str) -> None:
    for reader in (load, lambda p: list(read_batches(p)), describe):
        with pytest.raises(DataError, match=message) as wrong:
            reader(path)  # type: ignore[operator]
        assert "\n" not in str(wrong.value)
        assert str(path) in str(wrong.value)


@pytest.mark.parametrize("left", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_short_is_refused(file: Path, left: float) -> None:
    file.write_bytes(file.read_bytes()[: int(left * file.stat().st_size)])
    check_refusal(file, "cut short")


def test_a_file_with_a_flipped_byte_is_refused_or_read_as_it_was(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(2000, 1, 1))
    Transitions(factors=["a"], state=values, outcome=values[:, 0]).save(tmp_path / "a.parquet")
    sound = (tmp_path / "a.parquet").read_bytes()
    whole = load(tmp_path / "a.parquet")
    caught = 0
    for place in range(4, len(sound) - 4, len(sound) // 40):
        broken = bytearray(sound)
        broken[place] ^= 0x10
        (tmp_path / "b.parquet").write_bytes(broken)
        try:
            found = load(tmp_path / "b.parquet")
        except DataError:
            caught += 1
        else:
            assert found == whole
    assert caught > 30


def test_other_files_are_refused(tmp_path: Path) -> None:
    check_refusal(write(tmp_path / "a.parquet", "ball.x\n1\n"), "is not a Parquet file")
    check_refusal(write(tmp_path / "b.parquet", ""), "is empty")
    check_refusal(write(tmp_path / "c.csv", ""), "is empty")
    check_refusal(tmp_path / "nothing.parquet", "No such file")
    check_refusal(tmp_path, "is not a file")
    (tmp_path / "d.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe")
    check_refusal(tmp_path / "d.csv", "neither Parquet, NPZ nor text")
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "e.parquet")
    check_refusal(tmp_path / "e.parquet", "do not say what they are .* give mapping, in JSON")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{", "cannot be understood"),
        (b"[]", "cannot be understood"),
        (b'{"version": 1}', "cannot be understood"),
        (b'{"version": 2}', "newer actcause"),
        (b"[" * 100_000, "cannot be understood"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(file: Path, header: bytes, message: str) -> None:
    pq.write_table(pq.read_table(file).replace_schema_metadata({b"actcause": header}), file)
    check_refusal(file, message)


def test_an_edited_file_is_refused_where_it_does_not_fit(file: Path) -> None:
    table = pq.read_table(file)
    pq.write_table(table.drop_columns(["paddle.x"]), file)
    check_refusal(file, "lacks the column 'paddle.x'")
    holes = pa.array([None if row == 4 else 1.0 for row in range(12)])
    pq.write_table(table.set_column(0, pa.field("ball.x", pa.float64()), holes), file)
    check_refusal(file, "no value in column 'ball.x', row 5")
    pq.write_table(table.set_column(0, pa.field("ball.x", pa.string()), pa.array(["a"] * 12)), file)
    check_refusal(file, "not numbers")
    pq.write_table(table.set_column(0, pa.field("ball.x", pa.float64()), pa.array([np.nan] * 12)), file)
    check_refusal(file, "'ball.x', row 1 is nan")
    pq.write_table(table.append_column("ball.x", table.column("ball.x")), file)
    check_refusal(file, "has the column 'ball.x' 2 times")
    pq.write_table(table.slice(0, 0), file)
    check_refusal(file, "holds no row")
