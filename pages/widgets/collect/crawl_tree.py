"""The navigation tree as HTML: every page of the walk, what was decided there and why, and how its branch
ended."""

from __future__ import annotations

from collections.abc import Sequence

from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.types import Outcome
from agent.types.collection import CrawlNode
from pages.widgets.shell import badges, escape, labels

ACTION_LABELS = {
    "EXTRACT_CONTENT": "kept",
    "EXTRACT_LINKS": "list: links followed",
    "NAVIGATE_TO": "gone on to a section",
    "STOP": "stopped",
}
PAGE_TYPE_LABELS = {
    "article": "article",
    "forum_thread": "thread",
    "forum_listing": "list of threads",
    "news_listing": "list of news",
    "company_profile": "company page",
    "other": "",
}
MAX_OPEN_SHOWN = 8
"""Pages still to be visited that are listed under one page; the rest is counted."""


def render(state: CollectRun, working: str = "") -> str:
    """The whole tree; `working` is the address that is being read now."""
    below: dict[str, list[CrawlNode]] = {}
    for branch in sorted(state.own.tree.values(), key=lambda branch: branch.path):
        below.setdefault(branch.parent, []).append(branch)
    return f'<div class="ts">{_render_level(below, "", state, working)}</div>'


def _render_level(below: dict[str, list[CrawlNode]], parent: str, state: CollectRun, working: str) -> str:
    children = below.get(parent, [])
    walked = [branch for branch in children if branch.status == "visited"]
    waiting = [branch for branch in children if branch.status == "open"]
    left = [branch for branch in children if branch.status == "dropped"]
    items = [
        f"<li>{_render_page(branch)}{_render_level(below, branch.id, state, working)}</li>"
        for branch in walked
    ]
    items += [
        f"<li>{_render_open(branch, live=branch.url == working)}</li>" for branch in waiting[:MAX_OPEN_SHOWN]
    ]
    if len(waiting) > MAX_OPEN_SHOWN:
        items.append(f'<li class="soft small">and {len(waiting) - MAX_OPEN_SHOWN} more to visit</li>')
    if left:
        told = (f"{branch.anchor or escape.shorten_url(branch.url)}: {branch.ended}" for branch in left)
        rows = "".join(f"<div>{escape.html(line)}</div>" for line in told)
        title = f"<summary>{format_count(len(left), 'entry', 'entries')} left out</summary>"
        items.append(f"<li><details>{title}{rows}</details></li>")
    return f'<ul class="walk">{"".join(items)}</ul>' if items else ""


def _render_page(branch: CrawlNode) -> str:
    """A page that was visited."""
    start = branch.anchor if branch.parent else "Start page"
    name = escape.html(escape.shorten(branch.title or start or escape.shorten_url(branch.url), 120))
    told = (
        f'<div class="chips">{badges.render_row(list_chips(branch))}</div>',
        f'<div class="why">{escape.html(branch.reasoning)}</div>' * bool(branch.reasoning),
        f'<div class="ended">Ended here: {escape.html(branch.ended)}</div>'
        * (branch.ended not in ("", branch.reasoning)),
        f'<div class="small"><b>Without the model:</b> {escape.html(branch.trouble)}</div>'
        * bool(branch.trouble),
    )
    link = f'<span class="small">{escape.render_link(branch.url)}</span>'
    mark = f'<span class="mark {choose_tone(branch)}" aria-hidden="true"></span>'
    return f'{mark}<span class="page">{name}</span> {link}{"".join(told)}'


def _render_open(branch: CrawlNode, *, live: bool) -> str:
    """A page that waits to be visited, or is being read now."""
    about = f'<span class="small soft">{escape.html(branch.detected_date)}</span>'
    mark = f'<span class="mark {"live" if live else ""}" aria-hidden="true"></span>'
    return f'{mark}<span class="soft">{escape.html(branch.anchor or branch.url)}</span> {about}'


def list_chips(branch: CrawlNode) -> Sequence[tuple[str, str]]:
    """What was decided and of what kind the page is; how the fetch failed."""
    if branch.outcome is not None and branch.outcome is not Outcome.OK:
        return [(labels.OUTCOME[branch.outcome], "bad")]
    action = ACTION_LABELS.get(branch.action or "", ""), "good" if branch.action == "EXTRACT_CONTENT" else ""
    return [chip for chip in (action, (PAGE_TYPE_LABELS[branch.page_type], "")) if chip[0]]


def choose_tone(branch: CrawlNode) -> str:
    """The colour of a page's mark."""
    if branch.outcome is not None and branch.outcome is not Outcome.OK:
        return "bad"
    return "good" if branch.item_id else "warn" if branch.ended else ""
