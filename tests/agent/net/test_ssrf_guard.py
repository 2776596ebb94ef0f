"""No fetch connects to what is not public: by spelling, by name, by redirect, by a name that changes its
mind."""

from __future__ import annotations

import socket
import threading
from ipaddress import ip_address

import pytest
from hypothesis import given, strategies

from agent.net import ssrf_guard
from agent.net.deadline import Deadline
from agent.net.exchange import Connections
from agent.net.ssrf_guard import (
    CLOUD_METADATA_ADDRESSES,
    NOT_PUBLIC,
    FetchRefused,
    HostUnreachable,
    IpAddress,
    SocketAddress,
    SsrfGuard,
    is_cloud_metadata,
    is_public,
)
from agent.types import Outcome
from bench.trust.nets import Net, fetcher_over, is_inner
from tests.corpora.ssrf_urls import attacks, spell_ipv4_in_ipv6
from tests.tables import by_table


def test_no_spelling_of_an_inner_address_is_connected_to() -> None:
    for _, form, url in attacks():
        net = Net()
        page = net.fetcher().fetch(url)
        assert page.outcome is not Outcome.OK and not net.inner_peers(), (form, url)


@by_table
def test_odd_addresses_are_refused_before_anything_happens(url: str) -> None:
    net = Net()
    page = net.fetcher().fetch(url)
    assert page.outcome is Outcome.REFUSED and page.detail
    assert net.peers == []


@by_table
def test_plain_addresses_pass_in_one_spelling(url: str, sent: str) -> None:
    assert SsrfGuard().check_url(url) == sent


@pytest.mark.parametrize(
    "inside",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "2002:a00:1::", "fe80::1%eth0"],
)
def test_a_name_that_leads_inside_is_refused_at_connect_time(inside: str) -> None:
    net = Net({"evil.example.com": [inside]})
    page = net.fetcher().fetch("https://evil.example.com/")
    assert (page.outcome, page.detail) == (Outcome.REFUSED, NOT_PUBLIC)
    assert net.peers == []


def test_it_connects_to_the_very_address_it_checked() -> None:
    answers = iter([["1.1.1.1"], ["127.0.0.1"]])
    net = Net()
    guard = SsrfGuard(
        resolver=lambda _host, port: [(socket.AF_INET, (a, port)) for a in next(answers)],
        connector=net.connect,
    )
    with pytest.raises(HostUnreachable):
        guard.connect("flips.example.com", 80, Deadline(5))
    assert net.peers == [("1.1.1.1", 80)]
    with pytest.raises(FetchRefused):
        guard.connect("flips.example.com", 80, Deadline(5))
    assert net.peers == [("1.1.1.1", 80)]


@pytest.mark.parametrize("allow", ["10.0.0.0/8", "10.1.2.3", "wiki.lan", "*.lan"])
def test_an_operator_can_open_a_door(allow: str) -> None:
    net = Net({"wiki.lan": ["10.1.2.3"]})
    with pytest.raises(HostUnreachable):
        net.guard([allow]).connect("wiki.lan", 80, Deadline(5))
    assert net.peers == [("10.1.2.3", 80)]
    assert net.guard(["wiki.lan"]).check_url("http://wiki.lan:9000/") == "http://wiki.lan:9000/"


@pytest.mark.parametrize("address", sorted(CLOUD_METADATA_ADDRESSES, key=str), ids=str)
@pytest.mark.parametrize("allow", ["0.0.0.0/0", "::/0", "cloud.lan"])
def test_metadata_stays_shut_whatever_is_allowed(address: object, allow: str) -> None:
    net = Net({"cloud.lan": [str(address)]})
    with pytest.raises(FetchRefused):
        net.guard([allow, "cloud.lan"]).connect("cloud.lan", 80, Deadline(5))
    assert net.peers == []


def test_a_slow_lookup_fails_closed_before_the_fetch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust case S1.3: it ran to the end of FETCH_TIMEOUT."""
    over = threading.Event()
    monkeypatch.setattr(ssrf_guard, "DNS_SECONDS", 0.05)

    def hangs(_host: str, _port: int) -> list[SocketAddress]:
        over.wait(30)
        return []

    with pytest.raises(HostUnreachable, match="not resolved within"):
        SsrfGuard(resolver=hangs).connect("slow.example.com", 80, Deadline(30))
    over.set()


def test_a_lookup_that_hangs_ends_at_the_deadline() -> None:
    over = threading.Event()

    def hangs(_host: str, _port: int) -> list[SocketAddress]:
        over.wait(30)
        return []

    connections = Connections(guard=SsrfGuard(resolver=hangs))
    page = fetcher_over(connections, seconds=0.3, max_mb=1).fetch("https://slow.example.com/")
    over.set()
    assert page.outcome is Outcome.TIMEOUT


@by_table
def test_the_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text)) and not is_inner(text)


@given(strategies.ip_addresses())
def test_what_is_called_public_is_not_inner_by_an_independent_judge(address: IpAddress) -> None:
    hosts = [host for _, host in spell_ipv4_in_ipv6(str(address))] if address.version == 4 else []
    for text in (str(address), *(host.strip("[]") for host in hosts)):
        assert not (is_public(ip_address(text)) and is_inner(text)), text


@by_table
def test_metadata_is_found_inside_other_forms(text: str) -> None:
    assert is_cloud_metadata(ip_address(text)) and not is_public(ip_address(text))
