"""The commands about recordings."""

import json
import signal
import subprocess
import sys

import pytest

from actcause.cli import main
from waiting import wait_until


def document(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_domains_are_listed_with_their_factors_and_rates(capsys):
    listed = {domain["name"]: domain for domain in document(capsys, "domains")}
    assert {"1-in", "3-chain", "d-20", "tau-1", "push", "break", "mover-1d", "block-1d"} <= listed.keys()
    assert listed["push"]["outcome"] == "block"
    assert 0.07 < listed["push"]["rates"]["pusher"] < 0.11


def test_what_was_collected_can_be_described(tmp_path, capsys):
    out = tmp_path / "break.parquet"
    made = document(capsys, "collect", "break", "--frames", "3000", "--seed", "2", "--out", str(out))
    assert made["frames"] == 3000
    found = document(capsys, "describe", str(out))
    assert found["rows"] == 3000
    assert found["metadata"]["domain"] == "break"
    assert main(["describe", str(out)]) == 0
    assert "paddle" in capsys.readouterr().out


def test_the_same_seed_and_draw_give_the_same_bytes(tmp_path, capsys):
    files = [tmp_path / f"{name}.parquet" for name in "abc"]
    for out, draw in zip(files, ("7", "7", "8"), strict=True):
        assert main(["collect", "2-in", "--frames", "1000", "--seed", "1", "--draw", draw, "--out", str(out)]) == 0
    capsys.readouterr()
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes() != files[2].read_bytes()


def test_every_parameter_of_a_domain_can_be_set(tmp_path, capsys):
    out = str(tmp_path / "a.parquet")
    document(capsys, "collect", "push", "--frames", "500", "--set", "obstacles=5", "--set", "noise=0.1", "--out", out)
    known = document(capsys, "describe", out)["metadata"]
    assert (known["parameters"]["obstacles"], known["parameters"]["noise"]) == (5, 0.1)
    assert known["classes"]["obstacle5"] == "obstacle"
    document(capsys, "collect", "break", "--frames", "500", "--set", "paddle=[9, 3]", "--out", out)
    assert document(capsys, "describe", out)["metadata"]["parameters"]["paddle"] == [9, 3]
    graph = ("--set", "relations=wind, slope -> fire; rain -> fire", "--set", "outcome_name=fire", "--set", "rate=0.2")
    document(capsys, "collect", "1-in", "--frames", "5000", *graph, "--out", out)
    found = document(capsys, "describe", out)
    assert list(found["factors"]) == ["wind", "slope", "rain", "fire"]
    assert 0.17 < found["factors"]["rain"]["rate"] < 0.23


def test_a_csv_of_one_s_own_becomes_transitions_in_one_command(tmp_path, capsys):
    source, mapping, out = tmp_path / "mine.csv", tmp_path / "mine.json", tmp_path / "mine.parquet"
    source.write_text("hand,ball,ball_next\n" + "".join(f"{i % 3},{i},{i + i % 3}\n" for i in range(20)))
    factors = {"hand": ["hand"], "ball": ["ball"]}
    mapping.write_text(json.dumps({"factors": factors, "outcome": {"ball": ["ball_next"]}}))
    made = document(capsys, "convert", str(source), "--mapping", str(mapping), "--out", str(out))
    assert made["rows"] == 20
    assert list(document(capsys, "describe", str(out))["factors"]) == ["hand", "ball"]


def test_an_episode_becomes_a_film(tmp_path, capsys):
    recording, film = tmp_path / "push.parquet", tmp_path / "episode.gif"
    assert main(["collect", "push", "--frames", "2000", "--out", str(recording)]) == 0
    capsys.readouterr()
    made = document(capsys, "replay", str(recording), "--out", str(film))
    assert made["steps"] == 20
    assert film.read_bytes()[:3] == b"GIF"


def test_a_recording_without_pictures_is_not_filmed(tmp_path, capsys):
    recording, film = tmp_path / "own.parquet", tmp_path / "episode.gif"
    graph = ("--set", "relations=a1, a2 -> y; a3 -> y")
    assert main(["collect", "1-in", "--frames", "100", *graph, "--out", str(recording)]) == 0
    capsys.readouterr()
    assert main(["replay", str(recording), "--out", str(film)]) == 2
    assert "has no picture" in capsys.readouterr().err
    assert not film.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("collect", "brake", "--frames", "10"), "did you mean 'break'"),
        (("collect", "break", "--frames", "0"), "--frames"),
        (("collect", "push", "--frames", "10", "--policy", "wise"), "policy"),
        (("collect", "push", "--frames", "10", "--draw", "3"), "draw"),
        (("collect", "push", "--set", "obstakles=3"), "did you mean 'obstacles'"),
        (("collect", "push", "--set", "obstacles=2.5"), "must be 0 or more, an integer"),
        (("collect", "push", "--set", "obstacles"), "such as obstacles=5"),
        (("collect", "push", "--set", "obstacles=1000000"), "do not fit"),
        (("collect", "break", "--set", "size=3"), "must be two numbers, such as (30.0, 50.0)"),
        (("collect", "break", "--set", "blocks=100000"), "do not fit"),
        (("collect", "1-in", "--set", "relations=a1"), "written as 'a1, a2 -> y'"),
        (("collect", "1-in", "--set", "rate=2"), "strictly between 0 and 1"),
        (("describe", "no-such-file.parquet"), "no-such-file.parquet"),
        (("convert", "no-such-file.csv"), "no-such-file.csv"),
    ],
)
def test_a_mistake_is_one_clear_line(tmp_path, capsys, arguments, message):
    if arguments[0] != "describe":
        arguments = (*arguments, "--out", str(tmp_path / "out.parquet"))
    assert main(list(arguments)) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


