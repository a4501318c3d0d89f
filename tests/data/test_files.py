"""Files: ours, other people's, broken ones."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import gymnasium
import minari
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from minari.data_collector import EpisodeBuffer

from actcause.data import (
    DataError,
    Transitions,
    Writer,
    concatenate,
    convert,
    count_rows,
    describe,
    from_minari,
    load,
    read_batches,
)

CSV = "trial,bx,by,px,hit,nbx,nby\nA,0,0.5,1,yes,1,0.5\nA,1,0.5,5,no,1,0.5\nB,1,2,1,yes,2,2\n"
MAPPING = {
    "factors": {"block": {"x": "bx", "y": "by"}, "push": ["px"]},
    "outcome": {"block": ["nbx", "nby"]},
    "cause": {"push": "hit"},
    "episode": "trial",
}


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


@settings(max_examples=60)
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
    check_refusal(tmp_path / "d.csv", "neither Parquet nor text")
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


# -- other people's --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["dict", "json", "toml"])
def test_a_csv_with_two_factors_and_an_outcome_becomes_transitions(tmp_path: Path, form: str) -> None:
    source = write(tmp_path / "mine.csv", CSV)
    mapping: Any = MAPPING
    if form == "json":
        mapping = write(tmp_path / "map.json", json.dumps(MAPPING))
    if form == "toml":
        mapping = write(
            tmp_path / "map.toml",
            'episode = "trial"\n[factors]\nblock = {x = "bx", y = "by"}\npush = ["px"]\n'
            '[outcome]\nblock = ["nbx", "nby"]\n[cause]\npush = "hit"\n',
        )
    made = load(source, mapping)
    assert made.features == {"block": ("x", "y"), "push": ("px",)}
    assert made.state.tolist() == [[[0, 0.5], [1, 0]], [[1, 0.5], [5, 0]], [[1, 2], [1, 0]]]
    assert made.outcome.tolist() == [[1, 0.5], [1, 0.5], [2, 2]]
    assert made.episode is not None
    assert made.episode.tolist() == [0, 0, 1]
    assert made.rates() == {"block": 0, "push": pytest.approx(2 / 3)}
    assert (made.own, made.edges) == ("block", ("push",))
    assert convert(source, mapping, tmp_path / "mine.parquet", rows=2) == 3
    assert load(tmp_path / "mine.parquet") == made
    assert Transitions.from_frame(pd.read_csv(source), mapping) == made


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_blanks_and_a_byte_order_mark_are_understood(tmp_path: Path, delimiter: str) -> None:
    text = "\ufeff" + CSV.replace(",", f" {delimiter} ").replace("\n", "\r\n")
    assert load(write(tmp_path / "b.csv", text), MAPPING) == load(write(tmp_path / "a.csv", CSV), MAPPING)


def test_whole_numbers_first_and_fractions_later_are_one_column(tmp_path: Path) -> None:
    rows = [f"{i},{i + (0.5 if i > 4 else 0)},{i}" for i in range(10)]
    source = write(tmp_path / "a.csv", "\n".join(["a.x,b.x,next.a.x", *rows]))
    batches = list(read_batches(source, rows=3))
    assert [len(batch) for batch in batches] == [3, 3, 3, 1]
    assert concatenate(batches).state[:, 1, 0].tolist() == [0, 1, 2, 3, 4, 5.5, 6.5, 7.5, 8.5, 9.5]


def test_a_trajectory_without_next_columns_pairs_every_row_with_the_following_of_its_episode(tmp_path: Path) -> None:
    text = "episode,a.x,b.x,cause.b\n" + "".join(f"{e},{10 * e + t},{t},{t % 2}\n" for e in (3, 1, 2) for t in range(4))
    source = write(tmp_path / "a.csv", text + "9,0,0,0\n")
    for rows in (1, 2, 3, 100):
        made = concatenate(read_batches(source, {"outcome": "a"}, rows=rows))
        assert made.state[:, 0, 0].tolist() == [30, 31, 32, 10, 11, 12, 20, 21, 22]
        assert made.outcome.ravel().tolist() == [31, 32, 33, 11, 12, 13, 21, 22, 23]
        assert made.episode is not None
        assert made.episode.tolist() == [3] * 3 + [1] * 3 + [2] * 3
        assert made.cause is not None
        assert made.cause[:, 1].tolist() == [False, True, False] * 3


def test_scattered_episodes_have_no_following_row(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "episode,a.x,b.x\n0,1,1\n1,1,1\n0,2,2\n")
    with pytest.raises(DataError, match="sort them by 'episode'"):
        load(source, {"outcome": "a"})


def test_absent_objects_may_have_no_values(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a.x,b.x,present.b,next.a.x\n1,,no,2\n2,4,yes,3\n")
    made = load(source)
    assert made.mask is not None
    assert made.mask.tolist() == [[True, False], [True, True]]
    assert made.state[:, 1, 0].tolist() == [0, 4]


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        (CSV.replace("0.5,5,", ",5,"), {}, "Column 'by' has no value in row 2"),
        (CSV.replace("0.5,5,", "NaN,5,"), {}, "Column 'by' has no value in row 2"),
        (CSV.replace("0.5,5,", "inf,5,"), {}, "Column 'by' is infinite in row 2"),
        (CSV.replace("0.5,5,", "half,5,"), {}, "Column 'by' must hold numbers. Got 'half' in row 2"),
        (CSV.replace("no,", "perhaps,"), {}, "'hit' must hold .*Got 'perhaps' in row 2"),
        (CSV.replace("no,", "2,").replace("yes", "1"), {}, "'hit' must hold true or false .* Got 2 in row 2"),
        (CSV.replace("no,", ","), {}, "'hit' must hold true or false .* in row 2"),
        (CSV.replace("A,1,", ",1,"), {}, "'trial' has no value in row 2"),
        (CSV.replace("B,", "B,B,"), {}, "cannot be read as CSV"),
        (CSV.replace("px,", "bx,"), {}, "two columns called 'bx'"),
        (CSV.splitlines()[0], {}, "no row|not a single transition"),
        (CSV.splitlines()[0] + "\n", {}, "no row|not a single transition"),
        (CSV, {"factors": {"block": ["bx", "bi"], "push": ["px"]}}, "no column 'bi'; did you mean 'b.'"),
        (CSV, {"factors": {"block": [], "push": ["px"]}}, "columns of 'block' must be a list"),
        (CSV, {"factors": ["bx"]}, "'factors' of the mapping must be a table"),
        (CSV, {"factors": None}, "do not say what they are"),
        (CSV, {"outcome": {"block": ["nbx"]}}, "2 features and 1 columns of the next value"),
        (CSV, {"outcome": {"block": ["nbx", "nbz"]}}, "no column 'nbz'; did you mean"),
        (CSV, {"outcome": "blok"}, "Unknown factor 'blok' .outcome.; did you mean 'block'"),
        (CSV, {"outcome": None}, "The outcome is not named and there are no column next"),
        (CSV, {"outcome": {}}, "must be a table of one outcome"),
        (CSV, {"own": "pus"}, "Unknown factor 'pus' .own.; did you mean 'push'"),
        (CSV, {"cause": {"pusher": "hit"}}, "Unknown factor 'pusher' .cause.; did you mean 'push'"),
        (CSV, {"cause": {"push": "hits"}}, "no column 'hits'; did you mean 'hit'"),
        (CSV, {"cause": "hit"}, "'cause' of the mapping must be a table"),
        (CSV, {"episode": "trail"}, "no column 'trail'; did you mean 'trial'"),
        (CSV, {"epsiode": "trial"}, "Unknown key 'epsiode' of the mapping; did you mean 'episode'"),
        (CSV, {"metadata": 3}, "'metadata' of the mapping must be a table"),
        (CSV, {"classes": 3}, "'classes' of the mapping must be a table of factors"),
        (CSV, {"classes": {"push": ""}}, "'classes' of the mapping must be a table of factors"),
        (CSV, {"classes": {"pus": "a"}}, "Unknown factor 'pus' .classes.; did you mean 'push'"),
        (CSV, {"classes": {"push": "a", "block": "a"}}, "'push' and 'block' are both of class 'a' and must have"),
        (CSV, {"edges": ["blok"]}, "did you mean 'block'"),
    ],
)
def test_a_mistake_in_a_table_or_its_mapping_is_one_sentence(
    tmp_path: Path, text: str, changes: dict[str, Any], message: str
) -> None:
    mapping = {key: value for key, value in (MAPPING | changes).items() if value is not None}
    source = write(tmp_path / "mine.csv", text)
    with pytest.raises(DataError, match=message) as wrong:
        load(source, mapping)
    assert str(wrong.value).startswith(str(source))
    assert "\n" not in str(wrong.value)
    with pytest.raises(DataError, match=message):
        convert(source, mapping, tmp_path / "out.parquet")
    assert listing(tmp_path) == ["mine.csv"]


def test_a_mapping_file_that_is_none_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "mine.csv", CSV)
    with pytest.raises(DataError, match="is not a mapping in JSON"):
        load(source, write(tmp_path / "m.json", "{"))
    with pytest.raises(DataError, match="is not a mapping in TOML"):
        load(source, write(tmp_path / "m.toml", "{"))
    with pytest.raises(DataError, match="must be a table with the keys"):
        load(source, write(tmp_path / "n.json", "3"))
    with pytest.raises(DataError, match="No such file"):
        load(source, tmp_path / "nowhere.toml")


def test_an_error_deep_in_a_file_names_the_row_of_the_file(tmp_path: Path) -> None:
    rows = ["1,2,3"] * 5000 + ["1,oops,3"]
    source = write(tmp_path / "a.csv", "\n".join(["a.x,b.x,next.a.x", *rows]))
    with pytest.raises(DataError, match="Got 'oops' in row 5001"):
        for _ in read_batches(source, rows=100):
            pass


def test_episodes_that_change_their_kind_are_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "episode,a.x,b.x,next.a.x\n1,1,1,1\n2,1,1,2\nx,1,1,3\n")
    assert load(source).episode is not None
    with pytest.raises(DataError, match="whole numbers up to row 2"):
        list(read_batches(source, rows=1))


def test_a_foreign_parquet_is_read_with_a_mapping(tmp_path: Path) -> None:
    frame = pd.DataFrame({"u": np.arange(3, dtype="float32"), "v": [1, 2, 4], "w": np.arange(1, 4, dtype="float32")})
    frame.to_parquet(tmp_path / "a.parquet")
    made = load(tmp_path / "a.parquet", {"factors": {"a": ["u"], "b": ["v"]}, "outcome": {"a": ["w"]}})
    assert made.state[:, :, 0].tolist() == [[0, 1], [1, 2], [2, 4]]
    single = load(tmp_path / "a.parquet", {"factors": {"a": ["u"]}, "outcome": {"reward": {"r": "w"}}})
    assert (single.state.dtype, single.own, single.outcome_features) == (np.float32, None, ("r",))
    pq.write_table(pa.table({"u": ["a"], "v": [[1.0]], "w": [None], "n": [1.0]}), tmp_path / "b.parquet")
    for column, message in (("u", "Got 'a' in row 1"), ("v", "must hold numbers"), ("w", "has no value in row 1")):
        with pytest.raises(DataError, match=message):
            load(tmp_path / "b.parquet", {"factors": {"a": ["n"]}, "outcome": {"y": [column]}})


def test_a_frame_with_columns_of_different_lengths_is_refused() -> None:
    with pytest.raises(DataError, match="one value per row"):
        Transitions.from_frame({"a.x": [1.0, 2.0], "next.a.x": [1.0]})
    with pytest.raises(DataError, match="at least one transition"):
        Transitions.from_frame({"a.x": [], "next.a.x": []})


def test_batches_have_a_positive_size(file: Path) -> None:
    with pytest.raises(DataError, match="positive integer"):
        next(read_batches(file, rows=0))


# -- Minari ----------------------------------------------------------------------------------------


def episodes() -> Iterator[SimpleNamespace]:
    for number, steps in enumerate((3, 2)):
        yield SimpleNamespace(
            id=number + 5,
            observations={
                "ball": np.arange(2 * (steps + 1), dtype=np.float32).reshape(-1, 2),
                "lamp": np.arange(steps + 1),
            },
            actions=np.ones((steps, 1), dtype=np.float32),
            infos={"cause": np.ones((steps + 1, 3), dtype=bool)},
        )


def test_episodes_with_a_dict_of_factors_become_transitions() -> None:
    made = from_minari(list(episodes()), outcome="ball", features={"ball": ["x", "y"]}, cause="cause")
    assert made.factors == ("ball", "lamp", "action")
    assert made.features == {"ball": ("x", "y"), "lamp": ("x0",), "action": ("x0",)}
    assert made.outcome.tolist() == [[2, 3], [4, 5], [6, 7], [2, 3], [4, 5]]
    assert made.episode is not None
    assert made.episode.tolist() == [5, 5, 5, 6, 6]
    assert (made.own, made.edges, made.state.dtype) == ("ball", ("lamp", "action"), np.float32)
    assert made.rates() == dict.fromkeys(made.factors, 1.0)
    assert from_minari(list(episodes()), outcome="ball", action=None, factors=["lamp", "ball"]).factors == (
        *("lamp", "ball"),
    )


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({}, {"outcome": "bal"}, "did you mean 'ball'"),
        ({"observations": np.zeros((4, 2))}, {}, "must be a Dict"),
        ({"observations": {"ball": {"x": np.zeros(4)}}}, {}, "nested entries are not factors"),
        ({}, {"factors": {"ball": "bal[0]"}}, "no entry 'bal' .'ball'.; did you mean 'ball'"),
        ({}, {"factors": {"ball": "ball[0:5]"}}, "'ball.0:5.' is outside 'ball', which has 2 values"),
        ({}, {"factors": {"ball": slice(0, 2)}}, "Positions .'ball'. are those of a flat observation"),
        ({}, {"factors": {"ball": 0.5}}, "'ball' must be an entry of the observation"),
        ({"observations": np.zeros((4, 2))}, {"factors": {"ball": slice(3, 5)}}, "'ball' is outside the observation"),
        ({}, {"outcome_features": ["z"]}, "The outcome 'ball' has no feature 'z'"),
        ({}, {"categorical": ["bal"]}, "Unknown categorical feature 'bal'"),
        ({"observations": {"ball": np.zeros(4), "lamp": np.zeros(3)}}, {}, "equally long"),
        ({"actions": np.zeros(9)}, {}, "9 actions need 10 observations. Got 4"),
        ({}, {"action": "lamp"}, "has an entry 'lamp' already"),
        ({}, {"cause": "truth"}, "no entry 'truth'; they have cause"),
        ({}, {"features": {"ball": ["x"]}}, "'ball' has 2 features. Got 1 names"),
    ],
)
def test_an_episode_that_does_not_fit_is_refused(
    changes: dict[str, Any], arguments: dict[str, Any], message: str
) -> None:
    episode = SimpleNamespace(**(vars(next(episodes())) | changes))
    with pytest.raises(DataError, match=message):
        from_minari([episode], **({"outcome": "ball"} | arguments))


def flat_episode(number: int, steps: int = 4) -> SimpleNamespace:
    """An episode with flat observations: a hand, a block and a goal of two numbers each."""
    seen = np.random.default_rng(number).normal(size=(steps + 1, 6)).astype(np.float32)
    return SimpleNamespace(id=number, observations=seen, actions=np.arange(steps) % 2, infos={})


SLICES = {"hand": "observation[0:2]", "block": slice(2, 4), "goal": [4, "observation[5]"]}


def test_flat_observations_are_cut_into_factors() -> None:
    episodes = [flat_episode(0), flat_episode(1)]
    chosen = {"features": {"block": ["x", "y"]}, "outcome_features": ["y"], "categorical": ["action"]}
    made = from_minari(episodes, "block", factors=SLICES, **chosen)
    assert made.factors == ("hand", "block", "goal", "action")
    assert np.array_equal(made.state[:4, 2, :2], episodes[0].observations[:4, 4:])
    assert np.array_equal(made.outcome[4:, 0], episodes[1].observations[1:, 3])
    assert (made.outcome_features, made.metadata["categorical"]) == (("y",), ["action.x0"])
    named = from_minari(episodes, "block", factors={**SLICES, "push": "action"})
    assert named.factors == ("hand", "block", "goal", "push")
    past = from_minari(episodes, "block", factors=SLICES, history=1)
    assert past == from_minari(episodes, "block", factors=SLICES).with_history(1)
    assert len(past) == 6


def test_an_object_that_is_nan_in_an_episode_is_absent_there() -> None:
    episodes = [flat_episode(0), flat_episode(1)]
    episodes[1].observations[2, :2] = np.nan
    made = from_minari(episodes, "block", factors=SLICES)
    assert made.mask is not None
    assert np.argwhere(~made.mask).tolist() == [[6, 0]]


def test_no_episode_at_all_is_refused() -> None:
    with pytest.raises(DataError, match="at least one episode"):
        from_minari([], outcome="ball")
    with pytest.raises(DataError, match="list of episodes"):
        from_minari(3, outcome="ball")


def test_a_mapping_may_say_which_factors_are_of_one_class(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "a.x,b.x,y.x,next.y.x\n1,2,3,4\n2,3,4,6\n")
    write(tmp_path / "m.toml", 'classes = {a = "hand", b = "hand"}\nmetadata = {by = "me"}\n')
    made = load(tmp_path / "a.csv", tmp_path / "m.toml")
    assert made.metadata == {"by": "me", "classes": {"a": "hand", "b": "hand", "y": "y"}}
    made.save(tmp_path / "a.parquet")
    assert load(tmp_path / "a.parquet").metadata["classes"]["b"] == "hand"


@pytest.mark.filterwarnings("ignore::UserWarning:minari", "ignore:`eval_env` is set to None")
def test_a_real_minari_data_set_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    space = gymnasium.spaces.Box(-100, 100, (2,), np.float32)
    buffers = [
        EpisodeBuffer(
            id=episode.id - 5,
            observations={"ball": list(episode.observations["ball"])},
            actions=list(episode.actions),
            rewards=[0.0] * len(episode.actions),
            terminations=[False] * len(episode.actions),
            truncations=[False] * (len(episode.actions) - 1) + [True],
        )
        for episode in episodes()
    ]
    dataset = minari.create_dataset_from_buffers(
        "toy/ball-v0",
        buffers,
        observation_space=gymnasium.spaces.Dict({"ball": space}),
        action_space=gymnasium.spaces.Box(-1, 1, (1,), np.float32),
        data_format="arrow",
        algorithm_name="none",
        author="nobody",
        author_email="nobody@example.org",
        code_permalink="none",
        description="a test",
        requirements=[],
    )
    made = from_minari(dataset, outcome="ball")
    assert made.outcome.tolist() == [[2, 3], [4, 5], [6, 7], [2, 3], [4, 5]]
    assert from_minari("toy/ball-v0", outcome="ball") == made
    with pytest.raises(DataError, match="Minari cannot load"):
        from_minari("toy/other-v0", outcome="ball")
