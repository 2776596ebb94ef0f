"""The shape of answer a question asks for (a person, a date, a definition, an option …), and whether a
sentence has it. By patterns of question words in English, German, French, Spanish, Swedish, Chinese and
Arabic (`data/question_shapes.txt`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.text.date_intervals import MONTH_NAMES
from agent.text.names import find_names
from agent.text.word_lists import read_rows

ANSWER_TYPES = (
    "comparison default definition option number date place reason list person howto manner thing".split()
)
_SHAPES = [
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, _, pattern in (row.partition(": ") for row in read_rows("question_shapes"))
]
_DATE = re.compile(
    rf"\b(?:1[0-9]|20)\d\d(?:s|–|-|\b)|\b(?:{MONTH_NAMES})\.? \d|\b\d{{1,2}}\.? (?:{MONTH_NAMES})\b"
    r"|\b\d\d?(?:th|st|nd|rd) century\b|\b\d+ (?:bc|ad)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+(?:teen|ty)|hundred|thousand|[mb]illion|dozen)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|due to|caused?|causes|result(?:s|ed)? (?:of|in|from)|reason|therefore|so that"
    r"|in order to|weil|da|denn|damit|eftersom|därför|parce|car|porque|debido)\b|因为|因為|由于|لأن",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|near|from|of|to|on|i|på|aus|nach|en|à|au)\s+(?:the\s+)?[^\W\d_a-z]\w+")
_DEFINITION = re.compile(
    r"\b(?:is|are|was|were|means?|refers? to|denotes?|stands? for|known as|defined as"
    r"|ist|sind|war|bedeutet|bezeichnet|heißt|steht für|nennt man"
    r"|est|sont|était|signifie|désigne|es|son|era|significa|är|betyder|kallas)\b|是|指|هو|هي|يعني",
    re.IGNORECASE,
)
_DEFAULT = re.compile(
    r"\bdefaults?\b|\bstandardm[äa](?:ß|ss)ig|\bstandard(?:wert)?\b"
    r"|\bvor(?:einstell|eingestellt|gabe)|\bpar d[ée]faut"
    r"|\bpor defecto|\bpredeterminad|\bf[öo]rval|\bstandardv[äa]rde|默认|默認|预设|預設|افتراضي",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*|\b\w+\(\)|\b\w+_\w+\b|\b[A-Za-z]+\.[a-z]\w+\b|\b[A-Z]{3,}\b|\b\w[\w-]*\s?\+\s?\w\b"
    r"|→|\b[a-z]+[A-Z]\w+|[‘“\"'`][^\s‘’“”\"']+[’”\"'`]"
)
_LIST = re.compile(r"(?:[^,;:]+[,;、،]){2}|\n\s*\S")
_PREPOSITION = re.compile(
    r"\b(?:of|in|on|for|from|to|at|by|that|which|who|von|vom|in|im|der|des|für|que|qui|de|du|des|del"
    r"|på|av|för|i|som)\b",
    re.IGNORECASE,
)
"""In "what is X" it asks for something of X ("the capital of …") rather than for what X is."""

_SIGNS = {
    "date": _DATE,
    "number": _NUMBER,
    "reason": _REASON,
    "place": _PLACE,
    "definition": _DEFINITION,
    "default": _DEFAULT,
    "option": _OPTION,
    "list": _LIST,
}
"""What a sentence holds that has an answer of the type."""


MAX_HOW_WORDS = 2


@dataclass(frozen=True)
class Shape:
    """The type of answer that is asked for, what it is asked about where the pattern tells (for a comparison
    the two things), and the words that name the type ("default value", "difference", "option")."""

    kind: str
    subjects: tuple[str, ...] = ()
    frame: str = ""


@lru_cache(maxsize=512)
def detect_shape(question: str) -> Shape:
    """The shape of a question; "thing" when no pattern says more."""
    question = " ".join(question.split())
    for kind, pattern in _SHAPES:
        found = pattern.search(question)
        if not found:
            continue
        subjects = tuple(text.strip(" .?\"'“”„«»") for text in found.groupdict().values() if text)
        is_definition, frame = kind == "definition" and pattern.pattern.startswith("^"), found.group()
        if is_definition and subjects and _PREPOSITION.search(subjects[0]):
            continue
        if kind == "option":
            frame = frame.split()[-1]
        elif kind in ("comparison", "default", "definition"):
            for subject in subjects:
                frame = frame.replace(subject, " ")
        elif kind != "number" or len(frame.split()) > MAX_HOW_WORDS:  # "how long"
            frame = ""
        return Shape(kind, subjects, frame)
    return Shape("thing")


def detect_answer_type(question: str) -> str:
    """One of ANSWER_TYPES; "thing" when no rule says more."""
    return detect_shape(question).kind


def has_answer_type(kind: str, sentence: str, asked: frozenset[str] = frozenset()) -> bool:
    """Does the sentence hold something of this answer type? The question's names, `asked`, do not count."""
    if kind == "person":
        return any(" " in name and name.casefold() not in asked for name in find_names(sentence, 12))
    return kind not in _SIGNS or bool(_SIGNS[kind].search(sentence))
