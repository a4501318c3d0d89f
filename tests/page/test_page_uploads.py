"""A user's own data over HTTP: files come in whole or not at all, and their columns get a meaning."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from running import wait_for_job
from starlette.testclient import TestClient

from actcause.data import collect, load
from actcause.data.roles import build_mapping, guess_roles
from actcause.page.replay import findings
from actcause.page.server.app import build_application

ROWS = 200


def table(head="ball_x,paddle_x,ball_x_next,trial", rows=None):
    generator = np.random.default_rng(0)
    made = rows or [
        f"{a:.3f},{b:.3f},{a + (abs(a - b) < 1):.3f},{k // 20}" for k, (a, b) in enumerate(generator.random((ROWS, 2)))
    ]
    return "\n".join([head, *made, ""]).encode()


def send(client, name, content):
    return client.put(f"/api/data/files/{name}", content=content)


def roles(client, name):
    found = client.get(f"/api/data/files/{name}").json()
    return {key: found[key] for key in ("roles", "outcome", "own")}


def keep_mapping(client, name, asked):
    return client.post(f"/api/data/files/{name}/mapping", json=asked)


def test_a_table_comes_in_and_its_columns_are_described(client):
    found = send(client, "first.csv", table()).json()
    assert (found["name"], found["rows"], found["recognised"], found["ours"]) == ("first.csv", ROWS, False, False)
    column = found["columns"][0]
    assert (column["name"], column["type"], column["missing"]) == ("ball_x", "numbers", 0)
    assert 0 <= column["low"] < column["high"] <= 1
    assert found["columns"][3]["type"] == "whole numbers"


def test_the_meaning_of_columns_is_guessed_kept_and_used(client, settings):
    name = send(client, "guessed.csv", table()).json()["name"]
    asked = roles(client, name)
    assert asked["outcome"] == asked["own"] == "ball"
    found = keep_mapping(client, name, asked).json()
    assert (found["rows"], found["episodes"], found["outcome"]) == (ROWS, ROWS // 20, "ball")
    assert [factor["name"] for factor in found["factors"]] == ["ball", "paddle"]
    mapping = json.loads((settings.data / f"{name}.mapping.json").read_text())
    assert load(settings.data / name, mapping).factors == ("ball", "paddle")
    again = client.get(f"/api/data/files/{name}").json()
    assert again["recognised"]
    assert roles(client, name) == asked
    shown = client.post("/api/replay/episode", json={"source": {"file": name}}).json()
    assert shown["factors"] == ["ball", "paddle"]


def test_columns_of_text_are_categories(client, settings):
    doors = [
        "door,key,next_door",
        *(f"{('open', 'shut')[row % 2]},{row % 3},{('shut', 'open')[row % 2]}" for row in range(200)),
    ]
    name = send(client, "doors.csv", "\n".join(doors)).json()["name"]
    assert keep_mapping(client, name, roles(client, name)).status_code == 200
    found = load(settings.data / name, settings.data / f"{name}.mapping.json")
    assert found.metadata["categorical"] == ["door.value", "next.value"]
    assert set(found.read_text("door.value")) == {"open", "shut"}


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_arrays_of_states_come_in_and_their_parts_are_guessed(client, tmp_path, suffix):
    generator = np.random.default_rng(0)
    ball, paddle = generator.random((2, ROWS, 2))
    arrays = {"ball": ball, "paddle": paddle, "next_ball": ball + (ball < paddle)}
    path = tmp_path / f"arrays{suffix}"
    if suffix == ".npz":
        np.savez(path, **arrays)
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table({name: values.tolist() for name, values in arrays.items()}), path)
    looked = send(client, path.name, path.read_bytes()).json()
    assert [column["name"] for column in looked["columns"]][:3] == ["ball[0]", "ball[1]", "paddle[0]"]
    found = keep_mapping(client, looked["name"], roles(client, looked["name"])).json()
    assert (found["rows"], found["outcome"]) == (ROWS, "ball")
    assert [feature["name"] for feature in found["factors"][1]["features"]] == ["x0", "x1"]
    episode = client.post("/api/replay/episode", json={"source": {"file": looked["name"]}}).json()
    assert episode["state"][0][0] == pytest.approx(ball[0].tolist(), rel=1e-4)


def test_columns_named_as_ours_need_no_mapping(client):
    content = table("ball.x,paddle.x,next.ball.x,episode")
    found = send(client, "ours.csv", content).json()
    assert found["recognised"]
    assert client.get(f"/api/data/files/{found['name']}/summary").json()["outcome"] == "ball"


def test_one_of_our_recordings_says_itself_what_it_is(client, tmp_path):
    collect("push", 300, out=tmp_path / "push.parquet")
    found = send(client, "push.parquet", (tmp_path / "push.parquet").read_bytes()).json()
    assert found["ours"]
    assert found["rows"] == 300
    files = {one["name"]: one for one in client.get("/api/data/files").json()["recordings"]}
    assert files[found["name"]]["domain"] == "push"


def test_a_second_file_of_the_same_name_replaces_nothing(client, settings):
    first = send(client, "same.csv", table()).json()["name"]
    second = send(client, "same.csv", table(rows=["1,2,3,4"] * 3)).json()["name"]
    assert (first, second) == ("same.csv", "same-2.csv")
    assert (settings.data / first).read_bytes() == table()


@pytest.mark.parametrize("name", ["..%2f..%2fevil.csv", "..%5cevil.csv", "%2ftmp%2fevil.csv", ".hidden.csv"])
def test_a_file_lands_in_the_data_folder_whatever_it_is_called(client, settings, name):
    def list_tables() -> set[Path]:  # not all files: jobs of other tests may be writing theirs
        return {path for path in settings.data.parent.rglob("*.csv") if settings.data not in path.parents}

    before = list_tables()
    reply = send(client, name, table())
    if reply.status_code == 200:
        assert (settings.data / reply.json()["name"]).read_bytes() == table()
    assert list_tables() == before


def mistakes(tmp_path):
    path = tmp_path / "whole.parquet"
    collect("1-in", 300, out=path)
    whole = path.read_bytes()
    yield "short.parquet", whole[:-100], "short.parquet ends too early"
    yield "torn.parquet", whole[:50] + bytes(200) + whole[250:], "torn.parquet"
    yield "foreign.parquet", b"not a recording at all", "foreign.parquet is not a Parquet file."
    yield "bytes.csv", bytes(range(256)) * 40, "bytes.csv is neither Parquet, NPZ nor text in UTF-8"
    yield "empty.csv", b"", "The file is empty."
    yield "ragged.csv", table(rows=["1,2,3,4", "1,2"]), "ragged.csv cannot be read as CSV"
    yield "twice.csv", b"a,a\n1,2\n", "twice.csv has two columns called 'a'"
    yield "pickle.pkl", b"cos\nsystem\n", "'pickle.pkl' is not CSV or Parquet (nor NPZ): a recording ends in .parquet"


def test_a_file_that_cannot_be_used_is_refused_in_a_sentence_and_leaves_nothing(client, settings, tmp_path):
    before = sorted(path.name for path in settings.data.iterdir())
    for name, content, sentence in mistakes(tmp_path):
        reply = send(client, name, content)
        found = reply.json()["error"] if reply.status_code == 422 else None
        if found is None:  # damage in the middle shows when the rows are read
            assert name == "torn.parquet"
            continue
        assert found.startswith(sentence), (name, found)
        assert str(settings.data) not in found
    after = sorted(path.name for path in settings.data.iterdir())
    assert [name for name in after if not name.startswith("torn")] == before


def test_mistakes_in_the_meaning_are_said_in_a_sentence_and_nothing_is_kept(client, settings):
    name = send(client, "mistaken.csv", table()).json()["name"]
    asked = roles(client, name)

    def refuse(**changes):
        reply = keep_mapping(client, name, asked | changes)
        assert reply.status_code == 422
        return reply.json()["error"]

    def role(name, **changes):
        return [one | changes if one["column"] == name else one for one in asked["roles"]]

    assert refuse(own="bal").endswith("Unknown factor 'bal' (own); did you mean 'ball'?")
    assert refuse(outcome="") == "Say what is to be explained: choose the outcome."
    assert "besides the outcome's own 'ball'" in refuse(roles=role("paddle_x", role="none"))
    assert "choose one" in refuse(roles=role("paddle_x", factor="ball"))
    assert refuse(roles=role("paddle_x", factor="")) == "The column 'paddle_x' needs the name of its factor."
    assert refuse(roles=role("ball_x_next", feature="")) == "The column 'ball_x_next' needs the name of its feature."
    assert "There is no column 'nowhere'" in refuse(roles=role("paddle_x", column="nowhere"))
    assert refuse(roles=[]).startswith("No column is the state of a factor yet")
    assert not (settings.data / f"{name}.mapping.json").exists()


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["1,2,3,0", ",2,3,0"], "Column 'ball_x' has no value in row 2"),
        (["1,2,3,0", "1,2,nan,0"], "Column 'ball_x_next' has no value in row 2"),
        (["1,2,3,0", "1,inf,3,0"], "Column 'paddle_x' is infinite in row 2"),
        (["1,2,3,0", "1,many,3,0"], "Column 'paddle_x' must hold numbers. Got 'many' in row 2 instead; kinds"),
        (["1,2,3,0", "1,4,3,0"], "The outcome 'ball' never changes"),
    ],
)
def test_values_that_nothing_can_be_learned_from_are_named_with_their_row(client, rows, sentence):
    name = send(client, "values.csv", table(rows=rows)).json()["name"]
    reply = keep_mapping(client, name, roles(client, name))
    assert reply.status_code == 422
    assert sentence in reply.json()["error"]
    assert "/" not in reply.json()["error"]


def test_a_table_without_rows_is_refused(client):
    reply = send(client, "head.csv", b"ball_x,paddle_x,ball_x_next\n")
    assert reply.status_code == 422
    assert reply.json()["error"].startswith("head.csv has the names of columns, but no rows")
    assert "head.csv" not in {one["name"] for one in client.get("/api/data/files").json()["recordings"]}


def test_an_upload_is_bounded(client):
    declared = {"content-length": str(10**12)}
    reply = client.put("/api/data/files/huge.csv", content=b"a", headers=declared)
    assert reply.status_code == 413


def test_a_column_in_one_huge_page_is_refused_before_it_is_read(client, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 1 << 26
    huge = arrow.table({"ball_x_next": arrow.array(np.zeros(rows))})  # 512 MiB, less than what a row group may have
    bomb = tmp_path / "page.parquet"
    one_page = {"data_page_size": 1 << 30, "row_group_size": rows, "write_batch_size": rows, "use_dictionary": False}
    parquet.write_table(huge, bomb, compression="zstd", write_statistics=False, **one_page)
    del huge
    reply = send(client, "page.parquet", bomb.read_bytes())
    assert reply.status_code == 422
    assert reply.json()["error"].startswith("page.parquet is too large for the page: 512 MiB of one column")


def test_a_file_that_says_it_is_small_is_refused_too(client, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 1 << 26
    liar = tmp_path / "liar.parquet"
    one_page = {"data_page_size": 1 << 30, "row_group_size": rows, "write_batch_size": rows, "use_dictionary": False}
    table = arrow.table({"ball_x_next": arrow.array(np.zeros(rows))})
    parquet.write_table(table, liar, compression="zstd", write_statistics=False, **one_page)
    del table
    whole = liar.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    footer = whole[start:-8]
    said = write_varint(parquet.ParquetFile(liar).metadata.row_group(0).column(0).total_uncompressed_size)
    assert footer.count(said) > 0
    small = b"\x82" + b"\x80" * (len(said) - 2) + b"\x00"  # one byte, in as many
    liar.write_bytes(whole[:start] + footer.replace(said, small) + whole[-8:])
    assert parquet.ParquetFile(liar).metadata.row_group(0).column(0).total_uncompressed_size == 1
    reply = send(client, "liar.parquet", liar.read_bytes())
    assert reply.status_code == 422
    assert reply.json()["error"].startswith("liar.parquet is too large for the page: 512 MiB of one column")


def write_varint(number):
    """Write a whole number as the list of columns of a Parquet file does."""
    number, written = 2 * number, bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_before_it_is_read(client, settings, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 1 << 26
    column = arrow.array(np.zeros(rows))  # 512 MiB, in one page
    names = ("ball_x", "paddle_x", "ball_x_next")
    one_page = {"data_page_size": 1 << 30, "row_group_size": rows, "write_batch_size": rows, "use_dictionary": False}
    bomb = tmp_path / "bomb.parquet"
    parquet.write_table(
        arrow.table(dict.fromkeys(names, column)), bomb, compression="zstd", write_statistics=False, **one_page
    )
    del column
    assert bomb.stat().st_size < 1_000_000
    reply = send(client, "bomb.parquet", bomb.read_bytes())
    assert reply.status_code == 422
    assert reply.json()["error"].startswith("bomb.parquet is too large for the page: 1.5 GiB of it have to be unpacked")
    bomb.rename(settings.data / "bomb.parquet")  # it came in another way: jobs refuse it too
    try:
        begun = client.post("/api/runs", json={"source": {"file": "bomb.parquet"}, "name": "bombed"}).json()
        job = wait_for_job(client, begun["job"])
        assert job["error"].startswith("bomb.parquet is too large for the page")
        assert client.get("/api/data/files/bomb.parquet").status_code == 422
    finally:
        (settings.data / "bomb.parquet").unlink()
    assert not (settings.runs / "bombed").exists()


def test_a_link_that_leads_out_of_the_folder_is_refused(client, settings, tmp_path):
    (tmp_path / "secret.csv").write_bytes(table())
    links = {"out.csv": tmp_path / "secret.csv", "in.csv": settings.data / "linked-to.csv"}
    (settings.data / "linked-to.csv").write_bytes(table())
    for name, target in links.items():
        (settings.data / name).symlink_to(target)
    (settings.data / "mapped.csv").write_bytes(table())
    (settings.data / "mapped.csv.mapping.json").symlink_to(tmp_path / "elsewhere.json")
    listed = {one["name"] for one in client.get("/api/data/files").json()["recordings"]}
    assert "in.csv" in listed
    assert not listed & {"out.csv", "mapped.csv"}
    for reply in (
        client.get("/api/data/files/out.csv"),
        client.post("/api/replay/episode", json={"source": {"file": "out.csv"}}),
        client.post("/api/runs", json={"source": {"file": "out.csv"}}),
    ):
        assert (reply.status_code, "leads out" in reply.json()["error"]) == (403, True)
    (settings.data / "mapped.csv.mapping.json").unlink()


def test_a_full_folder_takes_nothing_more_in_and_says_so(settings, tmp_path):
    room = len(table()) + 100
    small = replace(settings, data=tmp_path, limits=replace(settings.limits, quota=room, workers=1))
    with TestClient(build_application(small), base_url="http://127.0.0.1:8000") as client:
        assert send(client, "one.csv", table()).status_code == 200
        second = send(client, "two.csv", table())
        unsaid = send(client, "three.csv", iter([table()]))
        (tmp_path / "more").write_bytes(bytes(200))
        full = send(client, "four.csv", table())
    assert [reply.status_code for reply in (second, unsaid, full)] == [507] * 3
    assert "no room for this file" in second.json()["error"]
    assert "is full" in full.json()["error"]
    assert all("--quota" in reply.json()["error"] for reply in (second, unsaid, full))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more", "one.csv"]


def test_the_first_rows_are_shown(client):
    found = send(client, "shown.csv", table(rows=["1,2,3,a", "4,5,6,b"])).json()
    assert found["first"] == [["1", "2", "3", "a"], ["4", "5", "6", "b"]]


def test_a_recording_is_renamed_with_its_mapping_and_deleted(client, settings):
    name = send(client, "before.csv", table()).json()["name"]
    assert keep_mapping(client, name, roles(client, name)).status_code == 200
    taken = send(client, "taken.csv", table()).json()["name"]
    assert client.post(f"/api/data/files/{name}/rename", json={"name": taken}).status_code == 409
    renamed = client.post(f"/api/data/files/{name}/rename", json={"name": "../after this.csv"}).json()["name"]
    assert renamed == "after-this.csv"
    assert client.get(f"/api/data/files/{renamed}").json()["mapped"]
    assert not list(settings.data.glob("before*"))
    assert client.delete(f"/api/data/files/{renamed}").json() == {"name": renamed}
    assert not list(settings.data.glob("after-this*"))
    assert client.delete(f"/api/data/files/{renamed}").status_code == 404


def test_what_was_found_comes_back_under_the_users_own_names(settings):
    name = "named.csv"
    (settings.data / name).write_bytes(table())
    guessed = guess_roles(["ball_x", "paddle_x", "ball_x_next", "trial"])
    mapping = build_mapping(guessed["roles"], guessed["outcome"], guessed["own"])
    (settings.data / f"{name}.mapping.json").write_text(json.dumps(mapping))
    run = settings.runs / "namer"
    (run / "found").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    load(settings.data / name, mapping).save(run / "found" / f"{name}.parquet")
    payload = {"data": str(settings.data), "runs": str(settings.runs), "run": "namer", "source": {"file": name}}
    findings.write_csv(payload)
    head = (run / "found" / "named.csv.csv").read_text().splitlines()[0].replace('"', "").split(",")
    assert {"ball_x", "paddle_x", "ball_x_next", "trial"} <= set(head)
    shutil.rmtree(run)


def test_a_spreadsheet_is_called_one(client, tmp_path):
    with zipfile.ZipFile(tmp_path / "sheet.xlsx", "w") as file:
        file.writestr("[Content_Types].xml", "<Types/>")
    sheet = (tmp_path / "sheet.xlsx").read_bytes()
    for name, content in (("sheet.csv", sheet), ("old.csv", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))):
        assert send(client, name, content).json()["error"] == (
            f"{name} is a spreadsheet, not CSV or Parquet: save the sheet as CSV."
        )
    assert "not CSV or Parquet" in send(client, "sheet.xlsx", sheet).json()["error"]


def test_a_body_that_is_no_meaning_is_refused(client):
    name = send(client, "body.csv", table()).json()["name"]
    for wrong in (
        {},
        {"roles": "all", "outcome": "ball"},
        {"roles": [{"column": "a", "role": "magic"}], "outcome": ""},
    ):
        assert keep_mapping(client, name, wrong).status_code == 422


def test_names_are_guessed_with_dots_underscores_and_words():
    found = guess_roles(
        ["red_ball_x", "wind", "next_red_ball_x", "cause.wind", "Episode", "extra.moved", "present_wind"]
    )
    assert [(one["role"], one["factor"], one["feature"]) for one in found["roles"]] == [
        ("state", "red_ball", "x"),
        ("state", "wind", "value"),
        ("next", "", "x"),
        ("cause", "wind", ""),
        ("episode", "", ""),
        ("none", "", ""),
        ("present", "wind", ""),
    ]
    assert found["outcome"] == found["own"] == "red_ball"


def test_without_columns_of_the_next_value_the_following_row_is_taken():
    asked = [{"column": "bx", "role": "state", "factor": "ball", "feature": "x"}]
    assert build_mapping(asked, "ball", None)["outcome"] == "ball"
