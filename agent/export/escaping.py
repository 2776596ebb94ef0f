"""Escapes untrusted text for Markdown (GitHub and Obsidian), XML and CSV.

What a page or model wrote appears as letters only, never as a link, image, HTML, heading, table cell, tag,
wikilink, embed, math or comment. Control characters and those that reorder text are removed."""

from __future__ import annotations

import re
from urllib.parse import quote

from agent.text.urls import canonicalize

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
_MARKDOWN_SIGN = re.compile(
    r"[\\`*_\[\]<>#|~$^@]|!(?=\[)|%(?=%)|(?<=%)%|=(?==)|(?<==)=|&(?=#?\w+;)|:(?=//)|(?<=www)\."
)
_SCHEME = re.compile(r"\b(mailto|xmpp|javascript|data|file):", re.IGNORECASE)
_BLOCK_OPENING = re.compile(r"^(?:([-+=:])|(\d{1,9})([.)])(?=\s|$))")
_ENTITY = re.compile(r"(&#?\w+);")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def strip_invisible(text: str) -> str:
    """The text without control characters and invisible or reordering ones; tabs and line ends stay."""
    return _INVISIBLE.sub("", text)


def to_one_line(text: str) -> str:
    """The visible text in one line."""
    return " ".join(_INVISIBLE.sub("", text).split())


def clean_xml(text: str) -> str:
    """The text without characters that XML forbids; the document's writer escapes markup."""
    return _NOT_XML.sub("", _INVISIBLE.sub("", text)).replace("\r\n", "\n").replace("\r", "\n")


def escape_csv_cell(text: str) -> str:
    """A CSV cell that no spreadsheet takes for a formula: one like it gets an apostrophe in front."""
    text = text.replace("\x00", "")
    return f"'{text}" if _INVISIBLE.sub("", text).lstrip(" ").startswith(_FORMULA_STARTS) else text


def escape_inline(text: str) -> str:
    """Text for a paragraph, heading or list item: one line, nothing in it is Markdown."""
    return _escape_line(to_one_line(text))


def render_blockquote(text: str) -> str:
    """Text as a blockquote with its lines (two spaces at the end make the break)."""
    lines = [_escape_line(" ".join(line.split())) for line in _INVISIBLE.sub("", text).splitlines()]
    return "  \n".join(f"> {line}" for line in lines if line) or ">"


def render_code(text: str) -> str:
    """A short identifier in code style, of word characters, dots, colons and dashes."""
    return f"`{re.sub(r'[^A-Za-z0-9_.:-]', '', text) or '-'}`"


def clean_url(url: str) -> str:
    """A web address for the brackets of a link; "" for what is not http(s)."""
    if not canonicalize(url):
        return ""
    return _ENTITY.sub(r"\1%3B", quote(_INVISIBLE.sub("", url.strip()), safe="%/:?#@!$&*+,;=~-._"))


def render_link(text: str, url: str) -> str:
    """A link with escaped text; the text alone when the address is not http(s)."""
    target, words = clean_url(url), escape_inline(text) or escape_inline(url)
    return f"[{words}]({target})" if target else words


def _escape_line(text: str) -> str:
    text = _SCHEME.sub(lambda m: f"{m[1]}\0", text)
    text = _MARKDOWN_SIGN.sub(lambda m: "\\" + m.group(), text).replace("\0", "\\:")
    return _BLOCK_OPENING.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", text)
