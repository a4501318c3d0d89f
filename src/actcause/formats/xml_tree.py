"""XML from strangers, read safely: no entities, no DTD, nothing fetched, sizes bounded.

The parser is expat, which Python ships; no dependency is needed for what is refused here. A `<!DOCTYPE name>` that only
names the root is let through, since published Open-PSA files have it. One with declarations of its own or with an
address is refused: declarations are what a few bytes grow into gigabytes with, and addresses are what leaks files.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from ..errors import ParseError

MAX_ELEMENTS = 2_000_000
MAX_DEPTH = 200
MAX_ATTRIBUTE = 10_000  # characters


@dataclass(slots=True)
class Element:
    """An element: its tag, attributes, children, the text in it, and where it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def find(self, tag: str) -> Iterator["Element"]:
        """Yield the children of this tag."""
        return (child for child in self.children if child.tag == tag)


def parse_xml(text: str) -> Element:
    """Read a document into its root element."""
    return _Builder().build(text)


class _Builder:
    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._open: list[Element] = []
        self._count = 0
        self._root: Element | None = None
        parser = self._parser
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external

    def build(self, text: str) -> Element:
        try:
            self._parser.Parse(text, True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, "it is not well-formed")
            raise ParseError(
                f"this is not XML: {reason}", line=error.lineno, column=error.offset + 1, source=""
            ) from None
        assert self._root is not None  # expat refuses a document without a root
        return self._root

    def _fail(self, message: str) -> NoReturn:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        raise ParseError(message, line=line, column=column, source="")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS:
            self._fail(f"more than {MAX_ELEMENTS:,} elements")
        if len(self._open) >= MAX_DEPTH:
            self._fail(f"elements nested deeper than {MAX_DEPTH} levels")
        if any(len(value) > MAX_ATTRIBUTE for value in attributes.values()):
            self._fail(f"an attribute of more than {MAX_ATTRIBUTE:,} characters")
        parser = self._parser
        element = Element(tag, attributes, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop()

    def _characters(self, data: str) -> None:
        if self._open and len(self._open[-1].text) < MAX_ATTRIBUTE:
            self._open[-1].text += data

    def _doctype(self, name: str, system: str | None, public: str | None, has_declarations: bool) -> None:
        if system or public or has_declarations:
            self._fail("a DOCTYPE with declarations or an address is not read; delete it")

    def _entity(self, *_: object) -> None:
        self._fail("declarations of entities are not read; write their text instead")

    def _external(self, *_: object) -> int:
        self._fail("external entities are not read")
