"""How many independent voices say a thing. One registrable domain is one voice, so is one document; copies of a text and near-identical
quotes are one voice however many sites carry them. Knows facts, not what they contradict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz import fuzz

from agent import urls
from agent.evidence.origins import is_site, origin
from agent.types import Fact

COPY = 95.0
"""Quotes this alike (rapidfuzz `fuzz.ratio`, 0 to 100) and at least COPY_LENGTH characters long are copies of one text."""
COPY_LENGTH = 60
BY_HAND = "a person"
"""The voice of what a person knows, and of all texts a person gave."""


def voices(facts: Iterable[Fact]) -> list[str]:
    """The independent voices behind facts, one name each: its site (a document's name), or "a person" for what a person said.

    Sites that carry copies of one text or one quote are one voice, and so are those that name the same origin ("according to …"), with that
    origin, and all texts a person gave by hand, wherever they say they are from. Only quotes that begin or end alike, or share their longest
    words, are compared, so that the work grows with the number of facts and not with its square.
    """
    return sorted(set(chorus(facts).values()))


def chorus(facts: Iterable[Fact]) -> dict[str, str]:
    """Each site's voice: the site that speaks for it and for all that carry the same words (see `voices`)."""
    heads: dict[str, str] = {}
    texts: dict[str, str] = {}
    alike: dict[str, dict[str, str]] = defaultdict(dict)
    credited: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        name = urls.site(fact.url) or BY_HAND
        heads.setdefault(name, name)
        if fact.given != "fetched":
            heads.setdefault(BY_HAND, BY_HAND)
            heads[_head(heads, name)] = _head(heads, BY_HAND)
        if fact.sha256:
            heads[_head(heads, name)] = _head(heads, texts.setdefault(fact.sha256, name))
        for mark in _marks(fact.quote):
            for other, quote in alike[mark].items():
                if _head(heads, other) != _head(heads, name) and _copies(fact.quote, quote):
                    heads[_head(heads, name)] = _head(heads, other)
            alike[mark].setdefault(name, fact.quote)
        if said := origin(fact.quote):
            credited[said].append(name)
    _credit(heads, credited)
    voices: dict[str, str] = {}
    for name in sorted(heads):
        voices.setdefault(_head(heads, name), name)
    return {name: voices[_head(heads, name)] for name in heads}


def _credit(heads: dict[str, str], credited: dict[str, list[str]]) -> None:
    """Join the sites that say they have it from the same origin, and that origin's own site."""
    for said, sites in credited.items():
        own = [name for name in heads if is_site(said, f"https://{name}")]
        for name in [*sites[1:], *own]:
            heads[_head(heads, name)] = _head(heads, sites[0])


def _head(heads: dict[str, str], name: str) -> str:
    while heads[name] != name:
        name = heads[name]
    return name


def _marks(quote: str) -> list[str]:
    """What near-identical long quotes share at least one of: the first words, the last words, the longest words."""
    words = quote.casefold().split()
    if len(quote) < COPY_LENGTH:
        return []
    longest = sorted(sorted(set(words)), key=len)[-4:]
    return ["first " + " ".join(words[:5]), "last " + " ".join(words[-5:]), "longest " + " ".join(longest)]


def _copies(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= COPY_LENGTH and fuzz.ratio(a, b, score_cutoff=COPY) > 0
