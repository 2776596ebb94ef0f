"""Codes ("E31"), addresses, mailboxes, hosts and mentions in a text, right or wrong."""

from __future__ import annotations

import re

_CODE = re.compile(r"(?<![a-z0-9_])([a-z]{1,8})[-_]?(\d+)(?![a-z0-9_])", re.IGNORECASE)
_NUMBERED_CODE = re.compile(
    r"\b(?:error|code|message|fehler|meldung|fel|erreur|errore|código)(?: (?:no|nr|number"
    r"|code))?\.?[ #:]{1,3}(?:[a-z] )?(\d{2,})\b",
    re.IGNORECASE,
)
_UNMISTAKABLE_CODE = re.compile(r"[a-z]{1,4}\d{2,}|\d{2,}")
_CONTACT = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|(?:javascript|vbscript|data|mailto|tel|sms|magnet|intent|tg|bitcoin"
    r"|ethereum|monero):)"
    r"[^\s<>\"'`)\]}]+|<[@#!&:][^\s<>]{1,60}>|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w@.])@\w[\w.-]+"
    r"|(?<![\w@./-])(?:[\w-]+\.)+[a-z]{2,}(?![\w-])(?:/[^\s<>\"'`)\]}]*)?",
    re.IGNORECASE,
)
_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>?#&]+)", re.IGNORECASE)
"""As Crossref recommends to find a DOI (www.crossref.org/blog/dois-and-matching-regular-expressions), without
the characters that end it in an address."""
_MASS_MENTION = re.compile(r"(?<!\w)@(?=(?:everyone|here|channel|all)\b)", re.IGNORECASE)


def find_codes(text: str) -> list[str]:
    """The codes in a text, in order, "E-31" as "e31"; of "error 58" and "code E 58" the number alone."""
    lettered = [f"{letters}{number}".lower() for letters, number in _CODE.findall(text)]
    return list(dict.fromkeys([*lettered, *_NUMBERED_CODE.findall(text)]))


def find_doi(text: str) -> str:
    """The first DOI in a text or an address, in lower case; "" for none."""
    found = _DOI.search(text)
    return found[1].rstrip(".,;:)]}'").lower() if found else ""


def find_unmistakable_codes(text: str) -> list[str]:
    """Those that can hardly be anything else: a few letters and two digits or more. Whoever asks about one
    wants that one, or nothing."""
    return [code for code in find_codes(text) if _UNMISTAKABLE_CODE.fullmatch(code)]


def is_same_code(code: str, other: str) -> bool:
    """Is `other` the code, or the one whose number is asked about?"""
    return code == other or (code.isdigit() and other.lstrip("abcdefghijklmnopqrstuvwxyz") == code)


def find_contacts(text: str) -> list[str]:
    """Addresses with their scheme, mailboxes, mentions ("@anna", "<@12>"), and what reads like a host
    ("example.org/x", "notes.md"), in order."""
    return list(dict.fromkeys(found.rstrip(".,;:!?") for found in _CONTACT.findall(text)))


def is_external_contact(contact: str) -> bool:
    """Is it an address, a mailbox or a mention, and not merely a name with a dot in it?"""
    return "@" in contact or ":" in contact or contact.startswith("<") or contact.lower().startswith("www.")


def remove_mass_mentions(text: str) -> str:
    """The text without signs that would call a whole channel."""
    return _MASS_MENTION.sub("", text)
