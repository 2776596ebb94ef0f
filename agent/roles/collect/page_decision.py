"""What to do with a page that was just read: take its content, follow its links, go on to one section, or
stop. Fetches nothing.

The keyless side decides by how the page is built (posts, dated entries, running text) and by the section that
is wanted."""

from __future__ import annotations

import re

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text.tokens import content_stems, stem_words
from agent.types.collection import CollectIntent, LinkCandidate, PageAction, PageFeatures, PageType

MIN_ARTICLE_WORDS = 60
"""Words of running text from which a page with few links may be an article."""
MIN_LIST_LINK_SHARE = 0.25
"""The share of linked text from which a page is rather a list than a text."""
MIN_DATED_ENTRIES = 2
"""Dated entries from which a page is a listing."""
MIN_ALIKE_LINKS = 3
_FORUM = re.compile(
    r"forum|discussion|message.?board|\bboards?\b|communit|\bthreads?\b|\btopics?\b|comments", re.IGNORECASE
)
_NEWS = re.compile(r"news|press|articles|headlines|stories|latest", re.IGNORECASE)
_PROFILE = re.compile(
    r"/(?:stock|quote|company|companies|profile|ticker|shares?)/|stockpricequote|share price|key figures",
    re.IGNORECASE,
)
_THREAD_URL = re.compile(
    r"/(?:t|threads?|topics?|viewtopic|showthread|discussion|comments|questions)(?:/|\.|\?|-)", re.IGNORECASE
)
_SITE_MENU = re.compile(
    r"log ?in|sign ?(?:in|up)|register|subscribe|rules|help|faq|privacy|terms|contact|search", re.IGNORECASE
)


class PageDecision(RoleReply):
    """One decision about one page. `target_url` only with NAVIGATE_TO, copied from the page's links."""

    action: PageAction
    reasoning: str = ""
    confidence: float = Field(ge=0.0, le=1.0)
    page_type: PageType = "other"
    target_url: str | None = None


def fallback(
    *,
    intent: CollectIntent,
    url: str,
    depth: int,
    max_depth: int,
    title: str,
    signs: PageFeatures,
    links: list[LinkCandidate],
    text: str,
) -> PageDecision:
    """The decision by rule, the clearest sign first."""
    section = _section_pattern(intent.target_section)
    if signs.posts >= 2 or (signs.posts == 1 and _THREAD_URL.search(url)):
        return _extract_content(
            "forum_thread", f"{signs.posts} posts stand on this page, each with its writer and date.", 0.95
        )
    listing = _decide_listing(url, title, signs, links)
    door = _find_section_link(section, links, url) if section is not None else None
    talk, profile = intent.target_section == "forum", bool(_PROFILE.search(f"{url} {title} {text[:2000]}"))
    if listing and (not talk or door is None or listing.page_type == "forum_listing"):
        return listing
    if door is not None and (talk or profile or not _is_prose(signs)):
        return _navigate(
            door,
            f"“{door.text}” leads to the {intent.target_section} section that is asked for; this page is not it.",
            0.85,
            url,
            title,
        )
    if _is_prose(signs) and not (talk and profile):
        return _extract_content(
            "article",
            f"Running text of {signs.words} words with few links: this is content.",
            0.9 if signs.article else 0.75,
        )
    return listing or _decide_onward(intent, section, links, url, title)


