"""A server with more than a thousand open files still connects: `select` can't wait for these, other calls can."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator

import pytest
import requests

from agent.net.deadline import Deadline, connect
from agent.net.ssrf_guard import SsrfGuard
from agent.net.tunnel import Tunnel
from tests.web.site import Site, html


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    """Every file that is opened meanwhile has a number above 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1300:
        pytest.skip("this machine allows no thousand files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1300), hard))
    held = [os.open(os.devnull, os.O_RDONLY)]
    while held[-1] < 1050:
        held.append(os.dup(held[0]))
    yield
    for one in held:
        os.close(one)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_connection_is_opened() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sock = connect(socket.AF_INET, listener.getsockname(), Deadline(10))
        assert sock.fileno() > 1024
        sock.close()


def test_a_refused_one_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gone = listener.getsockname()
    with pytest.raises(ConnectionRefusedError):
        connect(socket.AF_INET, gone, Deadline(10))


def test_a_tunnel_relays() -> None:
    with (
        Site({"/": html("<p>Milk</p>")}) as site,
        Tunnel(SsrfGuard(["127.0.0.1"]), Deadline(10), 100_000) as tunnel,
        requests.Session() as session,
    ):
        session.trust_env = False
        assert "Milk" in session.get(site.url(), proxies={"http": tunnel.url}, timeout=10).text
