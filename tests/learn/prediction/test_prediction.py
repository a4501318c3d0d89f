"""Predicting recordings of any size: `predict` on several files, by several workers, cut off and begun again."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

import annotation
import killers
from actcause.cli import main
from actcause.data import Writer, collect, load
from actcause.data.writer import join_files
from actcause.learn import load as load_learner
from actcause.learn import make, predict_files, runs
from actcause.learn.prediction.files import PredictionError, pair_files
from actcause.learn.prediction.row_groups import add_predictions

pytestmark = pytest.mark.usefixtures("brief_surprises")

GROUP = 300  # rows


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("annotation") / "run"
    learner = make("jaci-em", steps=8, distil_steps=4, width=8, batch=32, device="cpu")
    runs.train(learner, collect("1-in", 500, seed=1), folder, tensorboard=False)
    return folder


def record(path, rows=700, seed=0, domain="1-in"):
    """A file with several row groups."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = collect(domain, rows, seed=seed)
    with Writer(path, data.layout, metadata={"domain": domain}, rows_per_group=GROUP) as writer:
        writer.append(data)
    return path


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """A folder with three files, one of them in a folder of its own."""
    folder = tmp_path_factory.mktemp("recorded")
    for seed, name in enumerate(("a", "b", "later/c")):
        record(folder / f"{name}.parquet", seed=seed)
    return folder


@pytest.fixture
def data(recordings, tmp_path):
    """A copy of that folder, for a test that may change it."""
    return shutil.copytree(recordings, tmp_path / "data")


