"""What a noun is, and how one look at the world can end."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Noun(BaseModel):
    """A value: compared by its fields, refused when a field is unknown."""

    model_config = ConfigDict(extra="forbid")


class Outcome(StrEnum):
    """How one look at the world ended. `empty` means it answered and had nothing; `blocked` means it would not answer."""

    OK = "ok"
    EMPTY = "empty"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    """Refused by our own rules: robots.txt, a non-public address, a redirect too many, a domain out of scope."""
    ERROR = "error"
