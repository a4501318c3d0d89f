"""Parquet files put together to one, without decoding them: their row groups are copied as they are.

A row group does not know where in a file it stands; only the footer does. So the bytes of all row groups follow each
other, and the footer of the first file is written again with the row groups of all and their new places. The meaning
of the footer's fields: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from .thrift import I64, LIST, Items, Reader, Struct, written

MAGIC = b"PAR1"
TAIL = 8  # the footer's size in four bytes, and the magic ones
CHUNK = 1 << 20  # bytes that are copied at a time

# Fields by number: of the file,
ROWS, GROUPS = 3, 4
# of a row group (its place among others may be left out, and does not hold more than 32,767),
COLUMNS, GROUP_OFFSET, ORDINAL = 1, 5, 7
# of a column in it: where its description is, the description, and in this where pages are.
CHUNK_OFFSET, DESCRIPTION, PAGE_OFFSETS = 2, 3, (9, 10, 11)


def splice(parts: Sequence[Path], out: BinaryIO) -> None:
    """Write the row groups of all parts, which have the same schema and metadata and no page index."""
    out.write(MAGIC)
    at = len(MAGIC)
    whole: Struct = {}
    groups: list[Struct] = []
    rows = 0
    for path in parts:
        with path.open("rb") as part:
            footer, end = _footer(part)
            whole = whole or footer
            rows += footer[ROWS][1]
            moved = footer[GROUPS][1].values
            for group in moved:
                _move(group, at - len(MAGIC))
            groups += moved
            at += _copy(part, out, len(MAGIC), end)
    kind = whole[GROUPS][1].kind
    written_footer = written(whole | {ROWS: (I64, rows), GROUPS: (LIST, Items(kind, groups))})
    out.write(written_footer + len(written_footer).to_bytes(4, "little") + MAGIC)


def _footer(part: BinaryIO) -> tuple[Struct, int]:
    """The footer of a file, and where it begins."""
    end = part.seek(-TAIL, os.SEEK_END)
    begin = end - int.from_bytes(part.read(4), "little")
    part.seek(begin)
    return Reader(part.read(end - begin)).struct(), begin


def _move(group: Struct, distance: int) -> None:
    group.pop(ORDINAL, None)
    _add(group, GROUP_OFFSET, distance)
    for column in group[COLUMNS][1].values:
        if column.get(CHUNK_OFFSET, (I64, 0))[1]:  # 0 where the description is in the footer only
            _add(column, CHUNK_OFFSET, distance)
        for place in PAGE_OFFSETS:
            _add(column[DESCRIPTION][1], place, distance)


def _add(struct: dict[int, Any], number: int, distance: int) -> None:
    if number in struct:
        kind, value = struct[number]
        struct[number] = kind, value + distance


def _copy(part: BinaryIO, out: BinaryIO, begin: int, end: int) -> int:
    part.seek(begin)
    left = end - begin
    while left:
        left -= out.write(part.read(min(left, CHUNK)))
    return end - begin
