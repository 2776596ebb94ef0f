"""A turn that is only a piece of a question ("And for a used one?"), made whole with the question before it.
English, by rule.

The piece takes the place of what it stands beside in the former question: a preposition's phrase for one with
the same preposition, a name for a name, "a used one" for the thing itself. When nothing fits, it is added to
that question. Knows two questions."""

from __future__ import annotations

import re

from agent.text.phrases import Phrase, phrases
from agent.text.sentences import find_sentence_spans
from agent.text.spoken import AUXILIARIES, PREPOSITIONS, VERBS
from agent.text.tokens import fold

LONGEST = 9
"""Words that a piece has at most."""
ASKABLE = 16
"""Words that a former question has at most to be asked again."""
_OPENER = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|yes|no|nice|interesting|hmm|i see|thanks?|good|great|so|well)\W+(?:then\W+)?)*"
    r"(?:(?:and|or|but|also)\b\W*)?(?:(?:what|how) about|and|or|but|also|(?:no\W+)?i (?:just )?mean(?:t)?)\b\W*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:what|who|whom|whose|when|where|why|how|which|if|i|you|we|there|let|please|tell|give|show|list|explain|describe|name)\b",
    re.IGNORECASE,
)
_ONE = re.compile(r"\b(?:ones?)\b", re.IGNORECASE)
_THE = r"(?:\b(?:the|a|an|my|your|our|this|that|these|those|some|any)\s+)?"
_CODE_IN = re.compile(r"\b[A-Za-z]{1,3}\d{1,4}\b")
_CODE = re.compile(r"(?:(?:the|a|an|my|your|for)\s+)*([A-Za-z]{1,3}\d{1,4})")
_YEAR_IN = re.compile(
    r"(?:\b(?:in|during|for|by|before|after|since|until|from)\s+)?\b((?:1[5-9]|20)\d\d)\b", re.IGNORECASE
)
_YEAR = re.compile(
    r"(?:(in|during|for|of|before|after|since|until|by|from)\s+)?((?:1[5-9]|20)\d\d)", re.IGNORECASE
)
_PLAIN = frozenset(("", "in", "during", "for", "of"))
"""What stands before a year that only takes another's place."""
_END = re.compile(r"(?<![\s?.!])[\s?.!]+$")


def piece(question: str) -> str:
    """What is left of a turn behind "what about", "and", "I meant", when that is no question of its own; ""
    for all other turns."""
    opened = _OPENER.match(question)
    rest = question[opened.end() :] if opened else question
    rest = _END.sub("", rest).strip()
    words = [fold(word) for word in re.findall(r"[\w’'-]+", rest)]
    if (
        not words
        or len(words) > LONGEST
        or (not opened and words[0] not in PREPOSITIONS - {"to"})
        or re.search(r"\bto \w+ \w", rest)
    ):
        return ""
    if _ASKS.search(rest) or any(word in AUXILIARIES for word in words) or re.search(r"[?!.;]\s", rest):
        return ""
    return rest


def whole(part: str, former: str) -> str:
    """The former question with the piece in it; "" when the former is no question to be asked again."""
    former = _last_question(former)
    if not part or not asks(former) or len(former.split()) > ASKABLE:
        return ""
    if another := _in_another_year(part, former):
        return another
    first = fold(part.split()[0])
    if _ONE.search(part):
        return _one(part, former, first)
    if first in PREPOSITIONS:
        return _behind(part, former, first)
    return _beside(part, former)


def _last_question(former: str) -> str:
    """The last sentence of a turn that asks, without its mark; the last of all when none does."""
    sentences = [former[start:end] for start, end in find_sentence_spans(former)] or [former]
    asking = [sentence for sentence in sentences if sentence.rstrip().endswith("?")]
    return _END.sub("", (asking or sentences)[-1]).strip()


