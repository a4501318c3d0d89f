"""The command `serve`: it starts quickly, says where it is, refuses in one line, and ends cleanly."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from actcause.cli import main
from actcause.page.server.settings import GIB
from actcause.page.server.start import _find_folder
from waiting import wait_until

COMMAND = [sys.executable, "-m", "actcause", "serve", "--port", "0", "--json"]


@contextmanager
def running(folder: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    where = ["--data", str(folder), "--runs", str(folder)]
    process = subprocess.Popen([*COMMAND, *where, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield process, json.loads(line)["url"]
    finally:
        process.kill()
        process.communicate()


def descendants(process: int) -> list[int]:
    """The processes that it started, and those that they did."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True)
    children = [int(word) for word in listed.stdout.split()]
    return [*children, *(each for child in children for each in descendants(child))]


def wait_for_workers(process: int) -> list[int]:
    """Wait until the copies that answer questions are there."""
    wait_until(lambda: len(descendants(process)) >= 4)  # three, and the one that they are copies of
    return descendants(process)


def sign(url: str, path: str, content: bytes | None = None) -> urllib.request.Request:
    """A request to the address that was printed, with its token."""
    address, _, token = url.partition("?token=")
    return urllib.request.Request(address + path, content, {"Authorization": f"Bearer {token}"})


def fetch(url: str) -> str:
    with urllib.request.urlopen(sign(url, ""), timeout=10) as reply:
        return str(reply.read().decode())


def is_busy(process: int) -> bool:
    """Whether a process computes at this moment."""
    state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "R"


