"""What each purpose of an outgoing request may receive, and how long it may take.

Every answer is read within the limits of one of these; where a setting says how long to wait, that holds. A
server that a setting names may be on this machine or network, all others are public. Redirects are followed
for pages and pictures alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """`max_bytes`: of a body, unpacked; `seconds`: from the lookup of the name to the last byte."""

    purpose: str
    max_bytes: int
    seconds: float


MODEL_REPLY = Policy("a reply of a model", 4_000_000, 60.0)
"""MODEL_TIMEOUT says how many seconds."""
MODEL_LIST = Policy("a list of models", 1_000_000, 5.0)
VECTORS = Policy("vectors of texts", 16_000_000, 60.0)
ENGINE = Policy("an answer of an engine", 5_000_000, 15.0)
SIGN_IN = Policy("an answer of the login's provider", 1_000_000, 10.0)
PAGE = Policy("a page", 10_000_000, 20.0)
"""Settings say how many bytes and seconds, and which inner hosts may be fetched from (FETCH_ALLOW)."""
PICTURE = Policy("a picture in a message", 8_000_000, 20.0)
POLICIES = (MODEL_REPLY, MODEL_LIST, VECTORS, ENGINE, SIGN_IN, PAGE, PICTURE)
