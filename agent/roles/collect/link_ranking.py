"""Ranks the links of a listing that are worth following, with the date beside each. Follows none itself."""

from __future__ import annotations

import re

from pydantic import Field

from agent.retrieval.term_coverage import stem_prefixes
from agent.roles.patterns import load_alternatives
from agent.roles.role import Role, RoleReply, Share
from agent.text.negative_constraints import is_unwanted
from agent.text.tokens import content_stems, stem_prefix
from agent.types.collection import CollectIntent, LinkCandidate

MIN_SCORE, MIN_ANCHOR_CHARS = 0.3, 12
"""The least score of a link that is followed, and the letters of an anchor that may be an entry's."""
_NAVIGATION = re.compile(rf"^(?:{load_alternatives('collect')['navigation']})$", re.IGNORECASE)
_THREAD_URL = re.compile(load_alternatives("collect")["thread address"], re.IGNORECASE)


class RankedLink(RoleReply):
    """One link worth following; `detected_date` is what the listing says beside it."""

    url: str = Field(description="copied from the links")
    anchor_text: str = ""
    relevance_score: Share
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
    left_out: int,
) -> LinkRanking:
    """The entries with the topic in their words first, then as the listing has them. Where entries have dates
    (`dated`), a link without one is no entry."""
    wanted = [stem_prefix(word) for word in content_stems(intent.topic)] if intent.topic else []
    about = stem_prefixes(title, url)
    scored = [
        (_score_link(link, wanted, about, dated=dated), link)
        for link in links
        if link.content
        and link.text
        and not _NAVIGATION.match(link.text.strip())
        and not any(is_unwanted(refusal, link.text) for refusal in intent.leave_out)
    ]
    best = sorted((entry for entry in scored if entry[0] >= MIN_SCORE), key=lambda entry: -entry[0])[:limit]
    return LinkRanking(
        links=[
            RankedLink(
                url=link.url,
                anchor_text=link.text,
                relevance_score=round(score, 2),
                detected_date=link.date or None,
            )
            for score, link in best
        ]
    )


def _score_link(link: LinkCandidate, wanted: list[str], about: frozenset[str], *, dated: bool) -> float:
    """Half for being an entry, half for the topic, of which a listing about it lends its entries a part."""
    if link.date or _THREAD_URL.search(link.url):
        entry = 0.5
    else:
        entry = 0.3 if not dated and len(link.text) >= MIN_ANCHOR_CHARS else 0.0
    if not entry or not wanted:
        return min(1.0, entry * 1.6)
    here = stem_prefixes(link.text, link.context)
    named, lent = (sum(word in words for word in wanted) / len(wanted) for words in (here, about))
    return entry + 0.5 * max(named, 0.5 * lent)


LINK_RANKING = Role(name="link_ranking", reply=LinkRanking, fallback=fallback, tier="strong")
