"""The way out over TLS: a certificate must be known and carry the name, the address is the one that was
checked, waits can be called off."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from requests.cookies import RequestsCookieJar

from agent.net import transport
from agent.net.deadline import Deadline, DeadlineExceeded, use_deadline
from agent.net.ssrf_guard import SsrfGuard
from tests.web.site import Site, html

NAME = "pages.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-signed certificate for NAME in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path_factory.mktemp("tls") / "pages.pem"
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path


class Secure:
    """An HTTPS server on 127.0.0.1: /well answers at once, /stalls says half of what it announced and then
    nothing."""

    def __init__(self, certificate: Path) -> None:
        self.over = threading.Event()
        self.hosts: list[str] = []
        secure = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                secure.hosts.append(self.headers["Host"])
                self.send_response(200)
                self.send_header("Content-Length", "10")
                self.end_headers()
                self.wfile.write(b"hello" if self.path == "/stalls" else b"helloworld")
                self.wfile.flush()
                if self.path == "/stalls":
                    secure.over.wait(20)

            def log_message(self, *_: object) -> None:
                """Nothing to tell."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.server.socket = context.wrap_socket(
            self.server.socket, server_side=True, do_handshake_on_connect=False
        )
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def url(self, path: str, host: str = NAME) -> str:
        return f"https://{host}:{self.server.server_port}{path}"


@pytest.fixture
def secure(certificate: Path) -> Iterator[Secure]:
    made = Secure(certificate)
    yield made
    made.over.set()
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def adapter() -> Iterator[transport.GuardedAdapter]:
    """The live transport; every name is on this machine, which it may read from."""
    allowed = SsrfGuard(["127.0.0.1"], resolver=lambda _host, port: [(socket.AF_INET, ("127.0.0.1", port))])
    made = transport.GuardedAdapter(allowed)
    yield made
    made.close()


@pytest.fixture
def known(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate's maker is trusted."""
    monkeypatch.setattr(requests.adapters, "DEFAULT_CA_BUNDLE_PATH", str(certificate))


def body(adapter: transport.GuardedAdapter, url: str, seconds: float = 10.0) -> bytes:
    with use_deadline(Deadline(seconds)), transport.send_get(adapter, url, RequestsCookieJar()) as response:
        return response.raw.read()


@pytest.mark.usefixtures("known")
def test_a_known_certificate_with_the_right_name_is_enough(adapter, secure):
    assert body(adapter, secure.url("/well")) == b"helloworld"
    assert secure.hosts == [f"{NAME}:{secure.server.server_port}"]


def test_an_unknown_certificate_is_refused(adapter, secure):
    with pytest.raises(requests.exceptions.SSLError):
        body(adapter, secure.url("/well"))
    assert secure.hosts == []


@pytest.mark.usefixtures("known")
def test_a_certificate_of_another_name_is_refused(adapter, secure):
    with pytest.raises(requests.exceptions.SSLError):
        body(adapter, secure.url("/well", "other.example"))
    assert secure.hosts == []


@pytest.mark.usefixtures("known")
def test_a_stalled_body_ends_at_the_deadline_over_tls_too(adapter, secure):
    with pytest.raises(DeadlineExceeded):
        body(adapter, secure.url("/stalls"), seconds=0.4)


def test_a_kept_connection_obeys_the_watch_of_now(adapter):
    with Site({"/": html("a"), "/late": html("b")}) as site:
        assert body(adapter, site.url("/"), seconds=30)
        with pytest.raises(DeadlineExceeded):
            body(adapter, site.url("/late"), seconds=0)


def test_nothing_of_the_surroundings_goes_along(adapter, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with Site({"/": html("a")}) as site:
        body(adapter, site.url("/"))
    [asked] = site.asked
    assert asked.headers["User-Agent"].startswith("Touchstone/") and not {"Authorization", "Cookie"} & set(
        asked.headers
    )
