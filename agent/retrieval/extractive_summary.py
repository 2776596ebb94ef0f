"""What a source is about, in a line: its title, the first sentence that tells something, and its headings.
Knows no model."""

from __future__ import annotations

from agent.text.sentences import find_sentence_spans
from agent.types import Page

MAX_DESCRIPTION_CHARS = 280
"""Characters of a description."""
_MAX_TEXT_CHARS = 6_000
_MIN_SENTENCE_WORDS = 6
_MIN_UNSPACED_CHARS = 14
"""Characters that make a sentence where words are not parted by blanks."""


def describe_page(page: Page) -> str:
    """The description: "Title: first telling sentence. On: heading; heading", cut at LONGEST."""
    title = " ".join(page.title.split())
    # the first sentence that says something, on one line; the first line of all when none does
    text, first = page.text[:_MAX_TEXT_CHARS], ""
    spans = [(start, " ".join(text[start:end].split())) for start, end in find_sentence_spans(text)]
    lines = [(start, line) for start, line in spans if line != title]
    for start, line in lines:
        is_long = len(line.split()) >= _MIN_SENTENCE_WORDS or (
            not line.isascii() and " " not in line and len(line) >= _MIN_UNSPACED_CHARS
        )
        is_in_table = any(table.start <= start < table.end for table in page.tables)
        if is_long and line[-1] in '.!?。！？…”"»)' and not is_in_table:
            first = line
            break
    first = first or next((line for _, line in lines), "")
    headings = list(
        dict.fromkeys(" ".join(heading.text.split()) for heading in page.headings if heading.level <= 3)
    )
    listed = "; ".join(
        heading for heading in headings if heading and heading != title and not heading.startswith("Page ")
    )
    parts = [_truncate(title, 100), _truncate(first, 160 if listed else MAX_DESCRIPTION_CHARS)]
    told = ": ".join(part for part in parts if part)
    if listed and len(told) < MAX_DESCRIPTION_CHARS - 30:
        told = f"{told} — {listed}" if told else listed
    return _truncate(told or page.url, MAX_DESCRIPTION_CHARS)


def _truncate(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 0.6 else cut).rstrip(" ,;:.") + "…"
