"""May a run be started so? Each refusal is a UsageError in words a person can act on; nothing was written then."""

from __future__ import annotations

from collections.abc import Container

from agent.errors import UsageError
from agent.types import Settings
from agent.urls import canonical, host, in_scope, typed

LONGEST = 4000
"""Characters of a question."""
FROM_PAGES = ("site", "collect")
"""Flows that begin at pages a person names."""


def spelled(settings: Settings) -> Settings:
    """The settings with start pages and allowed domains as they are meant: "example.org" is a page, "https://example.org/faq" names a host."""
    allowed = [host(entry) if "://" in entry else entry.split("/")[0] for entry in map(str.strip, settings.allowed_domains)]
    return settings.model_copy(update={"start_urls": list(map(typed, settings.start_urls)), "allowed_domains": list(filter(None, allowed))})


def check(question: str, settings: Settings, flows: Container[str]) -> None:
    """Raises UsageError when the question or a setting cannot be."""
    if not question:
        raise UsageError("there is no question yet: type one, or take an example")
    if len(question) > LONGEST:
        raise UsageError(f"the question has {len(question):,} characters; {LONGEST:,} are the most. Put long material on a page and name its address")
    if settings.flow not in flows:
        raise UsageError(f"there is no flow {settings.flow}")
    limits = settings.site
    if settings.max_steps < 1 or settings.max_pages < 1 or limits.max_pages < 1:
        raise UsageError("a run needs at least one step and one page")
    if settings.flow in FROM_PAGES:
        check_pages(settings)


def check_pages(settings: Settings) -> None:
    """Raises UsageError when the start pages cannot be: none, no address, or outside the allowed domains."""
    if not settings.start_urls:
        raise UsageError("name at least one page to start from, e.g. https://www.example.com/")
    for url in settings.start_urls:
        if not canonical(url):
            raise UsageError(f"“{url[:80]}” is not a web address; name one like example.org or https://example.org/faq")
        if not in_scope(url, settings.allowed_domains):
            raise UsageError(f"{url} is outside the allowed domains ({', '.join(settings.allowed_domains)}): allow its host, or start elsewhere")
