"""Which sources a run may use: domains, a time of publication, a language.

Domains are checked before a fetch and after every redirect, time and language once a page is read.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from agent.text.urls import is_excluded, is_in_scope
from agent.types.record import Record

LANGUAGES: dict[str, str] = dict(
    line.split(maxsplit=1)  # type: ignore[misc]
    for line in Path(__file__).with_name("languages.txt").read_text(encoding="utf-8").splitlines()
)
"""The languages a run can be limited to: ISO 639-1 code -> English name."""
OUTSIDE_FILTER = "this run takes only"
"""Part of every reason why a readable page is left out."""
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


class SourceFilter(Record):
    """The chosen sources, a part of the settings of a run; an empty field sets no limit."""

    allowed_domains: list[str] = Field(default_factory=list)
    """Only these domains are read; empty: any."""
    blocked_domains: list[str] = Field(default_factory=list)
    """Each with its subdomains; they override the allowed ones."""
    since: str = ""
    """Use pages published on or after this day (ISO 8601)."""
    before: str = ""
    """Use pages published before this day (ISO 8601)."""
    dated_only: bool = False
    """Leave out pages without a date, where a time is chosen."""
    language: str = ""
    """Use pages in this language (ISO 639-1)."""

    def allows(self, url: str) -> bool:
        """Whether the domain filter lets this address be fetched."""
        return is_in_scope(url, self.allowed_domains) and not is_excluded(url, self.blocked_domains)

    @property
    def needs_page(self) -> bool:
        """Whether a page must be read to know its date or language."""
        return bool(self.since or self.before or self.language)

    def date_problem(self, published: str) -> str:
        """Why a page published then is left out, as a sentence; "" when it counts.

        A year or a month counts unless all of it is outside the chosen time."""
        if not (self.since or self.before):
            return ""
        match = _DATE.match(published)
        if not match:
            missing = f"It states no date of publication; {OUTSIDE_FILTER} pages {self._period_phrase}."
            return missing if self.dated_only else ""
        year, month, day = match.groups()
        first, last = f"{year}-{month or '01'}-{day or '01'}", f"{year}-{month or '12'}-{day or '31'}"
        out = (self.since and last < self.since) or (self.before and first >= self.before)
        reason = f"It was published {published[:10]}; {OUTSIDE_FILTER} pages {self._period_phrase}."
        return reason if out else ""

    def language_problem(self, language: str) -> str:
        """Why a page in this language is left out, as a sentence; "" when it counts or is unknown."""
        code = normalize_language(language)
        if not self.language or not code or code == self.language:
            return ""
        name = LANGUAGES.get(code, f"another language ({code[:8]})")
        return f"It is in {name}; {OUTSIDE_FILTER} pages in {LANGUAGES.get(self.language, self.language)}."

    @property
    def filter_phrases(self) -> list[str]:
        """The filter in words, a phrase for each part."""
        undated = "undated pages left out" if self.dated_only else "undated pages kept"
        phrases = [
            f"only {', '.join(self.allowed_domains)}" if self.allowed_domains else "",
            f"never {', '.join(self.blocked_domains)}" if self.blocked_domains else "",
            f"{self._period_phrase} ({undated})" if self.since or self.before else "",
            f"in {LANGUAGES.get(self.language, self.language)}" if self.language else "",
        ]
        return [phrase for phrase in phrases if phrase]

    @property
    def _period_phrase(self) -> str:
        since = f"on or after {self.since}" if self.since else ""
        before = f"before {self.before}" if self.before else ""
        return "published " + " and ".join(filter(None, [since, before]))


def normalize_language(language: str) -> str:
    """The ISO 639-1 code of a language tag ("en-GB", "nb")."""
    code = re.split(r"[-_]", language.strip().lower())[0]
    return {"nb": "no", "nn": "no", "iw": "he", "in": "id"}.get(code, code)
