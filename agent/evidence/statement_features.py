"""The parts of a statement that can be compared: dates, numbers, names, and the frame of words
around them. Names are recognised by capitals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.text.dates import DateInterval, blank_dates, find_dates
from agent.text.names import ProperName, find_proper_names
from agent.text.normalization import blank_note_marks, is_negation, normalize_text
from agent.text.quantities import Quantity, find_quantities
from agent.text.short_cache import CACHE_SIZE
from agent.text.tokens import is_stopword

_NAME_BEFORE = re.compile(r"(?:^|\s)[A-Z][\w.-]*\s$")
_CONTEXT_CHARS = 600
BEFORE_CHARS = 240
"""Characters before a quote that tell whom, what or when it means: about two sentences."""


@dataclass(frozen=True)
class StatementFeatures:
    """The comparable parts of a statement. `frame` is its content words outside dates and numbers, in order;
    `labels` are ordinals and the numbers and years of names ("HD 40", "7th Viscount")."""

    dates: tuple[DateInterval, ...]
    quantities: tuple[Quantity, ...]
    names: tuple[ProperName, ...]
    frame: tuple[str, ...]
    words: frozenset[str]
    labels: frozenset[float] = frozenset()


@lru_cache(CACHE_SIZE)
def extract_features(statement: str) -> StatementFeatures:
    """The comparable parts of a statement."""
    statement = blank_note_marks(statement)
    found = find_dates(statement)
    bare = blank_dates(statement, found)
    dates = list[DateInterval]()
    for date in found:  # not the year of a name, as in "The 1971 Idaho Vandals season"
        before = statement[max(0, date.start - 4) : date.start].casefold()
        after = statement[date.end : date.end + 2]
        is_named = date.text.isdigit() and before in ("the ", "")
        if not (is_named and after[:1] == " " and after[1:].isupper()):
            dates.append(date)
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
        frame=frame,
        words=frozenset(frame),
        labels=frozenset(labels),
    )


def surrounding_text(text: str, start: int, end: int) -> str:
    """The span of a text with its surroundings, where a statement may have its year or unit from."""
    return text[max(0, start - _CONTEXT_CHARS) : end + _CONTEXT_CHARS]


def words_before(quote: str, nearby: str) -> str:
    """What the page says before a quote, from a whole word on; "" where it is not known."""
    at = nearby.find(quote)
    before = nearby[max(0, at - BEFORE_CHARS) : max(0, at)]
    return " ".join((before.partition(" ")[2] if at > BEFORE_CHARS else before).split())
