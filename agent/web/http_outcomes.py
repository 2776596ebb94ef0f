"""What a server's answer, or the lack of one, means: an outcome, and a sentence with what happened and what
helps.

Knows statuses, headers and transport errors; reads no bodies. No sentence names an internal address."""

from __future__ import annotations

from collections.abc import Mapping

import requests
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, SSLError

from agent.types import Outcome

Failure = tuple[Outcome, str]
MISREAD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading a stranger's bytes raises where they have another shape than was thought of."""

REDIRECT_STATUSES = (301, 302, 303, 307, 308)
TOO_MANY_REDIRECTS = "The address redirects more than ten times. Open it yourself to see where it leads."
INVALID_REDIRECT = (
    "The server redirects to something that is no address. Open the page yourself to see where it leads."
)
REDIRECT_WITHOUT_TARGET = "The server says the page has moved but not where to. Search for its title instead."
OUT_OF_SCOPE = (
    "The address is outside the sites this run may visit, so it was not fetched. Widen the domains to "
    "include it."
)
TIMED_OUT = "The server took longer than the time limit. Try again later, or look for the same elsewhere."
_CONNECTION_LOST = "The connection broke off before the page had come. Try again later."
_BAD_CERTIFICATE = (
    "The site's certificate could not be verified, so nothing was read. Check the address, or look elsewhere."
)
UNREADABLE_RESPONSE = (
    "The server's answer could not be understood. Open the page yourself, or look for the same elsewhere."
)
_NO_PROGRAMS = "The site does not let programs read this page ({}). Open it yourself, or look elsewhere."
_PROVE_HUMAN = "The site asks visitors to prove that they are human. Open it yourself, or look elsewhere."
_NOTHING_TO_SHOW = "The address answered that it has nothing to show ({}). Look for the same elsewhere."
_SERVER_TROUBLE = "The site's server is in trouble ({}). Try again later, or look for the same elsewhere."
_REQUEST_REFUSED = (
    "The server refused the request ({}). Open the page yourself, or look for the same elsewhere."
)
PACKED: Failure = (
    Outcome.UNSUPPORTED,
    "The page came in a compression that is not read here. Open it yourself.",
)
"""A compression whose size cannot be limited."""
_BLOCKED: dict[int, str] = {
    401: "The page asks for a login (401). Log in with your own browser, or look for an open copy.",
    402: "The page has to be paid for (402). Read it with your own subscription, or look elsewhere.",
    403: _NO_PROGRAMS.format(403),
    407: "A proxy asks for a login (407). Ask whoever runs your network.",
    451: "The page is withheld for legal reasons (451). Look for the same elsewhere.",
    999: _NO_PROGRAMS.format(999),
}
_NOT_FOUND: dict[int, str] = {
    404: "There is no such page (404). Check the address, or search for its title.",
    410: "The page was removed for good (410). Look for the same elsewhere, or in a web archive.",
}
_STATUS_FAILURES: dict[int, Failure] = {
    **{status: (Outcome.BLOCKED, detail) for status, detail in _BLOCKED.items()},
    **{status: (Outcome.NOT_FOUND, detail) for status, detail in _NOT_FOUND.items()},
    **dict.fromkeys((408, 504), (Outcome.TIMEOUT, TIMED_OUT)),
    406: (
        Outcome.UNSUPPORTED,
        "The site has this page in no form that can be read here (406). Open it yourself.",
    ),
}


def explain_status(status: int, headers: Mapping[str, str]) -> Failure | None:
    """What a final status means; None for one that comes with a page."""
    if status in (200, 203, 206):
        return None
    if status in (204, 205):
        return Outcome.EMPTY, _NOTHING_TO_SHOW.format(status)
    if headers.get("cf-mitigated"):
        return Outcome.BLOCKED, _PROVE_HUMAN
    if status in _STATUS_FAILURES:
        return _STATUS_FAILURES[status]
    return Outcome.ERROR, (_SERVER_TROUBLE if status >= 500 else _REQUEST_REFUSED).format(status)


def describe_pause(seconds: float) -> str:
    """The sentence for a host that is left alone for a while."""
    wait = max(1, round(seconds))
    return f"The site asks for a pause; it may be asked again in {wait} s. Go on with other pages meanwhile."


def explain_too_large(max_bytes: int) -> Failure:
    """The failure for a body over the limit."""
    limit = f"{max_bytes / 1_000_000:g} MB"
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
        return Outcome.ERROR, _BAD_CERTIFICATE
    if any(isinstance(link, IncompleteRead | ConnectionError | requests.ConnectionError) for link in chain):
        return Outcome.ERROR, _CONNECTION_LOST
    is_unreadable = isinstance(error, DecodeError | HTTPError | requests.RequestException | ValueError)
    return Outcome.ERROR, UNREADABLE_RESPONSE if is_unreadable else _CONNECTION_LOST
