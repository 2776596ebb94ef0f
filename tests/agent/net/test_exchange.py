"""One exchange with a service: whatever a hostile server sends ends within the limits of the policy."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from agent.errors import StopRequested
from agent.net import policies
from agent.net.deadline import Deadline, DeadlineExceeded
from agent.net.exchange import AnswerUnusable, Connections
from agent.net.policies import MODEL_LIST
from agent.settings.config import Config
from agent.settings.reply_config import AIResponseSettings, LLMSettings
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
        pools = here._pools.connection_from_url(site.url())
        assert [reply.status for reply in got] == [201] * 3 and got[0].json() == {"a": 1}
        assert pools.num_connections == 1 and pools.num_requests == 3


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


@pytest.mark.parametrize("name", ["br", "zstd", "deflate", "gzip, gzip", "x" * 500])
def test_another_compression_is_a_sentence(here: Connections, name: str) -> None:
    with (
        Site({"/": Reply(200, b"abc", {"Content-Encoding": name})}) as site,
        pytest.raises(AnswerUnusable, match="a compression that is not read here") as caught,
    ):
        here.exchange(SMALL, site.url())
    assert len(str(caught.value)) < 120


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
