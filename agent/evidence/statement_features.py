"""The parts of a statement that can be compared: dates, numbers, names, polarity, and the frame of words
around them; and whether sources support a statement's figures and words. Names are recognised by capitals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.text.date_intervals import DateInterval, blank_dates, find_dates, is_compatible
from agent.text.language import MIN_QUESTION_LETTERS, detect_language
from agent.text.names import ProperName, find_proper_names
from agent.text.normalization import blank_note_marks, is_negation, normalize_text
from agent.text.quantities import Quantity, find_quantities, is_same_quantity
from agent.text.tokens import is_stopword

_NAME_BEFORE = re.compile(r"(?:^|\s)[A-Z][\w.-]*\s$")
MIN_SUPPORTED_SHARE = 0.4
"""Least share of a statement's content words that its sources must have."""
_PREFIX_LENGTH = 5
_ABSENCE_WORDS = frozenset({"free", "none", "nobody", "nothing", "never", "without"})
_REPORTING_WORDS = frozenset(
    "say says said states stated reports reported according others sources source page site sites disagree "
    "independent taken settled person".split()
)
_CONTEXT_CHARS = 600


@dataclass(frozen=True)
class StatementFeatures:
    """The comparable parts of a statement. `frame` is its content words outside dates and numbers, in order;
    `labels` are ordinals and the numbers and years of names ("HD 40", "7th Viscount")."""

    dates: tuple[DateInterval, ...]
    quantities: tuple[Quantity, ...]
    names: tuple[ProperName, ...]
    is_negated: bool
    frame: tuple[str, ...]
    words: frozenset[str]
    labels: frozenset[float] = frozenset()


@lru_cache(maxsize=8192)
def extract_features(statement: str) -> StatementFeatures:
    """The comparable parts of a statement."""
    statement = blank_note_marks(statement)
    found = find_dates(statement)
    bare = blank_dates(statement, found)
    dates = [date for date in found if not _is_event_year(statement, date)]
    quantities = find_quantities(bare)
    text = normalize_text(bare)

    def is_in_quantity(offset: int) -> bool:
        return any(quantity.start <= offset < quantity.end for quantity in quantities)

    frame = tuple(
        word.removesuffix("'s")
        for word, start in zip(text.words, text.starts, strict=True)
        if any(c.isalnum() for c in word)
        and not (is_in_quantity(start) or is_stopword(word) or is_negation(word))
    )
    numbered = [
        q for q in quantities if q.unit == "th" or (not q.unit and _NAME_BEFORE.search(bare[: q.start]))
    ]
    labels = [q.value for q in numbered] + [float(d.spans[0][0]) for d in found if d not in dates]
    return StatementFeatures(
        dates=tuple(dates),
        quantities=tuple(quantity for quantity in quantities if quantity not in numbered),
        names=tuple(name for name in find_proper_names(bare) if not is_in_quantity(name.start)),
        is_negated=sum(map(is_negation, text.words)) % 2 == 1,
        frame=frame,
        words=frozenset(frame),
        labels=frozenset(labels),
    )


def _is_event_year(statement: str, date: DateInterval) -> bool:
    """Is a year part of a name, as in "The 1971 Idaho Vandals season"?"""
    before = statement[max(0, date.start - 4) : date.start].casefold()
    after = statement[date.end : date.end + 2]
    return date.text.isdigit() and before in ("the ", "") and after[:1] == " " and after[1:].isupper()


def has_supported_figures(statement: str, *sources: str) -> bool:
    """Is every date, and every number in digits, of a statement in one of the sources?

    Number words are not checked: they are too often idiom. A day without a year ("12 May") supports no
    year."""
    dates = [date for source in sources for date in find_dates(source)]
    quantities = [quantity for source in sources for quantity in _find_undated_quantities(source)]
    return all(
        any(is_compatible(stated, d) for d in dates if stated.is_yearless or not d.is_yearless)
        or _is_written(stated.text, sources)
        for stated in find_dates(statement)
    ) and all(
        any(is_same_quantity(stated, quantity) for quantity in quantities)
        or _is_written(stated.text, sources)
        for stated in _find_undated_quantities(statement)
        if any(c.isdigit() for c in stated.text)
    )


def has_supported_words(statement: str, *sources: str) -> bool:
    """Do the sources speak of what a statement says? At least MIN_SUPPORTED_SHARE of its content words must
    occur there, as words or by their first letters, and a word of absence ("free", "never") must.

    The answer is yes where they share no function word and the statement has one content word only, or is in
    another language: then words cannot be compared."""
    words = [w for w in normalize_text(statement).words if any(c.isalpha() for c in w)]
    there = {w for source in sources for w in normalize_text(source).words}
    denies = any(w in _ABSENCE_WORDS or is_negation(w) for w in there)
    if not denies and any(w in _ABSENCE_WORDS and w not in there for w in words):
        return False
    content = [w for w in words if not is_stopword(w) and w not in _REPORTING_WORDS and len(w) > 2]
    function_words = {w for w in words if is_stopword(w)}
    if not content:
        return True
    shares_none = bool(function_words) and not function_words & there
    if shares_none and (len(content) == 1 or _is_other_language(statement, " ".join(sources))):
        return True
    starts = {w[:length] for w in there for length in (_PREFIX_LENGTH - 1, _PREFIX_LENGTH)}
    return sum(w[:_PREFIX_LENGTH] in starts for w in content) >= MIN_SUPPORTED_SHARE * len(content)


def _is_other_language(a: str, b: str) -> bool:
    left, right = detect_language(a, MIN_QUESTION_LETTERS), detect_language(b, MIN_QUESTION_LETTERS)
    return bool(left and right) and left != right


def _find_undated_quantities(text: str) -> list[Quantity]:
    return find_quantities(blank_dates(text, find_dates(text)))


def surrounding_text(text: str, start: int, end: int) -> str:
    """The span of a text with its surroundings, where a statement may have its year or unit from."""
    return text[max(0, start - _CONTEXT_CHARS) : end + _CONTEXT_CHARS]


def _is_written(value: str, sources: tuple[str, ...]) -> bool:
    figures = re.findall(r"\d+(?:[.,]\d+)*", value)
    patterns = [re.compile(rf"(?<![\d.,]){re.escape(figure)}(?!\d|[.,]\d)") for figure in figures]
    return bool(patterns) and all(any(pattern.search(source) for source in sources) for pattern in patterns)
