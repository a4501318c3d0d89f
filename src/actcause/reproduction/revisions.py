"""The parts that results depend on, and the revision of each.

A part is the exact core (`exact`), a domain (`domain:push`) or a method (`method:jaci-em`). Whoever means to change
what a part gives adds a line to its `revisions`: results of earlier revisions are then stale. A change that is to
leave everything as it is adds none, and is certified by canaries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache

from .. import envs, worlds
from .closure import PACKAGE
from .experiment import ReproduceError
from .syntax import read_tree

# Definitions, solvers, preimages: all that is computed from a model.
EXACT = (
    "first recorded revision",
    "but-for asks that each variable of an event be otherwise, strong for necessity along every part of a network",
    "verdicts speak in plain words; witnesses of direct and strong leave out what bears on nothing",
)


def read_revisions(parts: Iterable[str]) -> dict[str, int]:
    """Look up the present revision of each part."""
    known = list_revisions()
    for part in parts:
        if part not in known:
            raise ReproduceError(f"A part is 'exact', 'domain:NAME' or 'method:NAME' of a known name. Got '{part}'.")
    return {part: known[part] for part in parts}


@cache
def list_revisions() -> dict[str, int]:
    """List every part's revision. Those of methods are read from their sources: importing them would need torch."""
    revisions = {"exact": len(EXACT)}
    revisions |= {f"domain:{name}": envs.make(name).revision for name in envs.names()}
    revisions |= {f"domain:{name}": worlds.make(name).revision for name in worlds.names()}
    for path in sorted((PACKAGE / "learn" / "methods").glob("*.py")):
        for node in read_tree(path).body:
            if isinstance(node, ast.ClassDef):
                given = {ast.unparse(one.target): one.value for one in node.body if isinstance(one, ast.AnnAssign)}
                method, lines = given.get("method"), given.get("revisions")
                if method is not None and lines is not None:
                    revisions[f"method:{ast.literal_eval(method)}"] = len(ast.literal_eval(lines))
    return revisions
