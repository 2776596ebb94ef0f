"""Plain words for what the nouns call by short names, and figures as a person reads them. Knows no screen."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import PurePath

from agent.evidence.conclusion import VERDICT_LABELS
from agent.text.plurals import format_count
from agent.types import Cap, Outcome, ReportLength, Run, Status, describe_action

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
STATUS = {
    Status.RUNNING: ("Working", "live"),
    Status.WAITING: ("Waiting for you", "warn"),
    Status.REVIEW: ("Answer to review", "warn"),
    Status.PAUSED: ("Paused", "mute"),
    Status.STOPPED: ("Stopped", "mute"),
    Status.DONE: ("Accepted", "good"),
    Status.FAILED: ("Failed", "bad"),
}
"""How a run stands, and the colour of its mark."""
FACT_STATUS = {
    "pinned": "always used",
    "struck": "excluded",
    "flagged": "order to machines",
    "not carried by its quote": "not supported by its quote",
}
"""The stored words for the status of a fact that a person reads in others."""
PART_STATUS = {
    "open": ("Open", "mute"),
    "answered": ("Answered", "good"),
    "found": ("Passages found", ""),
    "disputed": ("Disputed", "warn"),
    "not_found": ("No passage found", "mute"),
}
"""The status of a part of the plan, and the colour of its mark."""


def mark_status(run: Run) -> tuple[str, str]:
    """How a run stands, in a word or two ("Accepted" only where there was something to accept), and its
    colour."""
    word, tone = STATUS[run.status]
    if run.status is Status.REVIEW and run.verdict == "no_evidence":
        return "No answer", tone
    if run.status is not Status.DONE or run.is_accepted:
        return word, tone
    replied = "No reply" if run.verdict in ("", "no_evidence") else "Replied"
    return replied if run.settings.flow == "reply" else "Done", tone


def mark_verdict(verdict: str) -> tuple[str, str]:
    """A verdict as a person calls it, and its colour."""
    tones = {"answered": "good", "partial": "warn", "no_evidence": "mute"}
    return VERDICT_LABELS.get(verdict, verdict), tones.get(verdict, "")  # type: ignore[call-overload]


UNTIL = {
    "review": "Run until the answer",
    "step": "Ask me before each step",
    "conflict": "Run until the next conflict",
    "budget": "Keep looking until the limit",
}
"""How far a run goes by itself."""
BUDGET: dict[Cap, str] = {
    "steps": "Searches and pages",
    "pages": "Pages read",
    "calls": "Model calls",
    "tokens": "Tokens",
    "cost": "Cost in dollars",
    "seconds": "Working time (minutes)",
}
OUTCOME = {
    Outcome.OK: "read",
    Outcome.EMPTY: "nothing there",
    Outcome.RATE_LIMITED: "asked us to slow down",
    Outcome.BLOCKED: "blocked us",
    Outcome.NOT_FOUND: "not found",
    Outcome.TIMEOUT: "too slow",
    Outcome.UNSUPPORTED: "cannot be read here",
    Outcome.TOO_LARGE: "too large",
    Outcome.REFUSED: "refused by our rules",
    Outcome.ERROR: "error",
}


def describe_lengths(*, has_model: bool) -> dict[ReportLength, tuple[str, str]]:
    """Each length of an answer with its name and what it holds, written with or without a model."""
    full = "summary, sections, tables" if has_model else "quotes part by part, tables and charts of the pages"
    return {
        "brief": ("Brief", "the answer and what backs it"),
        "standard": ("Standard", "the answer, then what the matter asks for"),
        "full": ("Full report", f"{full}, limits, method, references"),
    }


def name_action(action: str, world: str) -> str:
    """An action of research as a title: "Search with Crossref", "Search the demo world", "Read a page"."""
    words = "question to you" if action == "ask" else describe_action(action, world)
    return words[:1].upper() + words[1:]


def describe_world(name: str) -> str:
    """A world as a person calls it: "live", "demo world", or the folder's own name without the way to it."""
    return {"live": "live", "demo": "demo world"}.get(name) or f"folder {PurePath(name).name or name}"


def format_percent(share: float | None) -> str:
    """0.62 as "62 %"; a dash when there is none."""
    return "–" if share is None else f"{round(share * 100)} %"


def format_duration(seconds: float) -> str:
    """Seconds as "0.8 s", "42 s", "2 min" or "3 min 05 s"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole % 60 == 0 else f"{whole // 60} min {whole % 60:02d} s"


def format_money(cost: float | None) -> str:
    """US dollars; "unknown" when the price of a model is not known."""
    if cost is None:
        return "unknown"
    return "$0" if cost == 0 else f"${cost:.2f}" if cost >= 0.1 else f"${cost:.4f}"


def format_time(iso: str) -> str:
    """An ISO 8601 time as "2026-11-21 09:30 UTC", a day as it is; "" when it is neither."""
    return (
        f"{iso[:10]} {iso[11:16]} UTC" if _TIME.match(iso) else iso[:10] if _DAY.fullmatch(iso[:10]) else ""
    )


def days_since(iso: str, now: datetime | None = None) -> int:
    """Whole days since an ISO 8601 time; 0 for none."""
    return int(_seconds_since(iso, now) or 0) // 86400


def _seconds_since(iso: str, now: datetime | None) -> float | None:
    try:
        then = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return ((now or datetime.now(UTC)) - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()


def format_age(iso: str, now: datetime | None = None) -> str:
    """How long ago an ISO 8601 time was, in words: "just now", "12 min ago", "3 days ago"."""
    if (seconds := _seconds_since(iso, now)) is None:
        return ""
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    days = int(seconds // 86400)
    return f"{format_count(days, 'day')} ago" if days else f"{int(seconds // 3600)} h ago"