def test_it_answers_and_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    with running(tmp_path) as (process, url):
        assert "actcause" in fetch(url)
        workers = wait_for_workers(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_ctrl_c_does_not_wait_for_long_questions_and_prints_no_traceback(tmp_path: Path) -> None:
    roots = [f"X{index}" for index in range(40)]
    text = "\n".join([*roots, f"Y = {' + '.join(roots)} > 20"])
    question = {"text": text, "context": dict.fromkeys(roots, 1), "effect": "Y == 1", "definitions": ["functional"]}
    with running(tmp_path) as (process, url), ThreadPoolExecutor(8) as asking:

        def ask() -> int:
            request = sign(url, "api/ask/answer", json.dumps(question).encode())
            request.add_header("Content-Type", "application/json")
            try:
                return int(urllib.request.urlopen(request, timeout=20).status)
            except urllib.error.HTTPError as refused:
                return refused.code

        asked = [asking.submit(ask) for _ in range(8)]
        wait_until(lambda: any(map(is_busy, descendants(process.pid))))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
        statuses = {each.result() for each in asked}
        assert 503 in statuses  # a question was cut off, not waited for
        assert statuses <= {200, 422, 503}


def test_workers_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with running(tmp_path) as (process, _):
        workers = wait_for_workers(process.pid)
        process.kill()
        process.wait()
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_is_made_up_and_needed(tmp_path: Path, host: str) -> None:
    with running(tmp_path, "--host", host) as (_, url):
        address, _, token = url.partition("?token=")
        port = address.rstrip("/").rpartition(":")[2]
        assert len(token) > 20
        here = f"http://127.0.0.1:{port}/"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(here, timeout=10)
        put = urllib.request.Request(f"{here}api/data/files/x.csv", b"a,b", method="PUT")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(put, timeout=10)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert opener.open(f"{here}?token={token}", timeout=10).url == here  # sent on, with a cookie
        assert opener.open(f"{here}api/jobs", timeout=10).status == 200


def ask_for_jobs(url: str, token: str, host: str) -> int:
    request = urllib.request.Request(f"{url}api/jobs", headers={"Host": host, "Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def test_with_a_token_of_ones_own_only_this_machine_and_a_named_proxy_are_answered_for(tmp_path: Path) -> None:
    token = "a-token-of-my-own"
    with running(tmp_path, "--token", token, "--allow-host", "Explorer.example") as (_, url):
        here = url.partition("?")[0]
        foreign = [
            "[127.0.0.1].evil.example",
            "evil.example",
            "127.0.0.1.evil.example",
            "explorer.example.evil.example",
        ]
        assert [ask_for_jobs(here, token, host) for host in foreign] == [403] * 4
        assert [ask_for_jobs(here, token, host) for host in ("localhost", "explorer.example:443")] == [200, 200]


@pytest.mark.parametrize("name", ["", "a b", "http://x.example/"])
def test_a_name_that_no_host_has_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    said = refusal(capsys, "--allow-host", name, "--data", str(tmp_path), "--runs", str(tmp_path))
    assert said == "actcause: --allow-host must be the name of a host, such as explorer.example.org."


def test_no_token_lets_all_in_and_says_so(tmp_path: Path) -> None:
    with running(tmp_path, "--no-token") as (process, url):
        assert "token" not in url
        with urllib.request.urlopen(url, timeout=10) as reply:
            assert reply.status == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert errors == "actcause: without a token, every user of this machine can use the explorer, as you.\n"


def test_the_browser_opens_with_an_address_that_works_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    def serve(settings: Any, listening: socket.socket, ready: Callable[[], None]) -> None:
        ready()
        opened.append(settings.token)

    monkeypatch.setattr("actcause.page.server.start.serve", serve)
    monkeypatch.setattr("actcause.cli.serve._open_browser", opened.append)
    assert main(["serve", "--port", "0", "--data", str(tmp_path), "--runs", str(tmp_path)]) == 0
    shown, token = opened
    assert f"?token={token}" in capsys.readouterr().out
    assert "?entry=" in shown
    assert token not in shown  # which any user sees among the processes


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["serve", "--no-open", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    return line


def test_a_port_in_use_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal(capsys, "--port", str(port), "--data", str(tmp_path), "--runs", str(tmp_path))
    assert said == (
        f"actcause: Cannot listen on 127.0.0.1, port {port}: Address already in use; "
        "choose another --port, or 0 for any free one."
    )


def test_a_folder_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = refusal(capsys, "--data", str(tmp_path / "nowhere"))
    assert said == f"actcause: --data: there is no folder '{tmp_path}/nowhere'; make it first."


def test_an_address_that_is_none_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = refusal(capsys, "--host", "999.1.2.3", "--port", "0", "--data", str(tmp_path), "--runs", str(tmp_path))
    assert said == "actcause: Cannot listen on 999.1.2.3: there is no such address; choose another --host."
    for host in ("192.0.2.1", "no.such.host.invalid"):
        said = refusal(capsys, "--host", host, "--port", "8123", "--data", str(tmp_path), "--runs", str(tmp_path))
        assert said.endswith("choose another --host.")


@pytest.mark.parametrize("more", [("--host", "0.0.0.0"), ("--token", "a long secret")])
def test_a_server_for_all_that_is_not_for_all_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, more: tuple[str, str]
) -> None:
    said = refusal(capsys, "--no-token", *more, "--data", str(tmp_path), "--runs", str(tmp_path))
    assert said.startswith("actcause: --no-token lets everybody in, but")


def test_a_quota_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for wrong in ("-1", "nan"):
        assert "--quota must be" in refusal(capsys, "--quota", wrong, "--data", str(tmp_path), "--runs", str(tmp_path))


def test_a_limit_of_memory_in_which_nothing_could_start_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for wrong in ("-1", "nan", "0.5"):
        said = refusal(capsys, "--memory", wrong, "--data", str(tmp_path), "--runs", str(tmp_path))
        assert "--memory must be a number of GiB, at least 1, or 0 for no limit." in said


@pytest.mark.parametrize(("given", "limit"), [((), 4 * GIB), (("--memory", "1.5"), 3 * GIB // 2)])
def test_the_memory_that_is_given_is_the_limit_of_questions_and_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], limit: int
) -> None:
    started: list[Any] = []
    monkeypatch.setattr("actcause.page.server.start.serve", lambda settings, *_: started.append(settings))
    folders = ["--data", str(tmp_path), "--runs", str(tmp_path)]
    assert main(["serve", "--port", "0", "--no-open", *folders, *given]) == 0
    assert started[0].limits.memory == limit


def test_a_short_token_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "at least 8" in refusal(capsys, "--token", "abc", "--data", str(tmp_path), "--runs", str(tmp_path))


def test_without_folders_it_uses_some_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert _find_folder("runs", None, "runs") == tmp_path / "actcause" / "runs"
    assert (tmp_path / "actcause" / "runs").is_dir()


def test_a_missing_extra_is_said_with_its_install_line(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from actcause.cli import main\n"
        f"sys.exit(main(['serve', '--no-open', '--data', {str(tmp_path)!r}, '--runs', {str(tmp_path)!r}]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert ran.returncode == 2
    assert "pip install 'actcause[page]'" in ran.stderr
