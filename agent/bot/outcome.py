"""The outcome of a request to `reply`, its log line and its metrics."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from agent.bot import metrics
from agent.export.escaping import to_one_line
from agent.types import Usage
from agent.types.reply import AIResult

log = logging.getLogger("agent.reply")
MAX_REASON_CHARS = 500
"""Characters of a reason in the log."""


@dataclass(frozen=True)
class ReplyOutcome:
    """A reply and how it was made. Silence with `failed` is an error, without it a decision; `reason` gives
    the cause of silence."""

    result: AIResult
    run_id: str = ""
    path: tuple[str, ...] = ()
    reason: str = ""
    failed: bool = False
    answerable: bool | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


def log_outcome(replied: ReplyOutcome, seconds: float, *, full: bool) -> ReplyOutcome:
    """Write the log line and the metrics; returns the outcome with its time. Unless `full`, a decision's
    reason is left out: a model wrote it about the conversation."""
    outcome = "success" if replied.result.should_reply else "error" if replied.failed else "skip"
    metrics.count_request(outcome, seconds, replied.usage, answerable=replied.answerable)
    usage, path = replied.usage, " -> ".join(replied.path)
    reason = to_one_line(replied.reason[:MAX_REASON_CHARS]) if full or replied.failed else ""
    extra = {
        "event": "reply",
        "run": replied.run_id,
        "path": path,
        "should_reply": replied.result.should_reply,
        "outcome": outcome,
        "seconds": seconds,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "calls": usage.llm_calls,
        "reason": reason,
    }
    log.log(
        logging.WARNING if replied.failed else logging.INFO,
        "reply %s: %s; should_reply=%s (%s); %.3f s, %d calls, %d + %d tokens%s",
        replied.run_id or "-",
        path,
        replied.result.should_reply,
        outcome,
        seconds,
        usage.llm_calls,
        usage.prompt_tokens,
        usage.completion_tokens,
        f"; {reason}" if reason else "",
        extra=extra,
    )
    return ReplyOutcome(**{**replied.__dict__, "seconds": seconds})
