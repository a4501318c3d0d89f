"""A fingerprint of the code that a result depends on: its syntax trees, without docstrings and comments.

Of an experiment's file what `run` needs counts, by following names: the text of a page or the list of seeds can be
changed without making results stale. Of the package the modules named count, and those that they import when they are
imported themselves, but for those that only read and write files: what an experiment learns from, it records itself.
The trees are written down by a walk of our own, since `ast.dump` differs between Pythons.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = {"annotation", "ctx", "kind", "returns", "type_comment", "type_ignores"}
FILES = {"data/parquet.py"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def fingerprint(file: Path, needed: tuple[str, ...], modules: tuple[str, ...]) -> str:
    """Of what a file's top-level names need, and of modules of this package (`learn.grad`) with their imports."""
    found = sha256()
    for part in parts_of(file, needed):
        found.update(part.encode())
    for path in sorted(imported(modules)):
        found.update(f"\n{path.relative_to(ROOT).as_posix()}\n{_whole(path)}".encode())
    return found.hexdigest()[:16]


# -- trees as text -----------------------------------------------------------------------------------


def written(node: object) -> str:
    r"""A syntax tree as text that depends on neither layout, comments, docstrings nor the version of Python.

    >>> one, two = ast.parse("def f():\n  'It is one.'\n  return 1"), ast.parse("def f(): return 1  # one")
    >>> written(one) == written(two)
    True
    """
    if isinstance(node, ast.AST):
        return f"{type(node).__name__}({','.join(_entries(node))})"
    if isinstance(node, list):
        return f"[{','.join(map(written, node))}]"
    return repr(node)


def _entries(node: ast.AST) -> Iterator[str]:
    for name, value in ast.iter_fields(node):
        if name in SKIPPED or value is None or value == []:
            continue
        if name == "body" and isinstance(node, Definition | ast.Module) and ast.get_docstring(node) is not None:
            value = value[1:]
        if name == "values" and isinstance(node, ast.JoinedStr):
            value = _joined(value)
        yield f"{name}={written(value)}"


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string with neighbouring texts as one."""
    found: list[ast.expr] = []
    for value in values:
        if isinstance(value, ast.Constant) and found and isinstance(found[-1], ast.Constant):
            found[-1] = ast.Constant(str(found[-1].value) + str(value.value))
        else:
            found.append(value)
    return [one for one in found if not (isinstance(one, ast.Constant) and one.value == "")]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _whole(path: Path) -> str:
    return written(_tree(path))


# -- what depends on what ----------------------------------------------------------------------------


@cache
def parts_of(file: Path, needed: tuple[str, ...]) -> tuple[str, ...]:
    """The top-level statements of a file that define these names or what they refer to, in their order."""
    tree = _tree(file)
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _names(statement):
            defined.setdefault(name, []).append(statement)
    wanted, seen = list(needed), set()
    while wanted:
        name = wanted.pop()
        if name in seen or name not in defined:
            continue
        seen.add(name)
        for statement in defined[name]:
            wanted += _used(statement)
    kept = {id(statement) for name in seen for statement in defined[name]}
    return tuple(written(statement) for statement in tree.body if id(statement) in kept)


def _used(node: ast.AST) -> Iterator[str]:
    """The names that a tree refers to, types left out."""
    if isinstance(node, ast.Name):
        yield node.id
    for name, value in ast.iter_fields(node):
        if name not in SKIPPED:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _used(child)


def _names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, Definition):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


@cache
def imported(modules: tuple[str, ...]) -> frozenset[Path]:
    """The files of these modules and of all that they import, directly or not, when they are imported."""
    found: set[Path] = set()
    wanted = [_file(module.split(".")) for module in modules]
    while wanted:
        path = wanted.pop()
        if path not in found and path.relative_to(ROOT).as_posix() not in FILES:
            found.add(path)
            wanted += _imports(path)
    return frozenset(found)


def _file(parts: list[str]) -> Path:
    path = ROOT.joinpath(*parts)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _imports(path: Path) -> list[Path]:
    package = list(path.relative_to(ROOT).parts[:-1])
    found = []
    for statement in _tree(path).body:  # not those of functions, nor those for type checkers
        if not isinstance(statement, ast.ImportFrom) or not statement.level:
            continue
        base = package[: len(package) - statement.level + 1] + (statement.module or "").split(".")
        base = [part for part in base if part]
        found += [_source(base, alias.name) for alias in statement.names]
    return [one for one in found if one.exists()]


def _source(base: list[str], name: str) -> Path:
    """The file that `from base import name` is about: a module, or the one from which a package has the name."""
    inside = _file([*base, name])
    if inside.exists():
        return inside
    package = _file(base)
    if package.name == "__init__.py":
        for statement in _tree(package).body:
            given = isinstance(statement, ast.ImportFrom) and statement.level == 1 and statement.module
            if given and name in _names(statement):
                return _file([*base, *given.split(".")])
    return package
