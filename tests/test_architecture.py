"""The shape of the package: which room may know which, what an import pulls in, what is never called."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import actcause
from import_graph import MODULES, PATHS, ROOT, find_cycles, import_graph

# The rooms, in ranks: a room may import from those of earlier lines, lazily too, and from itself without a cycle.
RANKS = (
    {"errors", "_moved", "_version"},
    {"io", "parallel", "envs"},
    {"core", "worlds"},
    {"examples", "formats", "data"},
    {"questions", "learn"},
    {"reproduction", "rl"},
    {"cli", "page"},
    {"__init__", "__main__"},
)
# The one way up: the command line starts the page.
EXCEPTIONS = {("cli", "page")}
HEAVY = (
    "torch",
    "safetensors",
    "tensorboard",
    "gymnasium",
    "ray",
    "fastapi",
    "starlette",
    "uvicorn",
    "typer",
    "rich",
    "pysat",
    "pygame",
    "pyarrow",
    "plotly",
    "jax",
    "minigrid",
    "highway_env",
    "mujoco",
    "ale_py",
    "stable_baselines3",
)
MOST_LINES = 500
# One way for each thing: who may import what it is made with, and why where it is not the one place for it.
ONE_PLACE = {
    "rich.progress": {"cli/progress.py"},
    "multiprocessing": {
        "parallel/child_process.py",
        "parallel/processes.py",
        "page/server/child.py",  # a pipe to a process that `parallel` starts
        "page/server/warm_copies.py",  # copies of a process that has imported everything: a click must not wait
    },
    "concurrent.futures": set[str](),
    "torch.multiprocessing": set[str](),
    "tqdm": set[str](),
}
# Files are written whole by `io/atomic.py`; these open or move files themselves.
OWN_FILES = {
    "io/atomic.py",
    "io/journal.py",  # grows line by line
    "learn/run_recorder.py",  # the history of a training, which grows line by line
    "reproduction/store.py",  # records are added, never rewritten
    "reproduction/certify.py",  # what a process prints, in a folder that is thrown away
    "reproduction/canaries.py",  # what such a process hands back
    "page/data/routes.py",  # an upload is looked at before it gets a name, and never replaces a file
    "page/data/library.py",  # gives a finished file another name
}


def room(module: str) -> str:
    """Return the room that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def rank(name: str) -> int:
    for depth, names in enumerate(RANKS):
        if name in names:
            return depth
    raise AssertionError(f"{name} has no place in RANKS of {Path(__file__).name}; give it one")


def test_there_are_at_most_eight_ranks_and_every_room_has_one() -> None:
    assert len(RANKS) <= 8
    assert set().union(*RANKS) == {room(module) for module in MODULES}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_the_ranks_below_its_room(module: str) -> None:
    own = room(module)
    for imported in import_graph_once()[module]:
        other = room(imported)
        assert other in (own, "__init__") or rank(other) < rank(own) or (own, other) in EXCEPTIONS, imported


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert find_cycles(import_graph_once()) == []


@cache
def import_graph_once() -> dict[str, set[str]]:
    return import_graph()


def modules_after(statement: str) -> set[str]:
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stdout))


def test_importing_the_package_pulls_in_nothing_heavy() -> None:
    assert not modules_after("import actcause") & set(HEAVY)


def test_importing_the_package_leaves_for_later_what_most_questions_do_not_need() -> None:
    later = {f"actcause.{module}" for module in ("core.black_boxes", "core.explanations", "core.spaces", "examples")}
    modules_after(f"import sys, actcause\nassert not {later | {'actcause.formats'}} & set(sys.modules)")
    assert "urllib" not in modules_after("import actcause")


def test_every_public_name_is_found_when_it_is_asked_for() -> None:
    asked = "import actcause as ac\nassert all(hasattr(ac, name) and name in dir(ac) for name in ac.__all__)"
    modules_after(f"{asked}\nassert ac.explanations is ac.explanations\nassert not hasattr(ac, 'explanation')")


def test_the_command_line_starts_without_domains_and_recordings() -> None:
    modules_after("import sys, actcause.cli.app\nassert not {'actcause.data', 'actcause.envs'} & set(sys.modules)")


def test_asking_a_question_pulls_in_a_sat_solver_and_nothing_else_heavy() -> None:
    asked = (
        "import actcause as ac\n"
        "model = ac.Model.from_text('A\\nB = A')\n"
        "assert ac.is_cause(model, context='A=1', effect='B', event='A=1')"
    )
    assert modules_after(asked) & set(HEAVY) == {"pysat"}


@pytest.mark.parametrize("library", ONE_PLACE)
def test_there_is_one_place_for_each_thing(library: str) -> None:
    users = {inside(path) for path in PATHS if any(is_part(library, name) for name in list_imported(path))}
    assert users == ONE_PLACE[library]


def test_the_front_ends_leave_computing_with_networks_to_others() -> None:
    front_ends = [path for path in PATHS if inside(path).startswith(("cli/", "page/"))]
    users = {inside(path) for path in front_ends if any(is_part("torch", name) for name in list_imported(path))}
    assert users == {"cli/predict.py"}  # which asks whether it is installed


def test_files_are_written_whole_by_one_writer() -> None:
    assert {inside(path) for path in PATHS if writes_files_itself(path)} == OWN_FILES


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_part(library: str, name: str) -> bool:
    return name == library or name.startswith(f"{library}.")


@cache
def list_imported(path: Path) -> list[str]:
    """List what a module imports by its whole name, inside functions too."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def writes_files_itself(path: Path) -> bool:
    """Tell whether a module opens a file to write, or gives one another name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        owner, _, method = called.rpartition(".")
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        modes = [one.value for one in given if isinstance(one, ast.Constant)]
        if called in {"os.replace", "shutil.move"} or (owner and method in {"write_text", "write_bytes", "rename"}):
            return True
        if method == "open" and any(isinstance(mode, str) and re.fullmatch(r"[wax][+bt]*", mode) for mode in modes):
            return True
        if owner and method == "replace" and len(node.args) == 1 and not node.keywords:
            return True  # of a path; that of a text takes two
    return False


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_runs_text_as_code_or_loads_pickles(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"eval", "exec", "compile", "__import__", "builtins.eval", "builtins.exec"}
            assert not called.endswith(("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.loads"))
            assert not any(keyword.arg in ("allow_pickle", "shell") for keyword in node.keywords)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            assert not names & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short_enough_to_be_read_and_says_what_it_is(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source))
    assert len(source.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", actcause.__all__)
def test_a_public_name_exists_and_has_a_docstring(name: str) -> None:
    value = getattr(actcause, name)
    if isinstance(value, dict):
        assert all(type(entry).__doc__ for entry in value.values())
        return
    assert value.__doc__
    if inspect.isclass(value):
        assert value.__doc__ != value.__mro__[1].__doc__


def test_the_public_names_are_sorted_and_named_once() -> None:
    assert len(set(actcause.__all__)) == len(actcause.__all__)
    assert actcause.__version__
