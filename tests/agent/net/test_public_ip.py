"""Which addresses are public, in every form in which an address can hide another."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from agent.net.ssrf_guard import CLOUD_METADATA_ADDRESSES, is_cloud_metadata, is_public
from tests.tables import by_table

SPECIAL = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.1.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.1.1.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fc00::1",
    "fd12::1",
    "ff02::1",
    "100::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
]
CARRYING = [
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "::ffff:0:7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1:7f00:0:100::",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
    "2001::80ff:fffe",
    "2606:4700::5efe:7f00:1",
    "2606:4700::200:5efe:a00:1",
]


@by_table
def test_the_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text))
    assert not is_cloud_metadata(ip_address(text))


@pytest.mark.parametrize("text", [*SPECIAL, *CARRYING])
def test_the_rest_is_not(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("address", sorted(CLOUD_METADATA_ADDRESSES, key=str), ids=str)
def test_metadata_is_known_and_never_public(address: object) -> None:
    assert is_cloud_metadata(address)  # type: ignore[arg-type]
    assert not is_public(address)  # type: ignore[arg-type]


@by_table
def test_metadata_is_found_inside_other_forms(text: str) -> None:
    assert is_cloud_metadata(ip_address(text))
