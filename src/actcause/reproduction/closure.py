"""Which code a function needs: names followed through the imports of a package, without importing anything.

Of an experiment's file, and of the `__init__.py` of a package, the statements count that define a needed name or what
these refer to; of any other module all. Imports inside functions count as those at the top do. Names that a package
imports only when they are asked for are found by its imports for type checkers, which name the same files.

Methods and domains are looked up by name while something runs, in `TABLES`. Of their entries those count whose key is
the name of a part that is used: a result of `jaci-em` in `push` depends on the entries "jaci-em" and "push", and so on
their files, but not on the other methods and domains, unless some file imports one. Where the entries are the names of
files, these are followed too.

What starts an experiment and keeps its results (`running.py`, `store.py`) does not count, nor what a package does when
it is imported besides defining names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from .syntax import Import, Statement, describe_statements, read_tree

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = "actcause"
ALL = "*"
# Where the tables are, and the package whose files their entries name, if they do.
TABLES = {
    (f"{ROOT}.learn.registry", "HOMES"): f"{ROOT}.learn.methods",
    (f"{ROOT}.envs", "DOMAINS"): None,
    (f"{ROOT}.worlds", "WORLDS"): None,
}
FILLED = (f"{ROOT}.examples",)  # packages whose files fill a table when they are imported: all of them count
IGNORED = f"{ROOT}._version"  # recordings and records name it, results do not depend on it


@cache
def digest_closure(package: Path, file: Path, name: str, parts: frozenset[str] = frozenset()) -> str:
    """Hash what a top-level name of a file needs where these parts are used: "method:jaci-em", "domain:push"."""
    code = sha256()
    for module, statements in sorted(find_closure(package, file, name, parts).items()):
        code.update(f"\n{module}\n".encode())
        for one in statements:
            code.update(one.digest)
    return code.hexdigest()[:16]


def find_closure(package: Path, file: Path, name: str, parts: Iterable[str] = ()) -> dict[str, tuple[Statement, ...]]:
    """List the statements that a top-level name of a file needs, by module; those of the file itself under ""."""
    used = frozenset(part.partition(":")[2] for part in parts)
    closure: dict[str, tuple[Statement, ...]] = {}
    names: dict[str, frozenset[str]] = {}
    wanted = [("", name)]
    while wanted:
        module, name = wanted.pop()
        known = names.get(module, frozenset())
        if known & {name, ALL} or module == IGNORED:
            continue
        names[module] = known | {name}
        path = _find_file(package, module) if module else file
        closure[module], found = _expand(package, path, module, names[module], used & _list_entries(path, module))
        wanted += found
    return closure


@cache
def _expand(
    package: Path, path: Path, module: str, names: frozenset[str], used: frozenset[str]
) -> tuple[tuple[Statement, ...], frozenset[tuple[str, str]]]:
    """Find the statements of a module that these names need, and the names of other modules that these import."""
    lazily = path.name == "__init__.py"
    kept = _select_statements(_read_statements(path, module, used), names, lazily)
    found = {each for one in kept for given in one.imports for each in _resolve(package, module, given, kept)}
    found |= {(filled, ALL) for filled in FILLED if f"{module}.".startswith(f"{filled}.")}
    return tuple(kept), frozenset(found)


def _select_statements(statements: Sequence[Statement], names: Iterable[str], lazily: bool) -> list[Statement]:
    """Select the statements that define these names or what they refer to; all if one of the names is not there."""
    usable = [one for one in statements if lazily or not one.for_types]
    defined: dict[str, list[Statement]] = {}
    for one in usable:
        for each in one.defines:
            defined.setdefault(each, []).append(one)
    if not defined.keys() >= set(names):
        return usable
    wanted, needed = list(names), set[str]()
    while wanted:
        name = wanted.pop()
        if name not in needed:
            needed.add(name)
            wanted += [used for one in defined.get(name, ()) for used, _ in one.uses]
    return [one for one in usable if one.defines & needed]


def _resolve(package: Path, importer: str, given: Import, kept: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """Find what an import brings in, as modules and names of them; nothing where it is of another package."""
    module = _make_absolute(package, importer, given.module)
    if module.split(".")[0] != ROOT:
        return
    if given.name is not None:
        inner = f"{module}.{given.name}"
        if not _is_module(package, inner) or (module != importer and _defines(package, module, given.name)):
            yield _name_in(package, module, given.name)
            return
        module = inner
    attributes = {attribute for one in kept for name, attribute in one.uses if name == given.alias}
    if None in attributes or not attributes:  # it is handed on
        yield module, ALL
    for attribute in attributes - {None}:
        yield _name_in(package, module, str(attribute))


def _make_absolute(package: Path, importer: str, module: str) -> str:
    name = module.lstrip(".")
    level = len(module) - len(name)
    if level == 0:
        return name
    parts = importer.split(".")
    up = level - 1 if _find_file(package, importer).name == "__init__.py" else level
    return ".".join([*parts[: len(parts) - up], *filter(None, [name])])


def _name_in(package: Path, module: str, name: str) -> tuple[str, str]:
    """Say what has to be looked at for a name of a module: it in a package, else a module whole."""
    if _find_file(package, module).name != "__init__.py":
        return module, ALL
    inner = f"{module}.{name}"
    return (inner, ALL) if _is_module(package, inner) and not _defines(package, module, name) else (module, name)


@cache
def _defines(package: Path, module: str, name: str) -> bool:
    statements = _read_statements(_find_file(package, module), module, frozenset())
    return any(name in one.defines for one in statements)


@cache
def _is_module(package: Path, module: str) -> bool:
    return _find_file(package, module).exists()


@cache
def _find_file(package: Path, module: str) -> Path:
    folder = package.joinpath(*module.split(".")[1:])
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


# -- tables ------------------------------------------------------------------------------------------


@cache
def _list_entries(path: Path, module: str) -> frozenset[str]:
    """List the keys of the tables of a module."""
    tables = _find_tables(read_tree(path), module) if module in {each for each, _ in TABLES} and path.exists() else ()
    return frozenset(str(key.value) for table, _ in tables for key in table.keys if isinstance(key, ast.Constant))


@cache
def _read_statements(path: Path, module: str, used: frozenset[str]) -> tuple[Statement, ...]:
    """Read a file; of its tables keep the entries of the parts that are used, and import the files that they name."""
    if not path.exists():  # an earlier tree need not have all that the canaries know
        return ()
    tree = read_tree(path)
    named = [one for table, folder in _find_tables(tree, module) for one in _keep_entries(table, folder, used)]
    return tuple(describe_statements([*tree.body, *named]))


def _find_tables(tree: ast.Module, module: str) -> Iterator[tuple[ast.Dict, str | None]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            if (module, target) in TABLES:
                yield from ((one, TABLES[module, target]) for one in ast.walk(node.value) if isinstance(one, ast.Dict))


def _keep_entries(table: ast.Dict, folder: str | None, used: frozenset[str]) -> Iterator[ast.stmt]:
    """Leave out the entries of other names, and import the files that the others name; what has no name stays."""
    entries = zip(table.keys, table.values, strict=True)
    kept = [(key, value) for key, value in entries if not isinstance(key, ast.Constant) or key.value in used]
    table.keys, table.values = [key for key, _ in kept], [value for _, value in kept]
    for value in table.values if folder is not None else ():
        file, *_ = ast.literal_eval(value)
        yield ast.Import([ast.alias(f"{folder}.{file}")])