def document(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def read_refusal(capsys, *arguments):
    """The one line that a command ends with, whose exit code is 2."""
    assert main(list(map(str, arguments))) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1, said.err
    assert "Traceback" not in said.err
    return said.err


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- what is written -------------------------------------------------------------------------------


def test_every_file_has_its_own_with_the_same_name_and_row_groups(run, data, capsys, tmp_path):
    said = document(capsys, "predict", run, data, "--out", tmp_path / "causes")
    assert sorted(contents(tmp_path / "causes")) == ["a.parquet", "b.parquet", "later/c.parquet"]
    assert (said["rows"], said["files"], said["annotated"], said["failed"]) == (2100, 3, 2100, {})
    assert said["per_second"] > 0
    for name in contents(data):
        before, after = (parquet.ParquetFile(folder / name) for folder in (data, tmp_path / "causes"))
        groups = [[file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] for file in (before, after)]
        assert groups == [[300, 300, 100]] * 2
        assert after.read(columns=before.schema_arrow.names).equals(before.read())
        added = set(after.schema_arrow.names) - set(before.schema_arrow.names)
        assert added == {"extra.found.a1", "extra.probability.a1", "extra.unsure"}


def test_a_file_is_annotated_alike_alone_and_among_others(run, data, capsys, tmp_path):
    document(capsys, "predict", run, data / "*.parquet", "--out", tmp_path / "causes")
    said = document(capsys, "predict", run, data / "a.parquet", "--out", tmp_path / "one.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "causes" / "a.parquet").read_bytes()
    found = load(tmp_path / "one.parquet")
    expected = load_learner(run).predict_proba(found)[:, found.factors.index("a1")]
    assert np.allclose(found.extra["probability.a1"], expected, atol=1e-6)
    assert said["rates"]["a1"] == pytest.approx(found.extra["found.a1"].mean())
    assert said["unsure"] == pytest.approx(found.extra["unsure"].mean())


def test_people_are_told_the_throughput(run, data, capsys, tmp_path):
    assert main(["predict", str(run), str(data), "--out", str(tmp_path / "causes")]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"2,100 transitions in {tmp_path / 'causes'}; found to be a cause: a1 ")
    assert said.endswith(" transitions a second.\n")


def test_two_workers_write_the_same_bytes_as_one(run, data, capsys, tmp_path):
    document(capsys, "predict", run, data, "--out", tmp_path / "one")
    document(capsys, "predict", run, data, "--out", tmp_path / "two", "--workers", 2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ray warns of itself
@pytest.mark.usefixtures("cluster")
def test_ray_writes_the_same_bytes(run, data, capsys, tmp_path):
    document(capsys, "predict", run, data, "--out", tmp_path / "one")
    broken(record(data / "z.parquet"))
    said = read_refusal(capsys, "predict", run, data, "--out", tmp_path / "two", "--workers", 2, "--engine", "ray")
    assert "z.parquet ends too early" in said
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_without_ray_its_engine_says_what_to_install(run, data, capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    said = read_refusal(capsys, "predict", run, data, "--out", tmp_path / "causes", "--engine", "ray")
    assert "pip install 'actcause[scale]'" in said


@pytest.mark.slow
def test_the_benchmark_finds_the_same_bytes_in_little_memory():
    figures = list(annotation.run(annotation.TINY))
    assert all(figure.right for figure in figures)
    assert all(figure.met for figure in figures if figure.unit == "MiB")


def test_a_row_group_too_large_for_memory_is_written_as_several(run, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("actcause.learn.prediction.row_groups.LARGEST", 200)
    monkeypatch.setattr("actcause.learn.prediction.row_groups.BATCH", 150)
    document(capsys, "predict", run, record(tmp_path / "a.parquet"), "--out", tmp_path / "found.parquet")
    file = parquet.ParquetFile(tmp_path / "found.parquet")
    assert [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] == [200, 100, 200, 100, 100]
    assert np.array_equal(load(tmp_path / "found.parquet").state, load(tmp_path / "a.parquet").state)


def test_tables_of_others_are_annotated_with_a_mapping(run, capsys, tmp_path):
    for seed in (0, 1):
        before = parquet.read_table(record(tmp_path / f"{seed}.parquet", seed=seed)).to_pandas()
        before.to_csv(tmp_path / f"{seed}.csv", index=False)
    said = document(capsys, "predict", run, tmp_path / "*.csv", "--out", tmp_path / "causes")
    assert (said["rows"], said["annotated"]) == (1400, 1400)
    found = [load(tmp_path / "causes" / f"{seed}.parquet") for seed in (0, 1)]
    assert all({"found.a1", "probability.a1", "unsure"} <= set(each.extra) for each in found)
    assert not list((tmp_path / "causes").glob(".*"))


# -- cut off and begun again -----------------------------------------------------------------------


def annotate_and_interrupt(run, data, out, after):
    """Annotate, and press Ctrl-C after so many calls about progress."""
    calls = []

    def interrupt(done, rows):
        calls.append(done)
        if len(calls) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_files(run, str(data), out, on_progress=interrupt)


@pytest.mark.parametrize("after", [1, 2, 4, 5])
def test_a_command_that_was_cut_off_goes_on_where_it_stopped(run, data, capsys, tmp_path, after):
    document(capsys, "predict", run, data, "--out", tmp_path / "whole")
    annotate_and_interrupt(run, data, tmp_path / "causes", after)
    there = contents(tmp_path / "causes")
    for name, content in there.items():  # under a final name there are whole files only
        if ".parts" not in name:
            assert content == contents(tmp_path / "whole")[name]
    before = sum((300, 300, 100, 300, 300)[:after])
    said = document(capsys, "predict", run, data, "--out", tmp_path / "causes")
    assert said["annotated"] == 2100 - before
    assert said["rows"] == 2100
    assert contents(tmp_path / "causes") == contents(tmp_path / "whole")


def test_finished_files_are_left_alone(run, data, capsys, tmp_path):
    document(capsys, "predict", run, data, "--out", tmp_path / "causes")
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "causes").rglob("*.parquet")}
    said = document(capsys, "predict", run, data, "--out", tmp_path / "causes")
    assert (said["rows"], said["annotated"]) == (2100, 0)
    assert {path: path.stat().st_mtime_ns for path in written} == written
    record(data / "b.parquet", seed=9)
    assert document(capsys, "predict", run, data, "--out", tmp_path / "causes")["annotated"] == 700
    assert document(capsys, "predict", run, data, "--hindsight", "--out", tmp_path / "causes")["annotated"] == 2100


def test_parts_of_another_run_are_not_taken_for_those_of_this_one(run, data, capsys, tmp_path):
    other = tmp_path / "other"
    runs.train(make("always"), collect("1-in", 500), other, tensorboard=False)
    annotate_and_interrupt(other, data, tmp_path / "causes", after=2)
    document(capsys, "predict", run, data, "--out", tmp_path / "causes")
    document(capsys, "predict", run, data, "--out", tmp_path / "whole")
    assert contents(tmp_path / "causes") == contents(tmp_path / "whole")


def test_a_file_says_what_its_answers_come_from(run, data, capsys, tmp_path):
    document(capsys, "predict", run, data / "a.parquet", "--out", tmp_path / "found.parquet")
    said = load(tmp_path / "found.parquet").metadata
    assert said["domain"] == "1-in"
    assert said["annotation"].items() >= {"method": "jaci-em", "from": "state", "device": "cpu"}.items()
    assert len(said["annotation"]["run"]) == len(said["annotation"]["input"]) == 32


# -- mistakes and faults ---------------------------------------------------------------------------


def broken(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    return "ends too early"


def damage(path):
    """A byte of the second row group is another."""
    at = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset + 60
    content = bytearray(path.read_bytes())
    content[at] ^= 255
    path.write_bytes(content)
    return "is damaged and cannot be read"


def other_layout(path):
    record(path, domain="push")
    return "must have the factors, features and outcome that were trained on"


def not_a_table(path):
    path.write_text("mine")
    return "is not a Parquet file"


@pytest.mark.parametrize("harm", [broken, damage, other_layout, not_a_table])
def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_being_finished(run, data, capsys, tmp_path, harm):
    document(capsys, "predict", run, data, "--out", tmp_path / "whole")
    sentence = harm(data / "a.parquet")
    said = read_refusal(capsys, "predict", run, data, "--out", tmp_path / "causes")
    assert sentence in said
    assert "a.parquet" in said
    wanted = contents(tmp_path / "whole")
    del wanted["a.parquet"]
    assert {name: content for name, content in contents(tmp_path / "causes").items() if ".parts" not in name} == wanted
    record(data / "a.parquet", seed=0)
    assert document(capsys, "predict", run, data, "--out", tmp_path / "causes")["annotated"] == 700
    assert contents(tmp_path / "causes") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["data/*.pq", "--out", "causes"], "No file matches 'data/*.pq'"),
        (["empty", "--out", "causes"], "No file matches 'empty'"),
        (["nowhere.parquet", "--out", "found.parquet"], "nowhere.parquet"),
        (["x" * 3000, "--out", "found.parquet"], "File name too long"),
        (["data/a.parquet", "--out", "x" * 250], "File name too long"),
        (["data", "--out", "data/causes"], "lies inside the input"),
        (["data/**/*.parquet", "--out", "data/causes"], "lies inside the input"),
        (["data/*.parquet", "--out", "data"], "lies inside the input"),
        (["data/a.parquet", "--out", "data/"], "is itself one of the files to read"),
        (["data/a.parquet", "data/b.parquet", "--out", "mine.txt"], "is a file"),
        (["data/a.parquet", "data/a.parquet", "--out", "causes"], "would both be written to"),
        (["data", "--out", "causes", "--workers", "0"], "'--workers'"),
        (["data", "--out", "causes", "--engine", "rya"], "did you mean 'ray'"),
        (["data", "--out", "causes", "--address", "here:1"], "--engine ray"),
        (["data", "--out", "causes", "--mapping", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_a_mistake_is_one_clear_line_and_changes_nothing(run, data, capsys, monkeypatch, tmp_path, words, sentence):
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text("mine")
    Path("empty").mkdir()
    before = contents(tmp_path)
    assert sentence in read_refusal(capsys, "predict", run, *words)
    assert contents(tmp_path) == before


def test_a_file_of_somebody_else_is_not_overwritten_by_several(run, data, capsys, tmp_path):
    (tmp_path / "causes").mkdir()
    (tmp_path / "causes" / "b.parquet").write_text("mine")
    assert "move it away" in read_refusal(capsys, "predict", run, data, "--out", tmp_path / "causes")
    assert contents(tmp_path / "causes") == {"b.parquet": b"mine"}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_place_that_cannot_be_written_to_is_one_line_and_loses_nothing(
    run, data, capsys, tmp_path, monkeypatch, code
):
    document(capsys, "predict", run, data, "--out", tmp_path / "whole")
    calls, write = [], os.fsync

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 5:  # three parts and a whole file, and a part
            raise OSError(code, os.strerror(code))
        write(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    said = read_refusal(capsys, "predict", run, data, "--out", tmp_path / "causes")
    assert f"Cannot write {tmp_path / 'causes' / 'b.parquet'}: {os.strerror(code)}; once that is put right" in said
    monkeypatch.undo()
    there = contents(tmp_path / "causes")
    assert there["a.parquet"] == (tmp_path / "whole" / "a.parquet").read_bytes()
    assert not [name for name in there if "partial" in name]
    assert document(capsys, "predict", run, data, "--out", tmp_path / "causes")["annotated"] == 1100
    assert contents(tmp_path / "causes") == contents(tmp_path / "whole")


def test_a_folder_that_cannot_be_made_is_one_line(run, data, capsys, tmp_path):
    (tmp_path / "mine").write_text("mine")
    assert "Cannot write" in read_refusal(capsys, "predict", run, data, "--out", tmp_path / "mine" / "causes")


# -- workers that are killed ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["local", pytest.param("ray", marks=[pytest.mark.ray, pytest.mark.slow])])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ray warns of itself
def test_a_row_group_that_kills_its_workers_is_named_and_the_other_files_are_finished(
    run, data, capsys, monkeypatch, request, tmp_path, name
):
    if name == "ray":
        request.getfixturevalue("cluster")
    document(capsys, "predict", run, data, "--out", tmp_path / "whole")
    command = ["predict", run, data, "--out", tmp_path / "causes"]
    with monkeypatch.context() as patch:
        patch.setattr("actcause.learn.prediction.predict.predict_group", killers.predict_group)
        said = read_refusal(capsys, *command, "--workers", 2, "--engine", name)
    assert said.startswith(f"actcause: {data / 'b.parquet'}, row group 1: Its worker ended before it did, 3 times")
    there = contents(tmp_path / "causes")
    assert {each for each in there if ".parts" not in each} == {"a.parquet", "later/c.parquet"}
    assert document(capsys, *command)["annotated"] <= 400
    assert contents(tmp_path / "causes") == contents(tmp_path / "whole")


# -- the parts put together ------------------------------------------------------------------------


def test_row_groups_put_together_are_read_by_everybody(tmp_path):
    tables = [
        arrow.table(
            {"x": np.random.default_rng(k).normal(size=1000), "k": np.full(1000, k), "even": [k % 2 == 0] * 1000}
        )
        for k in range(20)
    ]
    parts = [tmp_path / f"{k}.parquet" for k in range(20)]
    for table, path in zip(tables, parts, strict=True):
        parquet.write_table(table, path, row_group_size=600, write_page_checksum=True)
    whole = tmp_path / "whole.parquet"
    with whole.open("wb") as file:
        join_files(parts, file)
    expected = arrow.concat_tables(tables)
    file = parquet.ParquetFile(whole, page_checksum_verification=True)
    assert file.num_row_groups == 40
    assert file.read().equals(expected)
    assert file.read_row_group(39).equals(tables[-1].slice(600))
    assert polars.read_parquet(whole).to_arrow().equals(expected)
    [[total]] = duckdb.execute("SELECT sum(x) FROM read_parquet(?) WHERE k >= 18", [str(whole)]).fetchall()
    assert total == pytest.approx(sum(float(np.sum(table["x"])) for table in tables[18:]))


def test_names_go_below_the_folder_of_a_pattern(data, tmp_path):
    listed = pair_files([str(data / "**" / "*.parquet")], str(tmp_path / "causes"))
    assert [pair.target.relative_to(tmp_path / "causes").as_posix() for pair in listed] == [
        "a.parquet", "b.parquet", "later/c.parquet",
    ]  # fmt: skip
    shutil.copy(data / "a.parquet", data / "a[1].parquet")
    [pair] = pair_files([str(data / "a[1].parquet")], str(tmp_path / "found.parquet"))
    assert pair.source == data / "a[1].parquet"
    with pytest.raises(PredictionError, match="No file matches"):
        pair_files([str(data / "z*.parquet")], str(tmp_path / "causes"))


def test_a_method_that_needs_gradients_annotates_too():
    rows = collect("1-in", 1000)
    learner = make("grad", steps=10, width=8, device="cpu").fit(rows)
    assert "found.a1" in add_predictions(learner, rows).extra
