"""Ranks the links of a listing that are worth following, with the date beside each. Follows none itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from agent.retrieval.scorer import rank_passages
from agent.retrieval.term_coverage import stem_prefixes
from agent.roles.collect.relevance import is_same_writer
from agent.roles.patterns import load_alternatives
from agent.roles.role import Role, RoleReply, Share
from agent.text.negative_constraints import is_unwanted
from agent.types import Passage
from agent.types.collection import CollectIntent, LinkCandidate

MIN_SCORE, MIN_ANCHOR_CHARS, MIN_ALIKE = 0.3, 12, 3
"""The least score of a link that is followed; the letters of an anchor that may be an entry's; the links in
the same kind of place that may be entries however short they are."""
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
    entries = [
        link
        for link in links
        if link.content
        and link.text
        and not _NAVIGATION.match(link.text.strip())
        and not any(is_unwanted(refusal, link.text) for refusal in intent.leave_out)
    ]
    if intent.author and any(_names_writer(link, intent.author) for link in entries):
        entries = [link for link in entries if _names_writer(link, intent.author)]
    relevance = score_links(intent, entries)
    about = set(stem_prefixes(title, url))
    wanted = set(stem_prefixes(intent.topic))
    lent = len(wanted & about) / len(wanted) if wanted else 0.0
    dated_places = {link.place for link in entries if link.date and link.place}
    common = Counter(link.place for link in entries if link.place).most_common(1)
    alike = {place for place, count in common if count >= MIN_ALIKE}

    def is_entry(link: LinkCandidate) -> bool | None:
        """Whether a link is surely an entry of the list; None when it may be one."""
        if link.date or link.place in dated_places or _THREAD_URL.search(link.url):
            return True
        is_possible = link.place in alike or len(link.text) >= MIN_ANCHOR_CHARS
        return None if not dated and is_possible else False

    scored = [
        (_score_link(score if wanted else None, lent, is_entry(link)), link)
        for link, score in zip(entries, relevance, strict=True)
    ]
    fit = [entry for entry in scored if entry[0] >= MIN_SCORE]
    best = sorted(
        fit, key=lambda entry: (rank_age(entry[1]) if intent.newest else (), entry[0]), reverse=True
    )[:limit]
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


def score_links(intent: CollectIntent, links: Sequence[LinkCandidate]) -> list[float]:
    """How far each link is about the topic and by the writer that is wanted (0..1), by its words and those
    beside it, as short passages."""
    passages = [
        Passage(id=str(n), page_id="", url=link.url, start=0, end=0, text=f"{link.text} {link.context}")
        for n, link in enumerate(links)
    ]
    ranked = rank_passages(f"{intent.topic} {intent.author}", passages, len(passages))
    scores = {passage.id: passage.score for passage in ranked}
    return [scores[str(n)] for n in range(len(links))]


def rank_age(link: LinkCandidate) -> tuple[str, int]:
    """A key that is larger for newer links: by the date beside it, else by the number in its address, because
    archives number what arrives."""
    numbers = re.findall(r"\d+", link.url.rpartition("/")[2])
    return link.date, int(numbers[-1][:12]) if numbers else 0


def _names_writer(link: LinkCandidate, author: str) -> bool:
    return is_same_writer(author, f"{link.text} {link.context}")


def _score_link(relevance: float | None, lent: float, is_entry: bool | None) -> float:
    """Half for being an entry, half for the topic, of which a listing about it lends its entries a part."""
    entry = 0.5 if is_entry else 0.3 if is_entry is None else 0.0
    if not entry or relevance is None:
        return min(1.0, entry * 1.6)
    return entry + 0.5 * max(relevance, 0.5 * lent)


LINK_RANKING = Role(name="link_ranking", reply=LinkRanking, fallback=fallback, tier="strong", cut=("links",))