def _decide_listing(
    url: str, title: str, signs: PageFeatures, links: list[LinkCandidate]
) -> PageDecision | None:
    dated = signs.dated_links >= MIN_DATED_ENTRIES and signs.link_share >= MIN_LIST_LINK_SHARE / 2
    alike = signs.alike_links >= MIN_ALIKE_LINKS and signs.link_share >= MIN_LIST_LINK_SHARE
    single = (
        signs.dated_links == 1
        and signs.link_share >= MIN_LIST_LINK_SHARE / 3
        and signs.words < MIN_ARTICLE_WORDS
    )
    if (
        signs.article
        or not (dated or alike or single)
        or (_is_prose(signs) and not _LIST_TITLE.search(f"{title} {url}"))
    ):
        return None
    threads = sum(bool(_THREAD_URL.search(link.url)) for link in links)
    forum = bool(_FORUM.search(f"{url} {title}")) or threads >= MIN_DATED_ENTRIES
    entries = signs.dated_links if dated or single else signs.alike_links
    kind: PageType = "forum_listing" if forum else "news_listing"
    with_dates = ", with their dates" if dated or single else ""
    told = f"A list of {entries} {'threads' if forum else 'entries'}{with_dates}: the content lies behind its links."
    return PageDecision(
        action="EXTRACT_LINKS", reasoning=told, confidence=0.9 if dated or single else 0.65, page_type=kind
    )


_LIST_TITLE = re.compile(
    r"forum|board|news|archive|latest|newest|page \d|threads|topics|index|overview", re.IGNORECASE
)


def _is_prose(signs: PageFeatures) -> bool:
    return signs.words >= MIN_ARTICLE_WORDS and (signs.article or signs.link_share < MIN_LIST_LINK_SHARE / 2)


def _section_pattern(section: str) -> re.Pattern[str] | None:
    """What an anchor or address of the wanted section looks like; None when there is no preference."""
    if not section:
        return None
    known = {"forum": _FORUM, "news": _NEWS}
    return known.get(section) or re.compile("|".join(map(re.escape, section.lower().split())), re.IGNORECASE)


def _find_section_link(
    section: re.Pattern[str], links: list[LinkCandidate], url: str
) -> LinkCandidate | None:
    """The link that leads to the section: its anchor says so, or else its address; the shortest address of
    the best."""
    called = [
        link
        for link in links
        if section.search(link.text) and len(link.text) <= 60 and not _SITE_MENU.search(link.text)
    ]
    addressed = [
        link for link in links if section.search(link.url) and link.text and not _SITE_MENU.search(link.text)
    ]
    ranked = sorted(
        called or addressed,
        key=lambda link: (not section.search(link.url), not _is_below(link.url, url), len(link.url)),
    )
    return ranked[0] if ranked else None


def _is_below(one: str, other: str) -> bool:
    """Does an address lie below another: is it this subject's section, not the whole site's?"""
    return one.startswith(other.rstrip("/") + "/")


def _decide_onward(
    intent: CollectIntent, section: re.Pattern[str] | None, links: list[LinkCandidate], url: str, title: str
) -> PageDecision:
    """From a page without content: the link whose anchor bears most on the topic, else nowhere."""
    wanted = set(content_stems(intent.topic)) if intent.topic else set()
    scored = sorted(
        ((len(wanted & set(stem_words(link.text))), -n, link) for n, link in enumerate(links)),
        key=lambda hit: hit[:2],
        reverse=True,
    )
    if scored and scored[0][0] and wanted:
        share = scored[0][0] / len(wanted)
        return _navigate(
            scored[0][2], f"“{scored[0][2].text}” names what is asked for.", 0.45 + 0.35 * share, url, title
        )
    sought = f"the {intent.target_section} section" if section is not None else "what is asked for"
    return PageDecision(
        action="STOP",
        reasoning=f"No content, no list, and no link that leads to {sought}.",
        confidence=0.7,
        page_type=_guess_page_type(url, title),
    )


def _navigate(link: LinkCandidate, why: str, confidence: float, url: str, title: str) -> PageDecision:
    return PageDecision(
        action="NAVIGATE_TO",
        reasoning=why,
        confidence=confidence,
        page_type=_guess_page_type(url, title),
        target_url=link.url,
    )


def _extract_content(kind: PageType, why: str, confidence: float) -> PageDecision:
    return PageDecision(action="EXTRACT_CONTENT", reasoning=why, confidence=confidence, page_type=kind)


def _guess_page_type(url: str, title: str) -> PageType:
    return "company_profile" if _PROFILE.search(f"{url} {title}") else "other"


PAGE_DECISION = Role(name="page_decision", reply=PageDecision, fallback=fallback, tier="strong")
