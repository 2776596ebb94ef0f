"""Things that were listed, and questions that pick from them: "the second one", "which of these", "the
difference between them".

A list is two or more things side by side with nothing but commas, "and", "or" or numbers between them.
English, by rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.text.phrases import Phrase, phrases
from agent.text.sentences import find_sentence_spans
from agent.types import Turn

MOST = 5
"""Things of a list that are named in a question at most."""
BRIEF = 2
"""Sentences of a reply that is taken for an offer as a whole."""
_BETWEEN = re.compile(
    r"\s*(?:,|;|,?\s*(?:and|or|vs\.?|versus|&))\s*(?:\(?\d{1,2}[.)]\s*)?(?:(?:the|a|an)\s+)?", re.IGNORECASE
)
_ORDER = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "latter": -1}
_CLASS = (
    r"(?:ones?|options?|persons?|types?|kinds?|category|categories|items?|suggestions?|choices?|approach|approaches|methods?|dish|dishes|things?"
    r"|reasons?|steps?|of (?:them|these|those))"
)
_NTH = re.compile(
    rf"(?<!\ba )\b(?:the\s+)?({'|'.join(_ORDER)})\s+{_CLASS}(?!['’\w]|\s+of\b(?! (?:them|these|those)))",
    re.IGNORECASE,
)
_TWO = re.compile(
    rf"\b(?:the (?:first )?two|both)(?: {_CLASS})?(?: you mentioned)?"
    r"(?=\s*(?:[?.!,]|$)|\s+(?:different|compared|related|better|the same)\b)",
    re.IGNORECASE,
)
_AMONG = re.compile(
    r"\b(between|compare|which of|any of|one of|some of|all of|each of|none of|either of|both|among)\s+"
    r"((?:them|these|those)(?: two)?)\b(?=\s*(?:[?.!,]|$|[a-z]))",
    re.IGNORECASE,
)
_PLAIN_CLASS = re.compile(rf"^\s*{_CLASS}\b", re.IGNORECASE)


def lists(text: str) -> list[list[str]]:
    """The lists of a text, in order."""
    found: list[list[str]] = []
    for start, end in find_sentence_spans(text):
        found += _of_sentence(text[start:end])
    return found


def _of_sentence(sentence: str) -> list[list[str]]:
    groups: list[list[Phrase]] = [[]]
    at = 0
    for phrase in phrases(sentence):
        begin = sentence.find(phrase.text, at)
        if begin < 0:
            continue
        if not (groups[-1] and _BETWEEN.fullmatch(sentence[at:begin])):
            groups.append([])
        groups[-1].append(phrase)
        at = begin + len(phrase.text)
    return [[" ".join(phrase.words) for phrase in _shared(group)] for group in groups if len(group) > 1]


def _shared(group: list[Phrase]) -> list[Phrase]:
    """ "Physical or social symptoms" are two kinds of symptoms: what the last one is, the single words before
    it are too."""
    last = group[-1]
    if (
        len(last.words) < 2
        or last.name
        or any(len(phrase.words) > 1 or phrase.name or phrase.plural for phrase in group[:-1])
    ):
        return group
    return [*(replace(phrase, words=(*phrase.words, last.words[-1])) for phrase in group[:-1]), last]


def picked(question: str, turns: Sequence[Turn]) -> str:
    """The question with the things it picks from the newest list in their places; "" when it picks nothing or
    nothing was listed."""
    nth, two, among = _NTH.search(question), _TWO.search(question), _AMONG.search(question)
    if not turns or not (nth or two or among):
        return ""
    known = _newest(turns)
    if nth:
        n = _ORDER[nth[1].lower()]
        return (
            f"{question[: nth.start()]}the {known[n]}{question[nth.end() :]}"
            if known and n < len(known) and len(known) > 1
            else ""
        )
    if two and len(known) >= 2:
        return f"{question[: two.start()]}{known[0]} and {known[1]}{question[two.end() :]}"
    if among and 2 <= len(known) <= MOST and not _PLAIN_CLASS.match(question[among.end() :]):
        return f"{question[: among.start()]}{among[1]} {joined(known)}{question[among.end() :]}"
    return ""


def _newest(turns: Sequence[Turn]) -> list[str]:
    """The newest list that was offered: what the reply asks about at its end, three names or more, a reply
    that is little but a list; else the person's own. A long text's asides are no offers."""
    reply, said = turns[-1].bot, turns[-1].user
    sentences = [reply[start:end] for start, end in find_sentence_spans(reply)]
    if sentences and sentences[-1].rstrip().endswith("?") and (asked := lists(sentences[-1])):
        return asked[-1]
    told = [found for sentence in sentences for found in lists(sentence)]
    brief = len(sentences) <= BRIEF
    offered = [
        found
        for found in told
        if (brief and (_proper(found) or len(found) > 2)) or (_proper(found) and len(found) > 2)
    ]
    for found in (offered, lists(said)):
        if found:
            return found[-1]
    return []


def _proper(found: Sequence[str]) -> bool:
    return all(name[0].isupper() for name in found)


def joined(names: Sequence[str]) -> str:
    """ "A", "A and B", "A, B and C"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
