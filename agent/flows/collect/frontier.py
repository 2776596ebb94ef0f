"""Which links a run may follow, which of them a prompt shows, the nodes they open, and why a crawl ends. Pure
functions of the state and a parsed page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent.answering import fact_view
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.retrieval.scorer import rank_passages
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, is_excluded
from agent.types import Outcome, Passage
from agent.types.collection import CollectIntent, CrawlLimit, CrawlNode, LinkCandidate

RANK_FIRST, RANK_LAST = -1, 9_999
"""The ranks of a thread's next page, before anything else, and of a listing's, after all its entries."""
MAX_LINKS_SHOWN = 80
"""Links of one page that a prompt shows."""
LIMITS: dict[CrawlLimit, tuple[str, str, str]] = {
    "depth": (
        "page leads",
        "pages lead",
        "deeper than the depth of {max_depth} allows (raise it: --depth, or Options on the screen)",
    ),
    "links": (
        "list has",
        "lists have",
        "more than the {max_links} links that were followed (start at its next part for the rest)",
    ),
    "scope": ("entry is", "entries are", "outside the allowed domains (allow them: --allow)"),
    "doubt": ("decision was", "decisions were", "not sure enough to be followed"),
    "words": ("page was", "pages were", "excluded by your words"),
    "time": ("entry was", "entries were", "out of the time range"),
}
"""What is told of the nodes that a limit stopped: for one, for several, and the way to raise it."""


def find_limit(state: CollectRun, url: str, day: str = "") -> CrawlLimit:
    """What forbids to follow a link, by its address and the day it is dated; "" when nothing does."""
    intent, below = state.own.intent, f"{canonicalize(url)}/"
    if not state.settings.allows(url):
        return "scope"
    for entry in intent.leave_out_sites:
        if below.startswith(f"{entry}/") if "://" in entry else is_excluded(url, [entry]):
            return "words"
    return "" if intent.covers(day) else "time"


def explain_limit(intent: CollectIntent, limit: CrawlLimit, day: str) -> str:
    """Why an entry or item of a day is left out; "" without a limit."""
    before = f"before {intent.since}" if intent.is_too_old(day) else f"newer than {intent.until}"
    return {
        "scope": "It is outside the allowed domains.",
        "words": "Your words exclude this address.",
        "time": f"Dated {day}: {before}.",
    }.get(limit, "")


def choose_links(
    intent: CollectIntent, links: Sequence[LinkCandidate], limit: int = MAX_LINKS_SHOWN
) -> tuple[list[LinkCandidate], int]:
    """The links that a prompt shows, in the order of the page, and how many are left out: first go those that
    are neither about the section, topic or writer nor dated nor outside of menus."""
    passages = [
        Passage(id=str(n), page_id="", url=link.url, start=0, end=0, text=f"{link.text} {link.context}")
        for n, link in enumerate(links)
    ]
    wanted = f"{intent.target_section} {intent.topic} {intent.author}"
    scores = {passage.id: passage.score for passage in rank_passages(wanted, passages, len(passages))}

    def rank(n: int) -> tuple[float, bool, bool, str, int]:
        day = links[n].date if intent.newest else ""
        return scores[str(n)], bool(links[n].date), links[n].content, day, -n

    best = sorted(range(len(links)), key=rank, reverse=True)[:limit]
    return [links[n] for n in sorted(best)], max(0, len(links) - limit)


def limit_node(state: CollectRun, node: CrawlNode) -> CrawlNode:
    """A node that is to be visited, or dropped when it may not be."""
    limit = find_limit(state, node.url, node.detected_date)
    ended = explain_limit(state.own.intent, limit, node.detected_date)
    return node.replace(status="dropped" if limit else "open", held=limit, ended=ended)


def open_child(
    state: CollectRun, parent: CrawlNode, link: LinkCandidate, *rank: int, day: str = "", **more: object
) -> CrawlNode:
    """The node of a link on the page of `parent`; dropped when it may not be followed."""
    node = CrawlNode(
        id=canonicalize(link.url),
        url=link.url,
        parent=parent.id,
        anchor=link.text,
        depth=parent.depth + 1,
        path=[*parent.path, *rank],
        detected_date=day,
    )
    return limit_node(state, node.replace(**more))


def find_continuation(state: CollectRun, node: CrawlNode, parsed: ParsedPage, kind: str) -> CrawlNode | None:
    """The next page of a "listing" or "thread", at the same depth; None when it is missing or known."""
    name, link = canonicalize(parsed.next_url), LinkCandidate(url=parsed.next_url, text="next page")
    if not name or name in state.own.tree or name in fact_view.visited_urls(state):
        return None
    rank, item = (RANK_FIRST, node.item_id) if kind == "thread" else (RANK_LAST, "")
    child = open_child(state, node, link, rank, depth=node.depth, continues=kind, item_id=item)
    return None if child.held else child


def explain_end(state: CollectRun, *, at_page_cap: bool) -> tuple[str, str]:
    """Why nothing more is visited: the sentence, and the reason ("enough", "limit" or "budget")."""
    own, limits, is_read = state.own, state.settings.collect, state.pages_read_count > 0
    waiting = f"{format_count(len(own.frontier(state)), 'page')} still waited"
    if at_page_cap:
        raising = " (raise it: --max-pages, or Options on the screen)"
        raising = raising if state.settings.at_cap != "ask" else ""
        return f"all {limits.max_pages} pages of this run are used, and {waiting}{raising}", "budget"
    if own.is_full:
        wanted = own.intent.max_articles
        more = f"; {waiting} (for more: --max-articles, or Options on the screen)"
        has_more = wanted == limits.max_articles and own.frontier(state)
        return f"{wanted} were asked for, and as many are gathered{more if has_more else ''}", "enough"
    held = Counter(node.held for node in own.tree.values())
    if own.kept_items:
        del held["time"]
    told = [
        f"{format_count(held[limit], one, many)} {rest.format(**limits.model_dump())}"
        for limit, (one, many, rest) in LIMITS.items()
        if held[limit]
    ]
    failed = sum(page.outcome is not Outcome.OK for page in state.pages.values())
    if failed and is_read:
        told.append(f"{format_count(failed, 'page')} could not be read")
    if not told and is_read:
        return "every page that could be reached is read", "enough"
    read = "every page within reach is read" if is_read else "no page could be read"
    is_limited = any(held[limit] for limit in ("depth", "links", "scope"))
    return "; ".join([read, *told]), "limit" if is_limited else "enough"
