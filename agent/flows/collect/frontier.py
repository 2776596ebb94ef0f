"""Which pages are visited next: start pages, the next node, links of a listing, continuations.

Pure functions of the state and a parsed page; no model and no web.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.answering import fact_view
from agent.answering.page_refs import START_PAGE_REASON
from agent.flows.collect.constraints import EXCLUDED_BY_PERSON, find_start_urls, limit_by_link
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.roles.collect import RankedLink
from agent.text.urls import canonicalize
from agent.types.collection import CrawlLimit, CrawlNode, LinkCandidate

RANK_LAST = 9_999
"""The rank of a listing's next page: after all its entries."""
RANK_FIRST = -1
"""The rank of a thread's next page: before anything else."""
UNKNOWN_URL = "the ranking named an address that is not on this page"
MAX_DROPPED_SHOWN = 20
"""Entries of each kind that are kept in the tree although they are not followed."""


@dataclass(frozen=True)
class ListingLinks:
    """The new links of a listing by whether they may be followed: not if out of the time range, outside, or
    excluded."""

    fresh: list[LinkCandidate]
    untimely: list[LinkCandidate]
    outside: list[LinkCandidate]
    excluded: list[LinkCandidate]


def find_start_pages(state: CollectRun) -> list[CrawlNode]:
    """The pages a person named that are not in the tree yet."""
    tree = state.own.tree
    new = {
        name: url
        for url in reversed(find_start_urls(state))
        if (name := canonicalize(url)) not in tree and name
    }
    first = sum(node.depth == 0 and not node.continues for node in tree.values())
    return [
        CrawlNode(id=name, url=url, path=[n], anchor="given by you")
        for n, (name, url) in enumerate(reversed(new.items()), start=first)
    ]


def choose_next_node(state: CollectRun) -> CrawlNode | None:
    """The next page to visit; None when nothing is left, or enough was gathered and no thread is incomplete.

    Step by step, the start pages come first."""
    waiting = state.own.frontier(state)
    if state.settings.stop_point == "step":
        waiting = sorted(waiting, key=lambda node: (node.depth > 0 or bool(node.continues), node.path))
    thread = next((node for node in waiting if node.continues == "thread"), None)
    if thread or not waiting or state.own.is_full(state):
        return thread
    return waiting[0]


def explain_visit(node: CrawlNode) -> str:
    """Why a page is visited, as a sentence."""
    if not node.parent:
        return START_PAGE_REASON
    if node.continues:
        return f"The next page of the same {node.continues}."
    score = f", relevance {node.relevance_score:.2f}" if node.relevance_score is not None else ""
    dated = f", dated {node.detected_date}" if node.detected_date else ""
    if score or dated:
        return f"Followed from its list: “{node.anchor}”{score}{dated}."
    return f"Chosen link: “{node.anchor}”."


def open_target(node: CrawlNode, parsed: ParsedPage) -> CrawlNode:
    """The one page that a NAVIGATE_TO opens."""
    target = canonicalize(node.target_url)
    link = next((link for link in parsed.links if canonicalize(link.url) == target), None)
    return child_node(node, link or LinkCandidate(url=node.target_url), 0)


def sort_links(state: CollectRun, parsed: ParsedPage, previous: Collection[str]) -> ListingLinks:
    """The links of a listing that are neither in the tree nor among the addresses of its `previous` page."""
    seen = {*state.own.tree, *previous, *fact_view.visited_urls(state), canonicalize(parsed.next_url)}
    new = limit_by_link(state, [link for link in parsed.links if canonicalize(link.url) not in seen])
    free = [link for link, limit in new if not limit]
    untimely = [link for link in free if link.content and not state.own.is_in_range(state, link.date)]
    return ListingLinks(
        fresh=[link for link in free if link not in untimely],
        untimely=untimely,
        outside=[link for link, limit in new if limit == "scope"],
        excluded=[link for link, limit in new if limit == "words"],
    )


def find_unknown_urls(ranked: Sequence[RankedLink], offered: Sequence[LinkCandidate]) -> list[str]:
    """The addresses that a ranking names and that were not offered, each once."""
    known = {canonicalize(link.url) for link in offered}
    return list(dict.fromkeys(link.url for link in ranked if canonicalize(link.url) not in known))


