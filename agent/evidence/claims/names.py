"""Names and identifiers of a claim that stand nowhere around its quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.evidence.claims.words import ReadText
from agent.text.names import find_proper_names
from agent.text.tokens import fold, is_stopword, stem
from agent.types import ClaimFinding

_PREFIX = 4
"""Letters that a name shares with its adjective at least ("Belgium", "Belgian")."""
IDENTIFIER = re.compile(
    r"(?<![\w/.@-])(?:(?:[\w.~-]*/)+[\w.-]*\w|\w+(?:[_@]\w+)+|(?:[A-Za-z]{2,4}-?\d+(?:-\d+)*|[A-Z]-?\d{2,})(?![\w-])"
    r"|\d+(?:\.\d+){2,}|--[\w-]+\w)"
)
"""A path, an option, a version, a model's number, a name with an underscore."""
_DAY = re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?")


def find_absent_names(claim: ReadText, given: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """The names and identifiers that no word of what is given has; one that it has in part is no absent
    one."""
    text = "\n".join(one.text for one in given)
    folded = fold(text)
    squeezed = re.sub(r"[\W_]", "", folded)
    stems = {stem(fold(key)) for one in given for key in one.keys}
    prefixes = {word[:_PREFIX] for word in stems} | {word[: len(word) - 3] for word in stems if len(word) > 7}
    initials = {_initials(name.text) for name in find_proper_names(text)}
    capitals = set(re.findall(r"[A-Z]{2,}", text.replace(".", "")))
    values = [(v.start, v.end) for side in (claim.dates, claim.times, claim.quantities) for v in side]
    for match in IDENTIFIER.finditer(claim.text):
        is_version = match.group().replace(".", "").isdigit()
        parts = [match.group()] if is_version else re.findall(r"[^\W_]+", fold(match.group()))
        if not all(part in (folded if is_version else squeezed) for part in parts):
            yield ClaimFinding(kind="name", claimed=match.group(), is_absent=True)
    starts = {start for start, _ in claim.sentences}
    for name in find_proper_names(claim.text):
        words = [
            word for word in re.findall(r"[^\W_]+", name.text) if word[0].isupper() and not is_stopword(word)
        ]
        if not words or (len(words) == 1 and {name.start, name.start - 1} & starts):
            continue  # every sentence begins with a capital
        if _DAY.fullmatch(name.text) or any(start < name.end and name.start < end for start, end in values):
            continue  # a day, a unit or a month
        known = [
            len(word) == 1
            or any(c.isdigit() for c in word)
            or stem(fold(word)) in stems
            or word.upper() in capitals | initials
            or (len(word) >= _PREFIX and fold(word)[:_PREFIX] in prefixes)
            or (len(word) > _PREFIX and fold(word) in squeezed)
            for word in words
        ]
        if all(known) or _initials(name.text) in capitals:
            continue
        yield ClaimFinding(kind="name", claimed=name.text, is_absent=len(words) > 1 and not any(known))


def _initials(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[\s-]", name) if word[:1].isupper())
