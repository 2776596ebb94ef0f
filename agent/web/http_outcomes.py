"""What a server's answer, or the lack of one, means: an outcome, and a sentence with what happened and what
helps.

Knows statuses, headers and transport errors; reads no bodies. No sentence names an internal address."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from agent.net.deadline import NoAnswer
from agent.types import Outcome

MISREAD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading a stranger's bytes raises where they have another shape than was thought of."""

MAX_REDIRECTS = 10
OUT_OF_SCOPE = (
    "The address is outside the sites this run may visit, so it was not fetched. Widen the domains to "
    "include it."
)
TIMED_OUT = "The server took longer than the time limit. Try again later, or look for the same elsewhere."
UNREADABLE_RESPONSE = (
    "The server's answer could not be understood. Open the page yourself, or look for the same elsewhere."
)
PACKED = "The page came in a compression that is not read here. Open it yourself."
"""A compression whose size cannot be limited."""
_ROWS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
_STATUSES = {int(row[0]): (Outcome[row[1]], row[2]) for row in (line.split(" | ") for line in _ROWS)}


def explain_status(status: int, headers: Mapping[str, str]) -> NoAnswer:
    """What a final status means that comes without a page."""
    usual = "The server refused the request ({}). Open the page yourself, or look for the same elsewhere."
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        usual = "The site's server is in trouble ({}). Try again later, or look for the same elsewhere."
    outcome, detail = _STATUSES.get(status, (Outcome.ERROR, usual))
    if headers.get("cf-mitigated"):
        human = "The site asks visitors to prove that they are human."
        outcome, detail = Outcome.BLOCKED, f"{human} Open it yourself, or look elsewhere."
    return NoAnswer(detail.format(status), outcome, status)


def explain_pause(seconds: float, status: int | None = None) -> NoAnswer:
    """What it means that a host is left alone for a while."""
    again = f"it may be asked again in {max(1, round(seconds))} s"
    detail = f"The site asks for a pause; {again}. Go on with other pages meanwhile."
    return NoAnswer(detail, Outcome.RATE_LIMITED, status)
