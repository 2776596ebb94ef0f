"""What may be fetched: well-formed public http(s) addresses, checked as a spelling and again as the peer.

`check_url` judges a URL before anything happens; `connect` resolves a name, checks every address it has, and
connects to that very address, so a name that changes between check and connect gains nothing. All refusals of
inner addresses have one wording: a refusal must not be a way to explore the inside."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from functools import lru_cache
from http.client import HTTP_PORT, HTTPS_PORT
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit, urlunsplit

import idna

from agent.net.deadline import Deadline, DeadlineExceeded, NoAnswer, connect, run_with_deadline
from agent.text.urls import MAX_URL
from agent.types import Outcome

# Which IP addresses are on the public internet: from IANA's special-purpose address registries (IPv4, IPv6),
# the multicast spaces, the site-local space that RFC 3879 retired, and the metadata addresses of clouds.
# `ipaddress.is_global` is not used: current Pythons call 64:ff9b::7f00:1, 2002:7f00:1:: and fec0::1 global.

IpAddress = IPv4Address | IPv6Address

_METADATA = (
    "169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.23 168.63.129.16 "
    "100.100.100.200 192.0.0.192 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fe80::a9fe:a9fe"
)
"""The common one (also Azure, Google, Oracle), AWS tasks, AWS EKS pods, Scaleway, Tencent, Azure's wire
server (public by the registry), Alibaba, Oracle classic; then the IPv6 ones."""
CLOUD_METADATA_ADDRESSES = frozenset(map(ip_address, _METADATA.split()))
"""Addresses at which clouds hand out credentials. Never fetched from, whatever an operator allows."""
_SPECIAL_IPV4 = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
    "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 "
    "198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
)
_SPECIAL_IPV4_NETWORKS = tuple(map(IPv4Network, _SPECIAL_IPV4.split()))
_GLOBAL_IPV6 = IPv6Network("2000::/3")
"""All that IANA has allocated as global unicast; everything outside is special or unassigned."""
_SPECIAL_IPV6_NETWORKS = tuple(
    map(IPv6Network, "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20".split())
)
"""Protocol assignments (Teredo, benchmarking, ORCHID and the like), documentation, 6to4 (whoever needs it can
be reached by IPv4), AS112, documentation."""
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_CARRIERS = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""Compatible, mapped, translated and NAT64 addresses: their last four bytes are an IPv4 address."""


def is_public(address: IpAddress) -> bool:
    """Whether any two hosts of the internet may use this address between them.

    IPv6 forms that carry an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo) are outside
    the allowed space; an ISATAP interface identifier is not public when its IPv4 address is not."""
    if address in CLOUD_METADATA_ADDRESSES:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_IPV4_NETWORKS)
    is_special = any(address in network for network in _SPECIAL_IPV6_NETWORKS)
    if address.scope_id or address not in _GLOBAL_IPV6 or is_special:
        return False
    inner = _extract_isatap_ipv4(address)
    return inner is None or is_public(inner)


def is_cloud_metadata(address: IpAddress) -> bool:
    """Whether it is a metadata address of a cloud, or an IPv6 one that carries one in a transition form."""
    found: list[IpAddress | None] = [address]
    if isinstance(address, IPv6Address):
        packed = address.packed
        found += [*(address.teredo or ()), address.sixtofour, _extract_isatap_ipv4(address)]
        if any(address in network for network in (*_CARRIERS, _NAT64_LOCAL)):
            found.append(IPv4Address(packed[-4:]))
        if address in _NAT64_LOCAL:  # RFC 6052, /48: 16 bits, a zero octet, 16 bits
            found.append(IPv4Address(packed[6:8] + packed[9:11]))
    return not CLOUD_METADATA_ADDRESSES.isdisjoint(found)


def _extract_isatap_ipv4(address: IPv6Address) -> IPv4Address | None:
    is_isatap = address.packed[8:12] in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
    return IPv4Address(address.packed[-4:]) if is_isatap else None


PORTS = frozenset((HTTP_PORT, HTTPS_PORT, 8080, 8443))
"""Ports a public page may be fetched from. Hosts an operator allows may use any."""
DNS_SECONDS = 5.0
"""Seconds that looking up a name may take, as in stripe/smokescreen."""

NOT_PUBLIC = (
    "This address is not on the public internet, so it was not fetched. Whoever runs this workbench can "
    "allow hosts of their own: name them in FETCH_ALLOW, in the environment or the file .env beside the "
    "README (FETCH_ALLOW=wiki.lan,localhost), and start it again."
)
_MALFORMED_URL = "This is not a well-formed http(s) address, so it was not fetched. Check its spelling."
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa")
_NUMERIC_NAMES = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)$")
_FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\]")

SocketAddress = tuple[socket.AddressFamily, tuple[str, int]]
Resolver = Callable[[str, int], list[SocketAddress]]
Connector = Callable[[socket.AddressFamily, tuple[str, int], Deadline], socket.socket]


