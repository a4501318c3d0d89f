"""Hostile requests for the benchmark of the explorer: from bytes that are no HTTP to models that take years."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

Make = Callable[[str], bytes]  # from the host that a request names to its bytes
Hostile = tuple[Make, bool]  # and whether its sender hangs up behind it

PATHS = (
    "/api/ask/check", "/api/ask/answer", "/api/ask/judge", "/api/ask/degrees",
    "/api/preimages/picture", "/api/preimages/why", "/api/preimages/histogram",
    "/api/replay/sources", "/api/replay/episode", "/api/replay/explain", "/api/replay/found",
    "/api/runs", "/api/runs/x", "/api/runs/x/resume", "/api/runs/x/score",
    "/api/data/files", "/api/data/files/x.csv", "/api/data/files/x.csv/summary", "/api/data/files/x.csv/mapping",
    "/api/jobs", "/api/jobs/1", "/api/nothing", "/", "/js/app.js",
)  # fmt: skip
NAMES = (
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%00", "a%0d%0ab", "con", ".", "..", "%ff%fe", "x" * 3000, "'; drop",
    "<script>", "~root", "\\\\host\\share", "é".encode().decode("latin-1"), "%F0%9F%92%A5", "a/b/c", "//evil.example",
)  # fmt: skip
HOSTS = (b"evil.example", b"", b"127.0.0.1.evil.example", b"[", b"localhost:99999999", b"\xff\xfe", b"a" * 5000)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "HEAD", "CONNECT", "FROB")
BAD_TEXTS = (
    "A in 0..9\nB = A ** A ** A ** A", "A in 0..999999999999999", "A in 0..9999999\nB = A * A * A * A * A",
    "A = B\nB = A", "A = " + "(" * 5000 + "1" + ")" * 5000, "A = " + "not " * 20_000 + "1", "A\n" * 5000,
    "A = " + " if 1 else ".join("1" for _ in range(2000)), 'A "' + "x" * 50_000, "\u0000", "A = " + "9" * 5000,
    "A in {" + ",".join(map(str, range(9000))) + "}\nB = A // 0", "\n".join(f"V{i}" for i in range(8000)),
    "A in 0..999999\nB in 0..999999\nC in 0..1 = A * B", "__import__('os').system('true')", "A\nB = A + " * 500,
    "A in -999999..999999\nB = " + " * ".join(["A"] * 60), "A = 1 < " * 900 + "2", "é = 1\nÀ = é", "\\\n" * 4000,
)  # fmt: skip
LONG_MODELS = (
    "\n".join([f"X{i}" for i in range(40)] + ["Y = " + " + ".join(f"X{i}" for i in range(40)) + " > 20"]),
    "\n".join([f"X{i} in 0..999" for i in range(8)] + ["Y = " + " * ".join(f"X{i}" for i in range(4)) + " % 97 == 3"]),
    "\n".join(["X0", *(f"X{i} = X{i - 1} or X{max(0, i - 7)}" for i in range(1, 3000)), "Y = X2999"]),
    "\n".join(
        [f"X{i} in 0..9" for i in range(12)]
        + [f"Z{i} = X{i} * X{(i + 1) % 12} % 7 == X{(i + 5) % 12}" for i in range(12)]
        + ["Y = " + " or ".join(f"Z{i} and Z{(i + 3) % 12}" for i in range(12))]
    ),
)
LONG_EVERY, OPEN_EVERY = 300, 170


def requests(rng: random.Random, count: int) -> Iterator[Hostile]:
    """Hostile requests, each still to be made for a host.

    Now and then one keeps a worker busy for all of its time, or one that is not whole keeps its
    connection open.
    """
    whole_requests = (strange_path, strange_headers, no_json, wrong_json, bad_model, bad_space, bad_upload, large_body)
    kinds = (*whole_requests, no_http, cut_off)
    for number in range(1, count + 1):
        if number % LONG_EVERY == 0:
            yield long_model(rng), False
        elif number % OPEN_EVERY == 0:
            yield cut_off(rng), False
        else:
            kind = rng.choice(kinds)
            yield kind(rng), kind in (no_http, cut_off)


def no_http(rng: random.Random) -> Make:
    lines = (
        rng.randbytes(rng.randrange(1, 300)),
        b"GET",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"\x16\x03\x01\x02",
    )
    chunked = b"POST /api/ask/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    broken = rng.choice(
        (*lines, chunked + b"zz\r\n", chunked + b"ffffffffff\r\nx", b"GET / HTTP/1.1\r\nno colon\r\n\r\n")
    )
    return lambda host: broken + b"\r\n\r\n"


def strange_path(rng: random.Random) -> Make:
    path = rng.choice(PATHS) + "/" + rng.choice((*NAMES, quote(rng.randbytes(20))))
    line = f"{rng.choice(METHODS)} {path.replace(' ', '+')} HTTP/1.1".encode("latin-1", "replace")
    content = rng.choice((b"", b"{}", b"a,b\n1,2\n"))
    return lambda host: whole(host, line, content)


def strange_headers(rng: random.Random) -> Make:
    more = rng.choice(
        (
            b"Origin: http://evil.example", b"Cookie: actcause=\xff; a=b;;", b"Authorization: Bearer " + b"x" * 2000,
            b"X-Tab: " + rng.randbytes(30).hex().encode(), b"Range: bytes=9999999999-", b"If-None-Match: \"\xff\"",
            b"Accept-Encoding: " + b"gzip," * 500, b"Content-Encoding: gzip", b"Expect: 100-continue",
            b"X-Long: " + b"y" * 70_000, b"Upgrade: websocket",
        )
    )  # fmt: skip
    if rng.random() < 0.5:
        other = rng.choice(HOSTS)
        return lambda host: b"GET /api/ask/examples HTTP/1.1\r\nConnection: close\r\nHost: " + other + b"\r\n\r\n"
    return lambda host: whole(host, b"GET /api/jobs HTTP/1.1", b"", more)


def no_json(rng: random.Random) -> Make:
    depth = rng.randrange(10, 100_000)
    content = rng.choice(
        (
            b"{", b"[" * depth, b'{"a":' * depth, rng.randbytes(200), b"\xef\xbb\xbf{}", b"nul", b'{"text": "A"',
            b'{"text": ' + b"9" * 5000 + b"}", b"NaN", b'"\\ud800"', b"1e999999", b"",
        )
    )  # fmt: skip
    path = rng.choice(PATHS)
    return lambda host: whole(host, f"POST {path} HTTP/1.1".encode(), content)


def wrong_json(rng: random.Random) -> Make:
    def anything(depth: int = 0) -> Any:
        kinds = [None, True, -1, 10**30, 1e308, "", "A", "\u0000", "🙂" * 10, [], {}, "x" * 1000]
        if depth < 3 and rng.random() < 0.5:
            return [anything(depth + 1) for _ in range(rng.randrange(4))]
        return rng.choice(kinds)

    names = (
        "text", "context", "effect", "event", "definitions", "alpha_necessity", "outcome", "where", "example", "pair",
        "source", "method", "seed", "minutes", "options", "name", "roles", "own", "run", "at", "extra",
    )  # fmt: skip
    body = {name: anything() for name in rng.sample(names, rng.randrange(1, 6))}
    content, path = json.dumps(body).encode(), rng.choice(PATHS)
    return lambda host: whole(host, f"POST {path} HTTP/1.1".encode(), content)


def bad_model(rng: random.Random) -> Make:
    body = {"text": rng.choice(BAD_TEXTS), "context": {"A": rng.choice((0, 1, 5, -(10**14)))}, "effect": "B == 1"}
    path = rng.choice(("check", "answer", "judge"))
    if path == "check":
        body = {"text": body["text"]}
    if path == "judge":
        body["event"] = rng.choice(("A=1", "A=", "=", "A=1," * 500, "B=99999999999999999999"))
    content = json.dumps(body).encode()
    return lambda host: whole(host, f"POST /api/ask/{path} HTTP/1.1".encode(), content)


def bad_space(rng: random.Random) -> Make:
    body = {
        "text": rng.choice((*BAD_TEXTS, "A\nB = A")), "outcome": rng.choice(("B", "", "B +", "Z", "x" * 1999)),
        "where": rng.choice((None, "A == 7", "1 //", "A == A and " * 150 + "1")), "pair": rng.choice((1, 10**9, -1)),
        "alpha_necessity": rng.choice((None, "1e-999999999", "nan", "1/0", "2")),
    }  # fmt: skip
    path = rng.choice(("picture", "why", "histogram"))
    return lambda host: whole(host, f"POST /api/preimages/{path} HTTP/1.1".encode(), json.dumps(body).encode())


def bad_upload(rng: random.Random) -> Make:
    """Send a file that is none: its head promises what its body does not keep, or its name is no name."""
    names = (
        "x.parquet",
        "x.csv",
        "..%2fx.csv",
        ".csv",
        "x.exe",
        "%00.csv",
        "a" * 300 + ".csv",
        "x.CSV%20",
        "CON.parquet",
    )
    parts = (
        b"PAR1" + rng.randbytes(300) + b"PAR1",
        b"PAR1PAR1",
        b"",
        b"\x80\x04pickled.",
        rng.randbytes(2000),
        b'"' * 999,
    )
    line = f"PUT /api/data/files/{rng.choice(names)} HTTP/1.1".encode()
    content = rng.choice(parts)
    return lambda host: whole(host, line, content)


def long_model(rng: random.Random) -> Make:
    text = rng.choice(LONG_MODELS)
    names = [line.split()[0] for line in text.split("\n") if "=" not in line]
    body = {"text": text, "context": dict.fromkeys(names, 1), "effect": "Y == 1"}
    return lambda host: whole(host, b"POST /api/ask/answer HTTP/1.1", json.dumps(body).encode())


def large_body(rng: random.Random) -> Make:
    size, path = rng.choice((1_000_000, 1_200_000, 2_000_000)), rng.choice(PATHS)
    return lambda host: whole(host, f"POST {path} HTTP/1.1".encode(), b'{"text": "' + b"x" * size)


def cut_off(rng: random.Random) -> Make:
    """Send a body that is shorter than it says, with the connection closed behind it."""
    line = f"POST {rng.choice(PATHS)} HTTP/1.1".encode()
    said = rng.choice((b"10", b"-1", b"99999999999999999999", b"x"))
    return lambda host: b"\r\n".join(
        [
            line,
            f"Host: {host}".encode(),
            b"Connection: close",
            b"Content-Length: " + said,
            b"",
            b"{}",
        ]
    )


def whole(host: str, line: bytes, content: bytes, *headers: bytes) -> bytes:
    """Write a request with all that belongs to it."""
    own = [line, f"Host: {host}".encode(), b"Connection: close"]
    own += [b"Content-Type: application/json", b"Content-Length: %d" % len(content)]
    return b"\r\n".join([*own, *headers, b"", content])
