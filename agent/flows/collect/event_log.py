"""The navigation log: each event is part of the run's state, and goes to the standard log with its fields but
without the words of page or model. A step in a line for a person is made of its events."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.types.collection import CollectIntent, CrawlNode, NavEvent, NavEventName

log = logging.getLogger("agent.nav")
LOGGED_FIELDS = {"url", "depth", "action", "confidence", "page_type", "target_url", "by", "outcome"}


def log_event(
    tools: RunContext,
    name: NavEventName,
    node: CrawlNode,
    text: str,
    *,
    refused: bool = False,
    about: Mapping[str, object] = MappingProxyType({}),
) -> NavEvent:
    """The event at a page, in the log with what it is `about`; a warning when its decision is `refused`."""
    where = {"event": name, "run": tools.lease.run_id, "step": tools.step, "refused": refused}
    extra = {**where, **node.model_dump(mode="json", include=LOGGED_FIELDS), **about}
    log.log(logging.WARNING if refused else logging.INFO, "%s %s", name, node.url, extra=extra)
    return NavEvent(step=tools.step, name=name, url=node.url, text=text)


def describe_step(name: str, change: Change) -> str:
    """What was decided at a page and why, or how its fetch failed; "" when there is nothing to report."""
    if name == "intent" and change.get("intent"):
        intent = CollectIntent.model_validate(change["intent"])
        told = [f"wanted: {intent.topic or 'what the start pages hold'}", intent.target_section]
        told += [intent.period, f"without: {'; '.join(intent.leave_out)}" if intent.leave_out else ""]
        trouble = change.get("intent_trouble")
        return ", ".join(filter(None, told)) + (f"\n       by rule: {trouble}" if trouble else "")
    nodes = {node["url"]: node for node in change.get("tree", [])}
    lines = []
    for event in change.get("events", []):
        node = nodes.get(event["url"], {})
        is_decision = event["name"] == "nav:decision" and node.get("action")
        decided = f" {node['action']} ({node['confidence']:.2f})" if is_decision else ""
        lines.append(f"{event['name']}{decided} {event['url']} — {event['text']}")
    return "\n       ".join(lines)
