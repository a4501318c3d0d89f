"""The explorer under load and under attack: many questions at once while a training runs, and hostile requests.

python benchmarks/run.py explorer

The questions all differ, so that nothing is answered from a cache. A hostile request is anything from bytes
that are no HTTP to a model that would take years to search; what counts is that none ends in a 500, none
hangs, and the memory of the server and its processes comes back to where it was.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from actcause import examples
from hostile import Hostile, long_model, requests, whole
from measure import Figure

TITLE = "The explorer"
START_BAR, QUESTION_BAR, MEMORY_BAR, CROWD_BAR = 3.0, 0.5, 40.0, 2.0
HANG_SECONDS = 30.0
WARM_UP = 20  # one in so many hostile requests comes before memory is looked at: what is imported once stays
MIB = 1 << 20


@dataclass(frozen=True)
class Arguments:
    """How many questions at once, in how many rounds; how many hostile requests, how many at once.

    `idle` connections and `slow` questions are those beside which a quick question is asked, `tries` times. `rest` is
    how many seconds the memory may take to come back.
    """

    questions: int = 50
    rounds: int = 5
    idle: int = 600
    slow: int = 60
    tries: int = 10
    frames: int = 20_000
    hostile: int = 10_000
    at_once: int = 16
    rest: int = 120


TINY = Arguments(questions=4, rounds=1, idle=20, slow=6, tries=1, frames=2_000, hostile=24, at_once=4, rest=1)


def run(arguments: Arguments) -> Iterator[Figure]:
    with serve() as (server, seconds):
        yield Figure("explorer", "start, until the page is served", seconds, bar=START_BAR, answer="", right=True)
        with training(server, arguments.frames):
            taken, right = asyncio.run(ask_in_rounds(server, arguments))
        what = f"{arguments.questions} questions at once, all definitions, while a training runs: 95th percentile"
        taken.sort()
        late, middle = taken[int(0.95 * (len(taken) - 1))], taken[len(taken) // 2]
        yield Figure(
            "explorer", what, late, bar=QUESTION_BAR, parts={"median": middle},
            answer=f"{len(taken)} answers", right=right,
        )  # fmt: skip
        yield asyncio.run(beside_idle(server, arguments))
        yield asyncio.run(beside_slow(server, arguments))
        asyncio.run(attack(server, requests(random.Random(1), arguments.hostile // WARM_UP), arguments.at_once))
        before = server.least(arguments.rest)
        statuses = asyncio.run(attack(server, requests(random.Random(2), arguments.hostile), arguments.at_once))
        grown = max(0.0, server.wait_for_memory(before, arguments.rest) - before) / MIB
        answer = f"{statuses[500]} answered 500, {statuses['hang']} hung"
        yield Figure(
            "explorer", f"{arguments.hostile:,} hostile requests: memory gained", grown, unit="MiB", bar=MEMORY_BAR,
            answer=answer, right=statuses[500] == statuses["hang"] == 0 and server.answers(),
        )  # fmt: skip


# -- a server --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Server:
    """A running explorer."""

    process: subprocess.Popen[str]
    host: str
    port: int
    token: str

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def sign(self, request: bytes) -> bytes:
        """Add the token to a request, after its first line: what is hostile comes from a browser that has it."""
        line, found, rest = request.partition(b"\r\n")
        return request if not found else b"%s\r\nAuthorization: Bearer %s\r\n%s" % (line, self.token.encode(), rest)

    def memory(self) -> int:
        """Add up the bytes of the server and of the processes that answer questions for it."""
        total = 0
        for pid in list_processes(self.process.pid):
            status = Path(f"/proc/{pid}/status")
            found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
            total += int(found[1]) * 1024 if found else 0
        return total

    def least(self, seconds: int) -> int:
        """Return the least memory within so many seconds: what the server needs when it has nothing to do."""
        seen = []
        for _ in range(seconds):
            time.sleep(1)
            seen.append(self.memory())
        return min(seen)

    def wait_for_memory(self, before: int, seconds: int) -> int:
        """Return the memory once long questions have ended and processes that have grown are replaced."""
        for _ in range(seconds):
            time.sleep(1)
            if (now := self.memory()) <= before + MEMORY_BAR * MIB / 2:
                break
        return now

    def answers(self) -> bool:
        return asyncio.run(exchange(self, b"GET /api/ask/examples HTTP/1.1", b"")) == 200


def list_processes(pid: int) -> list[int]:
    """List a process and all that it started, and that they did."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [pid, *(each for child in listed.stdout.split() for each in list_processes(int(child)))]


@contextmanager
def serve() -> Iterator[tuple[Server, float]]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "actcause", "serve", "--port", "0", "--json"]
        command += ["--data", folder, "--runs", folder]
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            url = urlsplit(json.loads(process.stdout.readline())["url"])
            server = Server(process, str(url.hostname), int(url.port or 0), url.query.removeprefix("token="))
            assert asyncio.run(exchange(server, b"GET / HTTP/1.1", b"")) == 200
            yield server, time.perf_counter() - begun
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)


