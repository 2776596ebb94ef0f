"""One exchange with a service: whatever a hostile server sends ends within the limits of the policy."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agent.errors import StopRequested
from agent.net import policies
from agent.net.deadline import Deadline, DeadlineExceeded
from agent.net.exchange import (
    MAX_CONTAINERS,
    AnswerUnusable,
    Connections,
    parse_json,
    parse_retry_after,
    trust_certificates,
)
from agent.net.policies import MODEL_LIST
from agent.net.ssrf_guard import HostUnreachable, SsrfGuard
from agent.settings.config import Config
from agent.settings.reply_config import AIResponseSettings, LLMSettings
from bench.trust.cases_names import make_certificate
from tests.tables import by_table
from tests.web.site import Asked, Reply, Site, html

SMALL = replace(MODEL_LIST, max_bytes=50_000, seconds=0.5)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def hostile(send: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """The address of a server that reads a request and then sends what it likes."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                try:
                    peer.recv(65536)
                    send(peer, over)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    over.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def repeat(head: bytes, part: bytes) -> Callable[[socket.socket, threading.Event], None]:
    def send(peer: socket.socket, over: threading.Event) -> None:
        peer.sendall(head)
        while not over.is_set():
            peer.sendall(part)

    return send


@pytest.fixture
def here() -> Iterator[Connections]:
    made = Connections(["127.0.0.1"])
    yield made
    made.close()


def test_an_answer_comes_whole_and_its_connection_is_used_again(here: Connections) -> None:
    def page(asked: Asked) -> Reply:
        assert asked.headers.get("Accept-Encoding", asked.headers.get("accept-encoding")) == "gzip"
        return Reply(201, gzip.compress(b'{"a": 1}'), {"Content-Encoding": "gzip"})

    with Site({"/": page}) as site:
        got = [here.exchange(SMALL, site.url()) for _ in range(3)]
        assert [reply.status for reply in got] == [201] * 3 and got[0].json() == {"a": 1}
        assert len(site.peers) == 1


@pytest.mark.parametrize(
    "send",
    [
        repeat(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"ffff\r\n" + b" " * 0xFFFF + b"\r\n"),
        repeat(HEAD + b"\r\n", b" " * 65536),
        repeat(HEAD + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b" " * 1_000_000)),
    ],
    ids=["chunks", "no length", "gzip"],
)
def test_an_endless_body_is_cut_at_the_limit(here: Connections, send) -> None:
    with hostile(send) as url, pytest.raises(AnswerUnusable, match=r"larger than 0\.05 MB"):
        here.exchange(SMALL, url, deadline=Deadline(30))


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["drips", "stalls", "drips headers"])
def test_the_whole_time_counts_and_leaves_no_thread(here: Connections, ends) -> None:
    with Site({"/": Reply(200, b"x", ends=ends)}) as site:
        before = {thread for thread in threading.enumerate() if thread.name != "touchstone-patience"}
        with pytest.raises(DeadlineExceeded):
            here.exchange(SMALL, site.url())
        left = set(threading.enumerate()) - before
    assert not [thread for thread in left if "process_request" not in thread.name]


def test_a_stop_ends_a_wait_for_bytes_and_for_a_reader(here: Connections) -> None:
    arrived = threading.Event()

    def stop_when_asked() -> None:
        if arrived.is_set():
            raise StopRequested("stop")

    def hold(_peer: socket.socket, over: threading.Event) -> None:
        arrived.set()
        over.wait(20)

    for body in (None, b" " * 50_000_000):
        arrived.clear()
        with hostile(hold) as url, pytest.raises(StopRequested):
            here.exchange(SMALL, url, body=body, deadline=Deadline(60, stop_when_asked))


def test_a_slow_reader_gets_the_whole_body(here: Connections) -> None:
    with Site({"/": lambda asked: html(str(len(asked.body)))}) as site:
        assert (
            here.exchange(SMALL, site.url(), body=b" " * 20_000_000, deadline=Deadline(60)).body
            == b"20000000"
        )


