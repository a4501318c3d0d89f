"""The guard: who may ask, how much they may send, what every answer carries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from running import jump, run
from starlette.testclient import TestClient

from actcause.page.server.app import build_application
from actcause.page.server.guard import BODY_SECONDS, Guard
from actcause.page.server.services import Refused
from actcause.page.server.settings import Limits, Settings

TOKEN = "open sesame, träum süß"
CLICKED = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "accept": "text/html,*/*;q=0.8"}


@pytest.fixture
def locked_explorer(settings: Settings) -> TestClient:
    """An explorer that needs a token; nothing here gets far enough to need its workers."""
    app = build_application(replace(settings, host="0.0.0.0", token=TOKEN, any_host=True))
    return TestClient(app, base_url="http://projector:8000", follow_redirects=False)


# -- who may ask -------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "localhost:1", "[::1]:8000"])
def test_requests_that_name_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8000",
        "",
        "[",
        "127.0.0.1@x",
        "x@127.0.0.1",
        "[127.0.0.1].evil.example",
        "[::1].evil.example:8000",
        "127.0.0.1:8000.evil.example",
        "[127.0.0.1]evil.example",
    ],
)
def test_a_foreign_name_that_points_here_is_refused(client: TestClient, host: str) -> None:
    reply = client.get("/api/ask/examples", headers={"host": host})
    assert (reply.status_code, reply.json()["line"]) == (403, None)
    assert reply.json()["error"] == "This server answers only requests for 127.0.0.1 or localhost."


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", **CLICKED},
    ],
)
def test_requests_from_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/ask/check", json={"text": "A"}, headers=headers).status_code == 403


def test_requests_from_the_page_itself_are_answered(client: TestClient) -> None:
    own = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert client.post("/api/ask/check", json={"text": "A"}, headers=own).status_code == 200


def test_a_link_that_is_clicked_on_another_site_opens_the_page(client: TestClient) -> None:
    reply = client.get("/", headers={"sec-fetch-site": "cross-site", **CLICKED})
    assert (reply.status_code, "<title>" in reply.text) == (200, True)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {**CLICKED, "sec-fetch-dest": "iframe"}),
        ("/", {**CLICKED, "sec-fetch-mode": "no-cors"}),
        ("/api/jobs", CLICKED),
        ("/api/replay/found?kind=csv", CLICKED),
    ],
)
def test_nothing_else_of_another_site_is_answered(client: TestClient, path: str, headers: dict[str, str]) -> None:
    assert client.get(path, headers={**headers, "sec-fetch-site": "cross-site"}).status_code == 403


def test_a_refusal_is_a_page_for_people_and_json_for_programs(locked_explorer: TestClient, client: TestClient) -> None:
    for reply, status, words in (
        (locked_explorer.get("/", headers=CLICKED), 401, "needs its token"),
        (client.get("/", headers={**CLICKED, "host": "<b>.example"}), 403, "was not let in"),
    ):
        assert (reply.status_code, reply.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert words in reply.text
        assert "<b>" not in reply.text
        assert "unsafe" not in reply.headers["content-security-policy"]
    assert 'name="token"' in locked_explorer.get("/", headers=CLICKED).text
    assert "error" in locked_explorer.get("/api/jobs", headers={"accept": "*/*"}).json()


def test_a_host_that_is_none_is_refused_also_where_any_name_may_be_given(settings: Settings) -> None:
    app = build_application(replace(settings, host="0.0.0.0", token="plain token", any_host=True))
    there = TestClient(app, base_url="http://projector:8000", headers={"authorization": "Bearer plain token"})
    assert there.get("/").status_code == 200
    for host in ("[127.0.0.1].evil.example", "127.0.0.1@x", ""):
        assert there.get("/", headers={"host": host}).status_code == 403


def test_this_machine_needs_the_token_too_and_is_still_asked_for_by_its_own_name(settings: Settings) -> None:
    app = build_application(replace(settings, token="a token", entry="once"))
    here = TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)
    assert here.get("/").status_code == 401
    assert here.get("/?token=a+token", headers={"host": "evil.example"}).status_code == 403
    assert here.get("/?entry=twice").status_code == 401
    reply = here.get("/?entry=once&more=1")
    assert (reply.status_code, reply.headers["location"]) == (303, "/?more=1")
    assert here.get("/").status_code == 200
    here.cookies.clear()
    assert here.get("/?entry=once").status_code == 401  # it opens the page once


def test_explorers_on_two_ports_do_not_take_each_others_cookies(settings: Settings) -> None:
    apps = [build_application(replace(settings, port=port, token=f"token {port}")) for port in (8000, 8001)]
    clients = [TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) for app in apps]
    clients[1].cookies = clients[0].cookies
    for port, client in zip((8000, 8001), clients, strict=True):
        client.get("/", params={"token": f"token {port}"})
    assert [client.get("/").status_code for client in clients] == [200, 200]


def test_without_the_token_nothing_is_shown(locked_explorer: TestClient) -> None:
    for path in ("/", "/js/app.js", "/api/ask/examples", "/?token=wrong", "/?token="):
        reply = locked_explorer.get(path)
        assert reply.status_code == 401
        assert "token" in reply.json()["error"]


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(locked_explorer: TestClient) -> None:
    reply = locked_explorer.get("/", params={"token": TOKEN, "more": "1"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/?more=1")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert locked_explorer.get("/").status_code == 200  # the client has kept the cookie


def test_the_token_sends_nobody_to_another_site(locked_explorer: TestClient) -> None:
    location = locked_explorer.get("http://projector:8000//evil.example/", params={"token": TOKEN}).headers["location"]
    assert location.startswith("/evil.example")


def test_the_token_may_come_in_a_header(settings: Settings, locked_explorer: TestClient) -> None:
    good = {"authorization": f"Bearer {TOKEN}".encode()}
    assert locked_explorer.get("/", headers=good).status_code == 401  # headers are Latin-1, this one is UTF-8
    ascii_only = TestClient(
        build_application(replace(settings, host="0.0.0.0", token="plain token", any_host=True)),
        base_url="http://projector",
    )
    assert ascii_only.get("/", headers={"authorization": "Bearer plain token"}).status_code == 200
    assert ascii_only.get("/", headers={"authorization": "Bearer other"}).status_code == 401
    assert ascii_only.get("/", headers={"cookie": "actcause=; ;;=,\x7f"}).status_code == 401


# -- how much they may send --------------------------------------------------------------------------


def test_a_large_body_is_refused_whether_or_not_it_says_so(client: TestClient) -> None:
    assert client.post("/api/ask/check", content=b"x" * (2 << 20)).status_code == 413
    parts = (b"x" * 100_000 for _ in range(30))
    reply = client.post("/api/ask/check", content=parts)
    assert (reply.status_code, "bytes" in reply.json()["error"]) == (413, True)


async def put_through(settings: Settings, sizes: list[int], pause: float = 0.0) -> tuple[list[int], int]:
    """The sizes of the pieces of an upload that get through the guard, and the status of its answer."""
    seen: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            seen.append(len(message["body"]))
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    messages = [
        {"type": "http.request", "body": bytes(size), "more_body": index < len(sizes) - 1}
        for index, size in enumerate(sizes)
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        await jump(pause)
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    guarded = Guard(app, replace(settings, limits=Limits(body=10, upload=100)))
    headers = [(b"host", b"localhost")]
    path = "/api/data/files/x.csv"
    await guarded(
        {"type": "http", "method": "PUT", "path": path, "headers": headers, "query_string": b""}, receive, send
    )
    return seen, sent[0]["status"]


def test_an_upload_is_passed_on_in_pieces_up_to_its_own_bound(settings: Settings) -> None:
    assert run(put_through(settings, [30, 30, 30])) == ([30, 30, 30], 200)
    assert run(put_through(settings, [60, 60])) == ([60], 413)


def test_an_upload_that_trickles_in_is_refused(settings: Settings) -> None:
    seen, status = run(put_through(settings, [1] * 50, pause=BODY_SECONDS / 10))
    assert 0 < len(seen) < 50
    assert status == 408


# -- what every answer carries -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/js/app.js", "/api/jobs", "/nothing"])
def test_every_answer_forbids_what_the_page_does_not_need(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/..%2f..%2fetc/passwd",
        "/%00",
        "/js/%2e%2e/%2e%2e/app.py",
        "/" + "x" * 5000,
        "/js",
        "/js/",
        "/%ff%fe",
        "/app.py",
    ],
)
def test_an_address_is_looked_up_and_never_made_into_a_path(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert (reply.status_code, reply.json()["line"]) == (404, None)


def test_a_bug_is_one_line_of_json(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise KeyError("x")

    reply = TestClient(Guard(broken, settings), base_url="http://localhost").get("/")
    assert (reply.status_code, reply.json()["line"]) == (500, None)
    assert "KeyError" in capsys.readouterr().err


def test_a_refusal_is_one_line() -> None:
    assert Refused("two\n  lines").message == "two lines"
