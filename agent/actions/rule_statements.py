"""Whether a statement is one that code writes of a quote without a model: the words of the quote, a table's
row as "column: cell" pairs, a list with its items (the rest of long ones left out, which "…" marks); before
them the term or the introducing line that stands over the quote on its page; a post's with its writer.

It is checked by the stored page's tables and blocks, whatever version split its passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from agent.retrieval.candidates import describe_row
from agent.retrieval.page_structure import infer_items
from agent.text.normalization import ELLIPSIS, normalize_text
from agent.types import Block, Fact, Page

LISTED = ("item", "code", "links")
LIST_MARK = re.compile(r"\n\s*(?:\d{1,2}[.)])\s+")


def is_rule_statement(fact: Fact, page: Page) -> bool:
    """Could code have worded the statement of this verified fact from its quote and page alone?"""
    if fact.statement == fact.quote:
        return True
    if _is_post(fact, page):
        return True
    said = _words(fact.statement)
    places = [found.start() for found in re.finditer(re.escape(fact.quote), page.text)]
    headers = ["", *_find_headers(page, places)]
    return any(said == _words(describe_row(header, fact.quote)) for header in headers) or any(
        _repeats(said[n:], lines) and (not n or has_label(page, said[:n], places))
        for n in range(len(said))
        for lines in _read_lines(fact.quote)
    )


def _is_post(fact: Fact, page: Page) -> bool:
    """Is it the quote with its writer, who is named in the post (or, without posts, on the page)?"""
    who = fact.statement.removesuffix(f": “{fact.quote}”")
    posts = [block for block in page.blocks if block.kind == "post" and block.start <= fact.start < block.end]
    texts = [page.text[post.start : post.end] for post in posts] or [page.text]
    return who != fact.statement and any(normalize_text(text).find_words(_words(who)) for text in texts)


def _read_lines(quote: str) -> Iterator[list[list[str]]]:
    """The words of each line of a quote, with and without the marks of list items."""
    for text in (quote, LIST_MARK.sub("\n", quote)):
        yield [words for words in map(_words, text.split("\n")) if words]


def _repeats(said: Sequence[str], lines: Sequence[list[str]]) -> bool:
    """Are these the words of the lines in order, of each all or its beginning with an ellipsis?"""
    at = 0
    for n, line in enumerate(lines):
        pairs = zip(said[at : at + len(line)], line, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        at += same
        is_whole, is_last = same == len(line), n == len(lines) - 1
        has_mark = list(said[at : at + 1]) == [ELLIPSIS]
        if not same or not (is_whole or has_mark or said[at - 1] == ELLIPSIS):
            return False
        at += has_mark and (is_last or not is_whole)
    return at == len(said)


def _find_headers(page: Page, places: Sequence[int]) -> Iterator[str]:
    """The header rows of the tables around the places."""
    for table in page.tables:
        if any(table.start <= place < table.end for place in places):
            yield " | ".join(table.rows[0]) if table.rows else ""
            yield page.text[table.start : table.end].lstrip().split("\n")[0]


def _words(text: str) -> list[str]:
    return normalize_text(text).words


def has_label(page: Page, label: list[str], places: Sequence[int]) -> bool:
    """Are these the words of the term, or of the introducing line, over one of the places on the page?"""
    text, blocks = normalize_text(page.text), page.blocks or infer_items(page.text)
    spans = [(text.starts[at], text.ends[at + len(label) - 1]) for at in text.find_words(label)]
    return any(
        is_over(page.text, blocks, start, end, place)
        for start, end in spans
        for place in places
        if end <= place
        for is_over in (_is_term, _is_intro)
    )


def _is_blank(text: str, start: int, end: int) -> bool:
    """Is no letter or digit between two offsets?"""
    return start <= end and not any(map(str.isalnum, text[start:end]))


def _is_term(text: str, blocks: Sequence[Block], start: int, end: int, place: int) -> bool:
    """From the beginning of a term to the end of one, and next the definition around the place?"""
    terms = [block for block in blocks if block.kind == "term"]
    if not any(_is_blank(text, term.start, start) for term in terms):
        return False
    last = next((term for term in terms if _is_blank(text, end, term.end)), None)
    if last is None:
        return False
    bodies = [block for block in blocks if block.kind == "definition" and block.start >= last.end]
    skipped = [body for body in bodies if body.end <= place]
    between = [term for term in terms if last.end <= term.start]
    between = [term for term in between if not any(body.start <= term.start < body.end for body in skipped)]
    return any(
        body.start <= place < body.end and not any(term.start < body.start for term in between)
        for body in bodies
    )


def _is_intro(text: str, blocks: Sequence[Block], start: int, end: int, place: int) -> bool:
    """From the beginning of a line or sentence, and then nothing but items, code or links up to the place?"""
    before = text[:start].rstrip(" \t\"'“‘«([")
    if before and before[-1] not in '\n.!?:;。！？)”"':
        return False
    at = end
    for left, right in sorted((block.start, block.end) for block in blocks if block.kind in LISTED):
        if at < right and left <= place and _is_blank(text, at, left):
            at = right
    return at > place
