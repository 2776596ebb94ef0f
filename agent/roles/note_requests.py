"""The length that an instruction asks for, read by rules."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.text.tokens import tokenize
from agent.text.word_lists import STOPWORDS

BRIEF_SENTENCES = 2
"""Sentences of an answer that is to be short."""
_ONE_SENTENCE = re.compile(
    r"\b(?:(?:in|with|using)\s+)?(?:just\s+|only\s+)?(?:one|a)\s+(?:single\s+|short\s+)?(?:sentence|line)\b"
    r"|\bin einem satz\b|\bmed en mening\b",
    re.IGNORECASE,
)
_SHORTER = r"(?:much\s+|a\s+bit\s+)?(?:shorter|briefer|shorten|kürzer|kortare|plus\s+court)"
_BRIEF = re.compile(
    rf"\b(?:{_SHORTER}"
    r"|(?:very\s+|as\s+)?(?:brief|short|concise|terse)(?:ly)?|in\s+(?:brief|short)|(?:a\s+)?few\s+words"
    r"|kurz|knapp|kort(?:fattat)?|bref|brièvement|breve)\b",
    re.IGNORECASE,
)
_FRAME_WORDS = frozenset(
    "answer answers answering reply replies respond keep make write possible stay text sentences antworte "
    "svara "
    "reponds responde".split()
)


@dataclass(frozen=True)
class LengthRequest:
    """How many sentences an answer may have (0: any), and whether the instruction asks for more."""

    max_sentences: int = 0
    has_other_requests: bool = False


def parse_length_request(instruction: str) -> LengthRequest:
    """The length that an instruction asks for."""
    one, brief = _ONE_SENTENCE.search(instruction), _BRIEF.search(instruction)
    rest = set(tokenize(_BRIEF.sub(" ", _ONE_SENTENCE.sub(" ", instruction))))
    return LengthRequest(1 if one else BRIEF_SENTENCES if brief else 0, bool(rest - STOPWORDS - _FRAME_WORDS))
