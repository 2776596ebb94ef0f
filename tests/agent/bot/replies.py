"""What the tests of the reply service share: a question, a way to ask it, and the counters."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

import pytest

from agent.bot import metrics
from agent.bot.responder import ReplyService
from agent.types.reply import Conversation, Message

SAID = "Backups run at night, at half past two."
NIGHT = f"{SAID}\n\nSources:\n- Backups"
"""What is posted when this is said."""
ASKED = "When do backups run?"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
Open = Callable[..., ReplyService]


def says(text: str = ASKED, images: list[str] | None = None) -> Conversation:
    return Conversation(messages=[Message(role="user", text=text, images=images or [])])


def counted() -> dict[str, float]:
    """The counters as they stand in what GET /metrics answers."""
    lines = metrics.render_metrics().decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines)
        if name and not name.startswith("#")
    }


def rise(before: dict[str, float]) -> dict[str, float]:
    """What was counted since, without times and creation stamps."""
    now = counted()
    return {
        name: value - before.get(name, 0.0)
        for name, value in now.items()
        if value != before.get(name, 0.0) and not re.search(r"_created|_sum|_bucket", name)
    }


def line_of(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    [line] = [
        record
        for record in caplog.records
        if record.name == "agent.reply" and getattr(record, "event", "") == "reply"
    ]
    return line
