"""Which addresses of a site are in the language that its start pages are written in, by the folders of their
paths: "/en/", "/pt-br/", "/docs/de/"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from agent.text.short_cache import cache_short
from agent.types.source_filter import LANGUAGES

_TAG = re.compile(r"([a-z]{2})(?:[-_][a-z]{2,4})?", re.IGNORECASE)
MIN_FOLDERS = 2
"""Folders in other languages from which on a site counts as written in several: one alone may be no language
("/it/")."""


@cache_short(16384)
def find_language_folder(url: str) -> tuple[int, str]:
    """The place in the path of the first folder that is named like a language, and its name in lower case;
    (-1, "") where there is none."""
    for place, folder in enumerate(urlsplit(url).path.split("/")[1:-1]):
        tag = _TAG.fullmatch(folder)
        if tag and tag[1].lower() in LANGUAGES:
            return place, folder.lower()
    return -1, ""


class LanguageFolders:
    """The folders that start pages stand in, or, where they stand in none, the other languages of a site.

    `language` is what the start pages state of themselves ("" where they state nothing), `urls` are the known
    addresses of the site."""

    def __init__(self, starts: Iterable[str], language: str, urls: Iterable[str]) -> None:
        self._own = {folder for folder in map(find_language_folder, starts) if folder[1]}
        self._language = language[:2].lower()
        found = set() if self._own else {folder for folder in map(find_language_folder, urls) if folder[1]}
        others = {folder for folder in found if folder[1][:2] != self._language}
        self._others = others if self._language and len(others) >= MIN_FOLDERS else set()

    def allows(self, url: str) -> bool:
        """Whether an address is in the start pages' language, as far as its path says."""
        folder = find_language_folder(url)
        if self._own:
            return folder in self._own or folder[0] not in {place for place, _ in self._own}
        return folder not in self._others

    def allows_page(self, language: str) -> bool:
        """Whether a page that states this language is in that of the start pages, or one of them is
        unknown."""
        return not language or not self._language or language[:2].lower() == self._language
