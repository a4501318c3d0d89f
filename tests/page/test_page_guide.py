"""The guide over HTTP: what the words lead to is there, in a wheel too."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from starlette.testclient import TestClient

from actcause.page import guide
from actcause.page.guide.routes import NAMES
from actcause.page.server.app import STATIC

ROOT = Path(guide.__file__).parents[4]


def slug(words: str) -> str:
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", words.lower()).strip())


def list_anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*?)(?:\s*\{\s*#([\w-]+)\s*\})?$", text, re.MULTILINE)
    return {given or slug(words) for words, given in headings}


def test_every_word_leads_to_a_page_that_is_there_and_to_a_place_in_it(client: TestClient) -> None:
    led_to = re.findall(r'docs: "([\w-]+)\.md#?([\w-]*)"', (STATIC / "js/shared/terms.js").read_text())
    assert len(led_to) > 20
    for name, at in led_to:
        page = client.get(f"/api/guide/{name}").json()
        assert not at or at in list_anchors(page["text"]), (name, at)


def test_all_pages_are_there_and_nothing_else_is(client: TestClient) -> None:
    for name in NAMES:
        assert client.get(f"/api/guide/{name}").json()["text"].startswith("# ")
    for name in ("nosuch", "..%2FREADME", "glossary.md"):
        assert client.get(f"/api/guide/{name}").status_code == 404


def test_a_wheel_has_the_pages() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    assert included == {f"docs/{name}.md": f"actcause/page/guide/pages/{name}.md" for name in NAMES}
