"""How many items a request asks for: "10 articles about …", "the three newest threads", "at most 5".

A number counts only beside "newest", a word for what is collected, or a limit: "the 3 bridges" and
"error 17" are part of the subject."""

from __future__ import annotations

import re

_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_ANY_NUMBER = rf"(?:(?!(?:19|20)\d\d\b)\d{{1,4}}|{'|'.join(_NUMBER_WORDS)})"
_NUMBER = rf"(?P<count>{_ANY_NUMBER})"
_NEWEST = r"(?:last|latest|newest|(?:most )?recent|top|neuesten?|letzten|senaste|nyaste|derni\w+|últim\w+)"
ITEM = (
    r"(?:articles?|threads?|messages?|mails?|releases?|versions?|changes|entries|announcements?|stor(?:y|ies)|news|headlines?|posts?|items?|discussions?|reviews?|reports?|pages?"
    r"|artikeln?|beiträge?n?|artiklar(?:na)?|tråd\w*|nyheter(?:na)?|inlägg(?:en)?|sujets?|nouvelles"
    r"|artículos?|noticias?|hilos?)"
)
_LIMIT = r"(?:up to|at most|no more than|max(?:imum)?(?: of)?|höchstens|maximal|högst|au plus|como máximo)"
_BETWEEN = rf"(?:\s+(?:{_NEWEST}|forum|news|blog|press|different|relevant))*"
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_LIMIT}\s+{_NUMBER}(?:{_BETWEEN}\s+{ITEM})?\b",
        rf"\b(?:the\s+)?(?:{_ANY_NUMBER}\s*(?:-|–|or|to)\s*)?{_NUMBER}{_BETWEEN}\s+{ITEM}\b",
        rf"\b(?:the\s+)?{_NEWEST}\s+{_NUMBER}\s+{ITEM}\b",
    )
]
_AT_LEAST = re.compile(
    rf"\b(?:at least|(?<!no )more than|mindestens|minst|au moins"
    rf"|al menos)\s+{_ANY_NUMBER}{_BETWEEN}\s+{ITEM}\b",
    re.IGNORECASE,
)


def find_requested_count(text: str) -> int | None:
    """The number a text asks for, the last of a range ("3-5"); None for none. Remove time ranges before."""
    matches = (pattern.search(_AT_LEAST.sub(" ", text)) for pattern in _PATTERNS)
    return next((_parse_number(match["count"].lower()) for match in matches if match), None)


def remove_requested_count(text: str) -> str:
    """The text without the words that say how many."""
    for pattern in (_AT_LEAST, _PATTERNS[0], _PATTERNS[2], _PATTERNS[1]):
        text = pattern.sub(" ", text)
    return text


def is_newest_asked(text: str) -> bool:
    """Whether a text asks for the newest of something. Remove time ranges before."""
    return bool(re.search(rf"\b{_NEWEST}(?:\s+{_ANY_NUMBER})?{_BETWEEN}\s+{ITEM}\b", text, re.IGNORECASE))


def _parse_number(number: str) -> int:
    return int(number) if number.isdigit() else _NUMBER_WORDS.index(number) + 1
