"""Where the walk goes: the pages to visit, the check of a decision, the links that are opened. Code, not hope.

Pure functions of the state and of what stands on a page; nothing here asks a model or the web.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from agent.flows import moves
from agent.flows.collect_page import Sight, reachable
from agent.flows.collect_state import Collect
from agent.roles.link_ranking import RankedLink
from agent.roles.page_decision import PageDecision
from agent.roles.role import Judgement
from agent.types import Refusal
from agent.types.collected import Branch, Offer
from agent.urls import canonical, found_in, in_scope

LAST = 9_999
"""The rank of a listing's next page: behind all its entries."""
FIRST = -1
"""The rank of a thread's next page: before anything else."""
OLD_SHOWN = 20
"""Entries outside the time range that are kept in the tree, with the reason."""


def starts(state: Collect) -> list[Branch]:
    """The pages a person named: start pages, addresses in the prompt and in notes; those that are new to the tree."""
    given = [*state.settings.start_urls, *found_in(state.question), *(url for note in moves.notes(state) for url in found_in(note))]
    fresh = {canonical(url): url for url in reversed(given) if canonical(url) and canonical(url) not in state.tree}
    ranks = sum(branch.depth == 0 and not branch.continues for branch in state.tree.values())
    return [Branch(id=name, url=url, path=[ranks + n], anchor="given by you") for n, (name, url) in enumerate(reversed(fresh.items()))]


def upcoming(state: Collect) -> Branch | None:
    """The next page to visit, None when the walk is over: nothing left, or enough gathered (a thread that goes on is read to its end)."""
    waiting = state.frontier
    if state.settings.mode == "step":
        waiting = sorted(waiting, key=lambda branch: (branch.depth > 0 or bool(branch.continues), branch.path))
    if not waiting:
        return None
    going_on = next((branch for branch in waiting if branch.continues == "thread"), None)
    return going_on or (None if state.full else waiting[0])


def why(branch: Branch) -> str:
    """Why a page is visited, in words."""
    if not branch.parent:
        return "This is where to start, by your choice."
    if branch.continues:
        return f"The next page of the same {branch.continues}."
    score = f", relevance {branch.relevance_score:.2f}" if branch.relevance_score is not None else ""
    dated = f", dated {branch.detected_date}" if branch.detected_date else ""
    return f"Followed from its list: “{branch.anchor}”{score}{dated}." if score or dated else f"The way on: “{branch.anchor}”."


def decided(branch: Branch, judgement: Judgement) -> Branch:
    """The branch with what was decided about its page."""
    reply: PageDecision = judgement.value
    return branch.model_copy(
        update={
            "action": reply.action, "page_type": reply.page_type, "reasoning": reply.reasoning, "confidence": round(reply.confidence, 3),
            "target_url": reply.target_url or "", "by": judgement.by, "trouble": judgement.trouble,
        }
    )  # fmt: skip


def objection(state: Collect, branch: Branch, sight: Sight) -> tuple[str, Refusal | None]:
    """Why a decision is not followed, in words, and the refusal to be counted when it named an address that is not on the page."""
    limits = state.settings.collect
    if branch.action != "STOP" and branch.confidence < limits.min_confidence:
        return f"The decision was not sure enough ({branch.confidence:.2f}, at least {limits.min_confidence:.2f} is wanted).", None
    if branch.action == "EXTRACT_LINKS" and branch.depth + 1 >= limits.max_depth:
        return f"Its entries would lie at depth {branch.depth + 1}; nothing at {limits.max_depth} or deeper is read.", None
    if branch.action != "NAVIGATE_TO":
        return "", None
    target = canonical(branch.target_url)
    if target not in {canonical(offer.url) for offer in sight.offers} | {canonical(link.url) for link in sight.page.links}:
        return "The decision named an address that is not on this page.", Refusal(
            what=branch.target_url[:300] or "(no address)", why="target_url is no link of the page"
        )
    if target not in {canonical(offer.url) for offer in reachable(state, sight)}:
        return "The link leads outside the allowed domains.", Refusal(what=branch.target_url[:300], why="this address is outside the allowed domains")
    if branch.depth + 1 >= limits.max_depth:
        return f"The page behind the link would be at depth {branch.depth + 1}; nothing at {limits.max_depth} or deeper is read.", None
    if target in moves.visited(state) or target in state.tree:
        return "The page it leads to is part of the walk already: no circles.", None
    return "", None


