"""Where the walk goes: the pages to visit, the check of a decision, the links that are opened. Code, not
hope.

Pure functions of the state and of what stands on a page; nothing here asks a model or the web."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.flows.collect.constraints import RULED_OUT, find_start_urls, is_ruled_out, list_ruled_out
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.flows.shared import fact_view
from agent.roles.collect.link_ranking import RankedLink
from agent.roles.collect.page_decision import PageDecision
from agent.roles.role import RoleResult
from agent.text.urls import canonicalize
from agent.types import Refusal
from agent.types.collection import CrawlLimit, CrawlNode, LinkCandidate
from agent.web.prompt_injection import find_injected_links

RANK_LAST = 9_999
"""The rank of a listing's next page: behind all its entries."""
RANK_FIRST = -1
"""The rank of a thread's next page: before anything else."""
MAX_DROPPED_SHOWN = 20
"""Entries outside the time range that are kept in the tree, with the reason."""


@dataclass(frozen=True)
class Objection:
    """Why a decision is not followed, in words; the limit it met; the refusal to be counted when it named an
    address that may not be asked for."""

    why: str
    held: CrawlLimit = ""
    refusal: Refusal | None = None


@dataclass(frozen=True)
class ListingLinks:
    """The links of a listing: those that may be followed, and those that may not, for their date, their host,
    or a person's words."""

    fresh: list[LinkCandidate]
    old: list[LinkCandidate]
    outside: list[LinkCandidate]
    ruled_out: list[LinkCandidate]


def find_start_pages(state: CollectRun) -> list[CrawlNode]:
    """The pages a person named: start pages, addresses in the prompt and in notes; those that are new to the
    tree."""
    fresh = {
        canonicalize(url): url
        for url in reversed(find_start_urls(state))
        if canonicalize(url) and canonicalize(url) not in state.own.tree
    }
    ranks = sum(branch.depth == 0 and not branch.continues for branch in state.own.tree.values())
    return [
        CrawlNode(id=name, url=url, path=[ranks + n], anchor="given by you")
        for n, (name, url) in enumerate(reversed(fresh.items()))
    ]


def choose_next_page(state: CollectRun) -> CrawlNode | None:
    """The next page to visit, None when the walk is over: nothing left, or enough gathered (a thread that
    goes on is read to its end)."""
    waiting = state.own.frontier(state)
    if state.settings.stop_point == "step":
        waiting = sorted(
            waiting, key=lambda branch: (branch.depth > 0 or bool(branch.continues), branch.path)
        )
    if not waiting:
        return None
    going_on = next((branch for branch in waiting if branch.continues == "thread"), None)
    return going_on or (None if state.own.is_full(state) else waiting[0])


def explain_visit(branch: CrawlNode) -> str:
    """Why a page is visited, in words."""
    if not branch.parent:
        return "This is where to start, by your choice."
    if branch.continues:
        return f"The next page of the same {branch.continues}."
    score = f", relevance {branch.relevance_score:.2f}" if branch.relevance_score is not None else ""
    dated = f", dated {branch.detected_date}" if branch.detected_date else ""
    return (
        f"Followed from its list: “{branch.anchor}”{score}{dated}."
        if score or dated
        else f"The way on: “{branch.anchor}”."
    )


def apply_decision(branch: CrawlNode, judgement: RoleResult) -> CrawlNode:
    """The branch with what was decided about its page."""
    reply: PageDecision = judgement.value
    return branch.model_copy(
        update={
            "action": reply.action,
            "page_type": reply.page_type,
            "reasoning": reply.reasoning,
            "confidence": round(reply.confidence, 3),
            "target_url": reply.target_url or "",
            "by": judgement.by,
            "trouble": judgement.fallback_reason,
        }
    )


