"""The navigation log: each event is part of the run's state, and goes to the standard log with its fields but
without the words of page or model. A step in a line for a person is made of its events."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType

from agent.engine.context import RunContext
from agent.types.collection import CrawlNode, NavEvent, NavEventName

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
