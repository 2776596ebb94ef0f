"""The DOI of a work in a text or an address."""

from __future__ import annotations

import re

_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>?#&]+)", re.IGNORECASE)
"""As Crossref recommends to find a DOI (www.crossref.org/blog/dois-and-matching-regular-expressions), without
the characters that end it in an address."""


def find_doi(text: str) -> str:
    """The first DOI in a text or an address, in lower case; "" for none."""
    found = _DOI.search(text)
    return found[1].rstrip(".,;:)]}'").lower() if found else ""
