"""Are two facts about the same thing at the same time? By code: what their pages' titles and given subjects
say, and when their pages were published. In doubt about a changing state the answer is no."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from agent.evidence.contradiction.statements import MIN_SIMILARITY, dice_similarity
from agent.evidence.statement_features import extract_features
from agent.types import Fact

MAX_OPENING_CHARS = 12
"""A name that begins within so many characters is the subject of a sentence."""
MIN_DAYS_APART = 365
"""Days between two publications from which a state that changes may have changed."""

_SITE_NAME = re.compile(r"\s[|·–—-]\s.*$")
_QUALIFIER = re.compile(
    r"^(?P<base>[^(),]{2,100}?)(?:\s*\((?P<bracket>[^()]{2,60})\)|,\s(?P<larger>[^(),]{2,60}))"
)
_PAST = re.compile(r"\b(?:was|were|had|did|\w+ed)\b", re.IGNORECASE)


def is_same_thing(a: Fact, b: Fact) -> bool:
    """Whether no title or subject tells two things apart.

    "Titanic (1997 film)" and "Titanic (1953 film)" are two; so are subjects of which neither occurs in the
    other fact, and those of "Selm has more mills than Orrin" and "Orrin has fewer mills than Selm". The
    subject is the given one, else the name a statement opens with, else the page's title.
    Above titles stands a name with a day that both statements give: what is born or released on one day under
    one name is one thing."""
    if _share_named_day(a, b):
        return True
    pairs = [(a.title, b.title), (_given_subject(a), _given_subject(b))]
    for left, right in pairs:
        (base, mine), (other, theirs) = _split_qualifier(left), _split_qualifier(right)
        if base and base == other and not (mine <= theirs or theirs <= mine):
            return False
    if _cross_names(a, b):
        return False
    one, two = _subject_words(a), _subject_words(b)
    return not one or not two or one <= _all_words(b) or two <= _all_words(a)


def _share_named_day(a: Fact, b: Fact) -> bool:
    """Whether two statements in like words have a name's word and a date to the day in common."""
    one, other = extract_features(a.statement), extract_features(b.statement)
    if dice_similarity(one.words, other.words) < MIN_SIMILARITY:
        return False
    days, names = (
        [{day for date in said.dates for day in date.spans if day[0] == day[1]} for said in (one, other)],
        [frozenset[str]().union(*(name.words for name in said.names)) for said in (one, other)],
    )
    return bool(days[0] & days[1] and names[0] & names[1])


def _cross_names(a: Fact, b: Fact) -> bool:
    """Whether two statements say the same of another name each, as the same words before and after it show
    ("X founded Y" and "Y was founded by X" do not)."""
    first = [extract_features(fact.statement).names[:1] for fact in (a, b)]
    if a.attribute or b.attribute or not all(first) or first[0][0].words & first[1][0].words:
        return False
    frames = [
        [*fact.statement[: name.start].split(), *fact.statement[name.end :].split()[:1]]
        for fact, (name,) in zip((a, b), first, strict=True)
    ]
    return frames[0] == frames[1]


def may_have_changed(a: Fact, b: Fact) -> bool:
    """Whether both statements speak of the present, and their pages were published a year apart or more."""
    one, other = _publication_day(a), _publication_day(b)
    if one is None or other is None or _PAST.search(a.statement) or _PAST.search(b.statement):
        return False
    return abs((one - other).days) >= MIN_DAYS_APART


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, without dates and numbers."""
    return extract_features(text).words


def _given_subject(fact: Fact) -> str:
    """The subject that a model or person gave with the attribute; alone it is only the page's title."""
    return fact.subject if fact.attribute else ""


def _subject_words(fact: Fact) -> frozenset[str]:
    if subject := _given_subject(fact):
        return content_words(_base_title(subject))
    names = extract_features(fact.statement).names
    opening = next((name for name in names if name.start <= MAX_OPENING_CHARS), None)
    return opening.words if opening else content_words(_base_title(fact.title))


def _all_words(fact: Fact) -> frozenset[str]:
    return content_words(f"{fact.statement} . {_base_title(fact.title)} . {_given_subject(fact)}")


def _base_title(title: str) -> str:
    """A title without the site's name and without what tells namesakes apart."""
    return re.sub(r"\([^)]*\)", " ", _SITE_NAME.sub("", title))


@lru_cache(maxsize=4096)
def _split_qualifier(title: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a title and of what tells it from its namesakes: in brackets, or after a comma."""
    match = _QUALIFIER.match(_SITE_NAME.sub("", title))
    if match is None:
        return frozenset(), frozenset()
    words = (match["bracket"] or match["larger"]).casefold().split()
    return frozenset(match["base"].casefold().split()), frozenset(words)


def _publication_day(fact: Fact) -> date | None:
    try:
        return date.fromisoformat(fact.published_at[:10])
    except ValueError:
        return None
