"""Decides what to do with a page that was just read: take its content, follow its links, go on to one
section, or stop. Fetches nothing."""

from __future__ import annotations

import re
from unicodedata import combining, normalize

from agent.roles.patterns import load_alternatives
from agent.roles.role import Role, RoleReply, Share
from agent.text.tokens import content_stems, stem_words
from agent.types.collection import CollectIntent, LinkCandidate, PageAction, PageFeatures, PageType

MIN_ARTICLE_WORDS = 60
"""Words of running text from which a page with few links may be an article."""
MIN_DATED_WORDS = 20
"""Words from which a page with a date of its own may be an article: the notes of a small release."""
MIN_LONG_WORDS = 300
"""Words without links that make a page with many undated links in its text an article."""
MIN_DATED_SHARE = 0.1
"""The share of content links beside a date from which these are the entries of a list."""
MIN_LIST_LINK_SHARE = 0.25
"""The share of linked text from which a page is rather a list than a text."""
MIN_DATED_ENTRIES, MIN_ALIKE_LINKS = 2, 3
"""Dated entries, or links in the same kind of place, from which a page is a listing."""
MAX_ANCHOR_CHARS = 60
_FORUM, _NEWS, _PROFILE, _THREAD_URL, _SITE_MENU, _LIST_TITLE = (
    re.compile(load_alternatives("collect")[name], re.IGNORECASE)
    for name in ("forum section", "news section", "profile", "thread address", "site menu", "list title")
)


class PageDecision(RoleReply):
    """One decision about one page. `target_url` only with NAVIGATE_TO, copied from the page's links."""

    action: PageAction
    reasoning: str = ""
    confidence: Share
    page_type: PageType = "other"
    target_url: str = ""


def fallback(
    *,
    intent: CollectIntent,
    url: str,
    depth: int,
    max_depth: int,
    title: str,
    signs: PageFeatures,
    links: list[LinkCandidate],
    left_out: int,
    text: str,
) -> PageDecision:
    """By the page's structure (posts, dated entries, running text) and the section wanted, clearest first."""
    if signs.posts >= 2 or (signs.posts == 1 and _THREAD_URL.search(url)):
        reason = f"{signs.posts} posts are on this page, each with its writer and date."
        return _extract_content("forum_thread", reason, 0.95)
    if signs.message:
        return _extract_content("forum_thread", "A message with its sender and date.", 0.95)
    if signs.sections > 1:
        return _extract_content("article", f"{signs.sections} entries, each with its date and text.", 0.9)
    listing = _decide_listing(url, title, signs, links)
    section = _find_section_link(intent.target_section, links, url)
    wants_forum, is_profile = (
        intent.target_section == "forum",
        bool(_PROFILE.search(f"{url} {title} {text[:2000]}")),
    )
    page_type: PageType = "company_profile" if _PROFILE.search(f"{url} {title}") else "other"
    if listing and (not wants_forum or section is None or listing.page_type == "forum_listing"):
        return listing
    if section is not None and (wants_forum or is_profile or not is_prose(signs)):
        reason = (
            f"“{section.text}” leads to the {intent.target_section} section that is wanted; this page is "
            f"not it."
        )
        return _navigate(section, reason, 0.85, page_type)
    if is_prose(signs) and not (wants_forum and is_profile):
        reason = f"Running text of {signs.words} words with few links: this is content."
        return _extract_content("article", reason, 0.9 if signs.article else 0.75)
    return listing or _decide_onward(intent, links, page_type)


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
    is_text = signs.article or (is_prose(signs) and not _LIST_TITLE.search(f"{title} {url}"))
    if is_text or not (dated or alike or single):
        return None
    threads = sum(bool(_THREAD_URL.search(link.url)) for link in links)
    forum = bool(_FORUM.search(f"{url} {title}")) or threads >= MIN_DATED_ENTRIES
    has_dates = dated or single
    count, kind = signs.dated_links if has_dates else signs.alike_links, "threads" if forum else "entries"
    return PageDecision(
        action="EXTRACT_LINKS",
        reasoning=f"A list of {count} {kind}{', with dates' if has_dates else ''}: "
        "the content is behind its links.",
        confidence=0.9 if has_dates else 0.65,
        page_type="forum_listing" if forum else "news_listing",
    )


