"""Every code block of README and docs runs, and prints what it shows.

The conventions, held by this file:

- `python` blocks of a page run in order and share a namespace. A `text` block straight after one is
  what it prints, exactly; a python block without one prints nothing.
- `console` blocks hold lines that start with `$`. `actcause` commands run in a terminal 80 characters
  wide, and the lines below one, if there are any, are what it prints (on stderr too; spaces at the end
  of a line do not count). `; echo $?` adds the exit code. `make`, `pip`, `git` and `cd` are not run,
  but a target of `make` must exist.
- `model` blocks parse. One with `title="NAME"`, or a python block with a title, is also a file that the page's commands
  can read.

When an answer is worded anew, `python tests/test_docs.py` puts what the blocks print into the pages. Read the
difference before you keep it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache, partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest

import actcause
from actcause import Model, examples
from actcause.cli import main
from actcause.cli.app import COMMANDS
from test_architecture import RANKS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
KINDS = {"python", "text", "console", "model", "bibtex"}
NOT_RUN = {"make", "pip", "git", "cd"}
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
EXIT_CODE = "; echo $?"
TERMINAL = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its kind, what is in it and what it is said to print."""

    page: Path
    line: int
    info: str
    source: str
    shown: str = ""

    @property
    def kind(self) -> str:
        return self.info.split(" ")[0]

    @property
    def title(self) -> str | None:
        found = re.search(r'title="([^"]+)"', self.info)
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


@dataclass
class Run:
    """A page that is being read from top to bottom; a block is run after those above it, once."""

    blocks: list[Block]
    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})
    printed: dict[int, str] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)  # lines of console blocks whose commands were run

    def output(self, block: Block) -> str:
        self.read_to(block)
        return self.printed[block.line]

    def read_to(self, block: Block) -> None:
        """Run the Python blocks up to this one: commands read files that these write."""
        for above in self.blocks:
            if above.kind == "python" and above.line <= block.line and above.line not in self.printed:
                self.printed[above.line] = ""  # a block that fails is not tried again for those below
                self.printed[above.line] = self._run(above)

    def _run(self, block: Block) -> str:
        """Run a block in the page's own folder: files that it writes are not left in the repository."""
        code = compile("\n" * block.line + block.source, str(block.page), "exec")
        out = StringIO()
        with chdir(self.folder), redirect_stdout(out):
            exec(code, self.names)
        return out.getvalue()


@cache
def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(text):
        block = Block(page, text.count("\n", 0, match.start()) + 1, match[1].strip(), match[2])
        straight_after = not text[end : match.start()].strip()
        if block.kind == "text" and found and found[-1].kind == "python" and straight_after:
            above = found.pop()
            block = Block(page, above.line, above.info, above.source, block.source)
        found.append(block)
        end = match.end()
    return found


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def of_kind(kind: str) -> Any:
    chosen = [block for block in BLOCKS if block.kind == kind]
    return pytest.mark.parametrize("block", chosen, ids=str)


def run_in(folder: Path, page: Path) -> Run:
    for block in blocks_of(page):
        if block.kind in ("model", "python") and block.title:
            (folder / block.title).write_text(block.source, encoding="utf-8")
    return Run(blocks_of(page), folder)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Run]:
    return {page: run_in(tmp_path_factory.mktemp("page"), page) for page in PAGES}


@of_kind("python")
def test_a_python_block_runs_and_prints_what_it_shows(block: Block, runs: dict[Path, Run]) -> None:
    assert runs[block.page].output(block) == block.shown


@of_kind("console")
def test_a_console_block_holds_commands_that_print_what_it_shows(block: Block, runs: dict[Path, Run]) -> None:
    commands = list(commands_of(block))
    assert commands, "a console block starts with '$ '"
    for command, shown in commands:
        program, *arguments = words_of(command)
        if program == "make":
            assert set(arguments) <= make_targets()
        elif program not in NOT_RUN:
            assert program == "actcause", f"{program} is no command that this test knows"
            ask_above(block, runs[block.page])
            printed = answer_of(command, runs[block.page].folder)
            if shown:
                assert printed == shown


def ask_above(block: Block, run: Run) -> None:
    """Run what stands above a console block and was not run in this process: its commands read files of theirs."""
    run.read_to(block)
    run.asked.add(block.line)
    for above in run.blocks:
        if above.kind == "console" and above.line < block.line and above.line not in run.asked:
            run.asked.add(above.line)
            for command, _ in commands_of(above):
                if words_of(command)[0] == "actcause":
                    answer_of(command, run.folder)


