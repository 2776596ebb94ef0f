"""The base class of all records, and how one access to the web can end."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A value: compared by its fields; an unknown field is refused."""

    model_config = ConfigDict(
        extra="forbid", defer_build=True
    )  # built when first used: an eighth of the start

    def replace(self, **changes: Any) -> Self:
        """A copy with these fields replaced; the new values are not validated."""
        return self.model_copy(update=changes)


Actor = Literal["model", "keyless", "person", "code"]
"""Who made or decided something; "keyless" are the rules that act without a model."""
PageOrigin = Literal["fetched", "pasted", "uploaded", "given"]
"""Where a page's text came from: its server, a person for this address, or who gave it to check."""
PAGE_ORIGIN_LABELS: dict[PageOrigin, str] = {
    "fetched": "",
    "pasted": "text pasted by a person",
    "uploaded": "file uploaded by a person",
    "given": "text given to be checked",
}


class Outcome(StrEnum):
    """How a search or fetch ended. `empty`: it answered and had nothing; `blocked`: it refused to answer."""

    OK = "ok"
    EMPTY = "empty"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    """Our own rules refused it: robots.txt, a non-public address, too many redirects, a domain filter."""
    ERROR = "error"
