"""What a text that a model worded may hold of addresses, mailboxes and phone numbers: only what was found or
given."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.text.urls import canonicalize, find_urls, has_public_suffix, host, remove_unknown_urls

_MAILBOX = re.compile(r"(?:mailto:)?(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_PHONE = re.compile(
    r"(?:tel:|sms:)?(?<![\w.,/-])(?!\d\d[/-]\d\d[/-])"
    r"(?:\+\d(?:[ ()/-]{0,2}\d){8,14}|\(?0\d{1,4}[ )/-]+\d(?:[ /-]?\d){3,10}"
    r"|(?:1[ -])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4})(?![\w%])",
    re.IGNORECASE,
)
"""With its country's or area's prefix, or of three groups: no date, no plain figure."""
_HOST = re.compile(r"(?<![\w@./-])(?:[\w-]+\.)+[^\W\d_]{2,}(?![\w-])(?:/[^\s<>\"'`)\]}]*)?")
_NOT_DIGIT = re.compile(r"\D")


def remove_unfounded_contacts(text: str, known: Iterable[str] = (), quotes: str = "", given: str = "") -> str:
    """The text without addresses that are neither `known` nor stand in the `quotes` it rests on, without
    hosts that the person has not `given` either, and without mailboxes and phone numbers that do not stand in
    the quotes."""
    urls = [*known, *find_urls(quotes)]
    places = {canonicalize(f"https://{host(url)}") for url in urls} | {
        canonicalize(url).replace("http:", "https:", 1) for url in urls
    }
    phones = {_NOT_DIGIT.sub("", found) for found in _PHONE.findall(quotes)}

    def keep_contact(match: re.Match[str]) -> str:
        """A mailbox or number that a quote gives, else the word that it was removed."""
        bare = match[0].casefold().removeprefix("mailto:")
        is_quoted = _stands_in(bare, quotes) if "@" in bare else _NOT_DIGIT.sub("", bare) in phones
        return match[0] if is_quoted else "[contact removed]"

    def keep_host(match: re.Match[str]) -> str:
        """An address that is known or given, else the word that it was removed."""
        said = match[0].rstrip(".,;:!?")
        is_address = "/" in said or said.casefold().startswith("www.") or has_public_suffix(said.casefold())
        is_known = canonicalize(f"https://{said}") in places or _stands_in(said, f"{quotes}\n{given}")
        return match[0] if is_known or not is_address else f"[address removed]{match[0][len(said) :]}"

    text = _PHONE.sub(keep_contact, _MAILBOX.sub(keep_contact, text))
    return _HOST.sub(keep_host, remove_unknown_urls(text, urls))


def _stands_in(contact: str, text: str) -> bool:
    """Whether a text has the contact as a whole, not as the end or beginning of another one."""
    begins = r"(?:(?<![\w.+/-])|(?<=//)|(?<=www\.))"
    return bool(re.search(rf"{begins}{re.escape(contact.casefold())}(?![\w-]|\.\w)", text.casefold()))
