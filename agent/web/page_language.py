"""The language of a page: what it states, else what its text is written in. Knows no page and no run.

The detector (py3langid) takes a second and 120 MB when it is first asked, so it is loaded only when a run is
limited to a language and a page states none."""

from __future__ import annotations

from agent.types import Page
from agent.types.source_filter import normalize_language

MIN_LETTERS = 60
"""Letters below which a text tells no language."""
SAMPLE_CHARACTERS = 4000


def detect_page_language(page: Page) -> str:
    """The code of its language; "" when neither the page nor its text tells."""
    return normalize_language(page.language) or detect_language(page.text)


def detect_language(text: str) -> str:
    """The code of the language a text is written in; "" when there is too little of it."""
    from py3langid import classify

    part = text[:SAMPLE_CHARACTERS]
    return (
        normalize_language(str(classify(part)[0]))
        if sum(letter.isalpha() for letter in part) >= MIN_LETTERS
        else ""
    )
