"""Digests of whole packages, by which the first records and certificates name their code.

Such a digest changes with every module, also with those that a result does not depend on; `closure.py` has the one
that records and certificates name now. Chains of certificates began with these, so a certificate for an earlier
commit joins that commit's digests of both kinds.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from .syntax import find_defined_names, find_uses, read_tree, write_tree

FRONT_ENDS = ("cli/", "page/", "reproduction/pages.py", "reproduction/plots.py", "reproduction/tables.py")


@cache
def digest_whole(package: Path, file: Path, needed: str) -> str:
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


def write_needed_parts(file: Path, name: str) -> list[str]:
    """Write the top-level statements of a file that define a name or what it refers to, in their order."""
    tree = read_tree(file)
    wanted, needed = {name}, set[str]()
    while wanted - needed:
        needed |= wanted
        kept = [one for one in tree.body if needed.intersection(find_defined_names(one))]
        wanted = {used for one in kept for used, _ in find_uses(one)}
    return [write_tree(one) for one in kept]
