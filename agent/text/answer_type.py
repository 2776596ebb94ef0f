"""The type of answer a question wants (a person, a date, a number …), and whether a sentence holds one. By
regular expressions in several languages."""

from __future__ import annotations

import re
from functools import lru_cache

from agent.text.date_intervals import MONTH_NAMES
from agent.text.names import find_names
from agent.text.quantities import CARDINAL_WORDS
from agent.text.word_lists import read_patterns

ANSWER_TYPES = ("person", "date", "place", "number", "reason", "manner", "definition", "thing")

_QUESTION_PATTERNS = {
    kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in read_patterns("answer_types").items()
}
_DATE = re.compile(
    rf"\b(?:1[0-9]|20)\d\d(?:s|–|-|\b)|\b(?:{MONTH_NAMES})\.? \d|\b\d{{1,2}}\.? (?:{MONTH_NAMES})\b"
    r"|\b\d\d?(?:th|st|nd|rd) century\b|\b\d+ (?:bc|ad)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(sorted(CARDINAL_WORDS))})\b", re.IGNORECASE)
_REASON = re.compile(
    r"\b(?:because|due to|caused?|causes|result(?:s|ed)? (?:of|in|from)|reason|therefore|so that"
    r"|in order to|weil|da|eftersom|parce|porque)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|near|from|of|to|on|i|på|aus|nach|en|à|au)\s+(?:the\s+)?[^\W\d_a-z]\w+")
_DEFINITION = re.compile(
    r"\b(?:is|are|was|were|means?|refers? to|stands? for|known as|defined as|ist|är|est|es)\b", re.IGNORECASE
)


_SIGNS = {"date": _DATE, "number": _NUMBER, "reason": _REASON, "place": _PLACE, "definition": _DEFINITION}
"""What a sentence holds that has an answer of the type."""


@lru_cache(maxsize=512)
def detect_answer_type(question: str) -> str:
    """One of ANSWER_TYPES; "thing" when no rule says more."""
    return next((kind for kind, pattern in _QUESTION_PATTERNS.items() if pattern.search(question)), "thing")


def has_answer_type(kind: str, sentence: str, asked: frozenset[str] = frozenset()) -> bool:
    """Does the sentence hold something of this answer type? `asked`: folded names of the question, which do
    not count."""
    if kind == "person":
        return any(" " in name and name.casefold() not in asked for name in find_names(sentence, 12))
    return kind not in _SIGNS or bool(_SIGNS[kind].search(sentence))
