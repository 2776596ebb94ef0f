"""Cases of the routes: odd spellings of the Host at every kind of route of the real server, and the table of what each
route asks."""

from __future__ import annotations

import json
import socket
import tempfile
from pathlib import Path

from agent.bot.routes import READ, RULES, find_rule
from bench.trust.scorecard import Bench, Result, case
from tests.browser.served import Served

SAID = {"role": "user", "text": "What is the vault code of the archive?"}
BODIES = {
    "/reply": json.dumps({"conversation": [SAID]}).encode(),
    "/messages": json.dumps({**SAID, "channel": "help", "user": "ann"}).encode(),
}
PRIVATE = (
    "/reply",
    "/messages",
    "/metrics",
    "/",
    "/media/x",
    "/_stcore/host-config",
    "/_stcore/stream",
    "/auth/login",
)
"""Routes of each kind that a page elsewhere may not reach by a name of its own."""
ODD = [
    *(f"a{odd}b.evil.test" for odd in "{}\"`|^~_!$&'()*+,;=<>\\% \t@#?/[]"),
    *("evil.test", "EVIL.test.", "localhost.evil.test", "127.0.0.1.evil.test", "evil.test:PORT", "lan", "0", "2130706433"),
    *("localhost@evil.test", "localhost:x@evil.test", "evil.test@localhost", "evil@127.0.0.1:PORT", "@localhost", ":@127.0.0.1"),
    *("127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:x", "localhost:8501x", "localhost:8501:8501", "localhost:65536"),
    *("[::1%25lo]", "[::1%lo]:PORT", "[fe80::1%eth0]", "[::ffff:10.0.0.1]", "[::1", "::1]", "[]", "[evil.test]"),
    *("localhost/evil", "localhost?evil", "localhost#.evil.test", "http://localhost", "//localhost", "localhost,evil.test"),
    *("", " ", ".", "*", "localhost evil.test", "l\xf6calhost", "\u2460.test", "localhost\x00.evil.test", "127.1", "0x7f.1")
]  # fmt: skip
KNOWN = ("127.0.0.1:PORT", "localhost", "LOCALHOST:PORT", "localhost.")


def ask(
    port: int, path: str, *headers: str, method: str = "", body: bytes | None = None, target: str = ""
) -> int:
    """The status of a request that is sent byte for byte; 0 when the server closes without one."""
    method = method or (find_rule(path).methods or READ)[0]
    if path == "/_stcore/stream":
        headers = (
            *headers,
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
        )
    sent = BODIES.get(path, b"") if body is None else body
    kept = "Upgrade" if path == "/_stcore/stream" else "close"
    lines = [
        f"{method} {target or path} HTTP/1.1",
        *headers,
        f"Connection: {kept}",
        f"Content-Length: {len(sent)}",
    ]
    lines += ["Content-Type: application/json"]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        link.sendall("\r\n".join([*lines, "", ""]).encode("utf-8") + sent)
        answer = link.recv(4000).split(b" ", 2)
    return int(answer[1]) if len(answer) > 1 else 0


@case("S11.7", "Odd spellings of the Host at each kind of route of the real server", "0 answered", quick=True)
def odd_hosts(bench: Bench) -> Result:
    misses, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder) / "data", REPLY_WINDOW="0").start()
        try:
            spellings = [(f"Host: {host.replace('PORT', str(served.port))}",) for host in ODD]
            spellings += [("Host: localhost", "Host: evil.test"), ("Host: evil.test", "Host: localhost"), ()]
            spellings += [
                ("Host: evil.test", f"{name}: localhost")
                for name in ("X-Forwarded-Host", "Forwarded", "X-Host")
            ]
            for path in PRIVATE:
                for headers in spellings:
                    tried += 1
                    status = ask(served.port, path, *headers)
                    misses += (
                        [f"{path} by {' and '.join(headers)}: {status}"]
                        if status not in (0, 400, 403)
                        else []
                    )
                for line in KNOWN:  # the control: a known name is answered
                    status = ask(served.port, path, f"Host: {line.replace('PORT', str(served.port))}")
                    misses += (
                        [f"{path} by {line} was refused"]
                        if status in (0, 400, 403) and path != "/auth/login"
                        else []
                    )
                status = ask(served.port, path, "Host: a{b.evil.test", target=f"http://localhost{path}")
                misses += (
                    [f"{path} by a whole address in the first line: {status}"]
                    if status not in (0, 400, 403)
                    else []
                )
            told = ask(served.port, "/readyz", "Host: a{b.evil.test")
            misses += [f"/readyz: {told}"] if told != 200 else []
        finally:
            served.stop()
    return Result(tried, f"{len(misses)} answered, or refused wrongly", misses)


@case("S11.8", "What the table of routes says holds at the real server", "0 otherwise", quick=True)
def table(bench: Bench) -> Result:
    misses, tried = [], 0
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder) / "data", REPLY_WINDOW="0").start()
        try:
            own, name = f"Host: 127.0.0.1:{served.port}", "Host: evil.test"
            for row, rule in RULES.items():
                path = row.replace("*", "x").rpartition(" ")[2]
                wrong = [
                    (method, (own,), (405, 404, 400))
                    for method in methods
                    if rule.methods  # what is mounted there refuses those that it has not
                    and " " not in row
                    and method not in rule.methods
                    and f"{method} {row}" not in RULES
                ]
                usual = (rule.methods or READ)[0]
                wrong += [
                    (usual, (own, f"Origin: {origin}"), (403,))
                    for origin in ("null", "http://evil.test", "http://[")
                ]
                if rule.caller != "probe":
                    wrong += [(usual, (name,), (403,))]
                if rule.caller not in ("probe", "token"):
                    wrong += [(usual, (name, "Authorization: Bearer x"), (403,))]
                for method, headers, expected in wrong:
                    tried += 1
                    status = ask(served.port, path, *headers, method=method)
                    misses += [f"{method} {path} {headers}: {status}"] if status not in expected else []
                if rule.max_body and not row.startswith(("/api/", "/mcp")):  # those ask for the token first
                    tried += 2
                    full = ask(served.port, path, own, body=b" " * rule.max_body)
                    over = ask(served.port, path, own, body=b" " * (rule.max_body + 1))
                    misses += [f"{path} with a body: {full}, {over}"] if (full, over) != (400, 413) else []
        finally:
            served.stop()
    return Result(tried, f"{len(misses)} otherwise", misses)
