"""Why a walk ends, in words that are true: enough was gathered, a limit was met (which one, and how to raise
it), or nothing is left.

Pure functions of the state."""

from __future__ import annotations

from collections.abc import Sequence

from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.types import Outcome
from agent.types.collection import CrawlNode

HOW_TO_RAISE = {
    "articles": "--max-articles, or Options on the screen",
    "pages": "--max-pages, or Options on the screen",
    "depth": "--depth, or Options on the screen",
    "scope": "--allow",
}
"""How a person raises each limit that is theirs to set."""


def end_by_page_cap(state: CollectRun) -> tuple[str, str]:
    """The end by the cap on pages."""
    return f"{describe_page_cap(state)} (raise it: {HOW_TO_RAISE['pages']})", "budget"


def describe_page_cap(state: CollectRun) -> str:
    """That the cap on pages is met, and what it keeps the walk from."""
    return f"all {state.settings.collect.max_pages} pages of this run are used, and {format_count(len(state.own.frontier(state)), 'page')} still waited"


def explain_end(state: CollectRun) -> tuple[str, str]:
    """Why nothing more is visited: the sentence, and the reason as one word (enough, limit)."""
    if state.own.is_full(state):
        most, waiting = state.settings.collect.max_articles, len(state.own.frontier(state))
        told = f"{state.own.effective_intent(state).max_articles} were asked for, and as many are gathered"
        capped = state.own.effective_intent(state).max_articles == most and waiting
        return (
            f"{told}; {format_count(waiting, 'page')} still waited (for more: {HOW_TO_RAISE['articles']})"
            if capped
            else told,
            "enough",
        )
    limits, others = _describe_limits(state), _describe_other_obstacles(state)
    read = "every page within reach is read" if state.pages_read_count else "no page could be read"
    if not limits and not others:
        return "every page that could be reached is read" if state.pages_read_count else read, "enough"
    return "; ".join([read, *limits, *others]), "limit" if limits else "enough"


def _describe_limits(state: CollectRun) -> list[str]:
    """The run's own limits that kept the walk from something, each with the way to raise it."""
    limits = state.settings.collect
    deep, long, outside = (_nodes_limited_by(state, name) for name in ("depth", "links", "scope"))
    told = []
    if deep:
        goes = "leads" if len(deep) == 1 else "lead"
        told.append(
            f"{format_count(len(deep), 'page')} {goes} deeper than the depth of {limits.max_depth} allows (raise it: {HOW_TO_RAISE['depth']})"
        )
    if long:
        told.append(
            f"of {format_count(len(long), 'list')} only the best {limits.max_links} links were followed (start at its next part for the rest)"
        )
    if outside:
        goes = "leads" if len(outside) == 1 else "lead"
        told.append(
            f"{format_count(len(outside), 'page')} {goes} outside the allowed domains (allow them: {HOW_TO_RAISE['scope']})"
        )
    return told


def _describe_other_obstacles(state: CollectRun) -> list[str]:
    """What else kept the walk from something: doubt, a person's words, the time range, pages that would not
    come."""
    doubtful, words = len(_nodes_limited_by(state, "doubt")), _count_dropped(state, "words")
    old = sum(
        branch.status == "dropped" and state.own.is_too_old(state, branch.detected_date)
        for branch in state.own.tree.values()
    )
    failed = (
        sum(page.outcome is not Outcome.OK for page in state.pages.values()) if state.pages_read_count else 0
    )
    told = (
        [f"{format_count(doubtful, 'decision')} {_was_or_were(doubtful)} not sure enough to be followed"]
        if doubtful
        else []
    )
    told += [f"{format_count(words, 'page')} {_was_or_were(words)} ruled out by your words"] if words else []
    told += (
        [f"{format_count(old, 'entry', 'entries')} {_was_or_were(old)} too old"]
        if old and not state.own.kept_items
        else []
    )
    return [*told, *([f"{format_count(failed, 'page')} could not be read"] if failed else [])]


def _nodes_limited_by(state: CollectRun, name: str) -> Sequence[CrawlNode]:
    return [
        branch for branch in state.own.tree.values() if branch.held == name and branch.status == "visited"
    ]


def _count_dropped(state: CollectRun, name: str) -> int:
    return sum(branch.held == name and branch.status == "dropped" for branch in state.own.tree.values())


def _was_or_were(n: int) -> str:
    return "was" if n == 1 else "were"
