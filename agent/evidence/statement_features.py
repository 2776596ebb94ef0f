"""What a statement says that can be compared: its dates, numbers, names, polarity, and the frame of words
they stand in.

Knows nothing of facts or pages; names are told by their capitals, so they are missed in scripts that have
none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.text import date_intervals as dated
from agent.text import quantities as quantities_module
from agent.text.date_intervals import DateInterval
from agent.text.language import MIN_QUESTION_LETTERS, detect_language
from agent.text.names import ProperName, find_proper_names
from agent.text.normalization import blank_note_marks, is_negation, normalize_text
from agent.text.quantities import Quantity
from agent.text.tokens import is_stopword

_NAME_BEFORE = re.compile(r"(?:^|\s)[A-Z][\w.-]*\s$")
_CLAUSE_END = re.compile(
    r"[,;:](?=\s(?!\d))|\s[–—-](?=\s)|\.(?=\s)|\s(?=(?:which|who|whose|where|when|while|but|because|after|although)\b)"
    r"|\s(?=and\s(?:is|was|are|were|has|had|became|\w+ed|its|his|her|their|it|he|she|they)\b)",
    re.IGNORECASE,
)
MIN_SUPPORTED_SHARE = 0.4
"""Least share of a statement's content words that must stand in what it cites: below, it speaks of something
else."""
_PREFIX_LENGTH = 5
_ABSENCE_WORDS = frozenset({"free", "none", "nobody", "nothing", "never", "without"})
_REPORTING_WORDS = frozenset(
    "say says said states stated reports reported according others sources source page site sites disagree independent taken settled person".split()
)
MIN_CLAUSE_WORDS = 2
"""Least number of content words of an opening clause."""
_CONTEXT_CHARS = 600


@dataclass(frozen=True)
class StatementFeatures:
    """The comparable parts of a statement. `frame` holds its content words outside dates and numbers, in
    order.

    `labels` are ordinals and the numbers and years that belong to a name ("HD 40", "7th Viscount"): they tell
    things apart."""

    dates: tuple[DateInterval, ...]
    quantities: tuple[Quantity, ...]
    names: tuple[ProperName, ...]
    is_negated: bool
    frame: tuple[str, ...]
    words: frozenset[str]
    labels: frozenset[float] = frozenset()


@lru_cache(maxsize=8192)
def extract_features(statement: str) -> StatementFeatures:
    """The values of a statement; remembered, since every step compares the same facts again."""
    statement = blank_note_marks(statement)
    found = dated.find_dates(statement)
    bare = dated.blank_dates(statement, found)
    dates = [date for date in found if not _is_event_year(statement, date)]
    quantities = quantities_module.find_quantities(bare)
    words = normalize_text(bare)
    taken = [(q.start, q.end) for q in quantities]
    free = [
        word
        for word, start in zip(words.words, words.starts, strict=True)
        if not any(a <= start < b for a, b in taken) and any(c.isalnum() for c in word)
    ]
    denials = sum(is_negation(word) for word in words.words)
    frame = tuple(word.removesuffix("'s") for word in free if not is_stopword(word) and not is_negation(word))
    labels = [
        q for q in quantities if q.unit == "th" or (not q.unit and _NAME_BEFORE.search(bare[: q.start]))
    ]
    amounts = tuple(q for q in quantities if q not in labels)
    told = frozenset([q.value for q in labels] + [float(d.spans[0][0]) for d in found if d not in dates])
    named = tuple(name for name in find_proper_names(bare) if not any(a <= name.start < b for a, b in taken))
    return StatementFeatures(tuple(dates), amounts, named, denials % 2 == 1, frame, frozenset(frame), told)


@lru_cache(maxsize=8192)
def opening_clause(statement: str) -> str:
    """The opening clause of a statement, long enough to hold something said and a value; the whole when there
    is no other.

    "The dairy was founded in 1974 and is the oldest of all" and "The dairy was founded in 1979, in a brewery"
    share it but for the year."""
    for end in _CLAUSE_END.finditer(statement):
        said = extract_features(statement[: end.start()])
        if len(said.frame) >= MIN_CLAUSE_WORDS and (said.dates or said.quantities):
            return statement[: end.start()]
    return statement


def _is_event_year(statement: str, date: DateInterval) -> bool:
    """Is a year part of a name, as in "The 1971 Idaho Vandals season"?"""
    before, after = (
        statement[max(0, date.start - 4) : date.start].casefold(),
        statement[date.end : date.end + 2],
    )
    return date.text.isdigit() and before in ("the ", "") and after[:1] == " " and after[1:].isupper()


def has_supported_figures(statement: str, *sources: str) -> bool:
    """Is every date and every number written in digits of a statement said in one of the sources (quotes,
    their surroundings)?

    Number words are let pass: they are too often counting or idiom. A day without a year ("12 May") speaks
    for no year. An empty statement is grounded."""
    stated = dated.find_dates(statement)
    digits = [q for q in _all_quantities(statement) if any(c.isdigit() for c in q.text)]
    if not stated and not digits:
        return True
    days = [date for source in sources for date in dated.find_dates(source)]
    amounts = [quantity for source in sources for quantity in _all_quantities(source)]
    return all(
        any(dated.is_compatible(d, t) for t in days if d.is_yearless or not t.is_yearless)
        or _is_written(d.text, sources)
        for d in stated
    ) and all(
        any(quantities_module.is_same_quantity(q, t) for t in amounts) or _is_written(q.text, sources)
        for q in digits
    )


def has_supported_words(statement: str, *sources: str) -> bool:
    """Do the sources speak of what a statement says? At least MIN_SUPPORTED_SHARE of its content words must
    occur there, as words or by their first letters, and a word of absence ("free", "never") must.

    The answer is yes where they share no function word and the statement has one content word only, or is in
    another language: then words cannot be compared."""
    words = [w for w in normalize_text(statement).words if any(c.isalpha() for c in w)]
    there = {w for source in sources for w in normalize_text(source).words}
    if any(w in _ABSENCE_WORDS and w not in there for w in words) and not any(
        w in _ABSENCE_WORDS or is_negation(w) for w in there
    ):
        return False
    content = [w for w in words if not is_stopword(w) and w not in _REPORTING_WORDS and len(w) > 2]
    if not content:
        return True
    small = {w for w in words if is_stopword(w)}
    shares_small_words = not small or bool(small & there)
    if not shares_small_words and (len(content) == 1 or _is_other_language(statement, " ".join(sources))):
        return True
    starts = {w[:length] for w in there for length in (_PREFIX_LENGTH - 1, _PREFIX_LENGTH)}
    return sum(w[:_PREFIX_LENGTH] in starts for w in content) >= MIN_SUPPORTED_SHARE * len(content)


def _is_other_language(a: str, b: str) -> bool:
    left, right = detect_language(a, MIN_QUESTION_LETTERS), detect_language(b, MIN_QUESTION_LETTERS)
    return bool(left and right) and left != right


def _all_quantities(text: str) -> list[Quantity]:
    return quantities_module.find_quantities(dated.blank_dates(text, dated.find_dates(text)))


def surrounding_text(text: str, start: int, end: int) -> str:
    """The span of a text with what stands around it, where a statement may have taken its year or unit
    from."""
    return text[max(0, start - _CONTEXT_CHARS) : end + _CONTEXT_CHARS]


def _is_written(value: str, sources: tuple[str, ...]) -> bool:
    figures = re.findall(r"\d+(?:[.,]\d+)*", value)
    patterns = [re.compile(rf"(?<![\d.,]){re.escape(figure)}(?!\d|[.,]\d)") for figure in figures]
    return bool(patterns) and all(any(pattern.search(source) for source in sources) for pattern in patterns)
