"""Which links of a listing are worth following, best first, with the date that stands beside each. Follows
none itself."""

from __future__ import annotations

import re

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text.negative_constraints import is_unwanted
from agent.text.tokens import content_stems, stem_prefix, stem_words
from agent.types.collection import CollectIntent, LinkCandidate

MAX_LINKS = 20
"""Links a reply may hold."""
_NAVIGATION_TEXT = re.compile(
    r"^(?:home|index|login|log in|sign (?:in|up)|register|subscribe|about(?: us)?|contact|privacy.*|terms.*|cookies?|help|faq|rss|search|"
    r"next.*|prev(?:ious)?.*|older|newer|first|last|\d{1,4}|[«»‹›<>→← ]+|share|tweet|print|back.*|premium|advertise.*|imprint|impressum|more)$",
    re.IGNORECASE,
)
_THREAD_URL = re.compile(
    r"/(?:t|threads?|topics?|viewtopic|showthread|discussion|comments|questions)(?:/|\.|\?|-)", re.IGNORECASE
)


class RankedLink(RoleReply):
    """One link worth following; `detected_date` is what the listing says beside it."""

    url: str = Field(description="copied from the links")
    anchor_text: str = ""
    relevance_score: float = Field(ge=0.0, le=1.0)
    detected_date: str | None = Field(
        default=None, description="YYYY-MM-DD as seen beside the link, else null"
    )


class LinkRanking(RoleReply):
    """The links to follow, the most relevant first."""

    links: list[RankedLink] = Field(default_factory=list)


def fallback(
    *,
    intent: CollectIntent,
    url: str,
    title: str,
    today: str,
    limit: int,
    dated: bool,
    links: list[LinkCandidate],
) -> LinkRanking:
    """The entries by their place, date and words: what names the topic first, then as the listing has them.

    Where entries bear dates (`dated`), a link without one is none. What the person leaves out is known by its
    anchor alone."""
    wanted = [stem_prefix(word) for word in content_stems(intent.topic)] if intent.topic else []
    about = {stem_prefix(word) for word in stem_words(f"{title} {url}")}
    unwanted = [
        link for link in links if any(is_unwanted(refusal, link.text) for refusal in intent.leave_out)
    ]
    possible = [(n, link) for n, link in enumerate(links) if _is_candidate(link) and link not in unwanted]
    scored = [(_score_link(link, wanted, about, dated=dated), -n, link) for n, link in possible]
    best = sorted((entry for entry in scored if entry[0] >= 0.3), key=lambda entry: entry[:2], reverse=True)[
        :limit
    ]
    return LinkRanking(
        links=[
            RankedLink(
                url=link.url,
                anchor_text=link.text,
                relevance_score=round(score, 2),
                detected_date=link.date or None,
            )
            for score, _, link in best
        ]
    )


def _is_candidate(link: LinkCandidate) -> bool:
    return link.content and bool(link.text) and not _NAVIGATION_TEXT.match(link.text.strip())


def _score_link(link: LinkCandidate, wanted: list[str], about: set[str], *, dated: bool) -> float:
    """Half for being an entry, half for the topic; a listing that is itself about the topic lends that to its
    entries."""
    entry = (
        0.5
        if link.date or _THREAD_URL.search(link.url)
        else 0.3
        if not dated and len(link.text) >= 12
        else 0.0
    )
    if not entry or not wanted:
        return min(1.0, entry * 1.6)
    here = {stem_prefix(word) for word in stem_words(f"{link.text} {link.context}")}
    named = sum(word in here for word in wanted) / len(wanted)
    lent = 0.5 * sum(word in about for word in wanted) / len(wanted)
    return entry + 0.5 * max(named, lent)


LINK_RANKING = Role(name="link_ranking", reply=LinkRanking, fallback=fallback, tier="strong")
