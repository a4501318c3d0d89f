"""The view Guide over HTTP: pages of the documentation, as text that the browser lays out."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter

from ..server.services import Refused

router = APIRouter(prefix="/api/guide")

PACKAGED = Path(__file__).parent / "pages"  # where a wheel has them
WRITTEN = Path(__file__).parents[4] / "docs"  # where a checkout has them
NAMES = (
    "choosing-a-definition",
    "contrast-and-normality",
    "data",
    "domains",
    "explanations",
    "glossary",
    "learning",
    "local-graphs",
    "model-text",
    "probabilities",
    "responsibility-and-blame",
    "state-spaces",
    "time",
)


@router.get("/{name}")
async def read_page(name: str) -> dict[str, object]:
    """Read a page; `pages` are those that it can lead to."""
    if name not in NAMES:
        raise Refused("The guide has no such page.", status=404)
    return {"name": name, "text": _read(name), "pages": list(NAMES)}


@lru_cache
def _read(name: str) -> str:
    for folder in (PACKAGED, WRITTEN):
        path = folder / f"{name}.md"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise Refused(f"This installation lacks the guide; docs/{name}.md of the source has this page.", status=404)
