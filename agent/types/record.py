"""What a noun is, and how one look at the world can end."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A value: compared by its fields, refused when a field is unknown."""

    model_config = ConfigDict(extra="forbid")


PageOrigin = Literal["fetched", "pasted", "uploaded"]
"""How the text of a page came: from its server, or from a person who says that it is this page's."""
PAGE_ORIGIN_LABELS: dict[PageOrigin, str] = {
    "fetched": "",
    "pasted": "text pasted by a person",
    "uploaded": "file uploaded by a person",
}
"""The same for a reader; what was fetched needs no word."""


class Outcome(StrEnum):
    """How one look at the world ended. `empty` means it answered and had nothing; `blocked` means it would
    not answer."""

    OK = "ok"
    EMPTY = "empty"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    """Refused by our own rules: robots.txt, a non-public address, a redirect too many, a domain out of
    scope."""
    ERROR = "error"