def open_ranked_links(
    state: CollectRun, ranked: Sequence[RankedLink], offered: Sequence[LinkCandidate]
) -> list[CrawlNode]:
    """The nodes that a ranking of the current page opens, best first, at most `max_links`.

    The date in the listing wins over the model's, which counts only if the text of the link has its year."""
    known = {canonicalize(link.url): link for link in offered}
    node, limit = state.own.node, state.settings.collect.max_links
    opened: dict[str, CrawlNode] = {}
    for link in sorted(ranked, key=lambda link: -link.relevance_score):
        name = canonicalize(link.url)
        if name not in known or name in opened or len(opened) >= limit:
            continue
        offer = known[name]
        day = offer.date or _plausible_date(link.detected_date, offer)
        child = child_node(node, offer, len(opened), detected_date=day)
        score = round(link.relevance_score, 3)
        opened[name] = _drop_if_untimely(state, child).replace(relevance_score=score)
    return list(opened.values())


def record_dropped_links(state: CollectRun, links: ListingLinks) -> list[CrawlNode]:
    """Nodes for the entries that are out of the time range or excluded by a person, with the reason."""
    node, excluded = state.own.node, [link for link in links.excluded[:MAX_DROPPED_SHOWN] if link.content]
    untimely = links.untimely[:MAX_DROPPED_SHOWN]
    dropped = []
    for n, link in enumerate([*untimely, *excluded]):
        child = _drop_if_untimely(state, child_node(node, link, RANK_LAST - 1, n, detected_date=link.date))
        by_words = child.replace(status="dropped", ended=EXCLUDED_BY_PERSON, held="words")
        dropped.append(child if n < len(untimely) else by_words)
    return dropped


def explain_nothing_followed(links: ListingLinks) -> str:
    """Why nothing of a listing is followed."""
    if links.untimely:
        return "None of its entries is in the time range."
    if not any(link.content for link in links.fresh):
        if links.excluded:
            return "Your words exclude all its entries."
        if any(link.content for link in links.outside):
            return "All its entries are outside the allowed domains."
    return "None of its links is relevant."


def find_limit_met(state: CollectRun, links: ListingLinks, children: Sequence[CrawlNode]) -> CrawlLimit:
    """The limit that kept entries of a listing from being followed; "" for none."""
    new = sum(link.content for link in links.fresh)
    if new > len(children) >= state.settings.collect.max_links:
        return "links"
    if any(link.content for link in links.excluded):
        return "words"
    return "scope" if not children and any(link.content for link in links.outside) else ""


def find_continuation(state: CollectRun, node: CrawlNode, parsed: ParsedPage, kind: str) -> CrawlNode | None:
    """The next page of a "listing" or "thread", at the same depth; None when it is missing or known."""
    name = canonicalize(parsed.next_url)
    if not name or name in state.own.tree or name in fact_view.visited_urls(state):
        return None
    link = LinkCandidate(url=parsed.next_url, text="next page")
    if limit_by_link(state, [link])[0][1]:
        return None
    thread = kind == "thread"
    return child_node(node, link, RANK_FIRST if thread else RANK_LAST).replace(
        depth=node.depth, continues="thread" if thread else "listing", item_id=node.item_id if thread else ""
    )


def is_past_time_range(state: CollectRun, parsed: ParsedPage) -> bool:
    """Whether a listing is newest first and its last entry too old, so that its next page is older still."""
    days = [link.date for link in parsed.links if link.content and link.date]
    return bool(days) and all(a >= b for a, b in pairwise(days)) and state.own.is_too_old(state, days[-1])


def explain_untimely(state: CollectRun, day: str) -> str:
    """Why an entry or item is left out for its date."""
    if not state.own.is_too_old(state, day):
        return f"Dated {day}: newer than {state.own.effective_intent(state).until}."
    return f"Dated {day}: before {state.own.since(state)}."


def child_node(parent: CrawlNode, link: LinkCandidate, *rank: int, detected_date: str = "") -> CrawlNode:
    """The node of a link on the page of `parent`."""
    return CrawlNode(
        id=canonicalize(link.url),
        url=link.url,
        parent=parent.id,
        anchor=link.text,
        depth=parent.depth + 1,
        path=[*parent.path, *rank],
        detected_date=detected_date,
    )


def _drop_if_untimely(state: CollectRun, node: CrawlNode) -> CrawlNode:
    if state.own.is_in_range(state, node.detected_date):
        return node
    return node.replace(status="dropped", ended=explain_untimely(state, node.detected_date))


def _plausible_date(day: str | None, link: LinkCandidate) -> str:
    """A date from a model, if the text around the link contains its year."""
    year = (day or "")[:4]
    return day[:10] if day and year.isdigit() and year in f"{link.text} {link.context} {link.url}" else ""
