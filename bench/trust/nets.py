"""Networks that exist only here: names that resolve as a case says, connections that reach a server on this
machine or nothing, and a record of every address that a connection was asked for."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address

from agent.net.deadline import Deadline
from agent.net.exchange import Connections
from agent.net.policies import Policy
from agent.net.ssrf_guard import SocketAddress, SsrfGuard
from agent.web.fetcher import Fetcher
from agent.web.rate_limit import HostRateLimiter

PUBLIC = "93.184.216.34"
"""An address of the public internet. It stands for the servers of this machine; nothing is sent to it."""
INNER = ("127.0.0.1", "10.0.0.7", "169.254.169.254", "192.168.1.1", "100.100.100.200", "172.20.3.4")
_METADATA = {"168.63.129.16", "192.0.0.192", "100.100.100.200"}
"""Metadata addresses of clouds (Azure, Oracle, Alibaba) that registries call public or special."""


def is_inner(text: str) -> bool:
    """Whether an address is not of the public internet, judged without the product's own table: by the standard
    library, and by every IPv4 address that an IPv6 address can carry (RFC 4291, 6052, 3056, 4380, 5214)."""
    address = ip_address(text.partition("%")[0])
    if "%" in text or str(address) in _METADATA or not address.is_global or address.is_multicast:
        return True
    if isinstance(address, IPv4Address):
        return address.is_reserved
    bits, low = int(address), IPv4Address(int(address) & 0xFFFFFFFF)
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if bits >> 32 in (0, 0xFFFF, 0xFFFF << 16, 0x64FF9B << 64) or bits >> 80 == 0x64FF9B0001:
        carried.append(low)
    if (bits >> 32) & 0xFDFFFFFF == 0x5EFE:
        carried.append(low)
    outside = not IPv6Address("2000::") <= address < IPv6Address("4000::")
    return outside or any(is_inner(str(one)) for one in carried if one is not None)


class Net:
    """Resolves `names` (several addresses a name; a function is asked each time), anything else as a lenient
    system would; connects to `served` for PUBLIC, to nothing else. `peers` are all (address, port) asked for."""

    def __init__(
        self, names: dict[str, list[str] | Callable[[], list[str]]] | None = None, served: int = 0
    ) -> None:
        self.names = names or {}
        self.served = served
        self.peers: list[tuple[str, int]] = []
        self.resolved: list[str] = []

    def resolve(self, host: str, port: int) -> list[SocketAddress]:
        """The addresses of a name."""
        self.resolved.append(host)
        known = self.names.get(host)
        found = known() if callable(known) else known or [as_system_reads(host)]
        return [(socket.AF_INET6 if ":" in one else socket.AF_INET, (one, port)) for one in found]

    def connect(
        self, _family: socket.AddressFamily, peer: tuple[str, int], _watch: Deadline
    ) -> socket.socket:
        """Note the peer; a connection only where one is served."""
        self.peers.append(peer)
        if self.served and peer[0] == PUBLIC:
            return socket.create_connection(("127.0.0.1", self.served), timeout=10)
        raise ConnectionRefusedError

    def inner_peers(self) -> list[tuple[str, int]]:
        """The peers that no fetch may have."""
        return [peer for peer in self.peers if is_inner(peer[0])]

    def guard(self, allow: Sequence[str] = ()) -> SsrfGuard:
        """The product's guard over this network."""
        return SsrfGuard(allow, resolver=self.resolve, connector=self.connect)

    def fetcher(self, seconds: float = 20, max_mb: float = 10) -> Fetcher:
        """The product's fetcher over this network, without pauses between fetches."""
        return fetcher_over(Connections(guard=self.guard()), seconds, max_mb)


def fetcher_over(connections: Connections, seconds: float, max_mb: float) -> Fetcher:
    """The product's fetcher over these connections, without pauses between fetches."""
    policy = Policy("a page", int(max_mb * 1e6), seconds)
    return Fetcher(connections.exchange, connections.guard, HostRateLimiter(0.0), policy)


def as_system_reads(host: str) -> str:
    """A lenient system resolver: odd spellings of numbers are addresses, the rest of the names is public."""
    if ":" in host:
        return host.strip("[]")
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeError):
        inside = re.search(r"(^|\.)(localhost|local|internal|nip\.io|xip\.io|localtest\.me)\.?$", host)
        return "127.0.0.1" if inside or "." not in host else PUBLIC


@contextmanager
def raw_server(reply: Callable[[socket.socket, bytes], None]) -> Iterator[tuple[int, list[bytes]]]:
    """A TCP server that reads one request head and lets `reply` do the rest; its port, and the heads it read."""
    listener = socket.create_server(("127.0.0.1", 0))
    heads: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        with connection:
            try:
                head = b""
                while b"\r\n\r\n" not in head:
                    received = connection.recv(65536)
                    if not received:
                        return
                    head += received
                heads.append(head)
                if b"/robots.txt" in head.split(b"\r\n")[0]:
                    connection.sendall(
                        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    )
                else:
                    reply(connection, head)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1], heads
    finally:
        listener.close()
