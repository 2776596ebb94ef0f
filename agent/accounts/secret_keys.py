"""Random keys that are shown once and stored as their hash: API tokens and the links of shared runs."""

from __future__ import annotations

import hashlib
import secrets

KEY_BYTES = 32


def make_key(prefix: str) -> str:
    """A new random key of 256 bits, with a prefix that says what it is for."""
    return f"{prefix}_{secrets.token_urlsafe(KEY_BYTES)}"


def hash_key(key: str) -> str:
    """What is stored of a key: its SHA-256. It is random and long, so no salt and no slow hash are needed."""
    return hashlib.sha256(key.encode()).hexdigest()
