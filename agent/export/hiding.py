"""Redacts secrets in exports (our keys and passwords, those in addresses); the marks of the withheld."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from agent.logs import is_no_word

REDACTED = "[hidden]"
_URL_CREDENTIALS = re.compile(r"(https?://)[^/\s@]+@(?=\S+$)", re.IGNORECASE)


def is_withheld(text: str) -> bool:
    """Whether this stands in the place of a text that was withheld or erased."""
    return bool(re.fullmatch(r"\[(hidden|erased|withheld: sha256:[0-9a-f]{64})\]", text))


def make_redactor(secrets: Iterable[str]) -> Callable[[Any], Any]:
    """A function that gives a JSON value without the secrets in it, except what could be a plain word."""
    known = sorted(set(filter(is_no_word, secrets)), key=len, reverse=True)

    def redact(value: Any) -> Any:
        if isinstance(value, str):
            for secret in known:
                value = value.replace(secret, REDACTED)
            return (
                _URL_CREDENTIALS.sub(rf"\1{REDACTED}@", value)
                if value[:4].lower() == "http" and "@" in value
                else value
            )
        if isinstance(value, dict):
            return {redact(key): redact(inner) for key, inner in value.items()}
        return [redact(inner) for inner in value] if isinstance(value, list) else value

    return redact
