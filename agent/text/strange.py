"""Which words of a question stand nowhere in some texts: how a site's subject is told from another. Counts letters, not meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from agent.text.question import read
from agent.text.words import fold, rough, stem, tokens

SHORT = 5
"""A stem with fewer letters is looked for with an ending only: the beginning "red" is in many other words."""
ENDING = 2
"""Letters of an ending."""


def strange(question: str, texts: Iterable[str]) -> list[str]:
    """The question's content words, as it spells them, that stand in no text, nor another form of them; codes and numbers stand as they are."""
    asked = read(question)
    spelled = {stem(word): word for word in reversed(tokens(question))}
    left = [word for word in asked.weights if word in spelled]
    for text in texts:
        if not left:
            break
        folded = fold(text)
        left = [word for word in left if not _form(word).search(folded)]
    return [spelled[word] for word in left]


@lru_cache(maxsize=4096)
def _form(stemmed: str) -> re.Pattern[str]:
    """What finds a word by its stem: of a long one its beginning, of a short one itself with an ending, of a code or number itself."""
    if any(c.isdigit() for c in stemmed):
        spelled = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",?", stemmed) if stemmed.isdigit() else re.escape(stemmed)
        return re.compile(rf"(?<![\w.,]){spelled}(?![.,]?\d)(?!\w)")
    if len(stemmed) <= 2 and not stemmed.isascii():
        return re.compile(re.escape(stemmed))
    begin = rough(stemmed)
    begin = f"{re.escape(begin[:-1])}[iy]" if begin.endswith("i") else re.escape(begin)
    return re.compile(rf"(?<!\w){begin}" + (rf"\w{{0,{ENDING}}}(?!\w)" if len(stemmed) < SHORT else ""))
