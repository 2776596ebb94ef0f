"""The navigation log: each event is part of the run's state, and goes to the standard log with its fields but
without the words of page or model."""

from __future__ import annotations

import logging
from typing import Any

from agent.engine.context import RunContext
from agent.types.collection import CollectedItem, CrawlNode, NavEvent, NavEventName

log = logging.getLogger("agent.nav")


def log_decision(tools: RunContext, node: CrawlNode) -> NavEvent:
    """`nav:decision`: what is done with a page, and why."""
    fields = node.model_dump(mode="json", include={"action", "confidence", "page_type", "target_url", "by"})
    return _log_event(tools, "nav:decision", node, node.reasoning, **fields)


def log_extraction(tools: RunContext, node: CrawlNode) -> NavEvent:
    """`nav:extracting_content`: the content of a page is extracted."""
    text = f"{node.page_type.replace('_', ' ')}: {node.title}"
    return _log_event(tools, "nav:extracting_content", node, text, page_type=node.page_type)


def log_content_added(tools: RunContext, node: CrawlNode, item: CollectedItem) -> NavEvent:
    """`nav:content_added`: an item is kept."""
    fields = {"kind": item.kind, "item": item.id, "posts": len(item.posts)}
    return _log_event(tools, "nav:content_added", node, item.title, **fields)


def log_stop(tools: RunContext, node: CrawlNode, why: str, *, refused: bool = False) -> NavEvent:
    """`nav:stopped`: the crawl ends at this page; a warning when its decision is `refused`."""
    return _log_event(tools, "nav:stopped", node, why, outcome=str(node.outcome or ""), refused=refused)


def _log_event(tools: RunContext, name: NavEventName, node: CrawlNode, text: str, **fields: Any) -> NavEvent:
    where = {"run": tools.lease.run_id, "step": tools.step, "url": node.url, "depth": node.depth}
    level = logging.WARNING if fields.get("refused") else logging.INFO
    log.log(level, "%s %s", name, node.url, extra={"event": name, **where, **fields})
    return NavEvent(step=tools.step, name=name, url=node.url, text=text)
