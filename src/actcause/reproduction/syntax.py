"""Code as text: syntax trees without docstrings, comments, types and layout, statement by statement.

The trees are written down by a walk of our own, since `ast.dump` differs between Pythons.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

SKIPPED = {"annotation", "ctx", "kind", "returns", "type_comment", "type_ignores"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Import:
    """An import of a module, or of a name from one; `..` in front as in the source."""

    module: str
    name: str | None
    alias: str


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a file: a digest of its text, and what it has to do with others."""

    digest: bytes
    defines: frozenset[str]
    uses: frozenset[tuple[str, str | None]]  # a name with its attribute, or by itself
    imports: tuple[Import, ...]  # those inside functions too
    for_types: bool  # read by type checkers alone


def read_tree(path: Path) -> ast.Module:
    """Parse a file. No tree is kept: with those of the whole package, collecting garbage takes as long as parsing."""
    return ast.parse(path.read_text(encoding="utf-8"))


def describe_statements(body: Sequence[ast.stmt], for_types: bool = False) -> Iterator[Statement]:
    """Describe the statements of a file in their order, those under `if TYPE_CHECKING` and imports one by one."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from describe_statements(node.body, for_types=True)
        elif isinstance(node, ast.ImportFrom) and len(node.names) > 1:
            ones = [ast.ImportFrom(node.module, [name], node.level) for name in node.names]
            yield from describe_statements(ones, for_types)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # a docstring
            defines, uses = frozenset(find_defined_names(node)), frozenset(find_uses(node))
            digest = sha256(write_tree(node).encode()).digest()
            yield Statement(digest, defines, uses, tuple(_find_imports(node)), for_types)


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


# -- names -------------------------------------------------------------------------------------------


def find_uses(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """Yield the names that a tree refers to, types left out."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield node.value.id, node.attr
        return
    if isinstance(node, ast.Name):
        yield node.id, None
    for name, value in ast.iter_fields(node):
        if name not in SKIPPED:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from find_uses(child)


def find_defined_names(statement: ast.stmt | ast.ExceptHandler) -> Iterator[str]:
    """Yield the names that a statement defines at the top of its file."""
    if isinstance(statement, Definition):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
    else:  # what stands inside `if` or `try`
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt | ast.ExceptHandler):
                yield from find_defined_names(child)


def _find_imports(tree: ast.AST) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(one.name, None, one.asname or one.name) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (Import(module, one.name, one.asname or one.name) for one in node.names)
