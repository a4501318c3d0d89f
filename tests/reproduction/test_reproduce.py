"""`actcause reproduce`: what is there is not run again, what is lost is one piece, what is wrong is one line."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from actcause.cli import main
from actcause.reproduction.catalogue import catalogue
from actcause.reproduction.fingerprint import ROOT, imported, parts_of
from actcause.reproduction.machine import machine, versions
from actcause.reproduction.plots import digest
from actcause.reproduction.running import Plan, execute

LETTERS = '''"""Letters: an experiment for tests."""

import time
from dataclasses import dataclass
from pathlib import Path

from actcause.reproduction import Experiment, Page, Plot

LOG = Path(__file__).parent / "log"


@dataclass(frozen=True)
class Arguments:
    letters: str = "abcd"
    factor: int = 2


@dataclass(frozen=True)
class Piece:
    letter: str
    number: int


def pieces(arguments):
    return [Piece(letter, 1) for letter in arguments.letters]


def settings(piece, arguments):
    return {"factor": arguments.factor}


def doubled(text, factor):
    return text * factor


def run(pack, arguments, device):
    for piece in pack:
        with LOG.open("a") as file:
            file.write(piece.letter)
    time.sleep(PAUSE)
    return [{"text": doubled(piece.letter, arguments.factor), "size": len(pack)} for piece in pack]


def page(results):
    # What is shown may change.
    said = " ".join(one.value["text"] for one in results.records)
    data = [len(one.value["text"]) for one in results.records]
    return Page(f"The letters: {said}", (Plot("letters", "Lengths", data, draw),))


def draw(figure, data):
    figure.add_subplot().bar(range(len(data)), data)


PAUSE = 0.0
EXPERIMENT = Experiment(
    name="letters", title="Letters", paper="Of no paper.", expected="1 s", arguments=Arguments(), quick=Arguments("ab"),
    tiny=Arguments("a"), pieces=pieces, settings=settings, run=run, page=page, uses=lambda piece: ("errors",),
    together=lambda piece: piece.number,
)
'''


class Lab:
    """A folder with one experiment, as a clone has it."""

    def __init__(self, home: Path) -> None:
        self.home, self.results = home, home / "results"
        (home / "experiments").mkdir(parents=True)
        self.file = home / "experiments" / "letters.py"
        self.file.write_text(LETTERS)

    def changed(self, old: str, new: str) -> Lab:
        """The same results beside other code: a file is read once in a process, so it needs a folder of its own."""
        other = Lab(self.home.with_name(self.home.name + "x"))
        assert old in LETTERS
        other.file.write_text(LETTERS.replace(old, new))
        if self.results.exists():
            self.results.rename(other.results)
        return other

    def ask(self, *words: str) -> int:
        return main(["reproduce", *words, "--experiments", str(self.file.parent)])

    @property
    def log(self) -> str:
        found = self.file.parent / "log"
        return found.read_text() if found.exists() else ""

    def there(self) -> list[str]:
        return sorted(path.name for path in (self.results / "letters").glob("*.json"))

    def state(self, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
        capsys.readouterr()
        assert self.ask("--json") == 0
        [found] = json.loads(capsys.readouterr().out)
        return found


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab")


def test_experiments_are_listed_with_their_state(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.ask() == 0
    assert "missing 4 of 4" in capsys.readouterr().out
    assert lab.ask("letters") == 0
    assert lab.state(capsys)["state"] == "done"
    assert lab.there() == ["a_1.json", "b_1.json", "c_1.json", "d_1.json"]


def test_a_result_says_how_it_was_made(lab: Lab) -> None:
    lab.ask("letters")
    record = json.loads((lab.results / "letters" / "a_1.json").read_text())
    assert record["value"] == {"text": "aa", "size": 1}
    assert record["piece"] == {"letter": "a", "number": 1}
    assert record["settings"] == {"factor": 2}
    assert set(record) == {
        "experiment", "piece", "settings", "value", "versions", "machine", "seconds", "commit", "code"
    }  # fmt: skip


def test_only_what_is_gone_is_run_again(lab: Lab) -> None:
    lab.ask("letters")
    (lab.results / "letters" / "c_1.json").unlink()
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
    assert lab.changed(old, new).state(capsys)["state"] == "done"


@pytest.mark.parametrize(
    ("old", "new"), [("text * factor", "factor * text"), ("factor: int = 2", "factor: int = 3"), ("'errors'", '"text"')]
)
def test_other_code_or_settings_make_results_stale(
    lab: Lab, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ask("letters")
    other = lab.changed(old.replace("'", '"'), new)
    assert other.state(capsys) | {"state": "stale", "stale": 4} == other.state(capsys)
    assert other.ask("letters", "--keep-stale") == 0
    assert other.log == ""
    assert other.ask("letters") == 0
    assert other.log == "abcd"


def test_pieces_can_be_chosen(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.ask("letters", "--only", "letter=b,d") == 0
    assert lab.log == "bd"
    assert lab.ask("letters", "--only", "leter=b") == 2
    assert "did you mean 'letter'?" in capsys.readouterr().err
    assert lab.ask("letters", "--only", "letter=z") == 2


def test_pieces_can_be_run_together(lab: Lab) -> None:
    assert lab.ask("letters", "--together", "3") == 0
    sizes = [json.loads((lab.results / "letters" / f"{one}_1.json").read_text())["value"]["size"] for one in "abcd"]
    assert sizes == [3, 3, 3, 1]


def test_a_time_budget_begins_nothing_new(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.ask("letters", "--max-seconds", "0") == 0
    assert lab.log == ""
    assert "not finished: letters" in capsys.readouterr().out


def test_a_run_that_is_told_to_stop_ends_between_two_packs(lab: Lab) -> None:
    plan = Plan.of(catalogue(lab.file.parent)["letters"], "full", lab.results)
    made = execute(plan, plan.todo(), together=2, enough=lambda: len(lab.log) >= 2)
    assert [len(records) for records in made] == [2]
    assert lab.there() == ["a_1.json", "b_1.json"]


def test_sizes_are_kept_apart(lab: Lab) -> None:
    assert lab.ask("--quick") == 0
    assert lab.log == "ab"
    assert (lab.results / "quick" / "letters" / "b_1.json").exists()
    assert "aa bb" in (lab.results / "quick" / "pages" / "letters.md").read_text()
    assert not (lab.results / "letters").exists()


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
    (lab.results / "letters" / "a_1.json").write_text("{")
    assert lab.ask("letters") == 2
    assert "a_1.json is not a result" in capsys.readouterr().err


# -- cut off -----------------------------------------------------------------------------------------


def started(lab: Lab, *more: str) -> subprocess.Popen[str]:
    """A run of slow pieces in a process of its own, cut loose once two of them are there."""
    words = ["-m", "actcause.reproduction", "letters", "--experiments", str(lab.file.parent), "--device", "cpu", *more]
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    until = time.monotonic() + 60
    while len(lab.there()) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    return process


def test_a_run_that_is_killed_loses_one_piece_at_most(lab: Lab) -> None:
    slow = lab.changed("PAUSE = 0.0", "PAUSE = 0.25")
    process = started(slow)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there, begun = len(slow.there()), len(slow.log)
    assert 2 <= there < 4
    assert begun - there <= 1
    assert slow.ask("letters") == 0
    assert len(slow.log) == 4 + begun - there
    assert len(slow.there()) == 4


def test_ctrl_c_ends_with_one_line_and_keeps_what_is_finished(lab: Lab) -> None:
    slow = lab.changed("PAUSE = 0.0", "PAUSE = 0.25")
    process = started(slow)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.startswith("actcause: stopped; what is finished is in")
    assert said.count("\n") == 1
    assert 2 <= len(slow.there()) < 4


# -- several workers ---------------------------------------------------------------------------------

MEASURED = {"seconds"}


def without_time(lab: Lab) -> dict[str, Any]:
    found = {path.name: json.loads(path.read_text()) for path in (lab.results / "letters").iterdir()}
    return {name: {key: record[key] for key in set(record) - MEASURED} for name, record in found.items()}


def test_results_are_the_same_however_many_workers_there_are(lab: Lab) -> None:
    # Sums depend on how many threads share them, so a result tells here how many it had.
    lab.file.write_text(
        LETTERS.replace('"size": len(pack)', '"size": len(pack), "threads": threads()')
        .replace('("errors",)', '("learn.masks",)')
        .replace("def run(", "def threads():\n    import torch\n\n    return torch.get_num_threads()\n\n\ndef run(")
    )
    before = torch.get_num_threads()
    assert lab.ask("letters") == 0
    alone = without_time(lab)
    assert {record["value"]["threads"] for record in alone.values()} == {1}
    assert torch.get_num_threads() == before
    for path in (lab.results / "letters").iterdir():
        path.unlink()
    assert lab.ask("letters", "--workers", "2") == 0
    assert without_time(lab) == alone
    assert sorted(lab.log) == sorted("abcd" * 2)


def test_a_pack_whose_worker_is_killed_is_run_again(lab: Lab) -> None:
    deadly = lab.changed("    time.sleep(PAUSE)", DEADLY)
    assert deadly.ask("letters", "--workers", "2", "--archive", str(deadly.home / "all.jsonl")) == 0
    assert deadly.there() == ["a_1.json", "b_1.json", "c_1.json", "d_1.json"]
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
    assert lab.there() == ["b_1.json", "d_1.json"]


def test_ctrl_c_ends_the_workers_too(lab: Lab) -> None:
    slow = lab.changed("PAUSE = 0.0", "PAUSE = 0.5")
    process = started(slow, "--workers", "2")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.startswith("actcause: stopped; what is finished is in")
    assert said.count("\n") == 1
    there, begun = len(slow.there()), len(slow.log)
    time.sleep(0.6)  # long enough for a worker that lived on
    assert (len(slow.there()), len(slow.log)) == (there, begun)
    assert slow.ask("letters", "--workers", "2") == 0
    assert len(slow.there()) == 4


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
    before = (lab.results / "letters" / "a_1.json").read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    capsys.readouterr()
    assert lab.ask("letters") == 2
    said = capsys.readouterr().err
    assert said == f"actcause: letters b_1: No space left on device: {lab.results / 'letters' / 'b_1.json'}.\n"
    assert [path.name for path in (lab.results / "letters").iterdir()] == ["a_1.json"]
    assert (lab.results / "letters" / "a_1.json").read_bytes() == before


def test_a_mistake_in_an_experiment_shows_where_it_is(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = lab.changed("text * factor", "text / factor")
    assert wrong.ask("letters") == 2
    said = capsys.readouterr().err
    assert "in doubled" in said
    assert said.splitlines()[-1].startswith("actcause: letters a_1: TypeError: ")


# -- results from elsewhere --------------------------------------------------------------------------


def test_results_travel_as_one_file(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "letters.jsonl"
    lab.ask("letters", "--archive", str(archive))
    elsewhere = tmp_path / "elsewhere"
    with archive.open("a") as file:
        file.write('{"experiment": "lett')  # the last line of a machine that was taken away
    assert lab.ask("--take", str(archive), "--results", str(elsewhere)) == 0
    assert "4 results taken" in capsys.readouterr().out
    assert sorted(path.name for path in (elsewhere / "letters").iterdir()) == lab.there()
    assert lab.ask("--take", str(archive), "--results", str(elsewhere), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"taken": 0, "kept": 4}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"piece": {"letter": "../../a", "number": 1}}, "no size of it has"),
        ({"settings": {"factor": 7}}, "no size of it has"),
        ({"experiment": "other"}, "Unknown experiment"),
        ({"seconds": "long"}, "wrong type"),
        ({"more": 1}, "is an object with"),
    ],
)
def test_a_file_with_anything_else_is_refused_whole(
    lab: Lab, tmp_path: Path, change: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, elsewhere = tmp_path / "letters.jsonl", tmp_path / "elsewhere"
    lab.ask("letters", "--archive", str(archive))
    record = json.loads(archive.read_text().splitlines()[0])
    with archive.open("a") as file:
        file.write(json.dumps({**record, **change}) + "\n")
    assert lab.ask("--take", str(archive), "--results", str(elsewhere)) == 2
    assert said in capsys.readouterr().err
    assert not elsewhere.exists()


@pytest.mark.parametrize("made_at", [None, "0123456789ab+changes"])
def test_a_commit_is_filled_in_where_the_code_is_the_same(lab: Lab, tmp_path: Path, made_at: str | None) -> None:
    subprocess.run(["git", "init", "-q", str(lab.home)], check=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(lab.home), *author, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    archive = tmp_path / "letters.jsonl"
    lab.ask("letters", "--only", "letter=a", "--archive", str(archive), "--results", str(tmp_path / "other"))
    record = json.loads(archive.read_text())
    assert record["commit"].endswith("+changes")
    archive.write_text(json.dumps({**record, "commit": made_at}) + "\n")
    lab.ask("--take", str(archive))
    assert json.loads((lab.results / "letters" / "a_1.json").read_text())["commit"] == record["commit"]


# -- pages -------------------------------------------------------------------------------------------


def test_pages_are_written_from_results_alone(lab: Lab, tmp_path: Path) -> None:
    lab.ask("letters", "--only", "letter=a,b")
    first, second = tmp_path / "first", tmp_path / "second"
    for docs in (first, second):
        assert lab.ask("--pages", "--docs", str(docs)) == 0
    text = (first / "letters.md").read_text()
    assert "The letters: aa bb" in text
    assert "2 of 4 pieces; the rest is missing" in text
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()
    assert f"data {digest([2, 2])}" in (first / "letters.svg").read_text()


def test_old_pictures_are_removed_and_those_of_others_are_not(lab: Lab, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    lab.ask("letters")
    lab.ask("--pages", "--docs", str(docs))
    (docs / "theirs.svg").write_text("<svg/>")
    for path in (lab.results / "letters").iterdir():
        path.unlink()
    lab.ask("--pages", "--docs", str(docs))
    assert {path.name for path in docs.glob("*.svg")} == {"theirs.svg"}


def test_writing_pages_from_stale_results_is_said(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab.ask("letters")
    assert lab.ask("--pages", "--docs", str(tmp_path / "docs")) == 0
    assert capsys.readouterr().err == ""
    other = lab.changed("text * factor", "factor * text")
    assert other.ask("--pages", "--docs", str(tmp_path / "docs")) == 0
    assert "letters shows 4 stale results of the full size" in capsys.readouterr().err


def test_an_experiment_without_results_has_a_page_that_says_so(lab: Lab, tmp_path: Path) -> None:
    lab.ask("--pages", "--docs", str(tmp_path / "docs"))
    assert "There are no results yet." in (tmp_path / "docs" / "letters.md").read_text()
    assert "missing" in (tmp_path / "docs" / "index.md").read_text()


# -- fingerprints and facts --------------------------------------------------------------------------


def test_a_module_brings_what_it_imports_and_no_other_method() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in imported(("learn.grad",))}
    assert {"learn/grad.py", "learn/forward.py", "learn/thresholds.py", "learn/session.py", "errors.py"} <= found
    assert not {"learn/attn.py", "learn/jaci_em.py", "learn/__init__.py", "cli.py"} & found


def test_a_file_is_followed_from_the_names_that_are_needed(lab: Lab) -> None:
    whole = "".join(parts_of(lab.file, ("run",)))
    assert "doubled" in whole
    assert "PAUSE" in whole
    assert "The letters" not in whole


def test_facts_name_no_host_and_no_path() -> None:
    facts = json.dumps([machine(), versions()])
    assert set(machine()) <= {"CPU", "cores", "GPU"}
    assert os.uname().nodename not in facts
    assert str(Path.home()) not in facts