def find_objection(state: CollectRun, branch: CrawlNode, sight: ParsedPage) -> Objection | None:
    """Why a decision is not followed, None when it is."""
    limits = state.settings.collect
    if branch.action != "STOP" and branch.confidence < limits.min_confidence:
        return Objection(
            f"The decision was not sure enough ({branch.confidence:.2f}, at least {limits.min_confidence:.2f} is wanted).",
            "doubt",
        )
    if branch.action == "EXTRACT_LINKS" and branch.depth + 1 >= limits.max_depth:
        return Objection(
            f"Its entries would lie at depth {branch.depth + 1}; nothing at {limits.max_depth} or deeper is read.",
            "depth",
        )
    if branch.action != "NAVIGATE_TO":
        return None
    target, told = canonicalize(branch.target_url), branch.target_url[:300] or "(no address)"
    if target not in {canonicalize(offer.url) for offer in sight.link_candidates} | {
        canonicalize(link.url) for link in sight.page.links
    }:
        return Objection(
            "The decision named an address that is not on this page.",
            refusal=Refusal(what=told, why="target_url is no link of the page"),
        )
    if not state.settings.allows(branch.target_url):
        outside = Refusal(what=told, why="this address is outside the allowed domains")
        return Objection("The link leads outside the allowed domains.", "scope", outside)
    if is_ruled_out(branch.target_url, list_ruled_out(state)):
        return Objection(RULED_OUT, "words", Refusal(what=told, why="a person's words rule this address out"))
    if target in {canonicalize(link.url) for link in find_injected_links(sight.page.text, sight.page.links)}:
        ordered = Refusal(what=told, why="the page orders a reading program to follow this link")
        return Objection(
            "The link stands among words that give orders to a reading program.", refusal=ordered
        )
    if branch.depth + 1 >= limits.max_depth:
        return Objection(
            f"The page behind the link would be at depth {branch.depth + 1}; nothing at {limits.max_depth} or deeper is read.",
            "depth",
        )
    if target in fact_view.visited_urls(state) or target in state.own.tree:
        return Objection("The page it leads to is part of the walk already: no circles.")
    return None


def open_target(branch: CrawlNode, sight: ParsedPage) -> CrawlNode:
    """The one page that a NAVIGATE_TO opens."""
    target = canonicalize(branch.target_url)
    anchor = next((offer.text for offer in sight.link_candidates if canonicalize(offer.url) == target), "")
    url = next(
        (offer.url for offer in sight.link_candidates if canonicalize(offer.url) == target), branch.target_url
    )
    return CrawlNode(
        id=target, url=url, parent=branch.id, anchor=anchor, depth=branch.depth + 1, path=[*branch.path, 0]
    )


def sort_links(state: CollectRun, branch: CrawlNode, sight: ParsedPage, former: set[str]) -> ListingLinks:
    """The links of a listing in their four kinds.

    Left out: what is in the tree already, what stood on the page before it (`former`) when this is a
    listing's next page."""
    seen = {*state.own.tree, *former, *fact_view.visited_urls(state), canonicalize(sight.next_url)}
    fresh = [offer for offer in sight.link_candidates if canonicalize(offer.url) not in seen]
    inside = [offer for offer in fresh if state.settings.allows(offer.url)]
    entries = list_ruled_out(state)
    barred = [offer for offer in inside if is_ruled_out(offer.url, entries)]
    free = [offer for offer in inside if offer not in barred]
    old = [offer for offer in free if offer.content and state.own.is_too_old(state, offer.date)]
    outside = [offer for offer in fresh if offer not in inside]
    return ListingLinks(
        fresh=[offer for offer in free if offer not in old], old=old, outside=outside, ruled_out=barred
    )


def open_ranked_links(
    state: CollectRun,
    branch: CrawlNode,
    ranked: Sequence[RankedLink],
    offered: Sequence[LinkCandidate],
    step: int,
) -> tuple[list[CrawlNode], list[Refusal]]:
    """The pages that a ranking opens, best first, at most `max_links`; addresses that were not offered are
    refused.

    A date the listing shows beside a link goes before the model's, which counts only where the words beside
    the link hold its year."""
    known = {canonicalize(offer.url): offer for offer in offered}
    limit = state.settings.collect.max_links
    refused = [
        Refusal(what=link.url[:300], why="the ranking named an address that is not on this page", step=step)
        for link in ranked
        if canonicalize(link.url) not in known
    ]
    best = sorted(
        (link for link in ranked if canonicalize(link.url) in known), key=lambda link: -link.relevance_score
    )
    chosen: dict[str, CrawlNode] = {}
    for link in best:
        name = canonicalize(link.url)
        if name in chosen or len(chosen) >= limit:
            continue
        offer = known[name]
        day = offer.date or _plausible_date(link.detected_date, offer)
        old = state.own.is_too_old(state, day)
        chosen[name] = CrawlNode(
            id=name,
            url=offer.url,
            parent=branch.id,
            anchor=offer.text,
            depth=branch.depth + 1,
            path=[*branch.path, len(chosen)],
            relevance_score=round(link.relevance_score, 3),
            detected_date=day,
            status="dropped" if old else "open",
            ended=explain_too_old(state, day) if old else "",
        )
    return list(chosen.values()), refused


