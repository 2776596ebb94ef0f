"""What a person's note on an answer asks for, read by rules: exclusions, length, a part of the question,
addresses, topics, questions. What no rule understands is told apart. Knows words, no answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from agent.text.negative_constraints import (
    find_excluded_sites,
    keep_topic_constraints,
    split_negative_constraints,
)
from agent.text.question_parts import is_asking
from agent.text.tokens import tokenize
from agent.text.urls import find_urls
from agent.text.word_lists import STOPWORDS, load_words, read_patterns
from agent.types import ReportLength

UNDERSTOOD_WORDS = (
    "“leave out wiki.example”, “not from …”, “shorter”, “in 100 words”, “full report”, “only the second "
    "question”, “about its price”, “more on …”, “look for …”, “go on”, a question, an "
    "address"
)
"""What a form says of the words that are understood without a model."""
ORDINALS = (
    "first erste ersten erster första premiere première premier",
    "second zweite zweiten zweiter andra deuxieme deuxième seconde",
    "third dritte dritten dritter tredje troisieme troisième",
    "fourth",
    "fifth",
    "sixth",
)
_PATTERNS = read_patterns("note_requests")
_FILLER = rf"(?:(?:{_PATTERNS['filler']})[\s,]+)*"
_WORD = read_patterns("question_patterns")["question_word"]
_TOPIC = re.compile(
    rf"^\W*{_FILLER}(?:(?:{_PATTERNS['topic']})\s+|"
    rf"(?:{_PATTERNS['saying']})\s+(?=(?:{_WORD})\b))(?P<topic>.*\w.*)$",
    re.IGNORECASE,
)
_PART = re.compile(rf"\b{_PATTERNS['part']}\b", re.IGNORECASE)
_WORDS = re.compile(rf"(?<!\w){_PATTERNS['words']}\b", re.IGNORECASE)
_COMMENT = re.compile(rf"(?<!\w)(?:{_PATTERNS['comment']})(?!\w)", re.IGNORECASE)
_GO_ON = re.compile(rf"^\W*{_FILLER}(?:{_PATTERNS['go_on']})(?!\w)", re.IGNORECASE)
_INSTEAD = re.compile(rf"(?:{_PATTERNS['instead']})[^,.;!?]+", re.IGNORECASE)
_QUESTION = re.compile(rf"\?|^\W*{_FILLER}(?:{_WORD})\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|;|\n+")


@dataclass
class NoteRequests:
    """What one note asks for; `part` is the position of a part from 0, -1 for the last, None for none."""

    sites: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    length: ReportLength | None = None
    is_shorter: bool = False
    """Whether it asks for less than there is, in whatever length."""
    max_words: int = 0
    part: int | None = None
    is_only_part: bool = False
    rest: list[str] = field(default_factory=list)
    wants_more: bool = False
    is_instead: bool = False
    """Whether a comment names something else to look for than what its sentence says."""


def read_note(note: str, *, is_comment: bool = False) -> NoteRequests:
    """What a note asks for; for a comment on a sentence "source?", "too vague", "recent figures" are
    understood, too, and ask for what is looked for anyway; of "the beds, not the stays" the beds."""
    if is_comment and (wanted := _INSTEAD.sub(" ", note)) != note and _has_content(wanted):
        asked = read_note(wanted, is_comment=True)
        return replace(asked, topics=[*asked.topics, *asked.rest], rest=[], is_instead=True)
    asked = NoteRequests(sites=find_excluded_sites([note]), length=find_length(note))
    asked.is_shorter = asked.length == "brief" and bool(_LESS.search(note))
    if words := _WORDS.search(note):
        asked.max_words = int(words["words"])
    part, without = _PART.search(note), split_negative_constraints(note)[1]
    if part and any(part[0].strip() in text for text in without):
        return replace(asked, rest=[note])  # no part is left out by rule
    if part:
        word, asked.is_only_part = (part["ordinal"] or "").lower(), bool(part["only"])
        asked.part = next((n for n, words in enumerate(ORDINALS) if word in words.split()), -1)
        asked.part = int(part["number"]) - 1 if part["number"] else asked.part
    wanted, excluded = split_negative_constraints(_PART.sub(" ", _WORDS.sub(" ", note)))
    asked.unwanted = [remove_length(text).strip(" ,") for text in keep_topic_constraints(excluded)]
    for sentence in filter(None, map(str.strip, _SENTENCE.split(remove_length(wanted)))):
        if urls := find_urls(sentence):
            asked.addresses += [] if find_excluded_sites([sentence]) else urls
        elif (topic := _TOPIC.match(sentence)) and _has_content(topic["topic"]):
            asked.topics.append(topic["topic"].strip(" .!?"))
        elif _GO_ON.match(sentence):
            asked.wants_more = True
        elif is_comment and _COMMENT.search(sentence):
            own = _COMMENT.sub(" ", sentence).strip(" ,:;–-")
            asked.topics += [own] if is_asking(own) and _has_content(own) else []
        elif _QUESTION.search(sentence) and _has_content(sentence):
            asked.topics.append(sentence)
        elif _has_content(sentence) and not find_excluded_sites([sentence]):
            asked.rest.append(sentence.strip(" ,"))
    return asked


def _has_content(text: str) -> bool:
    """Whether it says more than function words and courtesies."""
    courtesies = load_words("note_courtesies")
    return any(word not in STOPWORDS and word not in courtesies for word in tokenize(text))


BRIEF_SENTENCES = 2
"""Sentences of an answer that is to be short."""
_ONE_SENTENCE = re.compile(
    r"\b(?:(?:in|with|using)\s+)?(?:just\s+|only\s+)?(?:one|a)\s+(?:single\s+|short\s+)?(?:sentence|line)\b"
    r"|\bin einem satz\b|\bmed en mening\b",
    re.IGNORECASE,
)
_SHORTER = r"(?:much\s+|a\s+bit\s+)?(?:shorter|briefer|shorten|kürzer|kortare|plus\s+court)"
_LESS = re.compile(rf"\b{_SHORTER}\b", re.IGNORECASE)
_BRIEF = re.compile(
    rf"\b(?:{_SHORTER}"
    r"|(?:very\s+|as\s+)?(?:brief|short|concise|terse)(?:ly)?|in\s+(?:brief|short)|(?:a\s+)?few\s+words"
    r"|kurz|knapp|kort(?:fattat)?|bref|brièvement|breve)\b",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"\b(?:full|long|detailed|comprehensive|thorough|in-depth)\s+(?:research\s+)?(?:report|answer|version)\b"
    r"|\bausführliche[rn]?\s+bericht\b|\butförlig\s+rapport\b|\brapport\s+(?:complet|détaillé)\b",
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


def find_length(instruction: str) -> ReportLength | None:
    """The length of report that an instruction asks for in plain words; None for none."""
    if _FULL.search(instruction):
        return "full"
    return "brief" if _ONE_SENTENCE.search(instruction) or _BRIEF.search(instruction) else None


def remove_length(instruction: str) -> str:
    """The instruction without its words on the length."""
    for words in (_FULL, _ONE_SENTENCE, _BRIEF):
        instruction = words.sub(" ", instruction)
    return instruction


def parse_length_request(instruction: str) -> LengthRequest:
    """The length that an instruction asks for."""
    one, brief = _ONE_SENTENCE.search(instruction), _BRIEF.search(instruction)
    rest = set(tokenize(_BRIEF.sub(" ", _ONE_SENTENCE.sub(" ", instruction))))
    return LengthRequest(1 if one else BRIEF_SENTENCES if brief else 0, bool(rest - STOPWORDS - _FRAME_WORDS))
