"""What of a person's instruction code can obey without understanding it: how long an answer may be. Knows words, no answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.text.stopwords import STOPWORDS
from agent.text.words import tokens

BRIEF = 2
"""Sentences of an answer that is to be short."""
_ONE = re.compile(
    r"\b(?:(?:in|with|using)\s+)?(?:just\s+|only\s+)?(?:one|a)\s+(?:single\s+|short\s+)?(?:sentence|line)\b|\bin einem satz\b|\bmed en mening\b",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"\b(?:(?:very\s+|as\s+)?(?:brief|short|concise|terse)(?:ly)?|in\s+(?:brief|short)|(?:a\s+)?few\s+words|kurz|knapp|kort(?:fattat)?|bref|brièvement|breve)\b",
    re.IGNORECASE,
)
_FRAME = frozenset(
    "answer answers answering reply replies respond keep make write possible stay text sentences antworte svara reponds responde".split()
)


@dataclass(frozen=True)
class Wish:
    """How many sentences an answer may have (0: as many as it needs), and whether the instruction asks for more than that."""

    sentences: int = 0
    more: bool = False


def wish(instruction: str) -> Wish:
    """An instruction, taken apart."""
    one, short = _ONE.search(instruction), _SHORT.search(instruction)
    rest = _SHORT.sub(" ", _ONE.sub(" ", instruction))
    return Wish(1 if one else BRIEF if short else 0, any(word not in STOPWORDS | _FRAME for word in tokens(rest)))
