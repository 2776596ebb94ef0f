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
    find_doi,
    find_urls,
    host,
    is_excluded,
    is_in_scope,
    map_spellings,
    remove_unknown_urls,
    resolve,
    site,
)
from tests.tables import by_table


@by_table
def test_one_spelling(url, spelled):
    assert canonicalize(url) == spelled


@by_table
def test_what_is_no_web_address(url):
    assert canonicalize(url) == ""


@given(st.text(max_size=80))
def test_any_text_has_a_spelling_that_stays(text):
    once = canonicalize(f"https://example.com/{text}")
    assert canonicalize(once) == once or not once


@given(st.text(max_size=60))
def test_no_text_breaks_it(text):
    canonicalize(text), host(text), site(text), find_urls(text), resolve("https://example.com/a/", text)


@by_table
def test_a_link_as_it_stands_on_a_page(href, full):
    assert resolve("https://e.example/a/", href) == full


@by_table
def test_a_site_is_one_voice(url, registrable):
    assert site(url) == registrable


@by_table
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


@by_table
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


@by_table
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


@by_table
def test_a_doi_is_found_in_a_text_and_in_an_address(text: str, doi: str) -> None:
    assert find_doi(text) == doi
