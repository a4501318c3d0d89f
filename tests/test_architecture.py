"""The shape of the package: which module may know which, what an import pulls in, what is never called."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import actcause

ROOT = Path(actcause.__file__).parent
PATHS = sorted(ROOT.rglob("*.py"))

# A module may import those of earlier lines. Packages count as one module.
LAYERS = (
    {"errors"},
    {"engines"},
    {"expression"},
    {"equation"},
    {"ranges"},
    {"model"},
    {"text", "answer", "counting", "examples"},
    {"statespace"},
    {"envs"},
    {"data"},
    {"learn"},
    {"annotation"},
    {"definitions"},
    {"solvers"},
    {"preimages"},
    {"functional", "checks", "vast"},
    {"find"},
    {"responsibility"},
    {"render"},
    {"sources", "output", "journal", "replay"},
    {"sweeps"},
    {"demo", "questions", "recordings", "learning", "reproduction"},
    {"page"},
    {"serving"},
    {"cli"},
    {"__init__", "__main__"},
)
# Imports inside functions that go against the layers, each for a reason.
LAZY = {
    ("model", "text"): "Model.from_text and to_text are how users expect to read and write a model",
    ("answer", "text"): "a query accepts its effect and its event as text",
    ("learn", "__init__"): "a saved run says which version wrote it",
    ("reproduction", "__init__"): "so does a result",
    ("statespace", "text"): "a state space accepts its outcome and its restriction as text",
}
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
)
# A catalogue is as long as what it lists.
LONG = {"examples"}
MOST_LINES = 800


def unit(path: Path) -> str:
    """The module, or the package, that a file belongs to."""
    inside = path.relative_to(ROOT)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def layer(name: str) -> int:
    for depth, names in enumerate(LAYERS):
        if name in names:
            return depth
    raise AssertionError(f"{name} has no place in LAYERS of {Path(__file__).name}; give it one")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(imported unit, whether the import runs when the module is imported); type checkers' imports left out."""

    def visit(node: ast.AST, runs: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for other in node.orelse:
                yield from visit(other, runs)
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            runs = False
        if isinstance(node, ast.Import):
            yield from ((alias.name, runs) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((name, runs) for name in _targets(node, path))
        for child in ast.iter_child_nodes(node):
            yield from visit(child, runs)

    for name, runs in visit(ast.parse(path.read_text(encoding="utf-8")), True):
        head, *tail = name.split(".")
        if head == "actcause":
            yield (tail[0] if tail else "__init__"), runs


def _targets(node: ast.ImportFrom, path: Path) -> list[str]:
    """The full names of what `from x import y` imports, as far as they are modules."""
    package = ["actcause", *path.relative_to(ROOT).parts[:-1]]
    base = package[: len(package) - node.level + 1] if node.level else []
    module = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
    if module != "actcause":
        return [module]
    return [f"actcause.{a.name}" if _is_module(a.name) else "actcause" for a in node.names]


def _is_module(name: str) -> bool:
    return (ROOT / f"{name}.py").exists() or (ROOT / name / "__init__.py").exists()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_the_layers_below_it(path: Path) -> None:
    own = unit(path)
    for imported, runs in imports(path):
        if imported in (own, "__init__") and (own == imported or layer(own) >= layer("cli")):
            continue  # its own package; or the version, which the command line prints
        allowed = layer(imported) < layer(own) or (not runs and (own, imported) in LAZY)
        assert allowed, f"{own} must not import {imported}"


def test_every_lazy_exception_is_in_use() -> None:
    used = {(unit(path), imported) for path in PATHS for imported, runs in imports(path) if not runs}
    assert set(LAZY) <= used


def test_the_layers_are_those_of_the_design() -> None:
    """`model <- text, answer <- definitions <- solvers <- preimages <- find <- cli, page`: no arrow back."""
    chain = [["model"], ["text", "answer"], ["definitions"], ["solvers"], ["preimages"], ["find"], ["cli", "page"]]
    depths = [{layer(name) for name in names} for names in chain]
    assert all(max(earlier) < min(later) for earlier, later in pairwise(depths))
    assert layer("model") < layer("statespace") < layer("preimages")


def modules_after(statement: str) -> set[str]:
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stdout))


def test_importing_the_package_pulls_in_nothing_heavy() -> None:
    assert not modules_after("import actcause") & set(HEAVY)


def test_asking_a_question_pulls_in_a_sat_solver_and_nothing_else_heavy() -> None:
    asked = (
        "import actcause as ac\n"
        "model = ac.Model.from_text('A\\nB = A')\n"
        "assert ac.is_cause(model, context='A=1', effect='B', event='A=1')"
    )
    assert modules_after(asked) & set(HEAVY) == {"pysat"}


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
    assert unit(path) in LONG or len(source.splitlines()) <= MOST_LINES


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
