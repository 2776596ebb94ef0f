"""Where sentences end: full stops, abbreviations, ordinals, marks of other scripts. And which lines of a text
read on in the next one, because it was wrapped at a width by an editor, a mailer or a typesetter."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

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
MIN_WIDTH, MAX_WIDTH = 40, 130
"""The widths at which texts are wrapped: RFC 5322 recommends 78 characters, newspapers set about 40."""
MIN_FULL_SHARE = 0.7
"""The share of lines with another below them that are full in a text that was wrapped; the last line of a
paragraph may be shorter."""
MIN_LINE_WORDS = 4
"""Words of a line of prose; a line of code may have fewer."""
CODE_INDENT = 4
"""Columns from which lines are indented on purpose (Markdown's measure for code)."""
LIST_MARK = re.compile(r"[ \t]*(?:[-*+•‣▪◦–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]+(?=\S)")
"""What a list item begins with."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_CLOSED = re.compile(r"(?:[.!?…:;。！？।۔؟|][\"'”’»)\]]*(?:\[\d+\])*|[=\-_*~]{3,})\s*$")
"""A line that ends with a terminal mark, or consists of a rule."""
_ASSIGNMENT = re.compile(r"\s*[\w.-]+\s?[:=]")
Span = tuple[int, int]


def format_sentence(text: str) -> str:
    """A reason as a sentence of its own: "all 3 pages are read" gives "All 3 pages are read."; "" stays."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}" if text else ""


def find_sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order, blanks around it left out. A line break ends a sentence
    unless the line reads on in the next (see `find_stretches`)."""
    found: list[tuple[int, int]] = []
    for start, end in find_stretches(text):
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


def find_stretches(text: str) -> list[Span]:
    """The spans of the stretches of a text, in order: each line that is not blank, together with those in
    which it reads on. A blank line, a list mark, or a terminal mark at a line's end closes a stretch."""
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text)]
    if not lines:
        return []
    # The width at which a text was wrapped; 0 where it was not
    pairs = [
        (end - start, _first_word_length(text, after))
        for (start, end), after in pairwise(lines)
        if text.count("\n", end, after[0]) == 1
    ]
    width = max((length for length, _ in pairs), default=0)
    full = sum(length + 1 + word > width for length, word in pairs)
    is_wrapped = len(pairs) > 1 and MIN_WIDTH <= width <= MAX_WIDTH and full >= MIN_FULL_SHARE * len(pairs)
    width = width if is_wrapped else 0
    stretches = [lines[0]]
    for line, following in pairwise(lines):
        if _reads_on(text, line, following, width):
            stretches[-1] = (stretches[-1][0], following[1])
        else:
            stretches.append(following)
    return stretches


def join_wrapped_lines(text: str) -> str:
    """The text with each stretch on one line and divided words whole again. Blank lines stay, as one."""
    parts: list[str] = []
    end = 0
    for start, stop in find_stretches(text):
        parts.append("\n\n" if text.count("\n", end, start) > 1 else "\n")
        first, *rest = text[start:stop].split("\n")
        line = first.rstrip()
        for more in rest:
            line = _join(line, more.strip())
        parts.append(line)
        end = stop
    return "".join(parts[1:])


def _join(line: str, more: str) -> str:
    """Two lines as one. A hyphen between lower-case letters divided a word, or belongs to it ("well-known"):
    the quote check reads both alike."""
    if line.endswith("\u00ad") or (line.endswith("-") and line[-2:-1].islower() and more[:1].islower()):
        return line[:-1] + more
    return line + more if line.endswith("-") and line[-2:-1].isalnum() else f"{line} {more}"


def _first_word_length(text: str, line: Span) -> int:
    return len(text[line[0] : line[1]].split(None, 1)[0])


def _reads_on(text: str, line: Span, following: Span, width: int) -> bool:
    above, below = text[line[0] : line[1]], text[following[0] : following[1]]
    if (
        text.count("\n", line[1], following[0]) != 1
        or _CLOSED.search(above)
        or _CLOSED.fullmatch(below)
        or LIST_MARK.match(below)
        or " | " in above
        or " | " in below
    ):
        return False
    if len(above.split()) < MIN_LINE_WORDS:
        return False
    if len(above) + 1 + _first_word_length(text, following) > width > 0:
        return True
    indent = len(below) - len(below.lstrip())
    is_code = below[0] == "\t" or (indent >= CODE_INDENT and not LIST_MARK.match(above))
    is_long = len(above) >= MIN_WIDTH and not _ASSIGNMENT.match(below)
    return is_long and not is_code and (below.lstrip()[0].islower() or above.endswith((",", "-")))
