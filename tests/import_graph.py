"""Which module of the package imports which: read from the sources, imports inside functions included."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import actcause

try:
    from actcause import _HOMES as NAMES
    from actcause import _ROOMS as ROOMS
    from actcause.learn import _HOMES as FILES
    from actcause.learn.registry import HOMES
except ImportError:  # an earlier tree, which `benchmarks/house.py` measures: it imported without tables
    NAMES, ROOMS, FILES, HOMES = {}, ("envs", "learn"), {}, {}

ROOT = Path(actcause.__file__).parent
PATHS = sorted(ROOT.rglob("*.py"))


def module_name(path: Path) -> str:
    """Return the dotted name of a file's module; that of a package for its `__init__.py`."""
    parts = ["actcause", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in PATHS}

# Modules that are imported by `import_module`, where no import statement names them.
BY_TABLE = {
    "actcause": {f"actcause.{module}" for module in (*NAMES.values(), *ROOMS)},
    "actcause.formats": {name for name in MODULES if name.startswith("actcause.formats.")},
    "actcause.learn": {f"actcause.learn.{file}" for file in FILES},
    "actcause.learn.registry": {f"actcause.learn.methods.{file}" for file, _ in HOMES.values()},
}


def imported_modules(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, at once or lazily; type checkers' imports left out."""
    package = ["actcause", *path.relative_to(ROOT).parts[:-1]]

    def visit(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (name if (name := f"{module}.{a.name}") in MODULES else module for a in node.names)
        for child in ast.iter_child_nodes(node):
            yield from visit(child)

    return {name for name in visit(ast.parse(path.read_text(encoding="utf-8"))) if name in MODULES}


def import_graph() -> dict[str, set[str]]:
    """Return the imports of every module, those by a name in a table included."""
    return {name: (imported_modules(path) | BY_TABLE.get(name, set())) - {name} for name, path in MODULES.items()}


def find_cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or not (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            group, stack[at:] = stack[at:], []
            if len(group) > 1:
                groups.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return groups


if __name__ == "__main__":  # for `benchmarks/house.py`
    print(json.dumps(find_cycles(import_graph())))