def test_the_table_holds_what_the_settings_say_of_themselves() -> None:
    config, reply = Config.model_fields, AIResponseSettings.model_fields
    assert policies.PAGE.seconds == config["FETCH_TIMEOUT"].default
    assert policies.PAGE.max_bytes == config["FETCH_MAX_MB"].default * 1e6
    assert policies.MODEL_REPLY.seconds == config["MODEL_TIMEOUT"].default
    assert policies.PICTURE.seconds == reply["image_download_timeout_seconds"].default
    assert LLMSettings.model_fields["timeout_seconds"].default == policies.MODEL_REPLY.seconds


NAME = "pages.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-signed certificate for NAME in one file."""
    return make_certificate(tmp_path_factory.mktemp("tls"), NAME)


@pytest.fixture
def secure(certificate: Path) -> Iterator[Site]:
    """A site over TLS: /stalls says half of what it announced and then nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    pages = {"/well": html("helloworld"), "/stalls": Reply(200, b"hello", ends="stalls")}
    with Site(pages, context) as site:
        yield site


@pytest.fixture
def anywhere() -> Iterator[Connections]:
    """Every name is on this machine, which may be read from."""
    made = Connections(
        guard=SsrfGuard(["127.0.0.1"], resolver=lambda _host, port: [(socket.AF_INET, ("127.0.0.1", port))])
    )
    yield made
    made.close()


@pytest.fixture
def known(certificate: Path) -> Iterator[None]:
    """The certificate's maker is trusted."""
    trust_certificates().load_verify_locations(str(certificate))
    yield
    trust_certificates.cache_clear()


def over_tls(site: Site, path: str, host: str = NAME) -> str:
    return site.url(path).replace("http://127.0.0.1", f"https://{host}")


@pytest.mark.usefixtures("known")
def test_a_known_certificate_with_the_right_name_is_enough(anywhere: Connections, secure: Site) -> None:
    url = over_tls(secure, "/well")
    assert anywhere.exchange(MODEL_LIST, url).body == b"helloworld"
    assert [asked.headers["Host"] for asked in secure.asked] == [urlsplit(url).netloc]


@pytest.mark.parametrize(("name", "is_known"), [(NAME, False), ("other.example", True)])
def test_an_unknown_certificate_and_one_of_another_name_are_refused(
    request: pytest.FixtureRequest, anywhere: Connections, secure: Site, name: str, is_known: bool
) -> None:
    if is_known:
        request.getfixturevalue("known")
    with pytest.raises(HostUnreachable, match="certificate could not be verified"):
        anywhere.exchange(MODEL_LIST, over_tls(secure, "/well", name))
    assert secure.asked == []


@pytest.mark.slow
@pytest.mark.usefixtures("known")
def test_a_stalled_body_ends_at_the_deadline_over_tls_too(anywhere: Connections, secure: Site) -> None:
    with pytest.raises(DeadlineExceeded):
        anywhere.exchange(SMALL, over_tls(secure, "/stalls"))


def test_a_kept_connection_obeys_the_deadline_of_now(here: Connections) -> None:
    with Site({"/": html("a"), "/late": html("b")}) as site:
        assert here.exchange(MODEL_LIST, site.url("/")).body == b"a"
        with pytest.raises(DeadlineExceeded):
            here.exchange(MODEL_LIST, site.url("/late"), deadline=Deadline(0))


def test_json_is_read() -> None:
    assert parse_json('{"a": [1, "é"]}') == parse_json('{"a": [1, "é"]}'.encode()) == {"a": [1, "é"]}
    assert parse_json("[" + "[]," * (MAX_CONTAINERS - 2) + "1]")


@pytest.mark.parametrize(
    "text",
    ["", "{", b"\xff\xfe{", "[" * 100_000, "[" * 250_000, b"[" + b"{}," * 1_300_000 + b"{}]", "1" * 10_000],
    ids=["empty", "cut", "not UTF-8", "deep", "deeper", "many objects", "long number"],
)
def test_what_cannot_be_read_is_a_value_error_and_costs_little(text: str | bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError):
            parse_json(text)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "written", [b'{"a": "\\uD83D\\ude00 \\ud800", "\\udfff": 1}', b'\xef\xbb\xbf{"a": "\xed\xa0\x80"}']
)
def test_what_it_says_can_be_stored(written: bytes) -> None:
    said = parse_json(written)
    assert json.dumps(said, ensure_ascii=False).encode()
    assert "\\ud83d" not in repr(said) and ("😀 ?" in said["a"] or "\ufffd" in said["a"])


@by_table
def test_what_retry_after_asks_for(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)) == seconds
