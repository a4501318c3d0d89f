"""A folder with one experiment, as a clone has it: what tests of `actcause reproduce` share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actcause.cli import main
from letters import LETTERS


class Lab:
    """A folder with one experiment, as a clone has it."""

    def __init__(self, home: Path) -> None:
        self.home, self.results = home, home / "results"
        (home / "experiments").mkdir(parents=True)
        self.file = home / "experiments" / "letters.py"
        self.file.write_text(LETTERS)

    def change_code(self, old: str, new: str) -> Lab:
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

    @property
    def lines(self) -> Path:
        return self.results / "letters.jsonl"

    def records(self) -> list[dict[str, Any]]:
        if not self.lines.exists():
            return []
        whole = self.lines.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def there(self) -> str:
        """The letters that have results, in order, each as often as it has one."""
        return "".join(sorted(record["piece"]["letter"] for record in self.records()))

    def lose(self, letter: str) -> None:
        kept = [line for line in self.lines.read_text().splitlines() if json.loads(line)["piece"]["letter"] != letter]
        self.lines.write_text("".join(f"{line}\n" for line in kept))

    def state(self, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
        capsys.readouterr()
        assert self.ask("--json") == 0
        [found] = json.loads(capsys.readouterr().out)
        return found
