"""The form of a question, by regular expressions in several languages."""

from __future__ import annotations

import re

from agent.text.word_lists import read_patterns

_WORDS = read_patterns("dialogue_acts")
_QUESTION_OPENING = re.compile(
    rf"^\W*(?:(?:{_WORDS['lead_in']})\W+){{0,3}}(?:{_WORDS['question']})\b", re.IGNORECASE
)
_QUESTION_MARK = re.compile(r"[?？؟]")


def is_question(text: str) -> bool:
    """Has it the form of a question or a request?"""
    return bool(_QUESTION_MARK.search(text) or _QUESTION_OPENING.search(text))
