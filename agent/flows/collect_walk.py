"""Where the walk goes: the pages to visit, the check of a decision, the links that are opened. Code, not hope.

Pure functions of the state and of what stands on a page; nothing here asks a model or the web.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.flows import moves
from agent.flows.collect_page import Sight
from agent.flows.collect_state import Collect
from agent.flows.collect_wishes import RULED_OUT, forbidden, is_barred, named
from agent.roles.link_ranking import RankedLink
from agent.roles.page_decision import PageDecision
from agent.roles.role import Judgement
from agent.text.orders import ordered_links
from agent.types import Refusal
from agent.types.collected import Branch, Held, Offer
from agent.urls import canonical

LAST = 9_999
"""The rank of a listing's next page: behind all its entries."""
FIRST = -1
"""The rank of a thread's next page: before anything else."""
OLD_SHOWN = 20
"""Entries outside the time range that are kept in the tree, with the reason."""


@dataclass(frozen=True)
class Objection:
    """Why a decision is not followed, in words; the limit it met; the refusal to be counted when it named an address that may not be asked for."""

    why: str
    held: Held = ""
    refusal: Refusal | None = None


@dataclass(frozen=True)
class Entries:
    """The links of a listing: those that may be followed, and those that may not, for their date, their host, or a person's words."""

    fresh: list[Offer]
    old: list[Offer]
    outside: list[Offer]
    barred: list[Offer]


def starts(state: Collect) -> list[Branch]:
    """The pages a person named: start pages, addresses in the prompt and in notes; those that are new to the tree."""
    fresh = {canonical(url): url for url in reversed(named(state)) if canonical(url) and canonical(url) not in state.tree}
    ranks = sum(branch.depth == 0 and not branch.continues for branch in state.tree.values())
    return [Branch(id=name, url=url, path=[ranks + n], anchor="given by you") for n, (name, url) in enumerate(reversed(fresh.items()))]


def upcoming(state: Collect) -> Branch | None:
    """The next page to visit, None when the walk is over: nothing left, or enough gathered (a thread that goes on is read to its end)."""
    waiting = state.frontier
    if state.settings.stops_at == "step":
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


def objection(state: Collect, branch: Branch, sight: Sight) -> Objection | None:
    """Why a decision is not followed, None when it is."""
    limits = state.settings.collect
    if branch.action != "STOP" and branch.confidence < limits.min_confidence:
        return Objection(f"The decision was not sure enough ({branch.confidence:.2f}, at least {limits.min_confidence:.2f} is wanted).", "doubt")
    if branch.action == "EXTRACT_LINKS" and branch.depth + 1 >= limits.max_depth:
        return Objection(f"Its entries would lie at depth {branch.depth + 1}; nothing at {limits.max_depth} or deeper is read.", "depth")
    if branch.action != "NAVIGATE_TO":
        return None
    target, told = canonical(branch.target_url), branch.target_url[:300] or "(no address)"
    if target not in {canonical(offer.url) for offer in sight.offers} | {canonical(link.url) for link in sight.page.links}:
        return Objection(
            "The decision named an address that is not on this page.", refusal=Refusal(what=told, why="target_url is no link of the page")
        )
    if not state.settings.admits(branch.target_url):
        outside = Refusal(what=told, why="this address is outside the allowed domains")
        return Objection("The link leads outside the allowed domains.", "scope", outside)
    if is_barred(branch.target_url, forbidden(state)):
        return Objection(RULED_OUT, "words", Refusal(what=told, why="a person's words rule this address out"))
    if target in {canonical(link.url) for link in ordered_links(sight.page.text, sight.page.links)}:
        ordered = Refusal(what=told, why="the page orders a reading program to follow this link")
        return Objection("The link stands among words that give orders to a reading program.", refusal=ordered)
    if branch.depth + 1 >= limits.max_depth:
        return Objection(f"The page behind the link would be at depth {branch.depth + 1}; nothing at {limits.max_depth} or deeper is read.", "depth")
    if target in moves.visited(state) or target in state.tree:
        return Objection("The page it leads to is part of the walk already: no circles.")
    return None


def towards(branch: Branch, sight: Sight) -> Branch:
    """The one page that a NAVIGATE_TO opens."""
    target = canonical(branch.target_url)
    anchor = next((offer.text for offer in sight.offers if canonical(offer.url) == target), "")
    url = next((offer.url for offer in sight.offers if canonical(offer.url) == target), branch.target_url)
    return Branch(id=target, url=url, parent=branch.id, anchor=anchor, depth=branch.depth + 1, path=[*branch.path, 0])


def candidates(state: Collect, branch: Branch, sight: Sight, former: set[str]) -> Entries:
    """The links of a listing in their four kinds.

    Left out: what is in the tree already, what stood on the page before it (`former`) when this is a listing's next page.
    """
    seen = {*state.tree, *former, *moves.visited(state), canonical(sight.next_url)}
    fresh = [offer for offer in sight.offers if canonical(offer.url) not in seen]
    inside = [offer for offer in fresh if state.settings.admits(offer.url)]
    entries = forbidden(state)
    barred = [offer for offer in inside if is_barred(offer.url, entries)]
    free = [offer for offer in inside if offer not in barred]
    old = [offer for offer in free if offer.content and state.too_old(offer.date)]
    outside = [offer for offer in fresh if offer not in inside]
    return Entries(fresh=[offer for offer in free if offer not in old], old=old, outside=outside, barred=barred)


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


def dropped(state: Collect, branch: Branch, entries: Entries) -> list[Branch]:
    """Entries outside the time range and those that a person rules out, for the tree: not followed, and why."""
    told: list[tuple[Offer, str, Held]] = [(offer, outdated(state, offer.date), "") for offer in entries.old[:OLD_SHOWN]]
    told += [(offer, RULED_OUT, "words") for offer in entries.barred[:OLD_SHOWN] if offer.content]
    return [
        Branch(
            id=canonical(offer.url), url=offer.url, parent=branch.id, anchor=offer.text, depth=branch.depth + 1, path=[*branch.path, LAST - 1, n],
            detected_date=offer.date, status="dropped", ended=why, held=held,
        )
        for n, (offer, why, held) in enumerate(told)
    ]  # fmt: skip


def unfollowed(found: Entries) -> str:
    """Why nothing of a listing is followed, in words."""
    if found.old:
        return "None of its entries is in the time range."
    if not any(offer.content for offer in found.fresh) and found.barred:
        return "Your words rule out all its entries."
    if not any(offer.content for offer in found.fresh) and any(offer.content for offer in found.outside):
        return "All its entries lie outside the allowed domains."
    return "None of its links was worth following."


def cut_off(state: Collect, found: Entries, children: Sequence[Branch]) -> Held:
    """Which limit kept a listing's entries from being followed."""
    if len(children) >= state.settings.collect.max_links and sum(offer.content for offer in found.fresh) > len(children):
        return "links"
    if any(offer.content for offer in found.barred):
        return "words"
    return "scope" if not children and any(offer.content for offer in found.outside) else ""


def following(state: Collect, branch: Branch, sight: Sight, kind: str) -> Branch | None:
    """The next page of a listing or thread, at the same depth; None when there is none or it is known."""
    name = canonical(sight.next_url)
    if not name or name in state.tree or name in moves.visited(state) or not state.settings.admits(sight.next_url):
        return None
    if is_barred(sight.next_url, forbidden(state)):
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
