"""The language of a page: what it states, else what its text is written in. Knows no page and no run.

The detector (py3langid) takes a second and 120 MB when it is first asked, so it is loaded only when a run is limited to a language
and a page states none.
"""

from __future__ import annotations

from agent.types import Page
from agent.types.reach import spoken

LEAST = 60
"""Letters below which a text tells no language."""
LOOKED_AT = 4000


def of_page(page: Page) -> str:
    """The code of its language; "" when neither the page nor its text tells."""
    return spoken(page.language) or of_text(page.text)


def of_text(text: str) -> str:
    """The code of the language a text is written in; "" when there is too little of it."""
    from py3langid import classify

    part = text[:LOOKED_AT]
    return spoken(str(classify(part)[0])) if sum(letter.isalpha() for letter in part) >= LEAST else ""
