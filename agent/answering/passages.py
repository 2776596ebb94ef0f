"""The passages of a stored page that a prompt may show: without menus, and cut to a number of characters."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.library.ingest import DEMO_TAG
from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import rank_passages
from agent.text.urls import canonicalize
from agent.types import Page, Passage

MENU_LINK_SHARE = 0.8
"""The share of link texts among its lines from which a passage is a menu."""
MIN_TITLE_WORDS = 4
"""A table cell with at least so many words that is also a link text counts as the title of another page."""
MAX_SOURCES = 100_000
"""Sources of the demo world that are hidden at most."""


def find_hidden_sources(state: RunState, tools: RunContext) -> set[str]:
    """The ids of the invented sources of the demo world, unless the run asks for them."""
    scope = state.settings.scope
    if state.settings.world == DEMO_TAG or DEMO_TAG in scope.tags or scope.source_ids:
        return set()
    return {source.source_id for source in tools.library.sources(tag=DEMO_TAG, limit=MAX_SOURCES)}


def content_passages(page: Page, page_id: str) -> list[Passage]:
    """The passages of a page without lists of links."""
    return drop_menus(split_passages(page, page_id), page)


def drop_menus(passages: Sequence[Passage], page: Page) -> list[Passage]:
    """The passages of a page that are no lists of links.

    A heading that links to another page is left out of its passage: the text below is only a teaser."""
    named = [(" ".join(link.text.split()), link.url) for link in page.links]
    here, texts = canonicalize(page.final_url), {text for text, _ in named} | {page.title}
    away = {text for text, url in named if canonicalize(url) != here}
    return [
        passage.replace(heading="") if passage.heading.split(" › ")[-1] in away else passage
        for passage in passages
        if not _is_menu(passage, texts)
    ]


def fit_passages(question: str, passages: Sequence[Passage], limit: int) -> list[Passage]:
    """The passages of a page that fit `limit` characters: all, or the question's best, in page order."""
    if sum(len(passage.text) for passage in passages) <= limit:
        return list(passages)
    kept: list[Passage] = []
    room = limit
    for passage in rank_passages(question, passages, len(passages)):
        if len(passage.text) <= room:
            kept.append(passage)
            room -= len(passage.text)
    return sorted(kept, key=lambda passage: passage.start)


def _is_menu(passage: Passage, texts: set[str]) -> bool:
    lines = [" ".join(line.split()) for line in passage.text.split("\n") if line.strip()]
    lines = [line for line in lines if not (passage.rows and line == passage.label)]
    return bool(lines) and sum(_is_link_line(line, texts) for line in lines) >= MENU_LINK_SHARE * len(lines)


def _is_link_line(line: str, texts: set[str]) -> bool:
    """Whether a line is a link, or a table row with another page's title beside its date and the like."""
    cells = [cell.strip() for cell in line.split("|")]
    return line in texts or any(cell in texts and len(cell.split()) >= MIN_TITLE_WORDS for cell in cells)
