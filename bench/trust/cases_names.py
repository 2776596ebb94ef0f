"""Cases of host names: answers that change between check and use, TLS, name servers that never answer."""

from __future__ import annotations

import datetime
import itertools
import ssl
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agent.net.exchange import Connections, trust_certificates
from agent.settings import config as configuration
from agent.types import Outcome
from bench.trust.nets import INNER, PUBLIC, Net, fetcher_over
from bench.trust.scorecard import Bench, Result, case
from tests.web.site import Site, html


def _flip(inner: str) -> Callable[[], list[str]]:
    answers = itertools.chain([[PUBLIC]], itertools.repeat([inner]))
    return lambda: next(answers)


def _alternate(inner: str) -> Callable[[], list[str]]:
    answers = itertools.cycle([[PUBLIC], [inner]])
    return lambda: next(answers)


DNS_FORMS: dict[str, Callable[[str], list[str] | Callable[[], list[str]]]] = {
    "inner only": lambda inner: [inner],
    "public first, inner later": _flip,
    "by turns": _alternate,
    "inner first of two": lambda inner: [inner, PUBLIC],
    "inner last of three": lambda inner: [PUBLIC, "1.1.1.1", inner],
    "A inner, AAAA public": lambda inner: [inner, "2606:2800:220:1::1"],
    "A public, AAAA mapped": lambda inner: [PUBLIC, f"::ffff:{inner}"],
    "AAAA NAT64": lambda inner: [f"64:ff9b::{inner}"],
    "AAAA compatible": lambda inner: [f"::{inner}"],
    "AAAA with a zone": lambda inner: ["fe80::1%eth0", inner],
    "international name": lambda inner: [inner],
    "trailing dot": lambda inner: [inner],
}


@case(
    "S1.3",
    "Names that lead inside or change their mind, with and without TLS",
    "0 of 147 reached",
    quick=True,
)
def names(bench: Bench) -> Result:
    cases = bench.thin(itertools.product(DNS_FORMS, INNER, ("http", "https")), 48)
    misses = []
    for form, inner, scheme in cases:
        host = "bücher.example.com" if form == "international name" else "name.example.com"
        ascii_host = "xn--bcher-kva.example.com" if form == "international name" else host
        answers = DNS_FORMS[form](inner)
        net = Net(dict.fromkeys((ascii_host, host, f"{host}."), answers))
        dot = "." if form == "trailing dot" else ""
        fetcher = net.fetcher()
        for _ in range(3):
            page = fetcher.fetch(f"{scheme}://{host}{dot}/")
            misses += [f"{form} {inner} {scheme}: a page"] if page.outcome is Outcome.OK else []
        misses += [f"{form} {inner} {scheme}: {peer}" for peer in net.inner_peers()]
    misses += _tls_misses()
    return Result(len(cases) + 3, f"{len(misses)} reached", misses)


def make_certificate(folder: Path, name: str) -> Path:
    """A certificate of its own authority for one host name, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
    made = made.not_valid_after(now + datetime.timedelta(days=2))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = made.sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


def _tls_misses() -> list[str]:
    """A name that is pinned to its checked address keeps its name in TLS and in Host; a certificate of another
    name is refused; after the name has changed its mind nothing is connected to."""
    seen: list[str | None] = []
    with tempfile.TemporaryDirectory() as folder:
        certificate = make_certificate(Path(folder), "name.example.com")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.sni_callback = lambda _socket, name, _context: seen.append(name)
        with Site({"/": html("<p>Milk and cheese of the valley.</p>")}, context) as site:
            answers = _flip("10.0.0.7")
            net = Net(
                {"name.example.com": answers, "other.example.com": [PUBLIC]},
                served=int(urlsplit(site.url()).port or 0),
            )
            trust_certificates().load_verify_locations(str(certificate))
            connections = Connections(guard=net.guard())
            fetcher = fetcher_over(connections, seconds=10, max_mb=1)
            first = fetcher.fetch("https://name.example.com/")
            other = fetcher.fetch("https://other.example.com/")
            connections.close()
            later = fetcher.fetch("https://name.example.com/")
            hosts = {asked.headers.get("Host") for asked in site.asked}
    misses = [] if first.outcome is Outcome.OK else [f"TLS to the right name: {first.outcome} {first.detail}"]
    misses += (
        [] if seen[:1] == ["name.example.com"] and hosts == {"name.example.com"} else [f"TLS: {seen} {hosts}"]
    )
    misses += ["TLS: another name's certificate was accepted"] if other.outcome is Outcome.OK else []
    misses += [f"TLS, later: {later.outcome}"] if later.outcome is not Outcome.REFUSED else []
    return misses + [f"TLS: {peer}" for peer in net.inner_peers()]


@case("S1.3s", "A name server that never answers", "ends <= 5 s")
def slow_names(bench: Bench) -> Result:
    over = threading.Event()

    def hang() -> list[str]:
        over.wait(60)
        return [PUBLIC]

    net = Net({"slow.example.com": hang})
    default = float(configuration.Config.model_fields["FETCH_TIMEOUT"].default)
    began = time.monotonic()
    page = net.fetcher(seconds=default).fetch("http://slow.example.com/")
    took = time.monotonic() - began
    over.set()
    misses = [f"{page.outcome} after {took:.1f} s"] if took > 5.5 or page.outcome is Outcome.OK else []
    return Result(1, f"{page.outcome.value} after {took:.1f} s", misses)
