"""The picture of the rooms for `how-it-works.md`, drawn from the ranks that the architecture test holds.

python docs/rooms.py        writes docs/img/rooms.svg
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "img" / "rooms.svg"
# What a room is for; a file that no reader looks for is not drawn.
ROOMS = {
    "__init__": "the names that users import",
    "cli": "commands: they translate",
    "page": "the explorer: it translates",
    "reproduction": "tables and figures, records, certificates",
    "rl": "goals, replay, bonuses, explanations of policies",
    "questions": "models by name or file, files of questions",
    "learn": "methods, training, prediction, sweeps",
    "examples": "the literature's models",
    "formats": "files of other tools",
    "data": "recordings: the value, files, collecting",
    "core": "models, definitions, solvers, state spaces",
    "worlds": "other people's simulators, with true causes",
    "envs": "domains with true causes",
    "io": "files written whole, journals, the console",
    "parallel": "one pool, one Ray backend",
    "errors": "one base class, one sentence each",
}
WIDTH, ROW, GAP = 760, 58, 10
BOX = (
    '<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="#e8eaf6" stroke="#3f51b5"/>'
    '<text x="{middle}" y="{first}" font-weight="bold">{name}</text>'
    '<text x="{middle}" y="{second}" font-size="12">{purpose}</text>'
)
FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="15" '
    'text-anchor="middle" fill="#111">\n<rect width="{width}" height="{height}" fill="white"/>\n{boxes}\n</svg>\n'
)


def draw(ranks: tuple[set[str], ...]) -> str:
    """Draw the ranks as shelves, the lowest at the bottom."""
    shelves = [[room for room in ROOMS if room in rank] for rank in reversed(ranks)]
    boxes = []
    for row, rooms in enumerate(shelves):
        width = (WIDTH - GAP * (len(rooms) + 1)) / len(rooms)
        for column, room in enumerate(rooms):
            x, y = GAP + column * (width + GAP), GAP + row * ROW
            boxes.append(
                BOX.format(
                    x=x, y=y, width=width, height=ROW - GAP, middle=x + width / 2, first=y + 20, second=y + 38,
                    name=room if room in ("__init__", "errors") else f"{room}/", purpose=escape(ROOMS[room]),
                )
            )  # fmt: skip
    return FRAME.format(width=WIDTH, height=GAP + ROW * len(shelves), boxes="\n".join(boxes))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from test_architecture import RANKS

    PICTURE.write_text(draw(RANKS), encoding="utf-8")
