"""Which links of a listing are worth following, best first, with the date that stands beside each. Follows none itself."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.text.refusals import covers
from agent.text.words import content_stems, rough, stems
from agent.types.collected import Intent, Offer

FOLLOWED = 20
"""Links a reply may hold."""
_FURNITURE = re.compile(
    r"^(?:home|index|login|log in|sign (?:in|up)|register|subscribe|about(?: us)?|contact|privacy.*|terms.*|cookies?|help|faq|rss|search|"
    r"next.*|prev(?:ious)?.*|older|newer|first|last|\d{1,4}|[«»‹›<>→← ]+|share|tweet|print|back.*|premium|advertise.*|imprint|impressum|more)$",
    re.IGNORECASE,
)
_THREAD = re.compile(r"/(?:t|threads?|topics?|viewtopic|showthread|discussion|comments|questions)(?:/|\.|\?|-)", re.IGNORECASE)


class RankedLink(BaseModel):
    """One link worth following; `detected_date` is what the listing says beside it."""

    model_config = ConfigDict(extra="ignore")

    url: str = Field(description="copied from the links")
    anchor_text: str = ""
    relevance_score: float = Field(ge=0.0, le=1.0)
    detected_date: str | None = Field(default=None, description="YYYY-MM-DD as seen beside the link, else null")


class LinkRanking(BaseModel):
    """The links to follow, the most relevant first."""

    model_config = ConfigDict(extra="ignore")

    links: list[RankedLink] = Field(default_factory=list)


def keyless(*, intent: Intent, url: str, title: str, today: str, limit: int, dated: bool, links: list[Offer]) -> LinkRanking:
    """The entries by their place, date and words: what names the topic first, then as the listing has them.

    Where entries bear dates (`dated`), a link without one is none. What the person leaves out is known by its anchor alone.
    """
    wanted = [rough(word) for word in content_stems(intent.topic)] if intent.topic else []
    about = {rough(word) for word in stems(f"{title} {url}")}
    unwanted = [link for link in links if any(covers(refusal, link.text) for refusal in intent.leave_out)]
    possible = [(n, link) for n, link in enumerate(links) if _possible(link) and link not in unwanted]
    scored = [(_score(link, wanted, about, dated=dated), -n, link) for n, link in possible]
    best = sorted((entry for entry in scored if entry[0] >= 0.3), key=lambda entry: entry[:2], reverse=True)[:limit]
    return LinkRanking(
        links=[
            RankedLink(url=link.url, anchor_text=link.text, relevance_score=round(score, 2), detected_date=link.date or None)
            for score, _, link in best
        ]
    )


def _possible(link: Offer) -> bool:
    return link.content and bool(link.text) and not _FURNITURE.match(link.text.strip())


def _score(link: Offer, wanted: list[str], about: set[str], *, dated: bool) -> float:
    """Half for being an entry, half for the topic; a listing that is itself about the topic lends that to its entries."""
    entry = 0.5 if link.date or _THREAD.search(link.url) else 0.3 if not dated and len(link.text) >= 12 else 0.0
    if not entry or not wanted:
        return min(1.0, entry * 1.6)
    here = {rough(word) for word in stems(f"{link.text} {link.context}")}
    named = sum(word in here for word in wanted) / len(wanted)
    lent = 0.5 * sum(word in about for word in wanted) / len(wanted)
    return entry + 0.5 * max(named, lent)


LINK_RANKING = Role(name="link_ranking", reply=LinkRanking, keyless=keyless, tier="strong")
