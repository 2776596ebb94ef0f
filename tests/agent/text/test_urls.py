"""One spelling for one address, sites by the public-suffix list, scope, and addresses written in a text."""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.urls import (
    canonicalize,
    complete_typed_url,
    find_urls,
    host,
    is_excluded,
    is_in_scope,
    map_spellings,
    remove_unknown_urls,
    resolve,
    site,
)


@pytest.mark.parametrize(
    ("url", "spelled"),
    [
        ("HTTP://Example.COM", "http://example.com"),
        ("http://example.com/", "http://example.com"),
        ("https://example.com:443/a/", "https://example.com/a"),
        ("http://example.com:8080/a", "http://example.com:8080/a"),
        ("http://example.com./a", "http://example.com/a"),
        ("https://example.com/Path/CaSe", "https://example.com/Path/CaSe"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/a?utm_source=x&b=1&gclid=2", "https://example.com/a?b=1"),
        ("https://example.com/a?b=&c=1", "https://example.com/a?b=&c=1"),
        ("https://example.com/%7Euser/%C3%A4", "https://example.com/~user/%C3%A4"),
        ("https://example.com/~user/ä", "https://example.com/~user/%C3%A4"),
        ("https://example.com/a%2520b", "https://example.com/a%2520b"),
        ("https://example.com/100%", "https://example.com/100%25"),
        ("https://example.com/a%2fb", "https://example.com/a%2Fb"),
        ("https://example.com/caf%e9", "https://example.com/caf%E9"),
        ("https://example.com/Foo_%28bar%29", "https://example.com/Foo_(bar)"),
        ("  https://example.com/a ", "https://example.com/a"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("https://me:secret@example.com/a", "https://example.com/a"),
    ],
)
def test_one_spelling(url, spelled):
    assert canonicalize(url) == spelled


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "/a",
        "ftp://a.example/",
        "javascript:alert(1)",
        "http://",
        "http://a:port/",
        "http://a\\@b/",
        "mailto:a@b.c",
        "http://[::1",
    ],
)
def test_what_is_no_web_address(url):
    assert canonicalize(url) == ""


@given(st.text(max_size=80))
def test_any_text_has_a_spelling_that_stays(text):
    once = canonicalize(f"https://example.com/{text}")
    assert canonicalize(once) == once or not once


@given(st.text(max_size=60))
def test_no_text_breaks_it(text):
    canonicalize(text), host(text), site(text), find_urls(text), resolve("https://example.com/a/", text)


@pytest.mark.parametrize(
    ("href", "full"),
    [
        ("b", "https://e.example/a/b"),
        ("/b?x=1#y", "https://e.example/b?x=1"),
        ("//o.example/", "https://o.example/"),
        ("#top", "https://e.example/a/"),
        ("mailto:x@y.example", ""),
        ("javascript:void(0)", ""),
        ("http://[", ""),
    ],
)
def test_a_link_as_it_stands_on_a_page(href, full):
    assert resolve("https://e.example/a/", href) == full


@pytest.mark.parametrize(
    ("url", "registrable"),
    [
        ("https://news.bbc.co.uk/x", "bbc.co.uk"),
        ("https://a.b.example.com/", "example.com"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://[::1]/", "::1"),
        ("nothing", ""),
        ("file:notes/prices.md", "notes/prices.md"),
    ],
)
def test_a_site_is_one_voice(url, registrable):
    assert site(url) == registrable


@pytest.mark.parametrize(
    ("url", "allowed", "inside"),
    [
        ("https://a.example/", [], True),
        ("https://a.example/", ["a.example"], True),
        ("https://A.example/", ["a.EXAMPLE"], True),
        ("https://b.a.example/", ["a.example"], False),
        ("https://b.a.example/", ["*.a.example"], True),
        ("https://a.example/", ["*.a.example"], True),
        ("https://nota.example/", ["*.a.example"], False),
        ("https://a.example.evil.example/", ["a.example", "*.a.example"], False),
        ("https://evil.example/?a.example", ["a.example"], False),
        ("https://a.example@evil.example/", ["a.example"], False),
    ],
)
def test_scope(url, allowed, inside):
    assert is_in_scope(url, allowed) is inside


def test_addresses_in_a_text():
    text = "See https://a.example/x, (http://b.example/y) and <https://c.example/z>. Not ftp://d.example, again https://a.example/x!"
    assert find_urls(text) == ["https://a.example/x", "http://b.example/y", "https://c.example/z"]


def test_foreign_addresses_are_taken_out_and_links_keep_their_labels():
    text = "See https://a.example/x, [version 4](https://b.example/v4) or http://c.example/y."
    assert (
        remove_unknown_urls(text, {"https://a.example/x"})
        == "See https://a.example/x, [version 4] or [address removed]."
    )


@pytest.mark.parametrize(
    "written",
    [
        "https://a.example/x/?b=1&utm_content=the-client",
        "https://A.example/x?gclid=the-client&b=1",
        "https://the-client@a.example/x?b=1",
        "https://a.example/x?b=1#the-client",
    ],
)
def test_a_known_address_is_written_as_it_was_recorded(written):
    known = ["https://a.example/x?b=1", "https://a.example/x?b=12"]
    assert map_spellings(known)[canonicalize(written)] == known[0]
    text = f"See [the page]({written}), {written} and https://a.example/x?b=12."
    expected = f"See [the page]({known[0]}), {known[0]} and {known[1]}."
    assert remove_unknown_urls(text, known) == expected


@pytest.mark.parametrize(
    "text",
    ["kallsteg.example", "www.kallsteg.example/faq?a=1#b", "kallsteg.example:8080/x", "räksmörgås.example"],
)
def test_a_bare_host_name_is_meant_with_https(text):
    assert complete_typed_url(f" {text} ") == f"https://{text}" and canonicalize(complete_typed_url(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kallsteg",
        "Why?",
        "a page",
        "ann@a.example",
        "javascript:alert(1)",
        "3.14",
        "ftp://a.example/",
        "e.g.",
    ],
)
def test_what_is_no_bare_host_name_stays_as_it_is(text):
    assert complete_typed_url(text) == text


def test_an_endless_address_is_none_and_long_ones_are_not_remembered() -> None:
    assert canonicalize(f"https://a.test/{'a' * 4_000}") and not canonicalize(f"https://a.test/{'a' * 5_000}")
    assert resolve(f"https://a.test/{'a' * 5_000}/", "b") == ""
    gc.collect()
    tracemalloc.start()
    for n in range(1_000):
        canonicalize(f"https://a.test/{n}/{'b' * 4_000}")
        host(f"https://a.test/{n}/{'b' * 4_000}")
        site(f"https://a.test/{n}/{'b' * 4_000}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_500_000


def test_a_host_forbids_its_pages_and_sub_hosts():
    assert is_excluded("https://en.wiki.example/a", ["wiki.example"]) and is_excluded(
        "http://wiki.example/", ["wiki.example"]
    )
    assert not is_excluded("https://otherwiki.example/a", ["wiki.example"]) and not is_excluded(
        "https://a.example/y", ["https://a.example/x"]
    )
