"""The language of a page: what it states, else what its text is written in."""

from __future__ import annotations

from agent.text.language import detect_language
from agent.types import Page
from agent.types.source_filter import normalize_language


def detect_page_language(page: Page) -> str:
    """The code of a page's language; "" when neither the page nor its text gives one."""
    return normalize_language(page.language) or detect_language(page.text)