def is_prose(signs: PageFeatures, *, is_entry: bool = False) -> bool:
    """Whether a page is running text with few links. Of an entry of a list less text is enough; with a date
    of its own, too, and there may be more links."""
    if signs.dated and not signs.dated_links:
        return signs.words >= MIN_DATED_WORDS and signs.link_share < MIN_LIST_LINK_SHARE
    are_few = signs.link_share < MIN_LIST_LINK_SHARE / 2
    is_entry_dated = signs.dated_links >= MIN_DATED_SHARE * signs.links
    is_long = (
        signs.words * (1 - signs.link_share) >= MIN_LONG_WORDS and signs.link_share < MIN_LIST_LINK_SHARE
    )
    return signs.words >= (MIN_DATED_WORDS if is_entry else MIN_ARTICLE_WORDS) and (
        signs.article or are_few or (is_long and not is_entry_dated)
    )


def _find_section_link(section: str, links: list[LinkCandidate], url: str) -> LinkCandidate | None:
    """The link to the wanted section, by its anchor, else by its address; of several one below this page,
    then the shortest address."""
    if not section:
        return None
    words = re.compile("|".join(map(re.escape, section.lower().split())), re.IGNORECASE)
    pattern = {"forum": _FORUM, "news": _NEWS}.get(section, words)
    possible = [link for link in links if not _SITE_MENU.search(link.text)]
    by_anchor = [
        link for link in possible if pattern.search(_fold(link.text)) and len(link.text) <= MAX_ANCHOR_CHARS
    ]
    by_url = [link for link in possible if pattern.search(_path(link.url)) and link.text]
    below = url.rstrip("/") + "/"
    return min(
        by_anchor or by_url,
        key=lambda link: (not pattern.search(_path(link.url)), not link.url.startswith(below), len(link.url)),
        default=None,
    )


def _fold(text: str) -> str:
    """A text without accents: "Fórum" is a forum, too."""
    return "".join(char for char in normalize("NFKD", text) if not combining(char))


def _path(url: str) -> str:
    """An address without its host: "forum.example" names no section."""
    return "/" + url.partition("://")[2].partition("/")[2]


def _decide_onward(intent: CollectIntent, links: list[LinkCandidate], page_type: PageType) -> PageDecision:
    """From a page without content to the link whose anchor has most words of the topic, else nowhere."""
    wanted = set(content_stems(intent.topic)) if intent.topic else set()
    best = max(links, key=lambda link: len(wanted & set(stem_words(link.text))), default=None)
    if best and (named := wanted & set(stem_words(best.text))):
        confidence = 0.45 + 0.35 * len(named) / len(wanted)
        return _navigate(best, f"“{best.text}” names what is wanted.", confidence, page_type)
    target = f"the {intent.target_section} section" if intent.target_section else "what is wanted"
    return PageDecision(
        action="STOP",
        reasoning=f"No content, no list, and no link that leads to {target}.",
        confidence=0.7,
        page_type=page_type,
    )


def _navigate(link: LinkCandidate, why: str, confidence: float, page_type: PageType) -> PageDecision:
    return PageDecision(
        action="NAVIGATE_TO", reasoning=why, confidence=confidence, page_type=page_type, target_url=link.url
    )


def _extract_content(kind: PageType, why: str, confidence: float) -> PageDecision:
    return PageDecision(action="EXTRACT_CONTENT", reasoning=why, confidence=confidence, page_type=kind)


PAGE_DECISION = Role(
    name="page_decision", reply=PageDecision, fallback=fallback, tier="strong", cut=("text", "links")
)