@contextmanager
def training(server: Server, frames: int) -> Iterator[None]:
    """Watch a training of the server's own, from its first step until the questions are answered."""
    wanted = {"source": {"domain": "1-in", "frames": frames}, "method": "jaci-em", "name": "beside"}
    status, started = asyncio.run(post(server, "/api/runs", wanted))
    assert status == 200, started
    job = started["job"]
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        _, found = asyncio.run(post(server, f"/api/jobs/{job}", None))
        if found["progress"].get("step") or found["state"] not in ("waiting", "running"):
            break
        time.sleep(0.2)
    yield
    asyncio.run(exchange(server, f"DELETE /api/jobs/{job} HTTP/1.1".encode(), b""))


# -- questions -------------------------------------------------------------------------------------


async def ask_in_rounds(server: Server, arguments: Arguments) -> tuple[list[float], bool]:
    """Return the seconds of every answer, and whether all of them were right."""
    taken: list[float] = []
    right = True

    async def one(number: int) -> None:
        nonlocal right
        seconds, well = await ask_quickly(server, number)
        taken.append(seconds)
        right = right and well

    for number in range(4):  # the processes that answer have started
        await one(-number)
    taken.clear()
    for number in range(arguments.rounds):
        await asyncio.gather(*(one(arguments.questions * number + each) for each in range(arguments.questions)))
    return taken, right


async def ask_quickly(server: Server, number: int) -> tuple[float, bool]:
    """Ask a question that nobody has asked; the seconds that it took, and whether the answer was right."""
    rocks = examples.load("rock-throwing")
    shares = {"alpha_sufficiency": str(rocks.alpha_sufficiency), "alpha_necessity": str(rocks.alpha_necessity)}
    text = f"{rocks.text}\n# question {number}"
    body = {"text": text, "context": dict(rocks.context), "effect": rocks.effect, **shares}
    begun = time.perf_counter()
    status, reply = await post(server, "/api/ask/answer", body)
    seconds = time.perf_counter() - begun
    said = {entry["definition"]: [cause["event"] for cause in entry["causes"]] for entry in reply.get("answers", ())}
    return seconds, status == 200 and said["modified-hp"] == [{"ST": 1}, {"SH": 1}]


async def beside_idle(server: Server, arguments: Arguments) -> Figure:
    """Ask quick questions, one after another, while others hold connections open and say nothing."""
    held = [await asyncio.open_connection(server.host, server.port) for _ in range(arguments.idle)]
    asked = [await ask_quickly(server, 10_000 + number) for number in range(arguments.tries)]
    for _, writer in held:
        writer.close()
    return crowd_figure(f"a question beside {arguments.idle} idle connections: the slowest", asked)


async def beside_slow(server: Server, arguments: Arguments) -> Figure:
    """Ask quick questions, one after another, from the moment on that many long ones came at once."""
    rng = random.Random(4)
    slow = [server.sign(long_model(rng)(server.address)) for _ in range(arguments.slow)]
    waiting = [asyncio.ensure_future(receive(server, request)) for request in slow]
    asked = []
    for number in range(arguments.tries):
        await asyncio.sleep(0.5)
        asked.append(await ask_quickly(server, 20_000 + number))
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    return crowd_figure(f"a question beside {arguments.slow} long ones: the slowest", asked)


def crowd_figure(what: str, asked: list[tuple[float, bool]]) -> Figure:
    seconds = sorted(each for each, _ in asked)
    answer = f"{sum(right for _, right in asked)} right answers"
    parts = {"median": seconds[len(seconds) // 2]}
    right = all(right for _, right in asked)
    return Figure("explorer", what, seconds[-1], bar=CROWD_BAR, parts=parts, answer=answer, right=right)


# -- requests over the wire ------------------------------------------------------------------------


async def post(server: Server, path: str, body: Any) -> tuple[int, Any]:
    """Return status and document; a body of None asks for what is there."""
    content = b"" if body is None else json.dumps(body).encode()
    line = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1".encode()
    reply = await receive(server, server.sign(whole(server.address, line, content)))
    head, _, rest = reply.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(rest)


async def exchange(server: Server, line: bytes, content: bytes) -> int | None:
    reply = await receive(server, server.sign(whole(server.address, line, content)))
    return status_of(reply)


async def receive(server: Server, request: bytes, hung_up: bool = False) -> bytes:
    """Read until the server closes the connection; `hung_up` says that nothing more will be sent."""
    reader, writer = await asyncio.open_connection(server.host, server.port, limit=1 << 24)
    try:
        writer.write(request)
        await writer.drain()
        if hung_up:
            writer.write_eof()
        return await reader.read(-1)
    finally:
        writer.close()


def status_of(reply: bytes) -> int | None:
    found = re.match(rb"HTTP/1\.[01] (\d{3})", reply)
    return int(found[1]) if found else None


async def attack(server: Server, hostile: Iterator[Hostile], at_once: int) -> Counter[int | str | None]:
    """Count how requests end: by status, None for a connection that was just closed, 'hang' for none at all."""
    statuses: Counter[int | str | None] = Counter()

    async def attacker() -> None:
        for make, hung_up in hostile:
            try:
                async with asyncio.timeout(HANG_SECONDS):
                    statuses[status_of(await receive(server, server.sign(make(server.address)), hung_up))] += 1
            except TimeoutError:
                statuses["hang"] += 1
            except OSError:
                statuses[None] += 1

    await asyncio.gather(*(attacker() for _ in range(at_once)))
    return statuses
