"""Whatever a page wrote comes out as letters: checked with a CommonMark parser that also knows tables,
strikethrough and bare links."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent.export.escaping import (
    clean_url,
    escape_csv_cell,
    escape_inline,
    render_blockquote,
    render_code,
    render_link,
)
from tests.tables import by_table

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

HOSTILE = [
    "![x](https://evil.example/p.png)",
    "[click](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "<script>x</script>",
    "[[Secret note]]",
    "# heading",
    "- list",
    "1. list",
    "a | b | c",
    "`code`",
    "```\nfence\n```",
    "~~gone~~",
    "<https://evil.example>",
    "https://evil.example/x",
    "www.evil.example",
    "&lt;b&gt; &#60;",
    "[ref]: https://evil.example",
    "[^1]: note",
    "text[^1]",
    "$x^2$",
    "%%comment%%",
    "==mark==",
    "^block",
    "---",
    "a\\|b",
    "\u202egnp.exe",
    "tag\U000e0041",
    "| a |\n|---|\n| b |",
    "http\u200b://x",
    "[a]\n(https://evil.example)",
    "\x00null",
    "é ☃ 人口",
]
BLOCKS = {"blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close"}
PLAIN = {"text", "softbreak", "hardbreak", "text_special"}


def tokens(markdown: str) -> list[Token]:
    return [t for block in PARSER.parse(markdown) for t in (block.children or [block])]


def shown(markdown: str) -> str:
    return "".join(
        "\n" if t.type in ("softbreak", "hardbreak") else t.content
        for t in tokens(markdown)
        if t.type in PLAIN
    )


def visible(text: str) -> str:
    return "".join(
        re.sub(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]",
            "",
            text,
        ).split()
    )


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("escape", [escape_inline, render_blockquote])
def test_a_hostile_line_is_only_text(escape: Callable[[str], str], text: str) -> None:
    assert {t.type for t in tokens(escape(text))} <= {*BLOCKS, *PLAIN}
    assert "".join(shown(escape(text)).split()) == visible(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_cell_stays_in_its_cell(text: str) -> None:
    table = PARSER.parse(f"| a | b |\n| --- | --- |\n| {escape_inline(text) or '–'} | end |")
    assert [t.type for t in table].count("td_open") == 2 and [t.type for t in table].count("tr_open") == 2
    assert [t.content for t in table if t.type == "inline"][-1] == "end"
    inside = [t for t in table if t.type == "inline"][-2].children or []
    assert {t.type for t in inside} <= PLAIN


@settings(max_examples=300, deadline=None)
@given(
    st.text(
        alphabet=st.one_of(
            st.sampled_from("[]()!<>#*_`|~\\$^@=%&;:/.-+ \nabwhtps1."), st.characters(codec="utf-8")
        ),
        max_size=40,
    )
)
def test_any_text_is_only_text(text: str) -> None:
    assert {t.type for t in tokens(escape_inline(text))} <= {*BLOCKS, *PLAIN}
    assert {t.type for t in tokens(render_blockquote(text))} <= {*BLOCKS, *PLAIN}


def test_obsidian_and_github_find_nothing_of_theirs() -> None:
    for text in HOSTILE:
        bare = re.sub(r"\\.", "", escape_inline(text))
        assert not re.search(r"\[\[|==|%%|\$|#|\^|://|www\.|@|~|<|(?<!\\)\|", bare), text


@by_table
def test_an_address_cannot_break_out_of_its_link(url: str, safe: str) -> None:
    assert clean_url(url) == safe
    found = [t for t in tokens(render_link("a](b", url)) if t.type == "link_open"]
    assert len(found) == bool(safe)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_a_link_has_one_http_target_whatever_it_is_made_of(text: str, tail: str) -> None:
    found = [
        t
        for t in tokens(f"see {render_link(text, 'https://a.example/' + tail)} here")
        if t.type == "link_open"
    ]
    assert len(found) <= 1 and all(str(t.attrs["href"]).startswith("https://a.example/") for t in found)


@pytest.mark.parametrize("text", ["=1", " =1", "\u200b=1", "\ufeff@x", "＝1", "\x00=1", "-1", "\t=1"])
def test_what_hides_a_formula_does_not_help_it(text: str) -> None:
    assert escape_csv_cell(text).startswith("'")


def test_code_holds_only_an_identifier() -> None:
    assert render_code("ab`c\n| 1-2") == "`abc1-2`" and render_code("") == "`-`"
