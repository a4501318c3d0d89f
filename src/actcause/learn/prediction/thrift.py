"""Values in Thrift's compact protocol, in which the footer of a Parquet file is written: read and written again.

A struct is a dictionary from the number of a field to its type and value, a list its element type and values; what a
field means is not known here. Fields that a later version of the format adds come through unchanged. The protocol:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any, NamedTuple

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
INTEGERS = (I16, I32, I64)
LONG = 15  # the nibble that says that a size or a number follows in full


class Items(NamedTuple):
    """A list: the type of its elements, and these."""

    kind: int
    values: list[Any]


Struct = dict[int, tuple[int, Any]]


class Reader:
    """Reads the values of a buffer one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def struct(self) -> Struct:
        found: Struct = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._integer()
            found[number] = kind, self._value(kind)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return None  # the type says it all
        if kind in INTEGERS:
            return self._integer()
        if kind == BINARY:
            return self._bytes(self._size())
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            return self._items()
        if kind in (BYTE, DOUBLE):
            return self._bytes(1 if kind == BYTE else 8)
        raise ValueError(f"no type {kind}")  # a map, which no footer has

    def _items(self) -> Items:
        head = self._byte()
        kind, size = head & 15, head >> 4
        count = self._size() if size == LONG else size
        if kind in (TRUE, FALSE):  # here a byte each
            return Items(kind, [self._byte() for _ in range(count)])
        return Items(kind, [self._value(kind) for _ in range(count)])

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        return self.content[self.at - count : self.at]

    def _size(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
        return found | byte << shift

    def _integer(self) -> int:
        folded = self._size()
        return folded >> 1 ^ -(folded & 1)


def written(struct: Struct) -> bytes:
    """A struct as `Reader.struct` reads it.

    >>> struct = {1: (I32, -3), 20: (LIST, Items(BINARY, [b"a", b"bc"])), 21: (TRUE, None)}
    >>> Reader(written(struct)).struct() == struct
    True
    """
    out = bytearray()
    _struct(out, struct)
    return bytes(out)


def _struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, value) in struct.items():
        step = number - before
        if 0 < step <= LONG:
            out.append(step << 4 | kind)
        else:
            out.append(kind)
            _integer(out, number)
        before = number
        _value(out, kind, value)
    out.append(0)


def _value(out: bytearray, kind: int, value: Any) -> None:
    if kind in INTEGERS:
        _integer(out, value)
    elif kind == BINARY:
        _size(out, len(value))
        out += value
    elif kind == STRUCT:
        _struct(out, value)
    elif kind in (LIST, SET):
        _items(out, value)
    elif kind in (BYTE, DOUBLE):
        out += value


def _items(out: bytearray, items: Items) -> None:
    count = len(items.values)
    out.append(min(count, LONG) << 4 | items.kind)
    if count >= LONG:
        _size(out, count)
    if items.kind in (TRUE, FALSE):
        out += bytes(items.values)
        return
    for value in items.values:
        _value(out, items.kind, value)


def _size(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def _integer(out: bytearray, number: int) -> None:
    _size(out, number << 1 ^ number >> 63)