def test_a_recording_that_is_stopped_leaves_nothing_behind(tmp_path):
    out = tmp_path / "long.parquet"
    command = [sys.executable, "-m", "actcause", "collect", "push", "--frames", "200000000", "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_until(lambda: process.poll() is not None or list(tmp_path.iterdir()))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_a_table_with_text_categories_and_past_frames_is_converted(tmp_path, capsys):
    rows = [f"1,{'open' if k % 3 else 'shut'},{k}" for k in range(9)]
    (tmp_path / "log.csv").write_text("\n".join(["run,door,x", *rows]))
    mapping = {
        "factors": {"door": {"state": "door"}, "hand": ["x"]},
        "outcome": "door", "episode": "run", "categorical": ["door"], "history": 1,
    }  # fmt: skip
    (tmp_path / "log.json").write_text(json.dumps(mapping))
    words = ["convert", str(tmp_path / "log.csv"), "--mapping", str(tmp_path / "log.json")]
    assert document(capsys, *words, "--out", str(tmp_path / "log.parquet"))["rows"] == 7
    found = document(capsys, "describe", str(tmp_path / "log.parquet"))
    assert found["metadata"]["categories"]["door.state@-1"] == ["open", "shut"]
    (tmp_path / "log.json").write_text(json.dumps({**mapping, "outcome": {"hand": ["x"]}}))
    assert main([*words, "--out", str(tmp_path / "no.parquet")]) == 2
    assert "is read from column 'x', which holds 'hand' before the step" in capsys.readouterr().err
    assert not (tmp_path / "no.parquet").exists()


# -- files of one's own ------------------------------------------------------------------------------


def write_table(path, head):
    rows = "".join(f"{n % 3},{n % 7},{n % 3 + n % 7}\n" for n in range(60))
    path.write_text(f"{head}\n{rows}")
    return str(path)


@pytest.mark.parametrize("name", ["x.csv", "x.JSON", "x.xlsx"])
def test_a_recording_is_not_written_under_the_name_of_another_format(tmp_path, mistake, name):
    said = mistake("collect", "1-in", "--frames", "100", "--out", str(tmp_path / name))
    assert said.endswith("recordings are Parquet files; call it x.parquet.")
    assert not list(tmp_path.iterdir())


def test_columns_are_guessed_as_the_page_does_and_the_guess_is_told(tmp_path, capsys):
    mine = write_table(tmp_path / "mine.csv", "ball_x,hand_x,ball_x_next")
    assert main(["describe", mine, "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (list(found["factors"]), found["outcome_factor"]) == (["ball", "hand"], "ball")
    assert printed.err == (
        "actcause: the columns of mine.csv were guessed: factors ball (x), hand (x); the outcome ball is in "
        "ball_x_next. --mapping FILE says otherwise.\n"
    )
    assert main(["convert", mine, "--out", str(tmp_path / "mine.parquet")]) == 0
    assert "60 transitions" in capsys.readouterr().out


def test_the_mapping_that_the_page_keeps_is_read(tmp_path, capsys):
    mine = write_table(tmp_path / "mine.csv", "a,b,c")
    mapping = {"factors": {"hand": {"x": "a"}, "ball": {"x": "b"}}, "outcome": {"ball": {"x": "c"}}, "episode": False}
    (tmp_path / "mine.csv.mapping.json").write_text(json.dumps(mapping))
    assert main(["describe", mine, "--json"]) == 0
    printed = capsys.readouterr()
    assert list(json.loads(printed.out)["factors"]) == ["hand", "ball"]
    assert "mine.csv.mapping.json says" in printed.err


def test_where_a_mapping_is_needed_its_option_and_its_json_are_named(tmp_path, mistake):
    mine = write_table(tmp_path / "mine.csv", "a,b,c")
    for command in (("describe", mine), ("convert", mine, "--out", str(tmp_path / "m.parquet"))):
        said = mistake(*command)
        assert 'give --mapping, in JSON such as {"factors": {"ball": ["bx", "by"]}' in said


def test_a_file_that_is_none_of_ours_is_told_in_plain_words(tmp_path, mistake):
    (tmp_path / "old.xls").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1"))
    assert "is a spreadsheet, not CSV or Parquet" in mistake("describe", str(tmp_path / "old.xls"))
    (tmp_path / "damaged.xlsx").write_bytes(b"PK\3\4 and nothing else")
    assert "is a spreadsheet, not CSV or Parquet" in mistake("describe", str(tmp_path / "damaged.xlsx"))
    (tmp_path / "sheet.csv").write_bytes(b"PK\3\4 and nothing else")
    assert "is a ZIP archive or a spreadsheet that was cut short" in mistake("describe", str(tmp_path / "sheet.csv"))
    (tmp_path / "torn.parquet").write_bytes(b"PAR1" + bytes(50) + b"\x10\x00\x00\x00" + b"PAR1")
    said = mistake("describe", str(tmp_path / "torn.parquet"))
    assert "thrift" not in said.lower()
    assert "is damaged and cannot be read (its list of columns is broken): copy or collect it again." in said
