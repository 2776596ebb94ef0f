"""Which sources a run may use: domains, a time of publication, a language. What is asked of a search, and
what holds for a page.

Domains hold before a fetch and after every redirect, time and language once a page is read. Knows no flow and
fetches nothing."""

from __future__ import annotations

import re

from pydantic import Field

from agent.text.urls import is_blocked, is_in_scope
from agent.types.record import Record

LANGUAGES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sr": "Serbian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""The languages a run can be limited to, by their ISO 639-1 codes."""
_LANGUAGE_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id"}
"""Codes that pages also use for these."""
OUTSIDE_FILTER = "this run takes only"
"""What every reason holds for which a page that could be read does not count."""
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


class SourceFilter(Record):
    """The chosen sources; an empty field asks for nothing. Dates are ISO 8601 days: `since` is the first that
    counts, `before` the first that does not. `dated`: a page that states no date is left out, too, where a
    time is asked for."""

    allowed: list[str] = Field(default_factory=list)
    blocked: list[str] = Field(default_factory=list)
    since: str = ""
    before: str = ""
    dated: bool = False
    language: str = ""

    def allows(self, url: str) -> bool:
        """May this address be asked for?"""
        return is_in_scope(url, self.allowed) and not is_blocked(url, self.blocked)

    @property
    def needs_page(self) -> bool:
        """Must a page be read with its date or language to know whether it counts?"""
        return bool(self.since or self.before or self.language)

    def date_problem(self, published: str) -> str:
        """Why a page published then does not count, as a sentence; "" when it does. A year or month counts
        unless all of it lies outside."""
        if not (self.since or self.before):
            return ""
        first, last = _date_range(published)
        if not first:
            return (
                f"It states no date of publication; {OUTSIDE_FILTER} pages {self._period_phrase}."
                if self.dated
                else ""
            )
        out = (self.since and last < self.since) or (self.before and first >= self.before)
        return (
            f"It was published {published[:10]}; {OUTSIDE_FILTER} pages {self._period_phrase}." if out else ""
        )

    def language_problem(self, language: str) -> str:
        """Why a page in this language does not count, as a sentence; "" when it does, or its language is not
        known."""
        code = normalize_language(language)
        if not self.language or not code or code == self.language:
            return ""
        return f"It is in {LANGUAGES.get(code, f'another language ({code[:8]})')}; {OUTSIDE_FILTER} pages in {LANGUAGES.get(self.language, self.language)}."

    @property
    def descriptions(self) -> list[str]:
        """The choice in words, a phrase each."""
        return [
            *([f"only {', '.join(self.allowed)}"] if self.allowed else []),
            *([f"never {', '.join(self.blocked)}"] if self.blocked else []),
            *(
                [
                    f"{self._period_phrase} ({'undated pages left out' if self.dated else 'undated pages kept'})"
                ]
                if self.since or self.before
                else []
            ),
            *([f"in {LANGUAGES.get(self.language, self.language)}"] if self.language else []),
        ]

    @property
    def _period_phrase(self) -> str:
        parts = [
            f"on or after {self.since}" if self.since else "",
            f"before {self.before}" if self.before else "",
        ]
        return "published " + " and ".join(part for part in parts if part)


def normalize_language(language: str) -> str:
    """A language tag ("en-GB", "nb") as the code of `LANGUAGES`, or its own where it is none of them."""
    code = re.split(r"[-_]", language.strip().lower())[0]
    return _LANGUAGE_ALIASES.get(code, code)


def _date_range(published: str) -> tuple[str, str]:
    """The first and the last day a date may mean; "" for both when it is none."""
    match = _DATE.match(published)
    if not match:
        return "", ""
    year, month, day = match.groups()
    return f"{year}-{month or '01'}-{day or '01'}", f"{year}-{month or '12'}-{day or '31'}"
