"""Fault trees of the Open-PSA Model Exchange Format (version 2.0d).

A gate is a variable with an equation, a basic event is a root, a house event is a constant. Probabilities of basic
events that are plain numbers become the prior. Components are read with their private names. Event trees are left out;
groups of common causes and substitutions would change the trees, so files that have them are refused.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from ..core.arithmetic import OperatorChain
from ..core.expression import Expression, Name, Number
from ..core.logic import And, Compare, Not, Or
from ..core.parser import Declaration
from ..errors import ParseError, escape, suggest
from .declared_ranges import build_boolean
from .imported import Imported
from .names import describe_renaming, make_label, rename
from .xml_tree import Element, parse_xml

DEFINITIONS = {"define-gate": "gate", "define-basic-event": "basic-event", "define-house-event": "house-event"}
CONTAINERS = ("define-fault-tree", "define-component", "model-data")
REFUSED = {
    "define-CCF-group": "a group of common causes",
    "define-substitution": "a substitution",
    "define-extern-function": "an external function",
    "include": "an include of another file",
}
LEFT_OUT = ("define-event-tree", "define-initiating-event", "define-functional-event", "define-sequence", "define-rule")
ABOUT = ("label", "attributes")
EXOGENOUS = "exogenous"  # the attribute by which our own files mark what is never a cause
NUMBER = re.compile(r"[+-]?(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d{1,3})?")
MAX_NESTING = 40  # of one gate's formula, so that its text can be read back


def read_open_psa(text: str) -> Imported:
    """Read the fault trees of a file."""
    root = parse_xml(text)
    if root.tag != "opsa-mef":
        _fail(root, f"expected an Open-PSA file, whose root is <opsa-mef>, got <{escape(root.tag[:40])}>")
    return _PsaReader().read(root)


def _fail(element: Element, message: str) -> NoReturn:
    raise ParseError(message, line=element.line, column=element.column, source="")


@dataclass(frozen=True)
class _Definition:
    """A gate or event: its element, the path of what it stands in, and whether others may refer to it by its name."""

    element: Element
    inside: str
    public: bool

    @property
    def content(self) -> list[Element]:
        """What defines it: its children but for what is only said about it."""
        return [child for child in self.element.children if child.tag not in ABOUT]


class _PsaReader:
    """Collects definitions by their full path, then resolves what formulas refer to."""

    def __init__(self) -> None:
        self.defined: dict[str, _Definition] = {}  # by path
        self.by_name: dict[str, list[str]] = {}
        self.parameters: dict[str, Fraction] = {}
        self.undefined: dict[str, None] = {}  # basic events that are only mentioned
        self.names: dict[str, str] = {}  # of model text, by path
        self.left_out = 0

    def read(self, root: Element) -> Imported:
        self._collect(root, "", public=True)
        if not any(one.element.tag == "define-gate" for one in self.defined.values()):
            _fail(root, "the file defines no gate; a fault tree needs at least one <define-gate>")
        for path in self.defined:
            self._formula(path)  # to see every event that is only mentioned
        paths = [*self.undefined, *self.defined]
        shown = {path: self._short(path) for path in paths}
        names = rename(shown.values())
        self.names = {path: names[shown[path]] for path in paths}
        declarations = [
            Declaration(
                self.names[path],
                expression=self._formula(path) if path in self.defined else None,
                exogenous=path in self.defined and _is_exogenous(self.defined[path].element),
                label=self._label(path, shown[path], names),
            )
            for path in paths
        ]
        prior = {self.names[path]: share for path in self.defined if (share := self._prior(path)) is not None}
        trees = [tree.attributes.get("name", "") for tree in root.find("define-fault-tree")]
        return Imported(build_boolean(declarations), ", ".join(trees), prior, tuple(self._notes(names, prior)))

    def _notes(self, names: dict[str, str], prior: dict[str, dict[int, Fraction]]) -> list[str]:
        notes = list(describe_renaming(names))
        events = [(path, one) for path, one in self.defined.items() if one.element.tag == "define-basic-event"]
        unknown = [path for path, one in events if one.content and self.names[path] not in prior]
        if self.undefined:
            notes.append(f"Basic events that are mentioned and not defined, and so roots: {len(self.undefined):,}.")
        if unknown:
            notes.append(f"Probabilities that are no plain numbers, and so left out: {len(unknown):,}.")
        if self.left_out:
            notes.append("Event trees were left out; only fault trees are read.")
        return notes

    # -- definitions ---------------------------------------------------------------------------

    def _collect(self, element: Element, path: str, public: bool) -> None:
        for child in element.children:
            visible = child.attributes.get("role", "public" if public else "private") == "public"
            if child.tag in REFUSED:
                _fail(child, f"the file has {REFUSED[child.tag]} (<{child.tag}>), which is not read")
            elif child.tag in LEFT_OUT:
                self.left_out += 1
            elif child.tag == "define-parameter":
                self._collect_parameter(child)
            elif child.tag in CONTAINERS:
                self._collect(child, path if child.tag == "model-data" else _join(path, _name_of(child)), visible)
            elif child.tag in DEFINITIONS:
                self._define(child, path, visible)
            elif child.tag not in ABOUT:
                _fail(child, f"expected a definition, got <{escape(child.tag[:40])}>")

    def _define(self, element: Element, path: str, public: bool) -> None:
        name = _name_of(element)
        full = _join(path, name)
        known = self.by_name.get(name, ())
        if full in self.defined or (public and any(self.defined[other].public for other in known)):
            _fail(element, f"{name} is defined twice")
        self.defined[full] = _Definition(element, path, public)
        self.by_name.setdefault(name, []).append(full)

    def _collect_parameter(self, element: Element) -> None:
        share = _number(element)
        if share is not None:
            self.parameters[_name_of(element)] = share

    def _short(self, path: str) -> str:
        """Shorten a path to its last name where no other definition has the same."""
        name = path.rpartition(".")[2]
        return name if path in self.undefined or len(self.by_name.get(name, ())) < 2 else path

    def _label(self, path: str, shown: str, names: dict[str, str]) -> str | None:
        labels = (child.text for child in self.defined[path].element.find("label")) if path in self.defined else ()
        label = next((made for text in labels if (made := make_label(text)) is not None), None)
        return label or (make_label(shown) if names[shown] != shown else None)

    def _prior(self, path: str) -> dict[int, Fraction] | None:
        element = self.defined[path].element
        if element.tag != "define-basic-event":
            return None
        share = _number(element)
        if share is None:
            named = [self.parameters.get(child.attributes.get("name", "")) for child in element.find("parameter")]
            share = named[0] if named else None
        if share is None:
            return None
        if not 0 <= share <= 1:
            _fail(element, f"the probability of {_name_of(element)} must be from 0 to 1; got {float(share):g}")
        return {0: 1 - share, 1: share}

    # -- formulas ------------------------------------------------------------------------------

    def _formula(self, path: str) -> Expression | None:
        element, given = self.defined[path].element, self.defined[path].content
        if element.tag == "define-basic-event":
            return None
        if element.tag == "define-house-event" and not given:
            return Number(0)  # what the format says of a house event without a value
        if len(given) != 1:
            _fail(element, f"expected one formula for {_name_of(element)}, got {len(given)}")
        return self._read(given[0], self.defined[path].inside, 0)

    def _read(self, element: Element, inside: str, depth: int) -> Expression:
        if depth > MAX_NESTING:
            _fail(element, f"a formula nested deeper than {MAX_NESTING} levels; define a gate for a part of it")
        if element.tag in ("event", "gate", "basic-event", "house-event"):
            path = self._resolve(element, inside)
            return Name(self.names.get(path, path))
        if element.tag == "constant":
            return Number(_truth(element))
        parts = [self._read(child, inside, depth + 1) for child in element.children]
        return _connect(element, parts)

    def _resolve(self, element: Element, inside: str) -> str:
        """Find what a reference means: the nearest definition around it, else the only one of that name."""
        name = _name_of(element)
        around = inside
        while True:
            if (full := _join(around, name)) in self.defined:
                return self._check_kind(element, full)
            if not around:
                break
            around = around.rpartition(".")[0]
        known = [path for path in self.by_name.get(name, ()) if self.defined[path].public]
        if known:
            return self._check_kind(element, known[0])
        if element.tag in ("gate", "house-event"):
            _fail(element, f"the {element.tag} {name} is not defined{suggest(name, list(self.by_name))}")
        self.undefined.setdefault(name)
        return name

    def _check_kind(self, element: Element, path: str) -> str:
        kind = DEFINITIONS[self.defined[path].element.tag]
        wanted = element.attributes.get("type", element.tag) if element.tag == "event" else element.tag
        if wanted not in ("event", kind):
            _fail(element, f"{_name_of(element)} is a {kind}, not a {escape(wanted[:40])}")
        return path


def _connect(element: Element, parts: list[Expression]) -> Expression:
    """Make the connective that an element stands for."""
    least, most = {"not": (1, 1), "imply": (2, 2), "iff": (2, 2), "xor": (2, 2)}.get(element.tag, (1, None))
    if len(parts) < least or (most is not None and len(parts) > most):
        _fail(element, f"<{escape(element.tag[:40])}> takes {least if most else 'at least one'}, got {len(parts)}")
    match element.tag:
        case "and":
            return _chain(And, parts)
        case "or":
            return _chain(Or, parts)
        case "not":
            return Not(parts[0])
        case "nand":
            return Not(_chain(And, parts))
        case "nor":
            return Not(_chain(Or, parts))
        case "xor":
            return Compare(_as_truth(parts[0]), "!=", _as_truth(parts[1]))
        case "iff":
            return Compare(_as_truth(parts[0]), "==", _as_truth(parts[1]))
        case "imply":
            return Or((Not(parts[0]), parts[1]))
        case "atleast":
            if (least_true := _integer(element, "min")) > len(parts):
                _fail(element, f"<atleast> asks for {least_true} of {len(parts)}")
            return _at_least(parts, least_true)
        case "cardinality":
            most_true = _integer(element, "max")
            return And((_at_least(parts, _integer(element, "min")), Not(_at_least(parts, most_true + 1))))
        case _:
            _fail(element, f"expected a formula, got <{escape(element.tag[:40])}>")


def _chain(kind: type[And] | type[Or], parts: list[Expression]) -> Expression:
    return kind(tuple(parts)) if len(parts) > 1 else parts[0]


def _as_truth(part: Expression) -> Expression:
    """Return a part of a comparison; a comparison inside one would read as a chain."""
    return And((part, part)) if isinstance(part, Compare) else part


def _at_least(parts: list[Expression], least: int) -> Expression:
    total = OperatorChain(parts[0], tuple(("+", part) for part in parts[1:])) if len(parts) > 1 else parts[0]
    return Compare(total, ">=", Number(least))


def _name_of(element: Element) -> str:
    name = element.attributes.get("name", "").strip()
    if not name:
        _fail(element, f"<{element.tag}> needs a name")
    return name


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_exogenous(element: Element) -> bool:
    """Return whether this file of ours marks an event that is never a cause."""
    marks = (mark for about in element.find("attributes") for mark in about.find("attribute"))
    return any(mark.attributes.get("name") == EXOGENOUS for mark in marks)


def _number(element: Element) -> Fraction | None:
    """Read the number that is all a definition gives; None where it gives something else."""
    given = [child for child in element.children if child.tag not in ABOUT]
    if len(given) != 1 or given[0].tag not in ("float", "int"):
        return None
    value = given[0].attributes.get("value", "")
    if not NUMBER.fullmatch(value):
        _fail(given[0], f"expected a number, got '{escape(value[:40])}'")
    return Fraction(value)


def _truth(element: Element) -> int:
    value = element.attributes.get("value", "")
    if value not in ("true", "false"):
        _fail(element, f"a constant is true or false, got '{escape(value[:40])}'")
    return int(value == "true")


def _integer(element: Element, attribute: str) -> int:
    value = element.attributes.get(attribute, "")
    if not (value.isdecimal() and value.isascii() and len(value) < 10):
        _fail(element, f"<{element.tag}> needs {attribute} as a whole number, got '{escape(value[:40])}'")
    return int(value)
