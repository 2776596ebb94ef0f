"""What a person's notes forbid: addresses and sites that are not to be used. Knows words, not what follows
from them.

A sentence that holds a word of refusal ("not", "never", "leave out", "without") excludes the addresses and
host names in it. A site that is only described ("the wiki") can't be told from other words; that is for a
model to heed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.text.urls import canonicalize, find_urls, host

_NEGATION = re.compile(
    r"\b(?:not|never|no|don['’]?t|without|avoid|ignore|exclude|excluding|except|skip|leave out|other than|instead of"
    r"|nicht|nie|ohne|kein\w*|inte|aldrig|utan|pas|jamais|sans|nunca|sin)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_HOST = re.compile(r"(?<![\w@/.-])((?:[a-z0-9-]+\.)+[a-z]{2,})(?![\w/-])", re.IGNORECASE)


def find_exclusion_sentences(note: str) -> list[str]:
    """The sentences of a note that refuse an address or a site."""
    return [
        part
        for part in _SENTENCE.split(note)
        if _NEGATION.search(part) and (find_urls(part) or _find_hosts(part))
    ]


def remove_exclusion_sentences(note: str) -> str:
    """The note without the sentences that refuse."""
    refused = find_exclusion_sentences(note)
    return " ".join(part for part in _SENTENCE.split(note) if part not in refused).strip()


def find_excluded_sites(notes: Iterable[str]) -> list[str]:
    """The canonical addresses and the hosts that the notes forbid, in order."""
    found: list[str] = []
    for note in notes:
        for part in find_exclusion_sentences(note):
            found += [canonicalize(url) for url in find_urls(part)] + _find_hosts(part)
    return list(dict.fromkeys(found))


def is_excluded(url: str, forbidden: Iterable[str]) -> bool:
    """Is the address one of the forbidden, or on a forbidden host or below it?"""
    name, spelled = host(url), canonicalize(url)
    return any(spelled == entry or name == entry or name.endswith(f".{entry}") for entry in forbidden)


def _find_hosts(text: str) -> list[str]:
    for url in find_urls(text):
        text = text.replace(url, " ")
    return [match.group(1).lower() for match in _HOST.finditer(text)]
