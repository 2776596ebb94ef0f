"""Which words of a question stand nowhere in some texts: how a site's subject is told from another. Counts
letters, not meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from agent.text.question_analysis import parse_question
from agent.text.tokens import fold, stem, stem_prefix, tokenize

SHORT_STEM = 5
"""A stem with fewer letters is looked for with an ending only: the beginning "red" is in many other words."""
MAX_ENDING = 2
"""Letters of an ending."""


def find_unseen_terms(question: str, texts: Iterable[str]) -> list[str]:
    """The question's content words, as it spells them, that stand in no text, nor another form of them; codes
    and numbers stand as they are."""
    asked = parse_question(question)
    spelled = {stem(word): word for word in reversed(tokenize(question))}
    left = [word for word in asked.weights if word in spelled]
    for text in texts:
        if not left:
            break
        folded = fold(text)
        left = [word for word in left if not _word_form_pattern(word).search(folded)]
    return [spelled[word] for word in left]


@lru_cache(maxsize=4096)
def _word_form_pattern(stemmed: str) -> re.Pattern[str]:
    """What finds a word by its stem: of a long one its beginning, of a short one itself with an ending, of a
    code or number itself."""
    if any(c.isdigit() for c in stemmed):
        spelled = (
            re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",?", stemmed) if stemmed.isdigit() else re.escape(stemmed)
        )
        return re.compile(rf"(?<![\w.,]){spelled}(?![.,]?\d)(?!\w)")
    if len(stemmed) <= 2 and not stemmed.isascii():
        return re.compile(re.escape(stemmed))
    begin = stem_prefix(stemmed)
    begin = f"{re.escape(begin[:-1])}[iy]" if begin.endswith("i") else re.escape(begin)
    return re.compile(
        rf"(?<!\w){begin}" + (rf"\w{{0,{MAX_ENDING}}}(?!\w)" if len(stemmed) < SHORT_STEM else "")
    )
