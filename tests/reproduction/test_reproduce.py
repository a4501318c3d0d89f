"""`actcause reproduce`: what is there is not run again, what is lost is one piece, what is wrong is one line."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from actcause.cli import main
from actcause.reproduction.catalogue import catalogue, choose
from actcause.reproduction.experiment import ReproduceError
from actcause.reproduction.machine import describe_machine, list_versions
from actcause.reproduction.revisions import EXACT
from actcause.reproduction.running import Plan, execute
from actcause.reproduction.store import append_lines, read_lines
from lab import Lab
from letters import LETTERS
from waiting import wait_until


def test_experiments_are_listed_with_their_state(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.ask() == 0
    assert "missing 4 of 4" in capsys.readouterr().out
    assert lab.ask("letters") == 0
    counts = {"done": 4, "current": 4, "certified": 0, "stale": 0, "missing": 0, "reasons": {}}
    assert lab.state(capsys) | counts | {"state": "done"} == lab.state(capsys)
    assert lab.there() == "abcd"
    assert lab.ask() == 0
    assert "done, 4 current" in capsys.readouterr().out


def test_a_result_says_how_it_was_made(lab: Lab) -> None:
    lab.ask("letters")
    record = lab.records()[0]
    assert record["value"] == {"text": "aa", "size": 1}
    assert record["piece"] == {"letter": "a", "number": 1}
    assert record["settings"] == {"factor": 2}
    assert record["revisions"] == {"exact": len(EXACT)}
    assert set(record) == {
        "experiment", "piece", "settings", "value", "versions", "machine", "seconds", "commit", "code", "revisions"
    }  # fmt: skip


def test_only_what_is_gone_is_run_again(lab: Lab) -> None:
    lab.ask("letters")
    lab.lose("c")
    assert lab.ask("letters") == 0
    assert lab.log == "abcdc"
    assert lab.ask("letters") == 0
    assert lab.log == "abcdc"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# What is shown may change.", "# It did."),
        ("The letters:", "Now:"),
        ('"""Letters: an', '"""Some letters: an'),
        ('letters: str = "abcd"', 'letters: str = "abc"'),
    ],
)
def test_pages_comments_and_lists_can_change_without_making_results_stale(
    lab: Lab, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ask("letters")
    other = lab.change_code(old, new)
    assert other.state(capsys)["state"] == "done"
    assert other.state(capsys)["certified"] == 0


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("text * factor", "factor * text", "code not certified: run `actcause reproduce --certify COMMIT`"),
        ("factor: int = 2", "factor: int = 3", "other settings"),
        ('("exact",)', '("exact", "domain:push")', "revision of domain:push was None, now 1"),
    ],
)
def test_other_code_or_settings_or_revisions_make_results_stale(
    lab: Lab, old: str, new: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ask("letters")
    other = lab.change_code(old, new)
    assert other.state(capsys) | {"state": "stale", "stale": 4, "reasons": {reason: 4}} == other.state(capsys)
    before = other.lines.read_bytes()
    assert other.ask("letters", "--keep-stale") == 0
    assert other.log == ""
    assert other.ask("letters") == 0
    assert other.log == "abcd"
    assert other.state(capsys)["state"] == "done"
    assert other.lines.read_bytes().startswith(before)


def test_pieces_can_be_chosen(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.ask("letters", "--only", "letter=b,d") == 0
    assert lab.log == "bd"
    assert lab.ask("letters", "--only", "leter=b") == 2
    assert "did you mean 'letter'?" in capsys.readouterr().err
    assert lab.ask("letters", "--only", "letter") == 2
    assert "Got 'letter'; a piece has letter" in capsys.readouterr().err
    assert lab.ask("letters", "--only", "letter=z") == 2
    assert "letter is one of a, b, c, d." in capsys.readouterr().err


def test_the_first_word_of_names_stands_for_all_of_them() -> None:
    known: dict[str, Any] = {name: name for name in ("rl", "mover", "mover_costs", "bonus_far", "bonus_near")}
    assert choose(known, ["bonus"]) == ["bonus_far", "bonus_near"]
    assert choose(known, ["mover", "bonus", "bonus_far"]) == ["mover", "bonus_far", "bonus_near"]
    with pytest.raises(ReproduceError, match="Unknown experiment 'bon'"):
        choose(known, ["bon"])


def test_pieces_can_be_run_together(lab: Lab) -> None:
    assert lab.ask("letters", "--together", "3") == 0
    assert [record["value"]["size"] for record in lab.records()] == [3, 3, 3, 1]


def test_a_time_budget_begins_nothing_new(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.ask("letters", "--max-seconds", "0") == 0
    assert lab.log == ""
    assert "not finished: letters" in capsys.readouterr().out


def test_a_run_that_is_told_to_stop_ends_between_two_packs(lab: Lab) -> None:
    plan = Plan.of(catalogue(lab.file.parent)["letters"], "full", lab.results)
    made = execute(plan, plan.todo(), together=2, enough=lambda: len(lab.log) >= 2)
    assert [len(records) for records in made] == [2]
    assert lab.there() == "ab"


def test_sizes_are_kept_apart(lab: Lab) -> None:
    assert lab.ask("--quick") == 0
    assert lab.log == "ab"
    assert len((lab.results / "quick" / "letters.jsonl").read_text().splitlines()) == 2
    assert "aa bb" in (lab.results / "quick" / "pages" / "letters.md").read_text()
    assert not lab.lines.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["leters"],
        ["letters", "--size", "huge"],
        ["--take", "nowhere.jsonl"],
        ["--experiments", "nowhere"],
        ["letters", "--results", "/dev/null"],
    ],
)
def test_a_mistake_is_one_line(lab: Lab, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--experiments", str(lab.file.parent), *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


def test_a_damaged_result_is_named(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.ask("letters")
    whole = lab.lines.read_text()
    for damage, said in (("{\n", "not JSON"), ("{}\n", "not a result"), (whole.replace('"letters"', '"x"'), "of x")):
        lab.lines.write_text(damage + whole)
        assert lab.ask("letters") == 2
        assert said in capsys.readouterr().err


def test_the_newest_result_that_is_good_counts_else_the_newest(lab: Lab, tmp_path: Path, capsys: Any) -> None:
    lab.ask("letters")
    [good] = [record for record in lab.records() if record["piece"]["letter"] == "a"]
    with lab.lines.open("a") as file:
        file.write(json.dumps({**good, "code": "0" * 16, "value": {"text": "newer"}}) + "\n")
    assert lab.state(capsys)["current"] == 4
    other = lab.change_code("text * factor", "factor * text")
    other.ask("--pages", "--docs", str(tmp_path / "docs"))
    assert "newer bb cc dd" in (tmp_path / "docs" / "letters.md").read_text()


# -- cut off -----------------------------------------------------------------------------------------


HELD = """    import os

    while pack[0].letter in "cd" and not LOG.with_name("go").exists():
        LOG.with_name(f"{os.getpid()}.held").touch()
        time.sleep(0.01)"""


def start(lab: Lab, *more: str, until: str) -> tuple[Lab, subprocess.Popen[str]]:
    """A run in a process of its own that holds at c and d, once it has begun these letters."""
    held = lab.change_code("    time.sleep(PAUSE)", HELD)
    words = ["-m", "actcause.reproduction", "letters", "--experiments", str(held.file.parent), "--device", "cpu", *more]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: sorted(held.log) == list(until))
    return held, process


def release(held: Lab) -> None:
    held.file.with_name("go").touch()


def test_a_run_that_is_killed_loses_one_piece_at_most(lab: Lab) -> None:
    held, process = start(lab, until="abc")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert held.there() == "ab"
    release(held)
    assert held.ask("letters") == 0
    assert (held.there(), held.log) == ("abcd", "abccd")


@pytest.mark.parametrize("rest", ['{"experiment": "lett', '{"experiment": "letters"}'[:-1] + " " * 70_000])
def test_a_line_that_was_cut_off_is_dropped_by_the_next_writer(lab: Lab, rest: str) -> None:
    lab.ask("letters", "--only", "letter=a,b")
    before = lab.lines.read_bytes()
    lab.lines.write_bytes(before + rest.encode())
    assert lab.ask("letters") == 0
    assert lab.log == "abcd"
    assert lab.there() == "abcd"
    assert lab.lines.read_bytes().startswith(before)


def test_a_whole_line_without_an_end_is_kept(lab: Lab) -> None:
    lab.ask("letters", "--only", "letter=a,b")
    lab.lines.write_bytes(lab.lines.read_bytes().rstrip(b"\n"))
    assert lab.ask("letters") == 0
    assert lab.log == lab.there() == "abcd"


def test_lines_of_many_writers_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"

    def append_many(number: int) -> None:  # each opens the file for itself, as processes do
        for _ in range(50):
            append_lines(path, [{"number": number, "text": "x" * 20_000}])

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(append_many, range(4)))
    assert sorted(given["number"] for _, given in read_lines(path)) == sorted([0, 1, 2, 3] * 50)


def test_ctrl_c_ends_with_one_line_and_keeps_what_is_finished(lab: Lab) -> None:
    held, process = start(lab, until="abc")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.startswith("actcause: stopped; what is finished is in")
    assert said.count("\n") == 1
    assert held.there() == "ab"


# -- several workers ---------------------------------------------------------------------------------

MEASURED = {"seconds"}


def without_time(lab: Lab) -> dict[str, Any]:
    return {one["piece"]["letter"]: {key: one[key] for key in set(one) - MEASURED} for one in lab.records()}


def test_results_are_the_same_however_many_workers_there_are(lab: Lab) -> None:
    # Sums depend on how many threads share them, so a result tells here how many it had.
    lab.file.write_text(
        LETTERS.replace('"size": len(pack)', '"size": len(pack), "threads": threads()')
        .replace('("exact",)', '("method:never",)')
        .replace("def run(", "def threads():\n    import torch\n\n    return torch.get_num_threads()\n\n\ndef run(")
    )
    before = torch.get_num_threads()
    assert lab.ask("letters") == 0
    alone = without_time(lab)
    assert {record["value"]["threads"] for record in alone.values()} == {1}
    assert torch.get_num_threads() == before
    lab.lines.unlink()
    assert lab.ask("letters", "--workers", "2") == 0
    assert without_time(lab) == alone
    assert sorted(lab.log) == sorted("abcd" * 2)


def test_a_pack_whose_worker_is_killed_is_run_again(lab: Lab) -> None:
    deadly = lab.change_code("    time.sleep(PAUSE)", DEADLY)
    assert deadly.ask("letters", "--workers", "2", "--archive", str(deadly.home / "all.jsonl")) == 0
    assert deadly.there() == "abcd"
    assert sorted(deadly.log) == list("abccd")
    lines = (deadly.home / "all.jsonl").read_text().splitlines()
    assert [json.loads(line)["piece"]["letter"] for line in lines] == list("abcd")


DEADLY = """    mark = LOG.with_name("mark")
    if pack[0].letter == "c" and not mark.exists():
        import os, signal

        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)"""


def test_workers_take_pieces_and_budgets_as_one_does(lab: Lab) -> None:
    assert lab.ask("letters", "--workers", "2", "--max-seconds", "0") == 0
    assert lab.log == ""
    assert lab.ask("letters", "--workers", "2", "--only", "letter=b,d") == 0
    assert sorted(lab.log) == ["b", "d"]
    assert lab.there() == "bd"


def test_ctrl_c_ends_the_workers_too(lab: Lab) -> None:
    held, process = start(lab, "--workers", "2", until="abcd")
    workers = [int(path.stem) for path in held.file.parent.glob("*.held")]
    assert workers
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.startswith("actcause: stopped; what is finished is in")
    assert said.count("\n") == 1
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
    assert held.there() == "ab"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--engine", "rai"], "did you mean 'ray'?"), (["--address", "10.0.0.1:6379"], "say --engine ray")],
)
def test_a_mistake_about_workers_is_one_line(
    lab: Lab, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lab.ask("letters", *words) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert lab.log == ""


def test_a_disk_that_is_full_is_one_line_and_keeps_what_is_there(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ask("letters", "--only", "letter=a")
    before = lab.lines.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    capsys.readouterr()
    assert lab.ask("letters") == 2
    said = capsys.readouterr().err
    assert said == f"actcause: letters b_1: No space left on device: {lab.lines}.\n"
    assert lab.lines.read_bytes() == before


def test_a_mistake_in_an_experiment_shows_where_it_is(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = lab.change_code("text * factor", "text / factor")
    assert wrong.ask("letters") == 2
    said = capsys.readouterr().err
    assert "in doubled" in said
    assert said.splitlines()[-1].startswith("actcause: letters a_1: TypeError: ")


# -- facts -------------------------------------------------------------------------------------------


def test_facts_name_no_host_and_no_path() -> None:
    facts = json.dumps([describe_machine(), list_versions()])
    assert set(describe_machine()) <= {"CPU", "cores", "GPU"}
    assert {"python", "numpy", "torch", "python-sat"} <= set(list_versions())
    assert os.uname().nodename not in facts
    assert str(Path.home()) not in facts
