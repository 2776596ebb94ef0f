"""Why a crawl ends: enough was gathered, a limit was met (and how to raise it), or nothing is left."""

from __future__ import annotations

from collections import Counter

from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.types import Outcome

HOW_TO_RAISE = {
    "articles": "--max-articles, or Options on the screen",
    "pages": "--max-pages, or Options on the screen",
    "depth": "--depth, or Options on the screen",
    "scope": "--allow",
}
"""How a person raises each limit that is theirs to set."""


def explain_end(state: CollectRun, *, at_page_cap: bool = False) -> tuple[str, str]:
    """Why nothing more is visited: the sentence, and the reason ("enough", "limit" or "budget")."""
    own, limits = state.own, state.settings.collect
    waiting = format_count(len(own.frontier(state)), "page")
    if at_page_cap:
        why = f"all {limits.max_pages} pages of this run are used, and {waiting} still waited"
        raising = f" (raise it: {HOW_TO_RAISE['pages']})"
        return why + (raising if state.settings.at_cap != "ask" else ""), "budget"
    if own.is_full:
        wanted = own.intent.max_articles
        why = f"{wanted} were asked for, and as many are gathered"
        if wanted == limits.max_articles and own.frontier(state):
            why += f"; {waiting} still waited (for more: {HOW_TO_RAISE['articles']})"
        return why, "enough"

    held = Counter((node.held, node.status) for node in own.tree.values())
    deep, long, outside = (held[name, "visited"] for name in ("depth", "links", "scope"))
    days = [node.detected_date for node in own.tree.values() if node.status == "dropped"]
    old = 0 if own.kept_items else sum(not own.intent.covers(day) for day in days)
    failed = sum(page.outcome is not Outcome.OK for page in state.pages.values())
    deeper = f"deeper than the depth of {limits.max_depth} allows (raise it: {HOW_TO_RAISE['depth']})"
    best = f"only the best {limits.max_links} links were followed (start at its next part for the rest)"
    beyond = f"outside the allowed domains (allow them: {HOW_TO_RAISE['scope']})"
    stopped = [
        (deep, "page leads", "pages lead", deeper),
        (long, "list", "lists", best),
        (outside, "page leads", "pages lead", beyond),
        (held["doubt", "visited"], "decision was", "decisions were", "not sure enough to be followed"),
        (held["words", "dropped"], "page was", "pages were", "excluded by your words"),
        (old, "entry was", "entries were", "out of the time range"),
        (failed if state.pages_read_count else 0, "page", "pages", "could not be read"),
    ]
    told = [
        f"{'of ' if one == 'list' else ''}{format_count(n, one, many)} {rest}"
        for n, one, many, rest in stopped
        if n
    ]
    is_read = state.pages_read_count > 0
    if not told and is_read:
        return "every page that could be reached is read", "enough"
    read = "every page within reach is read" if is_read else "no page could be read"
    return "; ".join([read, *told]), "limit" if deep or long or outside else "enough"
