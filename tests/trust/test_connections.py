"""No flow opens a connection that no policy names; both ways to see them see what the flows open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.trust import cases_connections
from bench.trust.scorecard import Bench

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("by_kernel", [True, False])
def test_no_connection_without_a_policy(monkeypatch: pytest.MonkeyPatch, by_kernel: bool) -> None:
    by_kernel = by_kernel and cases_connections.can_trace()  # without strace both times by Python's own hooks
    monkeypatch.setattr(cases_connections, "can_trace", lambda: by_kernel)
    result = cases_connections.connections(Bench())
    assert result.misses == [] and result.n >= 3


def test_a_purpose_without_a_peer_and_a_peer_without_a_purpose_are_misses() -> None:
    seen = {("127.0.0.1", 1), ("127.0.0.1", 2), ("10.0.0.1", 53)}
    misses = cases_connections.judge(seen, {"a page": [1], "a picture": [2, 3], "sign-in": [], "a list": [4]})
    assert misses == ["10.0.0.1:53", "nothing was seen of sign-in", "nothing was seen of a list"]
    assert "port 1 serves two" in cases_connections.judge(seen, {"a page": [1], "a picture": [1]})


@pytest.mark.parametrize(
    "line",
    [
        '7 sendmmsg(3, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, msg_namelen=16, msg_iov=[{iov_base=""..., iov_len=9}]}}, {msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(54), sin_addr=inet_addr("10.0.0.2")}}}], 2, 0) = 2',
        '7 sendto(3, ""..., 1, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, 16) = 1\n7 connect(3, {sa_family=AF_INET6, sin6_port=htons(54), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "10.0.0.2", &sin6_addr), sin6_scope_id=0}, 28) = 0',
    ],
)
def test_every_peer_of_a_line_is_read(line: str) -> None:
    assert cases_connections.PEER.findall(line) == [("53", "10.0.0.1"), ("54", "10.0.0.2")]


SEND_MANY = """
import ctypes, socket
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer = ctypes.create_string_buffer(bytes([2, 0, 0, 9, 127, 0, 0, 1]) + bytes(8), 16)
class Header(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("length", ctypes.c_uint), ("iov", ctypes.c_void_p), ("count", ctypes.c_size_t),
        ("control", ctypes.c_void_p), ("more", ctypes.c_size_t), ("flags", ctypes.c_int), ("sent", ctypes.c_uint)]
one = Header(ctypes.addressof(peer), 16)
ctypes.CDLL(None).sendmmsg(sock.fileno(), ctypes.byref(one), 1, 0)
"""


@pytest.mark.skipif(not cases_connections.can_trace(), reason="needs strace")
def test_messages_that_are_sent_many_at_a_time_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "many_messages.py").write_text(SEND_MANY)
    monkeypatch.setattr(cases_connections, "ROOT", tmp_path)
    seen, error = cases_connections.trace(tmp_path, "many_messages", by_kernel=True)
    assert ("127.0.0.1", 9) in seen and not error


@pytest.mark.parametrize("by_kernel", [True, False])
def test_a_connection_of_a_child_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_kernel: bool
) -> None:
    stray = "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"
    module = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {json.dumps(stray)!s}])\n"
    (tmp_path / "stray_flow.py").write_text(module)
    monkeypatch.setattr(cases_connections, "ROOT", tmp_path)
    by_kernel = by_kernel and cases_connections.can_trace()
    seen, error = cases_connections.trace(tmp_path, "stray_flow", by_kernel=by_kernel)
    assert ("127.0.0.1", 9) in seen and not error
