"""The addresses of a site: those of a sitemap, those worth keeping of a page, and the unvisited ones a
decision chooses from."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable
from urllib.parse import urlsplit

from agent.flows.shared.fact_view import visited_urls
from agent.flows.site.state import BY_SITEMAP, SiteRun, UrlIndex
from agent.retrieval.link_scoring import UnreadLink, score_links
from agent.roles.site.site_decision import UnvisitedUrl
from agent.text.question_analysis import parse_question
from agent.text.urls import canonicalize
from agent.types import Link, Page, SiteLimits, SourceFilter

MAX_SITEMAP_ENTRIES, MAX_SITEMAP_BYTES = 50_000, 50_000_000
"""Entries of one sitemap that are read (as many as the protocol allows), and its size when unpacked."""
MAX_SITEMAP_CANDIDATES = 300
"""Addresses of one sitemap that become candidates: the most relevant ones."""
MAX_UNVISITED_SHOWN = 40
"""Unvisited addresses a decision is shown."""
_LOC = re.compile(rb"<loc>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</loc>", re.IGNORECASE | re.DOTALL)
_MEDIA = re.compile(
    r"\.(?:jpe?g|png|gif|svg|webp|ico|bmp|tiff?|css|js|json|woff2?|ttf|mp[34]|m4[av]|avi|mov|webm|ogg|wav|zip|gz"
    r"|tgz|rar|7z|exe|dmg|msi|iso|apk|rss|atom)$",
    re.IGNORECASE,
)


def parse_sitemap(page: Page) -> list[str]:
    """The addresses of a sitemap or a list of sitemaps, packed or not; those of its links when it is a
    page."""
    body = page.raw
    if body[:2] == b"\x1f\x8b":
        try:
            body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, MAX_SITEMAP_BYTES)
        except (zlib.error, gzip.BadGzipFile):
            return []
    found = [match.group(1).decode("utf-8", "replace") for match in _LOC.finditer(body)]
    urls = [url for url in (entry.replace("&amp;", "&") for entry in found) if canonicalize(url)]
    return (urls or [link.url for link in page.links])[:MAX_SITEMAP_ENTRIES]


def split_nested(urls: list[str], page: Page) -> tuple[list[str], list[str]]:
    """The entries of a sitemap that are sitemaps themselves, and the others."""
    if b"<sitemapindex" in page.raw[:2000]:
        return urls, []
    nested = [url for url in urls if urlsplit(url).path.endswith((".xml", ".xml.gz"))]
    return nested, [url for url in urls if url not in nested]


def rank_sitemaps(urls: list[str], question: str, most: int) -> list[str]:
    """Nested sitemaps, first those whose names share words with the question."""
    best = select_links(question, [Link(url=url) for url in urls], SourceFilter(), most)
    return sorted(urls, key=lambda url: url not in {link.url for link in best})


def index_best(urls: Iterable[str], question: str, reach: SourceFilter, index: UrlIndex) -> None:
    """Add the most relevant addresses of a sitemap to the index."""
    for link in select_links(question, (Link(url=url) for url in urls), reach, MAX_SITEMAP_CANDIDATES):
        index.add(link.url, "", BY_SITEMAP)


def select_links(question: str, links: Iterable[Link], reach: SourceFilter, limit: int) -> list[Link]:
    """The `limit` most relevant links to readable pages of the chosen sources, each once, in their order."""
    kept: dict[str, Link] = {}
    for link in links:
        spelled = canonicalize(link.url)
        readable = spelled and reach.allows(link.url) and not _MEDIA.search(urlsplit(spelled).path)
        if readable and (spelled not in kept or not kept[spelled].text):
            kept[spelled] = link
    found = list(kept.values())
    if len(found) <= limit:
        return found
    scores = score_links(parse_question(question), [UnreadLink(link.url, link.text) for link in found])
    best = sorted(range(len(found)), key=lambda i: (-scores[i], i))[:limit]
    return [found[i] for i in sorted(best)]


def list_unvisited(state: SiteRun, *, ranked: bool) -> list[UnvisitedUrl]:
    """The addresses that may be explored, with their scores: the best ones first, or in the order they were
    found in."""
    own, limits = state.own, state.settings.site
    reached, seen = visited_urls(state), set(own.visited_urls)
    unread = [
        i
        for i, url in enumerate(own.all_discovered_urls)
        if i not in seen and canonicalize(url) not in reached and state.settings.allows(url)
    ]
    links = [
        UnreadLink(
            own.all_discovered_urls[i],
            own.url_texts.get(i, ""),
            own.bearings.get(own.url_found_on.get(i, -1), 0.0),
        )
        for i in unread
    ]
    question = parse_question(own.relevance_question(state))
    scores = score_links(question, links)
    best = sorted(range(len(unread)), key=lambda n: (-scores[n], n))[:MAX_UNVISITED_SHOWN]
    return [
        UnvisitedUrl(
            index=unread[n],
            url=shorten_url(links[n].url, limits),
            text=links[n].text[:200],
            score=scores[n],
            found_on=own.url_found_on.get(unread[n], -1),
        )
        for n in (best if ranked else sorted(best))
    ]


def shorten_url(url: str, limits: SiteLimits) -> str:
    """An address of at most `links_max_chars` characters; a cut leaves room for its mark."""
    if len(url) <= limits.links_max_chars:
        return url
    return url[: max(1, limits.links_max_chars - limits.url_truncation_buffer)] + "..."