def towards(branch: Branch, sight: Sight) -> Branch:
    """The one page that a NAVIGATE_TO opens."""
    target = canonical(branch.target_url)
    anchor = next((offer.text for offer in sight.offers if canonical(offer.url) == target), "")
    url = next((offer.url for offer in sight.offers if canonical(offer.url) == target), branch.target_url)
    return Branch(id=target, url=url, parent=branch.id, anchor=anchor, depth=branch.depth + 1, path=[*branch.path, 0])


def candidates(state: Collect, branch: Branch, sight: Sight, former: set[str]) -> tuple[list[Offer], list[Offer]]:
    """The links of a listing that may be followed, and those its own dates put outside the time range.

    Left out: what is in the tree already, what stood on the page before it (`former`) when this is a listing's next page.
    """
    fresh = [offer for offer in reachable(state, sight) if canonical(offer.url) not in state.tree and canonical(offer.url) not in former]
    fresh = [offer for offer in fresh if canonical(offer.url) not in moves.visited(state) and canonical(offer.url) != canonical(sight.next_url)]
    old = [offer for offer in fresh if offer.content and state.too_old(offer.date)]
    return [offer for offer in fresh if offer not in old], old


def opened(state: Collect, branch: Branch, ranked: Sequence[RankedLink], offered: Sequence[Offer], step: int) -> tuple[list[Branch], list[Refusal]]:
    """The pages that a ranking opens, best first, at most `max_links`; addresses that were not offered are refused.

    A date the listing shows beside a link goes before the model's, which counts only where the words beside the link hold its year.
    """
    known = {canonical(offer.url): offer for offer in offered}
    limit = state.settings.collect.max_links
    refused = [
        Refusal(what=link.url[:300], why="the ranking named an address that is not on this page", step=step)
        for link in ranked
        if canonical(link.url) not in known
    ]
    best = sorted((link for link in ranked if canonical(link.url) in known), key=lambda link: -link.relevance_score)
    chosen: dict[str, Branch] = {}
    for link in best:
        name = canonical(link.url)
        if name in chosen or len(chosen) >= limit:
            continue
        offer = known[name]
        day = offer.date or _believable(link.detected_date, offer)
        old = state.too_old(day)
        chosen[name] = Branch(
            id=name, url=offer.url, parent=branch.id, anchor=offer.text, depth=branch.depth + 1, path=[*branch.path, len(chosen)],
            relevance_score=round(link.relevance_score, 3), detected_date=day, status="dropped" if old else "open",
            ended=outdated(state, day) if old else "",
        )  # fmt: skip
    return list(chosen.values()), refused


def dropped(state: Collect, branch: Branch, old: Sequence[Offer]) -> list[Branch]:
    """Entries outside the time range, for the tree: not followed, and why."""
    return [
        Branch(
            id=canonical(offer.url), url=offer.url, parent=branch.id, anchor=offer.text, depth=branch.depth + 1, path=[*branch.path, LAST - 1, n],
            detected_date=offer.date, status="dropped", ended=outdated(state, offer.date),
        )
        for n, offer in enumerate(old[:OLD_SHOWN])
    ]  # fmt: skip


def following(state: Collect, branch: Branch, sight: Sight, kind: str) -> Branch | None:
    """The next page of a listing or thread, at the same depth; None when there is none or it is known."""
    name = canonical(sight.next_url)
    if not name or name in state.tree or name in moves.visited(state) or not in_scope(sight.next_url, state.settings.allowed_domains):
        return None
    path = [*branch.path, FIRST if kind == "thread" else LAST]
    return Branch(
        id=name, url=sight.next_url, parent=branch.id, anchor="next page", depth=branch.depth, path=path,
        continues="thread" if kind == "thread" else "listing", item_id=branch.item_id if kind == "thread" else "",
    )  # fmt: skip


def past(state: Collect, sight: Sight) -> bool:
    """Is a listing newest first, and its last entry outside the time range already? What comes behind is older still."""
    days = [offer.date for offer in sight.offers if offer.content and offer.date]
    days = sorted(days, reverse=True) if len(days) == 1 else days
    return bool(days) and all(a >= b for a, b in pairwise(days)) and state.too_old(days[-1])


def outdated(state: Collect, day: str) -> str:
    """Why an entry is left out for its date."""
    return f"Dated {day}: older than the last {state.wanted.time_range_days} days."


def _believable(day: str | None, offer: Offer) -> str:
    return day[:10] if day and day[:4].isdigit() and day[:4] in f"{offer.text} {offer.context} {offer.url}" else ""
