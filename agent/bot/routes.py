"""Every route of the server and what it asks of a request: one table, enforced before a route is reached. A
page of another origin is refused on all of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from starlette.datastructures import Headers

KnowsName = Callable[[Headers], bool]
"""Do these headers call the server by a name it is known by? A page elsewhere can point its own name here."""
READ = ("GET", "HEAD")


@dataclass(frozen=True)
class RouteRule:
    """What a route asks. `methods`: none where what is mounted there refuses those that it has not. `caller`:
    "screen" comes by a known name, and the screen asks who it is; an "owner" too, and with a login only for
    what was made for them; "token" comes by a known name, or with a token that the route checks; a "probe" by
    any name, and learns of health alone; "nobody" may. `max_body` is in bytes; None: Streamlit's own limit of
    uploads."""

    methods: tuple[str, ...] = (*READ, "OPTIONS")
    caller: Literal["screen", "owner", "token", "probe", "nobody"] = "screen"
    max_body: int | None = 0


PROGRAMS = RouteRule((*READ, "POST"), "token", 6_000_000)
"""What a program with a token may send."""
RULES = {
    "/healthz": RouteRule(READ, "probe"),
    "/readyz": RouteRule(READ, "probe"),
    "/metrics": RouteRule(READ, "token"),
    "/feeds/*": RouteRule(READ),
    "GET /reply": RouteRule(),
    "/reply": RouteRule(("POST",), "token", 512_000),
    "/messages": RouteRule(("POST",), "token", 512_000),
    "/mcp": PROGRAMS,
    "/.well-known/oauth-protected-resource": RouteRule(READ),
    "/.well-known/oauth-protected-resource/mcp": RouteRule(READ),
    "/api/v1/library/documents": RouteRule((), "token", 50_000_000),
    "/api/v1/openapi.json": RouteRule(READ),
    "/api/v1/docs": RouteRule(READ),
    "/api/v1*": replace(PROGRAMS, methods=()),
    "/_stcore/upload_file/*": RouteRule(("PUT", "DELETE", "OPTIONS"), "owner", None),
    "/_stcore/metrics": RouteRule(caller="nobody"),
    "/_stcore/agent/*": RouteRule(caller="nobody"),
    "/_stcore/*": RouteRule(),
    "/media/*": RouteRule(caller="owner"),
    "/component/*": RouteRule(),
    "/auth/*": RouteRule(),
    "/oauth2callback": RouteRule(),
    "/*": RouteRule(),
}
"""By path, the narrower before the wider; Streamlit's own are the screens and what belongs to them. A screen
and a route for programs share `/reply`: a row of its method alone comes first."""


def find_rule(path: str, method: str = "") -> RouteRule:
    """The rule of a path: its own for this method or for all, or the first that has it below."""
    below = (rule for begin, rule in RULES.items() if begin[-1] == "*" and path.startswith(begin[:-1]))
    return RULES.get(f"{method} {path}") or RULES.get(path) or next(below)


def is_loopback(address: str) -> bool:
    """Does this address, or name, reach this machine alone?"""
    try:
        found = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return address == "localhost"
    return bool((getattr(found, "ipv4_mapped", None) or found).is_loopback)
