"""What a server's answer, or the lack of one, means: an outcome and a sentence that says what happened and
what can be done.

Knows statuses, headers and transport errors; reads no bodies. No sentence names an internal address."""

from __future__ import annotations

from collections.abc import Mapping

import requests
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, SSLError

from agent.types import Outcome

Failure = tuple[Outcome, str]

TOO_MANY_REDIRECTS = "The address kept sending us on, more than ten times, and was given up. Open it yourself to see where it leads."
INVALID_REDIRECT = (
    "The server sends us on to something that is no address. Open the page yourself to see where it leads."
)
REDIRECT_WITHOUT_TARGET = "The server says the page has moved but not where to. Search for its title instead."
OUT_OF_SCOPE = "The address is outside the sites this run may visit, so it was not fetched. Widen the domains to include it."
TIMED_OUT = "The server took too long and was given up at the time limit. Try again later, or look for the same elsewhere."
_CONNECTION_LOST = "The connection broke off before the page had come. Try again later."
_BAD_CERTIFICATE = (
    "The site's certificate could not be verified, so nothing was read. Check the address, or look elsewhere."
)
_UNREADABLE_RESPONSE = (
    "The server's answer could not be understood. Open the page yourself, or look for the same elsewhere."
)

_STATUS_FAILURES: dict[int, Failure] = {
    401: (
        Outcome.BLOCKED,
        "The page asks for a login (401). Log in with your own browser, or look for an open copy.",
    ),
    402: (
        Outcome.BLOCKED,
        "The page has to be paid for (402). Read it with your own subscription, or look elsewhere.",
    ),
    403: (
        Outcome.BLOCKED,
        "The site does not let programs read this page (403). Open it yourself, or look elsewhere.",
    ),
    404: (Outcome.NOT_FOUND, "There is no such page (404). Check the address, or search for its title."),
    407: (Outcome.BLOCKED, "A proxy asks for a login (407). Ask whoever runs your network."),
    408: (Outcome.TIMEOUT, TIMED_OUT),
    410: (
        Outcome.NOT_FOUND,
        "The page was taken away for good (410). Look for the same elsewhere, or in a web archive.",
    ),
    406: (
        Outcome.UNSUPPORTED,
        "The site has this page in no form that can be read here (406). Open it yourself.",
    ),
    451: (Outcome.BLOCKED, "The page is withheld for legal reasons (451). Look for the same elsewhere."),
    504: (Outcome.TIMEOUT, TIMED_OUT),
    999: (
        Outcome.BLOCKED,
        "The site does not let programs read this page (999). Open it yourself, or look elsewhere.",
    ),
}


def explain_status(status: int, headers: Mapping[str, str]) -> Failure | None:
    """What a final status means; None for one that comes with a page."""
    if status in (200, 203, 206):
        return None
    if status in (204, 205):
        return (
            Outcome.EMPTY,
            f"The address answered that it has nothing to show ({status}). Look for the same elsewhere.",
        )
    if headers.get("cf-mitigated"):
        return (
            Outcome.BLOCKED,
            "The site asks visitors to prove that they are human. Open it yourself, or look elsewhere.",
        )
    if status in _STATUS_FAILURES:
        return _STATUS_FAILURES[status]
    if status >= 500:
        return (
            Outcome.ERROR,
            f"The site's server is in trouble ({status}). Try again later, or look for the same elsewhere.",
        )
    return (
        Outcome.ERROR,
        f"The server refused the request ({status}). Open the page yourself, or look for the same elsewhere.",
    )


def is_rate_limited(status: int, headers: Mapping[str, str]) -> bool:
    """Does the host ask to be left alone for a while?"""
    return status == 429 or (status == 503 and "Retry-After" in headers)


def describe_pause(seconds: float) -> str:
    """The sentence for a host that rests."""
    return f"The site asks for a pause; it may be asked again in {max(1, round(seconds))} s. Go on with other pages meanwhile."


def explain_unreadable_body(headers: Mapping[str, str], max_bytes: int) -> Failure | None:
    """Why a body is not even begun: too long by its own account, or packed in a way whose size can't be
    watched."""
    packing = headers.get("Content-Encoding", "").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        return Outcome.UNSUPPORTED, "The page came packed in a way that is not opened here. Open it yourself."
    length = headers.get("Content-Length", "")
    return (
        explain_too_large(max_bytes)
        if length.isdecimal() and len(length) < 20 and int(length) > max_bytes
        else None
    )


def explain_too_large(max_bytes: int) -> Failure:
    """The failure for a body over the cap."""
    megabytes = f"{max_bytes / 1_000_000:g}"
    return (
        Outcome.TOO_LARGE,
        f"The page is larger than {megabytes} MB and was given up. FETCH_MAX_MB raises the limit.",
    )


def explain_transport_error(error: Exception) -> Failure:
    """What went wrong below HTTP. Wrapped errors are looked through: the cause decides."""
    chain: list[BaseException] = [error]
    while (inner := chain[-1].__cause__ or chain[-1].__context__) is not None and inner not in chain:
        chain.append(inner)
    if any(isinstance(link, requests.Timeout | TimeoutError) for link in chain):
        return Outcome.TIMEOUT, TIMED_OUT
    if any(isinstance(link, SSLError | requests.exceptions.SSLError) for link in chain):
        return Outcome.ERROR, _BAD_CERTIFICATE
    if any(isinstance(link, IncompleteRead | ConnectionError | requests.ConnectionError) for link in chain):
        return Outcome.ERROR, _CONNECTION_LOST
    if isinstance(error, DecodeError | HTTPError | requests.RequestException | ValueError):
        return Outcome.ERROR, _UNREADABLE_RESPONSE
    return Outcome.ERROR, _CONNECTION_LOST
