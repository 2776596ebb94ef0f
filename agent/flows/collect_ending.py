"""Why a walk ends, in words that are true: enough was gathered, a limit was met (which one, and how to raise it), or nothing is left.

Pure functions of the state.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.flows.collect_state import Collect
from agent.types import Outcome
from agent.types.collected import Branch
from agent.wording import counted

RAISE = {
    "articles": "--max-articles, or Options on the screen",
    "pages": "--max-pages, or Options on the screen",
    "depth": "--depth, or Options on the screen",
    "scope": "--allow",
}
"""How a person raises each limit that is theirs to set."""


def pages_used(state: Collect) -> tuple[str, str]:
    """The end by the cap on pages."""
    return f"{all_pages(state)} (raise it: {RAISE['pages']})", "budget"


def all_pages(state: Collect) -> str:
    """That the cap on pages is met, and what it keeps the walk from."""
    return f"all {state.settings.collect.max_pages} pages of this run are used, and {counted(len(state.frontier), 'page')} still waited"


def over(state: Collect) -> tuple[str, str]:
    """Why nothing more is visited: the sentence, and the reason as one word (enough, limit)."""
    if state.full:
        most, waiting = state.settings.collect.max_articles, len(state.frontier)
        told = f"{state.wanted.max_articles} were asked for, and as many are gathered"
        capped = state.wanted.max_articles == most and waiting
        return f"{told}; {counted(waiting, 'page')} still waited (for more: {RAISE['articles']})" if capped else told, "enough"
    limits, others = _limits(state), _others(state)
    read = "every page within reach is read" if state.pages_read else "no page could be read"
    if not limits and not others:
        return "every page that could be reached is read" if state.pages_read else read, "enough"
    return "; ".join([read, *limits, *others]), "limit" if limits else "enough"


def _limits(state: Collect) -> list[str]:
    """The run's own limits that kept the walk from something, each with the way to raise it."""
    limits = state.settings.collect
    deep, long, outside = (_held(state, name) for name in ("depth", "links", "scope"))
    told = []
    if deep:
        goes = "leads" if len(deep) == 1 else "lead"
        told.append(f"{counted(len(deep), 'page')} {goes} deeper than the depth of {limits.max_depth} allows (raise it: {RAISE['depth']})")
    if long:
        told.append(f"of {counted(len(long), 'list')} only the best {limits.max_links} links were followed (start at its next part for the rest)")
    if outside:
        goes = "leads" if len(outside) == 1 else "lead"
        told.append(f"{counted(len(outside), 'page')} {goes} outside the allowed domains (allow them: {RAISE['scope']})")
    return told


def _others(state: Collect) -> list[str]:
    """What else kept the walk from something: doubt, a person's words, the time range, pages that would not come."""
    doubtful, words = len(_held(state, "doubt")), _dropped(state, "words")
    old = sum(branch.status == "dropped" and state.too_old(branch.detected_date) for branch in state.tree.values())
    failed = sum(page.outcome is not Outcome.OK for page in state.pages.values()) if state.pages_read else 0
    told = [f"{counted(doubtful, 'decision')} {_was(doubtful)} not sure enough to be followed"] if doubtful else []
    told += [f"{counted(words, 'page')} {_was(words)} ruled out by your words"] if words else []
    told += [f"{counted(old, 'entry', 'entries')} {_was(old)} too old"] if old and not state.kept else []
    return [*told, *([f"{counted(failed, 'page')} could not be read"] if failed else [])]


def _held(state: Collect, name: str) -> Sequence[Branch]:
    return [branch for branch in state.tree.values() if branch.held == name and branch.status == "visited"]


def _dropped(state: Collect, name: str) -> int:
    return sum(branch.held == name and branch.status == "dropped" for branch in state.tree.values())


def _was(n: int) -> str:
    return "was" if n == 1 else "were"
