"""How far a source is trusted, by a few visible signs with their reasons, and which are independent.

The signs and their weights are our own judgement; a person excludes a source that they do not trust. One
registrable domain is one source, so is one document; copies of a text and near-identical quotes are one
source however many sites carry them, and so are an origin ("according to the Lund Gazette, …") and all who
quote it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from rapidfuzz import fuzz

from agent.text import urls
from agent.text.short_cache import CACHE_SIZE, cache_short
from agent.text.urls import host, site
from agent.types import Fact, Page

_NAME = (
    r"(?:[^\W\d_a-zß-öø-ÿ][\w’'&-]*)(?:\s+(?:(?:of|the|and|de|la|for|für|och|et"
    r"|y)\s+)?[^\W\d_a-zß-öø-ÿ][\w’'&-]*){0,4}"
)
_DOMAIN = r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}"
_ATTRIBUTION = re.compile(
    r"\b(?i:according to|(?:as )?(?:first )?reported (?:by|in)|as told (?:to|by)|citing|quoting|as quoted in"
    r"|source:|laut|"
    r"nach angaben (?:von|der|des)|enligt|selon|d['’]après|según|secondo)\s+"
    rf"(?i:the|its|a|an|der|die|das|den|dem|le|la|les|el|los|il)?\s*[“\"«]?(?P<name>{_DOMAIN}|{_NAME})"
)
MIN_NAME_LETTERS = 5
"""Letters that a name and a site's name have at least when they are compared."""
DEFAULT_TRUST = 0.6
TRUST_SCALE: tuple[tuple[str, float], ...] = (
    ("not at all", 0.0),
    ("low", 0.3),
    ("normal", DEFAULT_TRUST),
    ("high", 0.8),
    ("fully", 1.0),
)
"""Trust in words. At 0 facts support and dispute nothing, unless a person pins one."""
NO_SIGN_REASONS = ("nothing speaks for or against it",)
"""The reasons of a page without a sign."""
T = TypeVar("T", bound=Hashable)
MIN_COPY_SIMILARITY = 95.0
"""Quotes this similar (rapidfuzz `fuzz.ratio`, 0 to 100) with at least MIN_COPY_CHARS are copies."""
MIN_COPY_CHARS = 60
PERSON_SOURCE = "a person"
"""The source of what a person knows, and of all texts a person gave."""


@cache_short(CACHE_SIZE)
def find_attribution(text: str) -> str:
    """The name of the origin, its letters and digits alone; "" when the sentence names none."""
    found = _ATTRIBUTION.search(text)
    if not found:
        return ""
    name = found["name"]
    return _alphanumerics(
        site(name if "://" in name else f"https://{name}").split(".")[0] if "." in name else name
    )


def is_site_name(name: str, url: str) -> bool:
    """Is this name the site's, by its letters? "Lund Gazette" is lund-gazette.example."""
    name, label = _alphanumerics(name), _alphanumerics(site(url).split(".")[0])
    return min(len(name), len(label)) >= MIN_NAME_LETTERS and (label in name or name in label)


def _alphanumerics(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


@dataclass(frozen=True)
class SourceTrust:
    """A share between 0 and 1, and what it was made of."""

    value: float
    reasons: tuple[str, ...]


def assess_trust(page: Page) -> SourceTrust:
    """The trust in a page by its address, author and date."""
    name = host(page.final_url or page.url)
    labels = name.split(".")
    value, reasons = DEFAULT_TRUST, list[str]()
    if any(label in ("gov", "edu", "mil", "int") for label in labels[-2:]):
        value, reasons = value + 0.2, [*reasons, "an official or academic domain"]
    if any(
        word in label
        for word in ("forum", "community", "reddit", "quora", "discuss", "boards", "answers")
        for label in labels
    ):
        value, reasons = value - 0.2, [*reasons, "a discussion, where anyone may write"]
    if page.author:
        value, reasons = value + 0.05, [*reasons, "an author"]
    if page.published_at:
        value, reasons = value + 0.05, [*reasons, "a date"]
    return SourceTrust(round(min(0.95, max(0.1, value)), 2), tuple(reasons) or NO_SIGN_REASONS)


def trust_label(value: float) -> str:
    """The nearest word of TRUST_SCALE; "not at all" only for 0."""
    return min(
        TRUST_SCALE if value <= 0 else TRUST_SCALE[1:], key=lambda entry: (abs(entry[1] - value), entry[1])
    )[0]


def join_groups(groups: dict[T, set[T]], one: T, other: T) -> None:
    """Put the groups of two things together; a thing that is in none is one by itself."""
    joined = groups.get(one, {one}) | groups.get(other, {other})
    groups.update(dict.fromkeys(joined, joined))


def find_independent_sources(facts: Iterable[Fact]) -> list[str]:
    """The names of the independent sources of facts: sites, documents, or "a person".

    Sites that carry copies of one text or quote are one source, and so are those that name the same origin
    ("according to …"), with that origin, and all texts a person gave. Only quotes that begin or end alike, or
    share their longest words, are compared, so the work grows with the number of facts."""
    return sorted(set(map_sites_to_sources(facts).values()))


def map_sites_to_sources(facts: Iterable[Fact]) -> dict[str, str]:
    """The source of each site: the first name in the alphabet of all sites that carry the same words."""
    names, groups = set[str](), dict[str, set[str]]()
    texts: dict[str, str] = {}
    quotes: dict[str, dict[str, str]] = defaultdict(dict)
    attributed: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        name = urls.site(fact.url) or PERSON_SOURCE
        names.add(name)
        if fact.given != "fetched":
            names.add(PERSON_SOURCE)
            join_groups(groups, name, PERSON_SOURCE)
        if fact.sha256:
            join_groups(groups, name, texts.setdefault(fact.sha256, name))
        for end in _list_ends(fact.quote):
            for other, quote in quotes[end].items():
                if fuzz.ratio(fact.quote, quote, score_cutoff=MIN_COPY_SIMILARITY):
                    join_groups(groups, name, other)
            quotes[end].setdefault(name, fact.quote)
        if origin := find_attribution(fact.quote):
            attributed[origin].append(name)
    for origin, sites in attributed.items():
        for name in names:
            if name in sites or is_site_name(origin, f"https://{name}"):
                join_groups(groups, name, sites[0])
    return {name: min(groups.get(name, {name})) for name in names}


@cache_short(CACHE_SIZE)
def _list_ends(quote: str) -> tuple[str, ...]:
    """The first, last and longest words of a quote, of which copies share one; none of a short quote."""
    words = quote.casefold().split() if len(quote) >= MIN_COPY_CHARS else []
    longest = sorted(sorted(set(words)), key=len)[-4:]
    return tuple(map(" ".join, (words[:5], words[-5:], longest))) if words else ()
