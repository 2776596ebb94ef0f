"""Two names that a claim joins while its quotes keep them apart: "Berg built Dale Bridge" on a quote of Berg,
from the page "Nord Bridge", and another of Lund, from the page "Dale Bridge"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from agent.evidence.claims.names import KnownNames
from agent.evidence.claims.words import ReadText, read_text
from agent.text.names import find_proper_names
from agent.types import ClaimFinding

_MAX_NAMES = 12
_APPOSITION = re.compile(r"^,\s(?=(?:the|an?|who|which|whose)\b)")
_INSERTED = re.compile(r"^,\s(?:the|an?|who|which|whose)\b[^,;.]*,(?=\s\w)")
_KEEPS_APART = re.compile(
    r"[,;:.!?()|\n–—]|\b(?:and|or|nor|but|while|whereas|than|like|unlike|as|before|after|since|until|both"
    r"|not|also|too)\b",
    re.IGNORECASE,
)
"""What between two names says that they are not one statement's, or are compared."""


def find_borrowed_names(claim: ReadText, question: ReadText, given: ReadText) -> list[ClaimFinding]:
    """A doubt for each name that only the question has, while the quotes and what stands around them
    (`given`) have another of the same kind: "Dale Bridge" on a page "Nord Bridge"."""
    if not question.words:
        return []
    known, asked = KnownNames([given]), KnownNames([question])
    others = {name.text: name.words for name in find_proper_names(given.text)}
    return [
        ClaimFinding(kind="name", claimed=name.text, quoted=other)
        for name in find_proper_names(claim.text)
        if len(name.words) > 1 and asked.has(name) and not known.has(name)
        for other in [
            text
            for text, words in others.items()
            if name.words & words and name.words - words and words - name.words
        ][:1]
    ]


def find_joined_names(
    claim: ReadText, quotes: Sequence[str], sources: Sequence[str], nearby: Sequence[str]
) -> list[ClaimFinding]:
    """A doubt for each two names in one clause of which no quote, with its page's title and the text around
    it, has both.

    None where a quote leads from one to the other: a name in it is the title of the other's page."""
    if len(quotes) < 2 or len(sources) != len(quotes):
        return []
    around = nearby if len(nearby) == len(quotes) else [""] * len(quotes)
    pages = [f"{source}\n{quote}" for source, quote in zip(sources, quotes, strict=True)]
    known = [KnownNames([read_text(page), read_text(near)]) for page, near in zip(pages, around, strict=True)]
    found = []
    names = find_proper_names(claim.text)
    for one, other in combinations(names[:_MAX_NAMES], 2):
        between = claim.text[one.end : other.start]
        apart = (_APPOSITION.sub("", between), _INSERTED.sub(" ", between))  # one may be in apposition
        if not any(part.strip() and not _KEEPS_APART.search(part) for part in apart):
            continue
        with_one, with_other = ({n for n, k in enumerate(known) if k.has(name)} for name in (one, other))
        if (
            with_one
            and with_other
            and not with_one & with_other
            and not _is_linked(with_one | with_other, pages, sources)
        ):
            found.append(ClaimFinding(kind="roles", claimed=f"{one.text} … {other.text}"))
    return found


def _is_linked(numbers: set[int], pages: Sequence[str], sources: Sequence[str]) -> bool:
    """Does the title of one of these pages name what another one's quote or title names?"""
    names = [
        ({n.text.lower() for n in find_proper_names(sources[i])}, pages[i].lower()) for i in sorted(numbers)
    ]
    return any(
        any(name in other[1] for name in one[0]) or any(name in one[1] for name in other[0])
        for one, other in combinations(names, 2)
    )
