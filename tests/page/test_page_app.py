"""The application: its files, its errors, its two ways of being asked wrongly."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from starlette.testclient import TestClient

from actcause.page.server.app import STATIC

SCRIPTS = sorted(STATIC.rglob("*.js"))


def test_the_page_and_all_its_files_are_served_with_their_types(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for address in re.findall(r'(?:href|src)="(/[^"]+)"', page.text):
        assert client.get(address).status_code == 200, address
    for script in SCRIPTS:
        reply = client.get(f"/{script.relative_to(STATIC)}")
        assert reply.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_html_of_text_or_asks_another_machine(script) -> None:
    code = script.read_text(encoding="utf-8")
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert forbidden not in code
    allowed = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\s\"'`]+", code)) <= allowed


def test_the_page_has_no_inline_script_or_style(client: TestClient) -> None:
    page = client.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert "<style" not in page
    assert not re.search(r"\son\w+=|\sstyle=", page)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"null", "application/json"),
        (b'{"text": 1}', "application/json"),
        (b'{"text": "A", "more": 1}', "application/json"),
        (b'{"text": "\\ud800"}', "application/json"),
        (b'{"text": "A"}', "text/plain"),
        (b"\xff\xfe", "application/json"),
        (b"", "application/json"),
        (b'{"text": "' + b"x" * 200_000 + b'"}', "application/json"),
    ],
)
def test_a_request_that_makes_no_sense_is_one_line_of_json(client: TestClient, body: bytes, kind: str) -> None:
    reply = client.post("/api/ask/check", content=body, headers={"content-type": kind})
    assert reply.status_code in (400, 422)
    assert set(reply.json()) == {"error", "line", "parameter"}
    assert len(reply.json()["error"]) < 300


def test_a_wrong_method_is_said_so(client: TestClient) -> None:
    reply = client.delete("/api/ask/check")
    assert (reply.status_code, reply.json()["error"]) == (405, "This address cannot be asked that way.")


def test_the_server_itself_imports_neither_torch_nor_matplotlib() -> None:
    heavy = ("torch", "matplotlib", "pyarrow")
    code = f"import sys, actcause.page.server.app; print([m for m in {heavy} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
