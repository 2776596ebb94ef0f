"""Escaping: nothing untrusted begins a tag, an entity or a Markdown construct."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.widgets.shell import escape
from tests.tables import by_table


@given(st.text())
def test_html_holds_no_markup(text):
    escaped = escape.html(text)
    assert not set(escaped) & set("<>\"'")


@given(st.text())
def test_md_escapes_every_punctuation_mark(text):
    escaped = escape.md(text)
    bare = escaped.replace("\\\\", "")
    for index, letter in enumerate(bare):
        if letter in string.punctuation and letter != "\\":
            assert index and bare[index - 1] == "\\"
    assert "\n" not in escaped


def test_md_gives_the_text_back_without_the_escapes():
    assert (
        escape.md("![a](b) \\! $x$ :red[y] 1. <b>")
        .replace("\\\\", "\0")
        .replace("\\", "")
        .replace("\0", "\\")
        == "![a](b) \\! $x$ :red[y] 1. <b>"
    )


@by_table
def test_only_web_addresses_become_links(url):
    assert escape.href(url) == ""
    assert "<a" not in escape.render_link(url, "text")


def test_a_link_opens_elsewhere_and_tells_nothing():
    link = escape.render_link('https://example.org/?a="b"&c', "<b>")
    assert link == (
        '<a href="https://example.org/?a=&quot;b&quot;&amp;c" target="_blank" '
        'rel="noopener noreferrer nofollow">&lt;b&gt;</a>'
    )


def test_marks_that_turn_the_direction_are_taken_out():
    assert escape.html("a\u202eb\u200fc\x00d") == "abcd"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://www.example.org/", "example.org"),
        ("http://example.org/a/b", "example.org/a/b"),
        ("https://x.example/Korpn%C3%A4bben", "x.example/Korpnäbben"),
    ],
)
def test_an_address_is_shown_bare(url, shown):
    assert escape.shorten_url(url) == shown


def test_a_long_address_keeps_its_ends():
    shown = escape.shorten_url("https://example.org/" + "a" * 100 + "/end", 40)
    assert len(shown) <= 40 and shown.startswith("example.org/") and shown.endswith("/end")


def test_shortening_ends_at_a_word():
    assert escape.shorten("one two three four", 16) == "one two three…"
    assert escape.shorten("short", 12) == "short"
    assert len(escape.shorten("x" * 50, 12)) == 12


def test_the_host_is_the_real_one():
    assert escape.host("https://user@evil.example:8/path?good.example") == "evil.example"