def asks(former: str) -> bool:
    """Can this be asked again about something else: has it a verb or a question word?"""
    words = [fold(word) for word in re.findall(r"[\w’'-]+", former)]
    return len(words) > 2 and (
        bool(_ASKS.search(former)) or any(word in AUXILIARIES or word in VERBS for word in words)
    )


def _in_another_year(part: str, former: str) -> str:
    """The former question with its one year changed: "during 2025" and "in 2024" make "during 2024"; "" when
    this is no such piece."""
    new, old = _YEAR.fullmatch(part), list(_YEAR_IN.finditer(former))
    if not new or len(old) != 1:
        return ""
    start, end = old[0].span(1) if fold(new[1] or "") in _PLAIN else old[0].span()
    return f"{former[:start]}{new[2] if start == old[0].start(1) else part}{former[end:]}?"


def _one(part: str, former: str, first: str) -> str:
    """ "A used one": the thing itself, as it stands in the former question, is now a used one."""
    things = [phrase for phrase in phrases(former) if phrase.role != "head"]
    if not things:
        return ""
    thing = max(
        things,
        key=lambda phrase: (phrase.name, phrase.role in ("object", "topic", "tail"), len(phrase.words)),
    )
    said = _ONE.sub(lambda _: thing.text, part, count=1)
    if first in PREPOSITIONS:
        said = said.split(None, 1)[1]
    return _swapped(former, thing, said)


def _behind(part: str, former: str, first: str) -> str:
    """A phrase behind a preposition: for the last one of that kind, else at the end."""
    same = list(
        re.finditer(rf"\b{re.escape(first)}\s+(?!(?:do|be|get|make)\b)[^?,;]*$", former, re.IGNORECASE)
    )
    if same and len(same[-1].group().split()) <= LONGEST and phrases(former[: same[-1].start()]):
        return f"{former[: same[-1].start()]}{part}?"
    return f"{former} {part}?"


def _beside(part: str, former: str) -> str:
    """A thing for a thing of its kind, else the former question about it."""
    if code := _recoded(part, former):
        return code
    new, old = phrases(part), [phrase for phrase in phrases(former) if phrase.role != "head"]
    if not new:
        return ""
    for alike in (_same_word, _same_name, _same_the):
        if fitting := [phrase for phrase in old if alike(new[0], phrase)]:
            return _swapped(former, fitting[-1], part)
    bare = [
        phrase for phrase in old if not phrase.the and not phrase.name and phrase.role in ("subject", "topic")
    ]
    if bare and len(old) > 1 and not new[0].the:
        return _swapped(former, bare[0], part)
    return (
        ""
        if any(phrase.name for phrase in new) or re.search(r"\bof\b", part)
        else _behind(f"for {part}", former, "for")
    )


def _recoded(part: str, former: str) -> str:
    """A code ("E18", "the C1") for the code that it is most like ("E17", "C2"); "" when it is none or like
    none."""
    code = _CODE.fullmatch(part)
    alike = list(_CODE_IN.finditer(former)) if code else []
    if not code or not alike:
        return ""
    letters = code[1].rstrip("0123456789").lower()
    old = next((known for known in alike if known[0].rstrip("0123456789").lower() == letters), alike[-1])
    return f"{former[: old.start()]}{code[1]}{former[old.end() :]}?"


def _same_word(new: Phrase, old: Phrase) -> bool:
    return new.keys[-1] == old.keys[-1]


def _same_name(new: Phrase, old: Phrase) -> bool:
    return new.name and old.name and all(word[0].isupper() for word in (*new.words, *old.words))


def _same_the(new: Phrase, old: Phrase) -> bool:
    return new.the and old.the and not new.name and not old.name and new.plural == old.plural


def _swapped(former: str, old: Phrase, said: str) -> str:
    place = re.search(_THE + re.escape(old.text), former, re.IGNORECASE)
    return f"{former[: place.start()]}{said}{former[place.end() :]}?" if place else ""
