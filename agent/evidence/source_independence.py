"""How many independent voices say a thing. One registrable domain is one voice, so is one document; copies of
a text and near-identical quotes are one voice however many sites carry them. Knows facts, not what they
contradict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz import fuzz

from agent.evidence.attribution import find_attribution, is_site_name
from agent.text import urls
from agent.types import Fact

MIN_COPY_SIMILARITY = 95.0
"""Quotes this alike (rapidfuzz `fuzz.ratio`, 0 to 100) and at least COPY_LENGTH characters long are copies of
one text."""
MIN_COPY_CHARS = 60
PERSON_SOURCE = "a person"
"""The voice of what a person knows, and of all texts a person gave."""


def find_independent_sources(facts: Iterable[Fact]) -> list[str]:
    """The independent voices behind facts, one name each: its site (a document's name), or "a person" for
    what a person said.

    Sites that carry copies of one text or one quote are one voice, and so are those that name the same origin
    ("according to …"), with that origin, and all texts a person gave by hand, wherever they say they are
    from. Only quotes that begin or end alike, or share their longest words, are compared, so that the work
    grows with the number of facts and not with its square."""
    return sorted(set(map_sites_to_sources(facts).values()))


def map_sites_to_sources(facts: Iterable[Fact]) -> dict[str, str]:
    """Each site's voice: the site that speaks for it and for all that carry the same words (see `voices`)."""
    heads: dict[str, str] = {}
    texts: dict[str, str] = {}
    alike: dict[str, dict[str, str]] = defaultdict(dict)
    credited: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        name = urls.site(fact.url) or PERSON_SOURCE
        heads.setdefault(name, name)
        if fact.given != "fetched":
            heads.setdefault(PERSON_SOURCE, PERSON_SOURCE)
            heads[_find_root(heads, name)] = _find_root(heads, PERSON_SOURCE)
        if fact.sha256:
            heads[_find_root(heads, name)] = _find_root(heads, texts.setdefault(fact.sha256, name))
        for mark in _copy_keys(fact.quote):
            for other, quote in alike[mark].items():
                if _find_root(heads, other) != _find_root(heads, name) and _is_copied_quote(
                    fact.quote, quote
                ):
                    heads[_find_root(heads, name)] = _find_root(heads, other)
            alike[mark].setdefault(name, fact.quote)
        if said := find_attribution(fact.quote):
            credited[said].append(name)
    _join_attributed_sites(heads, credited)
    voices: dict[str, str] = {}
    for name in sorted(heads):
        voices.setdefault(_find_root(heads, name), name)
    return {name: voices[_find_root(heads, name)] for name in heads}


def _join_attributed_sites(heads: dict[str, str], credited: dict[str, list[str]]) -> None:
    """Join the sites that say they have it from the same origin, and that origin's own site."""
    for said, sites in credited.items():
        own = [name for name in heads if is_site_name(said, f"https://{name}")]
        for name in [*sites[1:], *own]:
            heads[_find_root(heads, name)] = _find_root(heads, sites[0])


def _find_root(heads: dict[str, str], name: str) -> str:
    while heads[name] != name:
        name = heads[name]
    return name


def _copy_keys(quote: str) -> list[str]:
    """What near-identical long quotes share at least one of: the first words, the last words, the longest
    words."""
    words = quote.casefold().split()
    if len(quote) < MIN_COPY_CHARS:
        return []
    longest = sorted(sorted(set(words)), key=len)[-4:]
    return ["first " + " ".join(words[:5]), "last " + " ".join(words[-5:]), "longest " + " ".join(longest)]


def _is_copied_quote(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= MIN_COPY_CHARS and fuzz.ratio(a, b, score_cutoff=MIN_COPY_SIMILARITY) > 0
