"""The house in figures: its rooms, the walks through it, circles and repetitions; of this tree and of an earlier one.

    python benchmarks/house.py                  this tree
    python benchmarks/house.py 44b86e6          that commit beside this tree

A **walk** counts the files of which a function runs: for `ask`, from `actcause ask rock-throwing` to the printed
answer; for `transition`, from a recorded row to the file that says what caused it (`actcause predict`); for `click`,
from the view Ask to the core and back: the files of the page, in the browser (the shortest way of imports from the
view to the server's interface), in the server and in its worker. What runs while modules are imported does not count.
Values that everybody speaks of (`VOCABULARY`: models and their text, questions, answers, transitions, headers of
files, layers of networks, budgets, errors) are not stations of a walk; the number in brackets counts them too.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
SHARED = 6  # lines in a row that make a repetition
VOCABULARY = {
    "answer", "arithmetic", "declarations", "equation", "errors", "expression", "facts", "logic", "model", "parser",
    "query", "ranges", "search", "text",
    "encode", "encoding", "header", "layers", "layout", "networks", "row_arrays", "transitions", "validate",
}  # fmt: skip
IRREGULAR = (
    "begun done drawn found gone given held kept known left made met said seen sent shown spent taken told written"
)
# The first word of a name; `tried` ends as the regular ones do, and these three are none.
PARTICIPLE = re.compile(rf"_?(?!embed|seed|speed)([a-z]+ed|{IRREGULAR.replace(' ', '|')})(_\w+)?")

# What every Python process of a walk runs first: a line for each file of the package of which a function is called.
TRACER = """
import os, sys, threading

LOG, GATE, BASE = os.environ.get("HOUSE_LOG"), os.environ.get("HOUSE_GATE"), os.environ.get("HOUSE_BASE")
seen = set()


def note(frame, event, argument):
    file = frame.f_code.co_filename
    if event != "call" or file in seen or not file.startswith(BASE) or not os.path.exists(GATE):
        return
    above = frame
    while above is not None:
        if above.f_code.co_filename == "<frozen importlib._bootstrap>":
            return  # what an import runs
        above = above.f_back
    seen.add(file)
    with open(LOG, "a") as log:
        log.write(file[len(BASE):] + "\\n")


if LOG:
    threading.setprofile(note)
    sys.setprofile(note)
"""


# -- what the sources say --------------------------------------------------------------------------


def count_rooms(package: Path) -> dict[str, tuple[int, int]]:
    """Return files and lines of each room; the modules of the top level are one."""
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path in sorted(package.rglob("*")):
        if path.suffix in {".py", ".js", ".css", ".html"}:
            inside = path.relative_to(package).parts
            room = rooms[f"{inside[0]}/" if len(inside) > 1 else "(top level)"]
            room[0] += 1
            room[1] += len(path.read_text(encoding="utf-8").splitlines())
    return {name: (files, lines) for name, (files, lines) in rooms.items()}


def list_classes_defined_twice(package: Path) -> list[str]:
    """Return the names of classes that more than one module defines at its top."""
    names = Counter(
        node.name
        for path in package.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    return sorted(name for name, count in names.items() if count > 1)


def list_participles(package: Path) -> list[str]:
    """Return the names of functions that are participles, public properties and methods included."""
    return sorted(
        node.name
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and PARTICIPLE.fullmatch(node.name)
    )


def count_repeated_lines(package: Path) -> int:
    """Return how many lines of code stand in a run of six or more that occurs elsewhere too."""
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path in package.rglob("*.py"):
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        code = [
            line for line in lines if line and not line.startswith(("#", "import ", "from ", '"""')) and len(line) > 1
        ]
        for at in range(len(code) - SHARED + 1):
            places[tuple(code[at : at + SHARED])].append((path, at))
    repeated = {
        (path, at + k) for found in places.values() if len(found) > 1 for path, at in found for k in range(SHARED)
    }
    return len(repeated)


def list_modules_in_circles(tree: Path) -> list[str]:
    """Return the modules that import each other in a circle, imports inside functions counted."""
    printed = run_python(tree, str(HERE / "tests" / "import_graph.py"))
    return [module for group in json.loads(printed) for module in group]


# -- walks -----------------------------------------------------------------------------------------


def run_python(tree: Path, *words: str, **more: str) -> str:
    """Run this Python on the sources of a tree and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1", **more}
    ran = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"house.py: {' '.join(words)[:200]} ended with {ran.returncode}: {ran.stderr[-500:]}")
    return ran.stdout


def call_command(*words: str) -> tuple[str, str]:
    """Return the words after `python` that run a command of ours, in no module of the package."""
    return "-c", f"import sys; from actcause.cli import main; sys.exit(main({list(words)!r}))"


def trace(tree: Path, folder: Path) -> dict[str, str]:
    """Return the environment in which processes note the files that they pass."""
    (folder / "sitecustomize.py").write_text(TRACER, encoding="utf-8")
    (folder / "log").write_text("")
    return {
        "PYTHONPATH": f"{folder}:{tree / 'src'}",
        "HOUSE_LOG": str(folder / "log"),
        "HOUSE_GATE": str(folder / "gate"),
        "HOUSE_BASE": f"{tree / 'src' / 'actcause'}/",
    }


def list_passed(folder: Path) -> list[str]:
    """Return the files that were noted, each once, in their order."""
    return list(dict.fromkeys((folder / "log").read_text().split()))


def walk_question(tree: Path) -> list[str]:
    """Return the files that `actcause ask rock-throwing` passes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = trace(tree, folder)
        (folder / "gate").touch()
        run_python(tree, *call_command("ask", "rock-throwing"), **environment)
        return list_passed(folder)


