"""Codes people ask about, letters and a number together ("E31", "rfc 2119" is none): found in a text and
spelled one way. Knows no list."""

from __future__ import annotations

import re

_CODE = re.compile(r"(?<![a-z0-9_])([a-z]{1,8})[-_]?(\d+)(?![a-z0-9_])", re.IGNORECASE)
_NUMBERED_CODE = re.compile(
    r"\b(?:error|code|message|fehler|meldung|fel|erreur|errore|código)(?: (?:no|nr|number|code))?\.?[ #:]{1,3}(?:[a-z] )?(\d{2,})\b",
    re.IGNORECASE,
)
_UNMISTAKABLE_CODE = re.compile(r"[a-z]{1,4}\d{2,}|\d{2,}")


def find_codes(text: str) -> list[str]:
    """The codes in a text, in order, "E-31" as "e31"; of "error 58" and "code E 58" the number alone."""
    return list(
        dict.fromkeys(
            [
                *(f"{letters}{number}".lower() for letters, number in _CODE.findall(text)),
                *_NUMBERED_CODE.findall(text),
            ]
        )
    )


def find_unmistakable_codes(text: str) -> list[str]:
    """Those that can hardly be anything else: a few letters and two digits or more. Whoever asks about one
    wants that one, or nothing."""
    return [code for code in find_codes(text) if _UNMISTAKABLE_CODE.fullmatch(code)]


def is_same_code(code: str, other: str) -> bool:
    """Is `other` the code, or the one whose number is asked about?"""
    return code == other or (code.isdigit() and other.lstrip("abcdefghijklmnopqrstuvwxyz") == code)
