"""The navigation's log: each event goes to the run's state, where the journey shows it, and to the standard
log with its fields."""

from __future__ import annotations

import logging
from typing import Any

from agent.engine.context import RunContext
from agent.types.collection import CollectedItem, CrawlNode, NavEvent, NavEventName

log = logging.getLogger("agent.nav")


def log_decision(tools: RunContext, branch: CrawlNode) -> NavEvent:
    """`nav:decision`: what is done with a page, and why."""
    fields = branch.model_dump(mode="json", include={"action", "confidence", "page_type", "target_url", "by"})
    return _log_event(tools, "nav:decision", branch, branch.reasoning, fields)


def log_extraction(tools: RunContext, branch: CrawlNode) -> NavEvent:
    """`nav:extracting_content`: a page's content is being taken."""
    return _log_event(
        tools,
        "nav:extracting_content",
        branch,
        f"{branch.page_type.replace('_', ' ')}: {branch.title}",
        {"page_type": branch.page_type},
    )


def log_content_added(tools: RunContext, branch: CrawlNode, item: CollectedItem) -> NavEvent:
    """`nav:content_added`: an article or thread is kept."""
    return _log_event(
        tools,
        "nav:content_added",
        branch,
        item.title,
        {"kind": item.kind, "item": item.id, "posts": len(item.posts)},
    )


def log_stop(tools: RunContext, branch: CrawlNode, why: str, *, refused: bool = False) -> NavEvent:
    """`nav:stopped`: the walk does not go on from this page; a warning when an address that is not on the
    page was `refused`."""
    return _log_event(
        tools, "nav:stopped", branch, why, {"outcome": str(branch.outcome or ""), "refused": refused}
    )


def _log_event(
    tools: RunContext, name: NavEventName, branch: CrawlNode, text: str, fields: dict[str, Any]
) -> NavEvent:
    where = {"run": tools.lease.run_id, "step": tools.step, "url": branch.url, "depth": branch.depth}
    extra = {"event": name, **where, "reason": text, **fields}
    log.log(
        logging.WARNING if fields.get("refused") else logging.INFO,
        "%s %s: %s",
        name,
        branch.url,
        text,
        extra=extra,
    )
    return NavEvent(step=tools.step, name=name, url=branch.url, text=text)
