"""Markdown as text: rendered as HTML by markdown-it-py (CommonMark with GitHub's tables) and read as such.
Tags in it stay text; the numbers of lists and the texts of pictures are kept."""

from __future__ import annotations

import re

from agent.text.normalization import normalize_characters
from agent.types import Outcome
from agent.web.extract.extraction import Extraction
from agent.web.extract.text_blocks import extract_fragment

_TITLE = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.{1,300}?)[\"']?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,5000}?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_EMPTY = "The document holds no text: there is nothing to add."


def extract_markdown(source: str) -> Extraction:
    """The text without its marks; the title is the front matter's, else the first highest heading."""
    source = normalize_characters(source.replace("\r\n", "\n").replace("\r", "\n"))
    front = _FRONT_MATTER.match(source)
    stated = _TITLE.search(front[1]) if front else None
    reading = extract_fragment(_render(source[front.end() :] if front else source))
    if not reading.text:
        return Extraction(outcome=Outcome.EMPTY, detail=_EMPTY)
    top = min(reading.headings, key=lambda heading: heading.level, default=None)
    reading.title = stated[1] if stated else top.text if top else ""
    return reading


def _render(source: str) -> str:
    from markdown_it import MarkdownIt  # imported here: few documents need it
    from markdown_it.common.utils import escapeHtml
    from markdown_it.token import Token

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("image", lambda _, tokens, n, *__: escapeHtml(tokens[n].content))
    tokens = parser.parse(source)
    for item, _, first in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type == "list_item_open" and item.info and first.children:
            first.children.insert(0, Token("text", "", 0, content=f"{item.info}. "))
    return str(parser.renderer.render(tokens, parser.options, {}))
