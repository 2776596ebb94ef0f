"""Which IP addresses are on the public internet. Pure arithmetic on addresses: resolves nothing, connects to
nothing.

The tables are made from IANA's special-purpose address registries (IPv4, IPv6), the multicast spaces, the
site-local space that RFC 3879 retired, and the metadata addresses of clouds. `ipaddress.is_global` is not
used: current Pythons call 64:ff9b::7f00:1, 2002:7f00:1::, fec0::1 and 224.0.0.1 global."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IpAddress = IPv4Address | IPv6Address

# The common one (also Azure, Google, Oracle), AWS tasks, AWS EKS pods, Scaleway, Tencent, Azure's wire server
# (public by the registry), Alibaba, Oracle classic; then the IPv6 ones.
_METADATA = (
    "169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.23 168.63.129.16 "
    "100.100.100.200 192.0.0.192 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fe80::a9fe:a9fe"
)
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
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID and the like
        "2001:db8::/32",
        "2002::/16",  # 6to4: whoever needs it can be reached by IPv4
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_ISATAP = frozenset((0x00005EFE, 0x02005EFE))


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
    """Whether it is, or carries, a metadata address of a cloud."""
    return not CLOUD_METADATA_ADDRESSES.isdisjoint((address, *extract_embedded_ipv4(address)))


def extract_embedded_ipv4(address: IpAddress) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address carries in one of the transition forms."""
    if isinstance(address, IPv4Address):
        return []
    bits = int(address)
    low = IPv4Address(bits & 0xFFFFFFFF)
    found = []
    if bits >> 32 in (0, 0xFFFF, 0xFFFF0000, 0x0064FF9B << 64) or bits >> 80 == 0x0064FF9B0001:
        found.append(low)
    if bits >> 80 == 0x0064FF9B0001:  # RFC 6052, /48: 16 bits, a zero octet, 16 bits
        found.append(IPv4Address(((bits >> 64) & 0xFFFF) << 16 | ((bits >> 40) & 0xFFFF)))
    if bits >> 112 == 0x2002:
        found.append(IPv4Address((bits >> 80) & 0xFFFFFFFF))
    if bits >> 96 == 0x20010000:  # Teredo: the server, and the client with its bits inverted
        found += [IPv4Address((bits >> 64) & 0xFFFFFFFF), IPv4Address((bits & 0xFFFFFFFF) ^ 0xFFFFFFFF)]
    inner = _extract_isatap_ipv4(address)
    return found + ([inner] if inner else [])


def _extract_isatap_ipv4(address: IPv6Address) -> IPv4Address | None:
    bits = int(address)
    return IPv4Address(bits & 0xFFFFFFFF) if (bits >> 32) & 0xFFFFFFFF in _ISATAP else None