def record_dropped_links(state: CollectRun, branch: CrawlNode, entries: ListingLinks) -> list[CrawlNode]:
    """Entries outside the time range and those that a person rules out, for the tree: not followed, and
    why."""
    told: list[tuple[LinkCandidate, str, CrawlLimit]] = [
        (offer, explain_too_old(state, offer.date), "") for offer in entries.old[:MAX_DROPPED_SHOWN]
    ]
    told += [(offer, RULED_OUT, "words") for offer in entries.ruled_out[:MAX_DROPPED_SHOWN] if offer.content]
    return [
        CrawlNode(
            id=canonicalize(offer.url),
            url=offer.url,
            parent=branch.id,
            anchor=offer.text,
            depth=branch.depth + 1,
            path=[*branch.path, RANK_LAST - 1, n],
            detected_date=offer.date,
            status="dropped",
            ended=why,
            held=held,
        )
        for n, (offer, why, held) in enumerate(told)
    ]


def explain_nothing_followed(found: ListingLinks) -> str:
    """Why nothing of a listing is followed, in words."""
    if found.old:
        return "None of its entries is in the time range."
    if not any(offer.content for offer in found.fresh) and found.ruled_out:
        return "Your words rule out all its entries."
    if not any(offer.content for offer in found.fresh) and any(offer.content for offer in found.outside):
        return "All its entries lie outside the allowed domains."
    return "None of its links was worth following."


def find_limit_met(state: CollectRun, found: ListingLinks, children: Sequence[CrawlNode]) -> CrawlLimit:
    """Which limit kept a listing's entries from being followed."""
    if len(children) >= state.settings.collect.max_links and sum(
        offer.content for offer in found.fresh
    ) > len(children):
        return "links"
    if any(offer.content for offer in found.ruled_out):
        return "words"
    return "scope" if not children and any(offer.content for offer in found.outside) else ""


def find_continuation(state: CollectRun, branch: CrawlNode, sight: ParsedPage, kind: str) -> CrawlNode | None:
    """The next page of a listing or thread, at the same depth; None when there is none or it is known."""
    name = canonicalize(sight.next_url)
    if (
        not name
        or name in state.own.tree
        or name in fact_view.visited_urls(state)
        or not state.settings.allows(sight.next_url)
    ):
        return None
    if is_ruled_out(sight.next_url, list_ruled_out(state)):
        return None
    path = [*branch.path, RANK_FIRST if kind == "thread" else RANK_LAST]
    return CrawlNode(
        id=name,
        url=sight.next_url,
        parent=branch.id,
        anchor="next page",
        depth=branch.depth,
        path=path,
        continues="thread" if kind == "thread" else "listing",
        item_id=branch.item_id if kind == "thread" else "",
    )


def is_past_time_range(state: CollectRun, sight: ParsedPage) -> bool:
    """Is a listing newest first, and its last entry outside the time range already? What comes behind is
    older still."""
    days = [offer.date for offer in sight.link_candidates if offer.content and offer.date]
    days = sorted(days, reverse=True) if len(days) == 1 else days
    return bool(days) and all(a >= b for a, b in pairwise(days)) and state.own.is_too_old(state, days[-1])


def explain_too_old(state: CollectRun, day: str) -> str:
    """Why an entry is left out for its date."""
    return f"Dated {day}: older than the last {state.own.effective_intent(state).time_range_days} days."


def _plausible_date(day: str | None, offer: LinkCandidate) -> str:
    return (
        day[:10]
        if day and day[:4].isdigit() and day[:4] in f"{offer.text} {offer.context} {offer.url}"
        else ""
    )
