"""Where sentences end: full stops, abbreviations, ordinals, marks of other scripts."""

from __future__ import annotations

import re
from functools import lru_cache

from stop_words import get_stop_words

from agent.text.dates import month_numbers
from agent.text.quantities import find_unit

MAX_SENTENCE_CHARS = 600
"""A longer sentence is cut at a semicolon or space: a quote must stay readable."""
MAX_ABBREVIATION_LETTERS = 5
"""Letters of an abbreviation that is known by having no vowel ("bzw.", "vgl.", "Ltd.")."""

_SENTENCE_END = re.compile(
    r"(?<![.!?…؟])[.!?…؟]+[\"'”’»)\]]*(?:\[\d+\])*\s+(?=[\"'“‘«„(\[¿¡`]*-{0,2}([^\W_]))|[。！？।۔]+[」』”]*"
)
_LAST_TOKEN = re.compile(r"(?:^|(\S+)\s+)[(\[\"“„«'‘]*(\S+)$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]|[^\W\d_]")
"""An initial, or letters with a full stop after each ("e.g", "z.B")."""
_VOWEL = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôûåæøœıě]", re.IGNORECASE)
_WITH_VOWEL = frozenset(
    "prof no vol fig inc co corp dept gen col capt rev hon gov sen rep approx ca al ed eds jan feb mar apr "
    "jun jul aug sept sep oct nov dec ung kap art abb abs mme mlle etc".split()
)
"""Abbreviations that read like words, before which no rule stops; those without a vowel need no list."""
_ORDINAL_LANGUAGES = "czech danish finnish german hungarian norwegian polish slovak turkish".split()
"""The languages of the library's lists in which ordinals have a full stop."""
LIST_MARK = re.compile(r"[ \t]*(?:[-*+•‣▪◦–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]+(?=\S)")
"""What a list item begins with."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")


def format_sentence(text: str) -> str:
    """A reason as a sentence of its own: "all 3 pages are read" gives "All 3 pages are read."; "" stays."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}" if text else ""


def find_sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order, blanks around it left out. A line break ends a
    sentence."""
    found: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        start, end = line.span()
        for stop in _SENTENCE_END.finditer(text, start, end):
            following = stop[1] or ""
            is_code = text[stop.end() : stop.end() + 1] in ("`", "-")  # "`npm` …", "--prune …"
            reads_on = following.islower() and not is_code
            if reads_on or (text[stop.start()] == "." and _is_inside(text, start, stop)):
                continue
            found += _split_long_span(text, start, stop.end())
            start = stop.end()
        found += _split_long_span(text, start, end)
    return found


def _is_inside(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether the full stop belongs to an abbreviation, an initial or an ordinal."""
    at = stop.start()
    if at + 1 < stop.end() and not text[at + 1].isspace():
        return False
    before = _LAST_TOKEN.search(text[max(start, at - 40) : at])
    if before is None:
        return False
    previous, token = before[1] or "", before[2]
    if token.isdecimal():  # it counts ("am 5. Juni", "das 3. Kapitel") or marks an item
        following = re.match(r"\w+", text[stop.start(1) :]) if stop[1] else None
        is_month = following is not None and following.group().lower() in month_numbers()
        is_mark = not text[start:at].strip(" \t0123456789(")
        return len(token) < 3 and (is_month or is_mark or previous.lower() in _ordinal_contexts())
    if _DOTTED.fullmatch(token) or token.lower() in _WITH_VOWEL:
        return True
    if not token.isalpha() or token.isupper():
        return False
    if (stop[1] or "").isdecimal() and token[0].isupper() and len(token) < MAX_ABBREVIATION_LETTERS:
        return True  # "Abb. 3"
    if previous[-1:].isdecimal() and find_unit(token):
        return False
    is_latin = "a" <= token[0].lower() <= "z"
    return is_latin and len(token) <= MAX_ABBREVIATION_LETTERS and not _VOWEL.search(token)


@lru_cache(maxsize=1)
def _ordinal_contexts() -> frozenset[str]:
    """The function words of these languages that are none in English ("am", "der", "den")."""
    words = {word for language in _ORDINAL_LANGUAGES for word in get_stop_words(language)}
    return frozenset(words - set(get_stop_words("english")))


def _split_long_span(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The trimmed span, cut into readable pieces when it is too long; nothing when it is blank."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    pieces: list[tuple[int, int]] = []
    while end - start > MAX_SENTENCE_CHARS:
        half = (start + MAX_SENTENCE_CHARS // 2, start + MAX_SENTENCE_CHARS)
        cut = max(text.rfind("; ", *half), text.rfind(". ", *half))
        cut = cut if cut > 0 else text.rfind(" ", *half)
        cut = cut + 1 if cut > 0 else start + MAX_SENTENCE_CHARS
        pieces.append((start, start + len(text[start:cut].rstrip())))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        pieces.append((start, end))
    return pieces
