"""Why a crawl ends: enough was gathered, a limit was met (and how to raise it), or nothing is left."""

from __future__ import annotations

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


def end_by_page_cap(state: CollectRun) -> tuple[str, str]:
    """The end by the limit on pages: the sentence and the reason."""
    return f"{describe_page_cap(state)} (raise it: {HOW_TO_RAISE['pages']})", "budget"


def describe_page_cap(state: CollectRun) -> str:
    """The limit on pages, and how many pages it leaves unread."""
    waiting = format_count(len(state.own.frontier(state)), "page")
    return f"all {state.settings.collect.max_pages} pages of this run are used, and {waiting} still waited"


def explain_end(state: CollectRun) -> tuple[str, str]:
    """Why nothing more is visited: the sentence, and the reason ("enough" or "limit")."""
    if state.own.is_full(state):
        wanted, waiting = state.own.effective_intent(state).max_articles, len(state.own.frontier(state))
        why = f"{wanted} were asked for, and as many are gathered"
        if wanted == state.settings.collect.max_articles and waiting:
            why += f"; {format_count(waiting, 'page')} still waited (for more: {HOW_TO_RAISE['articles']})"
        return why, "enough"
    limits, obstacles = _describe_limits(state), _describe_obstacles(state)
    is_read = state.pages_read_count > 0
    if not limits and not obstacles and is_read:
        return "every page that could be reached is read", "enough"
    read = "every page within reach is read" if is_read else "no page could be read"
    return "; ".join([read, *limits, *obstacles]), "limit" if limits else "enough"


def _describe_limits(state: CollectRun) -> list[str]:
    """The limits of the run that stopped the crawl somewhere, each with the way to raise it."""
    limits = state.settings.collect
    deep, long, outside = (_count_held(state, name) for name in ("depth", "links", "scope"))
    allowed = f"than the depth of {limits.max_depth} allows (raise it: {HOW_TO_RAISE['depth']})"
    best = f"only the best {limits.max_links} links were followed (start at its next part for the rest)"
    sentences = [
        (deep, f"{_lead(deep)} deeper {allowed}"),
        (long, f"of {format_count(long, 'list')} {best}"),
        (outside, f"{_lead(outside)} outside the allowed domains (allow them: {HOW_TO_RAISE['scope']})"),
    ]
    return [sentence for n, sentence in sentences if n]


def _lead(n: int) -> str:
    return f"{format_count(n, 'page')} {'leads' if n == 1 else 'lead'}"


def _describe_obstacles(state: CollectRun) -> list[str]:
    """What else stopped the crawl: doubt, a person's words, the time range, unreadable pages."""
    old = sum(
        node.status == "dropped" and not state.own.is_in_range(state, node.detected_date)
        for node in state.own.tree.values()
    )
    failed = sum(page.outcome is not Outcome.OK for page in state.pages.values())
    counts = [
        (_count_held(state, "doubt"), "decision", "", "not sure enough to be followed"),
        (_count_held(state, "words", "dropped"), "page", "", "excluded by your words"),
        (0 if state.own.kept_items else old, "entry", "entries", "out of the time range"),
    ]
    sentences = [
        f"{format_count(n, noun, plural)} {'was' if n == 1 else 'were'} {what}"
        for n, noun, plural, what in counts
        if n
    ]
    if failed and state.pages_read_count:
        sentences.append(f"{format_count(failed, 'page')} could not be read")
    return sentences


def _count_held(state: CollectRun, limit: str, status: str = "visited") -> int:
    return sum(node.held == limit and node.status == status for node in state.own.tree.values())