def walk_transition(tree: Path) -> list[str]:
    """Return the files that a recorded transition passes in `actcause predict`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, run, out = (str(folder / each) for each in ("rows.parquet", "run", "out.parquet"))
        run_python(tree, *call_command("collect", "1-in", "--frames", "3000", "--out", rows))
        few = ("--set", "steps=8", "--set", "distil_steps=4", "--set", "width=8")
        run_python(tree, *call_command("train", rows, "--out", run, "--no-tensorboard", *few))
        environment = trace(tree, folder)
        (folder / "gate").touch()
        run_python(tree, *call_command("predict", run, rows, "--out", out), **environment)
        return list_passed(folder)


def walk_click(tree: Path) -> list[str]:
    """Return the files that a question on the page passes: scripts of the browser, then the page's Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, **trace(tree, folder), "HOME": name, "XDG_DATA_HOME": name}
        words = [sys.executable, *call_command("serve", "--port", "0", "--no-open", "--json")]
        with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True, cwd=name) as server:
            try:
                assert server.stdout is not None
                url = json.loads(server.stdout.readline())["url"]
                address, _, token = url.partition("?token=")
                ask(address, token)  # a first question, so that workers are warm
                (folder / "gate").touch()
                ask(address, token)
                time.sleep(0.2)  # the worker's last line
                (folder / "gate").unlink()
            finally:
                server.terminate()
        python = [file for file in list_passed(folder) if file.startswith("page/")]
        return [*find_way_of_imports(tree / "src" / "actcause" / "page" / "static"), *python]


def ask(address: str, token: str) -> None:
    """Put the question of rock throwing as the page does."""
    question = {"text": "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH", "context": {"ST": 1, "BT": 1}}
    body = json.dumps({**question, "effect": "BS == 1"}).encode()
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    with urllib.request.urlopen(urllib.request.Request(f"{address}api/ask/answer", body, headers), timeout=60) as reply:
        assert len(json.load(reply)["answers"]) > 1


def find_way_of_imports(static: Path) -> list[str]:
    """Return the scripts on the shortest way of imports from the view Ask to the server's interface."""
    scripts = {path.resolve(): path.name for path in static.rglob("*.js")}
    start = min((path for path in scripts if path.name in {"ask.js", "view.js"} and "ask" in str(path)), key=str)
    ways = [[start]]
    for way in ways:
        for found in re.findall(r'from "(\.[^"]+)"', way[-1].read_text(encoding="utf-8")):
            path = (way[-1].parent / found).resolve()
            if path.name == "api.js":
                return [str(each.relative_to(static.resolve())) for each in (*way, path)]
            if path in scripts and all(path not in each for each in ways):
                ways.append([*way, path])
    raise SystemExit("house.py: the view Ask does not import api.js.")


# -- the table -------------------------------------------------------------------------------------


def measure(tree: Path) -> Iterator[tuple[str, str]]:
    """Yield a name and a figure for each row."""
    package = tree / "src" / "actcause"
    rooms = count_rooms(package)
    for name, (files, lines) in sorted(rooms.items()):
        yield f"room {name}", f"{files} files, {lines:,} lines"
    yield "package", f"{sum(f for f, _ in rooms.values())} files, {sum(n for _, n in rooms.values()):,} lines"
    python = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    yield "  of it Python", f"{len(python)} files, {sum(len(text.splitlines()) for text in python):,} lines"
    tests = [path.read_text(encoding="utf-8") for path in (tree / "tests").rglob("*.py")]
    yield "tests", f"{len(tests)} files, {sum(len(text.splitlines()) for text in tests):,} lines"
    for name, walk in (("ask", walk_question), ("transition", walk_transition), ("click", walk_click)):
        passed = walk(tree)
        stations = [file for file in passed if Path(file).stem not in VOCABULARY]
        yield f"walk {name}", f"{len(stations)} files ({len(passed)})"
        yield f"  of {name}", " ".join(stations)
    circles = list_modules_in_circles(tree)
    yield "modules in a circle", str(len(circles))
    twice = list_classes_defined_twice(package)
    yield "class names defined twice", f"{len(twice)} {' '.join(twice)}".strip()
    participles = list_participles(package)
    yield "functions named by a participle", str(len(participles))
    yield "  of these", " ".join(participles)
    yield "lines in repeated runs", str(count_repeated_lines(package))


def main() -> None:
    """Print the figures of this tree, and of a commit beside it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", help="an earlier commit to stand beside this tree")
    commit = parser.parse_args().commit
    columns = {"this tree": dict(measure(HERE))}
    if commit is not None:
        with tempfile.TemporaryDirectory() as name:
            tree = Path(name) / "tree"
            added = ["git", "-C", str(HERE), "worktree", "add", "--quiet", "--detach", str(tree), commit]
            subprocess.run(added, check=True)
            try:
                columns = {commit: dict(measure(tree)), **columns}
            finally:
                subprocess.run(["git", "-C", str(HERE), "worktree", "remove", "--force", str(tree)], check=True)
    for name in dict.fromkeys(row for column in columns.values() for row in column):
        for title, column in columns.items():
            print(f"{name:32} {title:12} {column.get(name, '-')}")


if __name__ == "__main__":
    main()
