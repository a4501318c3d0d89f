"""A digest of the code that results come from: its syntax trees, without docstrings, comments, types and layout.

All modules of the package count, lazily imported ones too, but for the front ends, which no result depends on. Of an
experiment's file what `run` needs counts, by following names: the text of a page or the list of seeds can be changed.
The trees are written down by a walk of our own, since `ast.dump` differs between Pythons.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
FRONT_ENDS = ("cli/", "page/", "reproduction/pages.py", "reproduction/plots.py", "reproduction/tables.py")
SKIPPED = {"annotation", "ctx", "kind", "returns", "type_comment", "type_ignores"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def digest_code(package: Path, file: Path, needed: str) -> str:
    """Hash a package and what a top-level name of an experiment's file needs."""
    code = sha256(digest_package(package).encode())
    for part in write_needed_parts(file, needed):
        code.update(part.encode())
    return code.hexdigest()[:16]


@cache
def digest_package(package: Path) -> str:
    """Hash all modules of a package but the front ends."""
    code = sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith(FRONT_ENDS):
            code.update(f"\n{name}\n{write_tree(read_tree(path))}".encode())
    return code.hexdigest()[:16]


def read_tree(path: Path) -> ast.Module:
    """Parse a file. No tree is kept: with those of the whole package, collecting garbage takes as long as parsing."""
    return ast.parse(path.read_text(encoding="utf-8"))


# -- trees as text -----------------------------------------------------------------------------------


def write_tree(node: object) -> str:
    r"""Write a syntax tree as text that depends on neither layout, comments, docstrings nor the version of Python.

    >>> one, two = ast.parse("def f():\n  'It is one.'\n  return 1"), ast.parse("def f(): return 1  # one")
    >>> write_tree(one) == write_tree(two)
    True
    """
    if isinstance(node, ast.AST):
        return f"{type(node).__name__}({','.join(_write_fields(node))})"
    if isinstance(node, list):
        return f"[{','.join(map(write_tree, node))}]"
    return repr(node)


def _write_fields(node: ast.AST) -> Iterator[str]:
    for name, value in ast.iter_fields(node):
        if name in SKIPPED or value is None or value == []:
            continue
        if name == "body" and isinstance(node, Definition | ast.Module) and ast.get_docstring(node) is not None:
            value = value[1:]
        if name == "values" and isinstance(node, ast.JoinedStr):
            value = _join_texts(value)
        yield f"{name}={write_tree(value)}"


def _join_texts(values: list[ast.expr]) -> list[ast.expr]:
    """Make one text of neighbouring ones in an f-string."""
    joined: list[ast.expr] = []
    for value in values:
        if isinstance(value, ast.Constant) and joined and isinstance(joined[-1], ast.Constant):
            joined[-1] = ast.Constant(str(joined[-1].value) + str(value.value))
        else:
            joined.append(value)
    return [one for one in joined if not (isinstance(one, ast.Constant) and one.value == "")]


# -- what an experiment needs ------------------------------------------------------------------------


def write_needed_parts(file: Path, name: str) -> list[str]:
    """Write the top-level statements of a file that define a name or what it refers to, in their order."""
    tree = read_tree(file)
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for each in _find_defined_names(statement):
            defined.setdefault(each, []).append(statement)
    wanted, needed = [name], set[str]()
    while wanted:
        each = wanted.pop()
        if each not in needed and each in defined:
            needed.add(each)
            wanted += [used for statement in defined[each] for used in _find_used_names(statement)]
    kept = {id(statement) for each in needed for statement in defined[each]}
    return [write_tree(statement) for statement in tree.body if id(statement) in kept]


def _find_used_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a tree refers to, types left out."""
    if isinstance(node, ast.Name):
        yield node.id
    for name, value in ast.iter_fields(node):
        if name not in SKIPPED:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _find_used_names(child)


def _find_defined_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, Definition):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