def commands_of(block: Block) -> list[tuple[str, list[str]]]:
    """Each command with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.source.splitlines():
        if line.startswith("$ "):
            found.append((line[2:].strip(), []))
        else:
            found[-1][1].append(line.rstrip())
    return [(command, trim(shown)) for command, shown in found]


def trim(lines: list[str]) -> list[str]:
    """Without the empty lines at both ends."""
    return "\n".join(lines).strip("\n").split("\n") if any(lines) else []


def words_of(command: str) -> list[str]:
    return shlex.split(command.removesuffix(EXIT_CODE), comments=True)


def answer_of(command: str, folder: Path) -> list[str]:
    out = StringIO()
    plain = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "GITHUB_ACTIONS")}
    terminal = patch.dict(os.environ, {**plain, **TERMINAL}, clear=True)
    with terminal, chdir(folder), redirect_stdout(out), redirect_stderr(out):
        code = main(words_of(command)[1:])
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return trim([*lines, *([str(code)] if command.endswith(EXIT_CODE) else [])])


def make_targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))


@of_kind("model")
def test_a_model_block_parses(block: Block) -> None:
    assert Model.from_text(block.source).variables


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert {block.kind for block in blocks_of(page)} <= KINDS
    assert text.count("```") == 2 * len(FENCE.findall(text)), "a fence is indented or not closed"


def navigation() -> set[str]:
    import yaml

    found: set[str] = set()
    stack = [yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]]
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            found.add(entry)
        else:
            stack.extend(entry.values() if isinstance(entry, dict) else entry)
    return found


def test_every_page_is_in_the_navigation() -> None:
    assert navigation() == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_to_files(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(prose):
        if not target.startswith(("https://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


def load_script(name: str) -> ModuleType:
    """Load a script of the docs, which are no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_gallery_shows_every_example() -> None:
    hooks = load_script("hooks")
    page = (DOCS / "examples.md").read_text(encoding="utf-8")
    hooks.MAX_STEPS, hooks.DEFINITIONS = 10, ("but-for",)  # what is found is not looked at here
    hooks.is_cause = partial(hooks.is_cause, max_steps=10)
    gallery = hooks.with_catalogue(page)
    assert hooks.MARKER in page
    assert hooks.MARKER not in gallery
    for name in examples.names():
        example = examples.load(name)
        assert example.story in gallery
        assert example.text in gallery


def test_every_public_name_has_its_place_in_the_reference() -> None:
    reference = "".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "api").glob("*.md")))
    documented = set(re.findall(r"^::: actcause\.(?:\w+\.)*(\w+)$", reference, re.MULTILINE))
    assert documented >= set(actcause.__all__)


def test_the_page_on_the_command_line_lists_every_command() -> None:
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `actcause ([a-z]+)\b.*?` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(command.__name__ for command in COMMANDS)


def test_the_map_names_files_that_are_there() -> None:
    page = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+(?:\w+\.(?:py|js))?)`", page)
    assert len(named) > 50
    package = Path(actcause.__file__).parent
    assert [
        name for name in named if "NAME" not in name and not any((at / name).exists() for at in (package, ROOT))
    ] == []


def test_the_picture_of_the_rooms_is_that_of_the_ranks() -> None:
    rooms = load_script("rooms")
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.draw(RANKS), "run: python docs/rooms.py"
    assert {room for rank in RANKS for room in rank if not room.startswith("_")} == {*rooms.ROOMS} - {"__init__"}


def test_the_readme_names_every_extra_that_all_brings() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    parts = re.fullmatch(r"actcause\[(.+)\]", *extras["all"])
    assert parts is not None
    table = re.findall(r"^\| (`.+?) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for cell in table for name in re.findall(r"`([a-z]+)`", cell)} == set(parts[1].split(","))


def glossary_terms() -> list[str]:
    headings = re.findall(r"^### (.+)$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [term for heading in headings for term in heading.split(", ")]


@cache
def words_elsewhere() -> str:
    """Read all code and all pages but the glossary, names split into words."""
    pages = [page for page in PAGES if page.name != "glossary.md"]
    files = [*pages, *(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.js")]
    return re.sub(r"[\s_-]+", " ", " ".join(file.read_text(encoding="utf-8").lower() for file in files))


@pytest.mark.parametrize("term", glossary_terms())
def test_a_term_of_the_glossary_is_used_elsewhere(term: str) -> None:
    assert re.search(rf"\b{term}", words_elsewhere())


def test_a_term_stands_once_in_the_glossary() -> None:
    assert len(set(glossary_terms())) == len(glossary_terms())


def rewritten(page: Path, folder: Path) -> str:
    """The page with what its blocks print now."""
    text = page.read_text(encoding="utf-8")
    run = run_in(folder, page)
    for block in blocks_of(page):
        if block.kind == "python":
            before, printed = f"{block.source}```\n\n```text\n", run.output(block)
            if block.shown:
                text = text.replace(f"{before}{block.shown}```", f"{before}{printed}```", 1)
        elif block.kind == "console":
            lines = []
            for command, shown in commands_of(block):
                lines += [f"$ {command}", *(answer_of(command, folder) if shown else [])]
            text = text.replace(block.source, "\n".join(lines) + "\n", 1)
    return text


def test_pages_are_written_anew_in_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, folder = tmp_path / "root", tmp_path / "folder"
    root.mkdir()
    folder.mkdir()
    monkeypatch.chdir(root)
    write = 'Path("tank.txt").write_text("A\\nB = A\\n")'
    page = root / "page.md"
    page.write_text(
        f"```python\nfrom pathlib import Path\n\n{write}\n```\n\n"
        "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n"
        "```console\n$ actcause ask tank.txt --context A=1 --effect B --event A=1 --json; echo $?\nold\n```\n"
    )
    text = rewritten(page, folder)
    assert "```text\n2\n```" in text
    assert '"holds": true' in text
    assert [path.name for path in root.iterdir()] == ["page.md"]


if __name__ == "__main__":
    for each in PAGES:
        with TemporaryDirectory() as folder:
            each.write_text(rewritten(each, Path(folder)), encoding="utf-8")
