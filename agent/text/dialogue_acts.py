"""Dialogue acts of a message: thanks and greetings that ask nothing, and the form of a question. By regular
expressions in several languages."""

from __future__ import annotations

import re
from typing import Literal

from agent.text.tokens import tokenize
from agent.text.word_lists import COMMON_WORDS, STOPWORDS, load_words, read_patterns

SmallTalk = Literal["", "thanks", "assent", "greeting"]
_SMALL_TALK_REPLIES: dict[SmallTalk, str] = {
    "": "",
    "thanks": "You are welcome. What else would you like to know?",
    "assent": "All right. What else would you like to know?",
    "greeting": "Hello! What would you like to know?",
}
_WORDS = read_patterns("dialogue_acts")
_THANKS, _ASSENT, _GREETING = (
    re.compile(rf"(?<!\w)(?:{_WORDS[act]})(?!\w)", re.IGNORECASE) for act in ("thanks", "assent", "greeting")
)
_FILLER, _REPEAT_REQUEST = (
    re.compile(rf"\b(?:{_WORDS[name]})\b", re.IGNORECASE) for name in ("filler", "repeat")
)
_QUESTION_OPENING = re.compile(
    rf"^\W*(?:(?:{_WORDS['lead_in']})\W+){{0,3}}(?:{_WORDS['question']})\b", re.IGNORECASE
)
_QUESTION_MARK = re.compile(r"[?？؟]")


def classify_small_talk(text: str) -> SmallTalk:
    """Is it only thanks, a word of approval or farewell, or a greeting? "" when it says anything else."""
    ungreeted = _GREETING.sub(" ", text)
    unthanked = _THANKS.sub(" ", ungreeted)
    rest = _ASSENT.sub(" ", unthanked)
    if re.search(r"\w", _FILLER.sub(" ", rest)):
        return ""
    return (
        "thanks"
        if unthanked != ungreeted
        else "assent"
        if rest != unthanked
        else "greeting"
        if ungreeted != text
        else ""
    )


def reply_to_small_talk(text: str) -> str:
    """The reply to small talk; "" when it is none."""
    return _SMALL_TALK_REPLIES[classify_small_talk(text)]


def has_question_opening(text: str) -> bool:
    """Does it begin as a question or a request does?"""
    return bool(_QUESTION_OPENING.search(text))


def is_question(text: str) -> bool:
    """Has it the form of a question or a request?"""
    return bool(_QUESTION_MARK.search(text)) or has_question_opening(text)


def is_bare_repeat_request(text: str) -> bool:
    """Does it only ask for the previous answer once more, perhaps shorter? Not when it names anything, such
    as one thing that was said, or asks something further."""
    rest, repeats = _REPEAT_REQUEST.subn(" ", text)
    return bool(repeats) and not set(tokenize(rest)) - STOPWORDS - COMMON_WORDS - load_words("chatter")


def is_unresolved_reference(question: str) -> bool:
    """Has a first question no word for what it is about? Capitals name something ("LETS"), unless all are."""
    if question != question.upper() and re.search(r"\b[A-Z][A-Z0-9]+\b", question):
        return False
    return not set(tokenize(question)) - STOPWORDS - COMMON_WORDS - load_words("chatter")
