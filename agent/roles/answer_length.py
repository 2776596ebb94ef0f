"""What of a person's instruction code can obey without understanding it: how long an answer may be. Knows
words, no answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.text.tokens import tokenize
from agent.text.word_lists import STOPWORDS

BRIEF_SENTENCES = 2
"""Sentences of an answer that is to be short."""
_ONE_SENTENCE = re.compile(
    r"\b(?:(?:in|with|using)\s+)?(?:just\s+|only\s+)?(?:one|a)\s+(?:single\s+|short\s+)?(?:sentence|line)\b|\bin einem satz\b|\bmed en mening\b",
    re.IGNORECASE,
)
_BRIEF_WORDS = re.compile(
    r"\b(?:(?:very\s+|as\s+)?(?:brief|short|concise|terse)(?:ly)?|in\s+(?:brief|short)|(?:a\s+)?few\s+words|kurz|knapp|kort(?:fattat)?|bref|brièvement|breve)\b",
    re.IGNORECASE,
)
_FRAME_WORDS = frozenset(
    "answer answers answering reply replies respond keep make write possible stay text sentences antworte svara reponds responde".split()
)


@dataclass(frozen=True)
class LengthRequest:
    """How many sentences an answer may have (0: as many as it needs), and whether the instruction asks for
    more than that."""

    max_sentences: int = 0
    has_other_requests: bool = False


def parse_length_request(instruction: str) -> LengthRequest:
    """An instruction, taken apart."""
    one, short = _ONE_SENTENCE.search(instruction), _BRIEF_WORDS.search(instruction)
    rest = _BRIEF_WORDS.sub(" ", _ONE_SENTENCE.sub(" ", instruction))
    return LengthRequest(
        1 if one else BRIEF_SENTENCES if short else 0,
        any(word not in STOPWORDS | _FRAME_WORDS for word in tokenize(rest)),
    )