class FetchRefused(NoAnswer):
    """Our own rules forbid the fetch."""

    outcome = Outcome.REFUSED


class HostUnreachable(NoAnswer):
    """The host has no address or does not answer."""


def resolve_host(host: str, port: int) -> list[SocketAddress]:
    """Every address of a name, as the system resolves it."""
    found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    return [(family, (str(peer[0]), port)) for family, _, _, _, peer in found]


class SsrfGuard:
    """The rules, with an operator's allow-list: host names ("wiki.lan", "*.lan"), addresses or networks."""

    def __init__(
        self, allow: Sequence[str] = (), *, resolver: Resolver = resolve_host, connector: Connector = connect
    ) -> None:
        self._networks: list[IPv4Network | IPv6Network] = []
        self._names: list[str] = []
        self._resolve = resolver
        self._connect = connector
        for entry in allow:
            try:
                self._networks.append(ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                self._names.append(entry.lower())

    def check_url(self, url: str) -> str:
        """The address with its host in ASCII, ready to be requested; raises FetchRefused with a sentence."""
        url = url.strip()
        if len(url) > MAX_URL:
            raise FetchRefused(f"This address is longer than {MAX_URL} characters, so it was not fetched.")
        if _FORBIDDEN_CHARACTERS.search(url):
            raise FetchRefused(_MALFORMED_URL)
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise FetchRefused(_MALFORMED_URL) from error
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            raise FetchRefused(_MALFORMED_URL)
        if "@" in parts.netloc:
            raise FetchRefused("Addresses with a user name or password are not fetched. Leave them out.")
        if "%" in parts.netloc:
            raise FetchRefused(_MALFORMED_URL)
        host = _to_ascii_host(parts.hostname)
        literal = _parse_ip(host)
        is_allowed = self._is_allowed(host, literal)
        if literal:
            is_permitted = self._can_connect(literal, host)
        else:
            is_permitted = is_allowed or ("." in host and not f".{host}".endswith(_PRIVATE_NAMES))
        if not is_permitted:
            raise FetchRefused(NOT_PUBLIC)
        if port is not None and port not in PORTS and not is_allowed:
            ports = "This port does not serve web pages (80, 443, 8080 and 8443 do)"
            raise FetchRefused(f"{ports}, so the address was not fetched.")
        netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
        return urlunsplit((parts.scheme.lower(), netloc, parts.path or "/", parts.query, ""))

    def connect(self, host: str, port: int, watch: Deadline) -> socket.socket:
        """A socket connected to a checked address of `host`. Raises FetchRefused when one of its addresses is
        not permitted, HostUnreachable when none answers, DeadlineExceeded at the deadline."""
        limit = watch.within(DNS_SECONDS)
        try:
            found = run_with_deadline(lambda: self._resolve(host, port), limit)
        except DeadlineExceeded:
            watch.check()
            slow = f"The host's name was not resolved within {DNS_SECONDS:g} seconds."
            raise HostUnreachable(f"{slow} Try again later, or look at the network.") from None
        except (OSError, UnicodeError) as error:
            unknown = "The host's name could not be resolved. Check its spelling, or the network."
            raise HostUnreachable(unknown) from error
        for _, (name, _port) in found:
            if "%" in name or not self._can_connect(ip_address(name), host):
                raise FetchRefused(NOT_PUBLIC)
        failed: OSError | None = None
        for family, peer in found:
            try:
                return self._connect(family, peer, watch)
            except OSError as error:
                failed = error
        silent = "The host did not answer: the connection was refused or timed out. Try again later."
        raise HostUnreachable(silent) from failed

    def _can_connect(self, address: IpAddress, host: str) -> bool:
        if is_cloud_metadata(address):
            return False
        return is_public(address) or self._is_allowed(host, address)

    def _is_allowed(self, host: str, address: IpAddress | None) -> bool:
        """Whether the operator allows this name, or this address."""
        host = host.rstrip(".").lower()
        wildcards = (name[1:] for name in self._names if name.startswith("*."))
        if host in self._names or any(map(host.endswith, wildcards)):
            return True
        return address is not None and any(
            address.version == network.version and address in network for network in self._networks
        )


@lru_cache
def _to_ascii_host(host: str) -> str:
    """The host as it goes on the wire; what two parsers could read as two hosts is refused."""
    host = host.lower()
    if ":" in host:
        if not _parse_ip(host):
            raise FetchRefused(_MALFORMED_URL)
        return host
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise FetchRefused(_MALFORMED_URL) from error
    name = name.removesuffix(".")
    odd = not re.fullmatch(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", name) or len(name) > 253
    if odd or (_NUMERIC_NAMES.search(name) and not _parse_ip(name)):
        raise FetchRefused(_MALFORMED_URL)
    return name


@lru_cache
def _parse_ip(host: str) -> IpAddress | None:
    try:
        return ip_address(host.strip("[]").removesuffix("."))
    except ValueError:
        return None
