"""Independent sources of facts: one registrable domain is one source, so is one document; copies of a text
and near-identical quotes are one source however many sites carry them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz import fuzz

from agent.evidence.attribution import find_attribution, is_site_name
from agent.evidence.disjoint_sets import DisjointSets
from agent.text import urls
from agent.types import Fact

MIN_COPY_SIMILARITY = 95.0
"""Quotes this similar (rapidfuzz `fuzz.ratio`, 0 to 100) with at least MIN_COPY_CHARS are copies."""
MIN_COPY_CHARS = 60
PERSON_SOURCE = "a person"
"""The source of what a person knows, and of all texts a person gave."""


def find_independent_sources(facts: Iterable[Fact]) -> list[str]:
    """The names of the independent sources of facts: sites, documents, or "a person".

    Sites that carry copies of one text or quote are one source, and so are those that name the same origin
    ("according to …"), with that origin, and all texts a person gave. Only quotes that begin or end alike, or
    share their longest words, are compared, so the work grows with the number of facts."""
    return sorted(set(map_sites_to_sources(facts).values()))


def map_sites_to_sources(facts: Iterable[Fact]) -> dict[str, str]:
    """The source of each site: the first name in the alphabet of all sites that carry the same words."""
    sets: DisjointSets[str] = DisjointSets()
    names: set[str] = set()
    texts: dict[str, str] = {}
    quotes: dict[str, dict[str, str]] = defaultdict(dict)
    attributed: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        name = urls.site(fact.url) or PERSON_SOURCE
        names.add(name)
        if fact.given != "fetched":
            names.add(PERSON_SOURCE)
            sets.join(name, PERSON_SOURCE)
        if fact.sha256:
            sets.join(name, texts.setdefault(fact.sha256, name))
        words = fact.quote.casefold().split() if len(fact.quote) >= MIN_COPY_CHARS else []
        longest = sorted(sorted(set(words)), key=len)[-4:]
        ends = {"first": words[:5], "last": words[-5:], "longest": longest}  # copies share at least one
        for key in (f"{end} {' '.join(some)}" for end, some in ends.items() if words):
            for other, quote in quotes[key].items():
                is_copy = fuzz.ratio(fact.quote, quote, score_cutoff=MIN_COPY_SIMILARITY) > 0
                if is_copy and sets.find(other) != sets.find(name):
                    sets.join(name, other)
            quotes[key].setdefault(name, fact.quote)
        if origin := find_attribution(fact.quote):
            attributed[origin].append(name)
    for origin, sites in attributed.items():
        own = [name for name in names if is_site_name(origin, f"https://{name}")]
        for name in [*sites[1:], *own]:
            sets.join(name, sites[0])
    sources: dict[str, str] = {}
    for name in sorted(names):
        sources.setdefault(sets.find(name), name)
    return {name: sources[sets.find(name)] for name in names}
