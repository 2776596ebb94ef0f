"""The outcome of a request to `reply`, its log line and its metrics."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from agent import errors
from agent.bot import metrics
from agent.export.escaping import to_one_line
from agent.types import Usage
from agent.types.reply import AIResult

log = logging.getLogger("agent.reply")
MAX_REASON_CHARS = 500
"""Characters of a reason in the log."""


@dataclass(frozen=True)
class ReplyOutcome:
    """A reply and how it was made. Silence is an error with `failed`, else a decision with its `reason`."""

    result: AIResult
    run_id: str = ""
    path: tuple[str, ...] = ()
    reason: str = ""
    failed: bool = False
    answerable: bool | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


def log_outcome(replied: ReplyOutcome, seconds: float) -> ReplyOutcome:
    """Write the log line and the metrics; returns the outcome with its time. A decision's reason is
    left out: a model wrote it about the conversation."""
    outcome = "success" if replied.result.should_reply else "error" if replied.failed else "skip"
    metrics.count_request(outcome, seconds, replied.usage, answerable=replied.answerable)
    usage = replied.usage
    kind = replied.reason.partition(":")[0]
    is_ours = not kind.isidentifier() or hasattr(errors, kind)  # else a library's words about anything
    reason = to_one_line(replied.reason[:MAX_REASON_CHARS] if is_ours else kind) if replied.failed else ""
    fields = {
        "event": "reply",
        "run": replied.run_id,
        "path": " -> ".join(replied.path),
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
        "reply %(run)s: %(path)s; should_reply=%(should_reply)s (%(outcome)s); %(seconds).3f s, "
        "%(calls)d calls, %(prompt_tokens)d + %(completion_tokens)d tokens; %(reason)s",
        fields,
        extra=fields,
    )
    return ReplyOutcome(**{**replied.__dict__, "seconds": seconds})
