"""A client with sockets of its own reaches, through the tunnel, one public origin and nothing else."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests
from requests.exceptions import ConnectionError as NoConnection

from agent.net.deadline import Deadline, connect
from agent.net.ssrf_guard import NOT_PUBLIC, SsrfGuard
from agent.net.tunnel import Tunnel
from bench.trust.nets import raw_server
from tests.web.site import Site, html


def open_tunnel(allow: str = "127.0.0.1", max_bytes: int = 100_000) -> Tunnel:
    return Tunnel(SsrfGuard([allow]), Deadline(10), max_bytes)


def get(url: str, tunnel: Tunnel) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        return session.get(url, proxies={"http": tunnel.url}, timeout=10)


def ask(tunnel: Tunnel, head: str, then: bytes = b"") -> bytes:
    """All that comes back for this request."""
    parts = urlsplit(tunnel.url)
    auth = requests.auth._basic_auth_str(parts.username, parts.password)  # type: ignore[attr-defined]
    with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=10) as client:
        client.sendall(f"{head.replace('AUTH', auth)}\r\n\r\n".encode())
        received = client.recv(65536)
        client.sendall(then)
        while more := client.recv(65536):
            received += more
    return received


def test_a_request_reaches_its_server_without_what_is_meant_for_the_proxy() -> None:
    with Site({"/a": html("<p>Milk</p>")}) as site, open_tunnel() as tunnel:
        assert "Milk" in get(site.url("/a?b=c"), tunnel).text
        assert site.asked[0].path == "/a?b=c"
        assert not [name for name in site.asked[0].headers if name.lower().startswith("proxy")]


def test_bytes_go_both_ways_after_connect() -> None:
    def answer(connection: socket.socket, head: bytes) -> None:
        connection.sendall(b"you said " + head)

    with raw_server(answer) as (port, _), open_tunnel() as tunnel:
        head = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nProxy-Authorization: AUTH"
        received = ask(tunnel, head, b"TLS would follow\r\n\r\n")
        assert received.startswith(b"HTTP/1.1 200") and received.endswith(
            b"you said TLS would follow\r\n\r\n"
        )


@pytest.mark.parametrize("credentials", ["", "\r\nProxy-Authorization: Basic eDp5"])
def test_whoever_does_not_know_its_password_gets_nothing(credentials: str) -> None:
    with Site({"/": html("<p>Milk</p>")}) as site, open_tunnel() as tunnel:
        assert ask(tunnel, f"GET {site.url()} HTTP/1.1{credentials}") == b""
        assert not site.asked


def test_an_inner_address_is_refused() -> None:
    with Site({"/": html("<p>Milk</p>")}) as site, open_tunnel(allow="10.9.9.9") as tunnel:
        with pytest.raises(NoConnection):
            get(site.url(), tunnel)
        assert not site.asked and tunnel.refusal == NOT_PUBLIC


@pytest.mark.parametrize("head", ["", "GET", "GET / HTTP/1.1", "CONNECT [::1 HTTP/1.1", "x" * 70_000])
def test_what_is_no_request_of_a_proxy_ends_the_connection(head: str) -> None:
    with open_tunnel() as tunnel:
        assert ask(tunnel, f"{head}\r\nProxy-Authorization: AUTH") == b""


def test_a_second_origin_is_refused() -> None:
    with (
        Site({"/": html("<p>A</p>")}) as first,
        Site({"/": html("<p>B</p>")}) as second,
        open_tunnel() as tunnel,
    ):
        assert get(first.url(), tunnel).ok
        with pytest.raises(NoConnection):
            get(second.url(), tunnel)
        assert not second.asked and "another address" in tunnel.refusal
        assert get(first.url(), tunnel).ok


def test_it_ends_after_so_many_bytes() -> None:
    with (
        Site({"/": html("x" * 300_000)}) as site,
        open_tunnel() as tunnel,
        pytest.raises(requests.RequestException),
    ):
        get(site.url(), tunnel)


def test_nobody_is_served_after_its_block() -> None:
    with Site({"/": html("<p>A</p>")}) as site:
        with open_tunnel() as tunnel:
            get(site.url(), tunnel)
        with pytest.raises(requests.RequestException):
            for _ in range(1000):  # until its threads have ended
                get(site.url(), tunnel)


@pytest.fixture
def many_files() -> Iterator[None]:
    """Every file that is opened meanwhile has a number above 1024: `select` cannot wait for these."""
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


@pytest.mark.usefixtures("many_files")
def test_a_server_with_more_than_a_thousand_open_files_still_connects_and_relays() -> None:
    with Site({"/": html("<p>Milk</p>")}) as site, open_tunnel() as tunnel:
        assert "Milk" in get(site.url(), tunnel).text
    with pytest.raises(ConnectionRefusedError), socket.create_server(("127.0.0.1", 0)) as listener:
        gone = listener.getsockname()
        listener.close()
        connect(socket.AF_INET, gone, Deadline(10))
