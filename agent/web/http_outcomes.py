"""What a server's answer, or the lack of one, means: an outcome, and a sentence with what happened and what
helps.

Knows statuses, headers and transport errors; reads no bodies. No sentence names an internal address."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import requests
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, SSLError

from agent.net.policies import MB
from agent.types import Outcome

Failure = tuple[Outcome, str]
MISREAD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading a stranger's bytes raises where they have another shape than was thought of."""

REDIRECT_STATUSES = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 10
OUT_OF_SCOPE = (
    "The address is outside the sites this run may visit, so it was not fetched. Widen the domains to "
    "include it."
)
TIMED_OUT = "The server took longer than the time limit. Try again later, or look for the same elsewhere."
UNREADABLE_RESPONSE = (
    "The server's answer could not be understood. Open the page yourself, or look for the same elsewhere."
)
PACKED: Failure = (
    Outcome.UNSUPPORTED,
    "The page came in a compression that is not read here. Open it yourself.",
)
"""A compression whose size cannot be limited."""
_NO_PROGRAMS = "The site does not let programs read this page ({}). Open it yourself, or look elsewhere."
_STATUSES: dict[int, Failure] = {
    204: (
        Outcome.EMPTY,
        "The address answered that it has nothing to show ({}). Look for the same elsewhere.",
    ),
    401: (
        Outcome.BLOCKED,
        "The page asks for a login ({}). Log in with your own browser, or look for an open copy.",
    ),
    402: (
        Outcome.BLOCKED,
        "The page has to be paid for ({}). Read it with your own subscription, or look elsewhere.",
    ),
    403: (Outcome.BLOCKED, _NO_PROGRAMS),
    404: (Outcome.NOT_FOUND, "There is no such page ({}). Check the address, or search for its title."),
    406: (
        Outcome.UNSUPPORTED,
        "The site has this page in no form that can be read here ({}). Open it yourself.",
    ),
    407: (Outcome.BLOCKED, "A proxy asks for a login ({}). Ask whoever runs your network."),
    408: (Outcome.TIMEOUT, TIMED_OUT),
    410: (
        Outcome.NOT_FOUND,
        "The page was removed for good ({}). Look for the same elsewhere, or in a web archive.",
    ),
    451: (Outcome.BLOCKED, "The page is withheld for legal reasons ({}). Look for the same elsewhere."),
    504: (Outcome.TIMEOUT, TIMED_OUT),
    999: (Outcome.BLOCKED, _NO_PROGRAMS),
}
_STATUSES[HTTPStatus.RESET_CONTENT] = _STATUSES[HTTPStatus.NO_CONTENT]


def explain_status(status: int, headers: Mapping[str, str]) -> Failure | None:
    """What a final status means; None for one that comes with a page."""
    if status in (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION, HTTPStatus.PARTIAL_CONTENT):
        return None
    if headers.get("cf-mitigated"):
        human = "The site asks visitors to prove that they are human."
        return Outcome.BLOCKED, f"{human} Open it yourself, or look elsewhere."
    usual = "The server refused the request ({}). Open the page yourself, or look for the same elsewhere."
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        usual = "The site's server is in trouble ({}). Try again later, or look for the same elsewhere."
    outcome, detail = _STATUSES.get(status, (Outcome.ERROR, usual))
    return outcome, detail.format(status)


def describe_pause(seconds: float) -> str:
    """The sentence for a host that is left alone for a while."""
    wait = max(1, round(seconds))
    return f"The site asks for a pause; it may be asked again in {wait} s. Go on with other pages meanwhile."


def explain_too_large(max_bytes: int) -> Failure:
    """The failure for a body over the limit."""
    limit = f"{max_bytes / MB:g} MB"
    return (
        Outcome.TOO_LARGE,
        f"The page is larger than {limit} and was not read. FETCH_MAX_MB raises the limit.",
    )


def explain_transport_error(error: Exception) -> Failure:
    """What went wrong below HTTP; of wrapped errors the cause decides."""
    chain: list[BaseException] = [error]
    while (inner := chain[-1].__cause__ or chain[-1].__context__) is not None and inner not in chain:
        chain.append(inner)
    if any(isinstance(link, requests.Timeout | TimeoutError) for link in chain):
        return Outcome.TIMEOUT, TIMED_OUT
    if any(isinstance(link, SSLError | requests.exceptions.SSLError) for link in chain):
        unread = "The site's certificate could not be verified, so nothing was read."
        return Outcome.ERROR, f"{unread} Check the address, or look elsewhere."
    is_lost = any(
        isinstance(link, IncompleteRead | ConnectionError | requests.ConnectionError) for link in chain
    )
    if not is_lost and isinstance(error, DecodeError | HTTPError | requests.RequestException | ValueError):
        return Outcome.ERROR, UNREADABLE_RESPONSE
    return Outcome.ERROR, "The connection broke off before the page had come. Try again later."
