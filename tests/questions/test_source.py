"""Which model a name means: an example, a file or standard input, and what is refused."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from actcause.io import text_file

BOTTLE = "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH\n"
QUESTION = ("--context", "ST=1,BT=1", "--effect", "BS == 1")


def test_an_example_brings_its_own_question(as_json: Any) -> None:
    code, document = as_json("ask", "rock-throwing")
    assert code == 0
    assert document["effect"] == "BS == 1"
    assert [cause["event"] for cause in document["causes"]] == [{"ST": 1}, {"SH": 1}]


def test_the_question_of_an_example_can_be_replaced(as_json: Any) -> None:
    _, document = as_json("ask", "rock-throwing", "--context", "ST=0,BT=1")
    assert {"BT": 1} in [cause["event"] for cause in document["causes"]]


def test_a_model_can_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, as_json: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BOTTLE.encode())))
    code, document = as_json("ask", "-", *QUESTION)
    assert code == 0
    assert len(document["causes"]) == 2


def test_a_byte_order_mark_is_no_part_of_the_model(tmp_path: Path, as_json: Any) -> None:
    path = tmp_path / "bottle.txt"
    path.write_text(BOTTLE, encoding="utf-8-sig")
    assert as_json("ask", str(path), *QUESTION)[0] == 0


def test_a_directory_is_not_a_model(tmp_path: Path, mistake: Any) -> None:
    assert "is a directory" in mistake("ask", str(tmp_path))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("A # é\n".encode("latin-1"))
    assert "latin.txt is not UTF-8 text: byte 5" in mistake("ask", str(path))


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(text_file.MAX_BYTES + 1)
    assert "too large" in mistake("ask", str(path))


def test_a_file_that_may_not_be_read_is_refused(bottle: str, monkeypatch: pytest.MonkeyPatch, mistake: Any) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(text_file, "open", refuse, raising=False)  # root would be let in
    assert "cannot be read: Permission denied" in mistake("ask", bottle)


def test_a_mistake_in_a_model_names_the_file_the_line_and_the_column(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text("ST\nBS = ST or BX\n", encoding="utf-8")
    assert "wrong.txt, line 2, column 12: unknown variable 'BX'" in mistake("ask", str(path))


def test_a_cycle_in_a_model_is_one_clear_line(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "cycle.txt"
    path.write_text("A = B\nB = A\n", encoding="utf-8")
    assert "cycle" in mistake("ask", str(path))


def test_a_file_without_a_variable_is_named(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("# nothing\n", encoding="utf-8")
    assert "empty.txt: A model needs at least one variable" in mistake("ask", str(path))


def test_an_input_that_was_closed_is_a_mistake_like_any_other(monkeypatch: pytest.MonkeyPatch, mistake: Any) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in mistake("ask", "-")
