"""What a text sends people to: addresses, mailboxes, hosts, handles. It finds them and says what they are;
whether they are right it cannot know."""

from __future__ import annotations

import re

_CONTACT = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|(?:javascript|vbscript|data|mailto|tel|sms|magnet|intent|tg|bitcoin|ethereum|monero):)[^\s<>\"'`)\]}]+|<[@#!&:][^\s<>]{1,60}>|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w@.])@\w[\w.-]+"
    r"|(?<![\w@./-])(?:[\w-]+\.)+[a-z]{2,}(?![\w-])(?:/[^\s<>\"'`)\]}]*)?",
    re.IGNORECASE,
)
_MASS_MENTION = re.compile(r"(?<!\w)@(?=(?:everyone|here|channel|all)\b)", re.IGNORECASE)


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
