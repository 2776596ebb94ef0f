"""Words of an English question that point at something named before it ("it", "their", "there"), and putting
a name in their place.

A pointing word that has what it means in its own question ("What is a heron and why is it grey?"), or that
means nothing ("is it better to wait?"), does not count. Knows one question, no conversation. Other languages
are not substituted in: their forms of pointing words agree with nouns in ways that words alone do not tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agent.text.dialogue_acts import is_question
from agent.text.language import is_english
from agent.text.phrases import Phrase, phrases
from agent.text.sentences import find_sentence_spans

TOLD = 8
"""Words from which on a turn that asks nothing is left as it was told."""
Kind = Literal["he", "they", "it", "there", "this"]
_VERB = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)"
_AFTER = rf"(?:{_VERB}|in|on|for|to|of|with|works?|mean|compare|relate|exist|happen|affect|really|also|too|changed|about|from|then|and|or|but)"
_POINTERS: dict[Kind, re.Pattern[str]] = {
    "he": re.compile(r"(?<!/)\b(?:he|him|his|she|her|hers)\b(?!/)", re.IGNORECASE),
    "they": re.compile(r"\b(?:they|them|their|theirs)\b", re.IGNORECASE),
    "it": re.compile(r"(?<!do )(?<!did )(?<!doing )\b(?:it|its)\b(?!\s+is\.)", re.IGNORECASE),
    "there": re.compile(
        r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )(?<!out )\bthere\b"
        r"(?! (?:is|are|was|were|any|an?|some|be|been|also|still|more|\w+ly)\b)",
        re.IGNORECASE,
    ),
    "this": re.compile(rf"\b(?:this|these)\b(?=\s*(?:$|[?.!,;]|{_AFTER}\b))", re.IGNORECASE),
}
_EMPTY = re.compile(
    r"(?<!if )(?<!when )\bit\s*(?:['’]s|is|was|will|would|might|may|could|seems?|sounds?|looks?|takes?|['’]ll)\b(?![^.?!,;]*\?)"
    r"|\b(?:is|was|be) it (?:so |too |still |really |also )?\w+ (?:to|that|if)\b(?![^.?!]*\bthan\b)"
    r"|\b(?:does|did) it (?:take|mean) to\b|\b(?:does|did|will|would) it (?:usually |normally )?take(?=\s*(?:[?.!,]|$))",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\bif\b[^?.!]*\b(?:is|does|will|would|can) $", re.IGNORECASE)
"""What "it" follows that means the whole supposition: "if I eat no meat, is it bad for me?"."""
_OWN = frozenset(("its", "their", "his", "her"))
_AND = re.compile(r"\w and $", re.IGNORECASE)
_NEXT = r"(?:what|who|why|how|where|when|is|are|do|does|did|can|also|i|it|they|so)"
_CLAUSE = re.compile(
    rf"[.?!;,:]\s|\b(?:and(?= {_NEXT}\b)|but|or(?= (?:is|are|do|does|it)\b)|so|if|when|because|that|which|who|while|since)\b",
    re.IGNORECASE,
)
_OWNED = re.compile(
    r"\s+((?:[\w’'-]+\s+){0,2}?[\w’'-]+)(?=\s*(?:[?.!,;]|$|\b(?:and|or|in|on|for|to|with|of|compare|from|like|than|is|are|was|were|after|before)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Pointer:
    """A pointing word: where it stands, its kind, and the word."""

    start: int
    end: int
    kind: Kind
    word: str


def pointer(question: str) -> Pointer | None:
    """The first word of an English question that points out of it; None when none does."""
    found: list[Pointer] = []
    for kind, pattern in _POINTERS.items():
        for match in pattern.finditer(question):
            if not _stays_inside(question, match, kind):
                found.append(Pointer(match.start(), match.end(), kind, match.group()))
                break
    return min(found, key=lambda pointing: pointing.start) if found and is_english(question) else None


def _stays_inside(question: str, match: re.Match[str], kind: Kind) -> bool:
    """Does it mean something of its own question, or nothing?"""
    before = question[: match.start()]
    if not is_question(question) and len(question.split()) > TOLD:
        return True
    if kind == "it" and any(
        empty.start() <= match.start() < empty.end() for empty in _EMPTY.finditer(question)
    ):
        return True
    if _told(question, match.start()):
        return True
    if kind == "it" and _SUPPOSED.search(before):
        return True
    if match.group().lower() in _OWN and _AND.search(before) and phrases(before):
        return True
    cuts = [cut.end() for cut in _CLAUSE.finditer(before)]
    named = [phrase for phrase in phrases(before[: cuts[-1]] if cuts else "") if phrase.role != "head"]
    return any(_agrees(phrase, kind) for phrase in named)


def _told(question: str, at: int) -> bool:
    """Does the word stand in a sentence that only tells, beside another that asks? What is asked is what has
    to stand alone."""
    sentences = find_sentence_spans(question)
    asking = [(start, end) for start, end in sentences if question[start:end].rstrip().endswith("?")]
    return (
        bool(asking) and len(asking) < len(sentences) and not any(start <= at < end for start, end in asking)
    )


def _agrees(phrase: Phrase, kind: Kind) -> bool:
    if kind == "they":
        return phrase.plural
    if kind == "he":
        return phrase.name
    if kind == "it":
        return not phrase.plural and (phrase.the or phrase.name or phrase.role in ("topic", "subject"))
    return kind == "this"


def put(question: str, pointing: Pointer, name: str) -> str:
    """The question with `name` in the pointing word's place: "its weight" becomes "the weight of …"."""
    word, before, after = pointing.word.lower(), question[: pointing.start], question[pointing.end :]
    if word in ("its", "their") and (owned := _OWNED.match(after)):
        return f"{before}the {owned.group(1)} of {name}{after[owned.end() :]}"
    if word in ("its", "their", "his") or (word == "her" and re.match(r"\s+\w", after)):
        return f"{before}{possessive(name)}{after}"
    if word == "there" and not re.search(r"\b(?:in|to|from|at|near|around)\s+$", before, re.IGNORECASE):
        name = f"in {name}"
    return f"{before}{name}{after}" if before else f"{name[:1].upper()}{name[1:]}{after}"


def possessive(name: str) -> str:
    """The name as an owner."""
    return name + ("’" if name.endswith("s") else "’s")
