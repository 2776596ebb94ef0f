"""What may be fetched at all: well-formed public http(s) addresses, checked as a spelling and again as the peer.

`admit` judges a URL before anything happens; `connect` resolves a name, checks every address it has, and connects to that
very address, so a name that changes its mind between check and connect gains nothing. Knows nothing of HTTP or pages.
Refusals have one wording and never name an internal address: a refusal must not be a way to look around inside.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit, urlunsplit

import idna

from agent.errors import TouchstoneError
from agent.tools import addresses
from agent.tools.sockets import connect
from agent.tools.watch import Watch, patiently

PORTS = frozenset((80, 443, 8080, 8443))
"""Ports a public page may be fetched from. Hosts an operator allows may use any."""
MAX_URL = 4096

NOT_PUBLIC = (
    "This address is not on the public internet, so it is never fetched. Whoever runs this workbench can allow a host of their own with FETCH_ALLOW."
)
_MALFORMED = "This is not a well-formed http(s) address, so it was not fetched. Check its spelling."
_CREDENTIALS = "This address carries a user name or password; such addresses are not fetched. Leave them out."
_PORT = "This address names a port that web pages are not served from (allowed: 80, 443, 8080, 8443), so it was not fetched."
_LONG = f"This address is longer than {MAX_URL} characters, so it was not fetched."
_PRIVATE_NAMES = re.compile(r"(^|\.)(localhost|local|internal|localdomain|home\.arpa)$")
_NUMERIC = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)$")
_UNCLEAN = re.compile(r"[\x00-\x20\x7f\\]")

SocketAddress = tuple[socket.AddressFamily, tuple[str, int]]
Resolver = Callable[[str, int], list[SocketAddress]]
Connector = Callable[[socket.AddressFamily, tuple[str, int], Watch], socket.socket]


class Forbidden(TouchstoneError):
    """Our own rules say no. Stays inside the tools: its message becomes the detail of the outcome `refused`."""


class Unreachable(TouchstoneError):
    """The host has no address or does not answer. Stays inside the tools; its message becomes the detail."""


def lookup(host: str, port: int) -> list[SocketAddress]:
    """Every address of a name, as the system resolves it."""
    found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    return [(family, (str(peer[0]), port)) for family, _, _, _, peer in found]


class Guard:
    """The rules, with an operator's allow-list: host names ("wiki.lan", "*.lan"), addresses or networks."""

    def __init__(self, allow: Sequence[str] = (), *, resolver: Resolver = lookup, connector: Connector = connect) -> None:
        self._networks: list[IPv4Network | IPv6Network] = []
        self._names: list[str] = []
        self._resolve = resolver
        self._connect = connector
        for entry in allow:
            try:
                self._networks.append(ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                self._names.append(entry.lower())

    def admit(self, url: str) -> str:
        """The address with its host in ASCII, ready to be requested; raises `Forbidden` with a sentence for a person."""
        url = url.strip()
        if len(url) > MAX_URL:
            raise Forbidden(_LONG)
        parts, port = _split(url)
        host = _ascii(parts.hostname or "")
        if not self.permits(host):
            raise Forbidden(NOT_PUBLIC)
        if port is not None and port not in PORTS and not self._allowed(host):
            raise Forbidden(_PORT)
        netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
        return urlunsplit((parts.scheme.lower(), netloc, parts.path or "/", parts.query, ""))

    def permits(self, host: str) -> bool:
        """May this host be asked, as far as its spelling tells? A literal address must be public or allowed."""
        literal = _literal(host)
        if literal:
            return self._may_connect(literal, host)
        private = "." not in host or bool(_PRIVATE_NAMES.search(host))
        return self._allowed(host) or not private

    def connect(self, host: str, port: int, watch: Watch) -> socket.socket:
        """A socket connected to a checked address of `host`. Raises `Forbidden` when any of its addresses may not be used,
        `Unreachable` when there is none or none answers, `Late` at the deadline."""
        try:
            found = patiently(lambda: self._resolve(host, port), watch)
        except (OSError, UnicodeError) as error:
            raise Unreachable("The host's name could not be resolved. Check its spelling, or the network.") from error
        if not all(self._may_connect(ip_address(peer[0].split("%")[0]), host) and "%" not in peer[0] for _, peer in found):
            raise Forbidden(NOT_PUBLIC)
        for family, peer in found:
            try:
                return self._connect(family, peer, watch)
            except OSError:
                continue
        raise Unreachable("The host did not answer: the connection was refused or timed out. Try again later.")

    def _may_connect(self, address: addresses.Address, host: str) -> bool:
        if addresses.metadata(address):
            return False
        inside = any(address.version == network.version and address in network for network in self._networks)
        return addresses.public(address) or inside or host in self._names or self._named(host)

    def _allowed(self, host: str) -> bool:
        literal = _literal(host)
        inside = literal is not None and any(literal.version == n.version and literal in n for n in self._networks)
        return inside or self._named(host)

    def _named(self, host: str) -> bool:
        host = host.rstrip(".").lower()
        return any(host == name or (name.startswith("*.") and host.endswith(name[1:])) for name in self._names)


def _split(url: str) -> tuple[SplitResult, int | None]:
    if _UNCLEAN.search(url):
        raise Forbidden(_MALFORMED)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Forbidden(_MALFORMED) from error
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise Forbidden(_MALFORMED)
    if "@" in parts.netloc:
        raise Forbidden(_CREDENTIALS)
    if "%" in parts.netloc:
        raise Forbidden(_MALFORMED)
    return parts, port


@lru_cache(maxsize=4096)
def _ascii(host: str) -> str:
    """The host as it goes on the wire; what two parsers could read as two hosts is refused."""
    host = host.lower()
    if ":" in host:
        if not _literal(host):
            raise Forbidden(_MALFORMED)
        return host
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise Forbidden(_MALFORMED) from error
    name = name.removesuffix(".")
    odd = not re.fullmatch(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", name) or len(name) > 253
    if odd or (_NUMERIC.search(name) and not _literal(name)):
        raise Forbidden(_MALFORMED)
    return name


@lru_cache(maxsize=4096)
def _literal(host: str) -> addresses.Address | None:
    try:
        return ip_address(host.strip("[]").removesuffix("."))
    except ValueError:
        return None
