"""Reading a web page into the library, first or again, with all the rules of a run's fetches."""

from __future__ import annotations

from agent.errors import UsageError
from agent.text.plurals import clip
from agent.text.urls import canonicalize, complete_typed_url, host
from agent.types import LibrarySource, Outcome, Page
from pages.widgets.shell import client


def add_page(url: str, tags: list[str]) -> LibrarySource:
    """Read a page and put it on the shelf. Raises UsageError, in words for a person, when it cannot."""
    return client.library().add_page(_fetch(url), tags=tags)


def refetch_page(source_id: str) -> str:
    """Read a source anew; returns what came of it, as a sentence. What was read before stays when it cannot
    be read now (UsageError)."""
    shelf = client.library()
    before = shelf.source(source_id)
    after = shelf.replace(source_id, _fetch(before.url))
    if after.sha256 == before.sha256:
        return "Read again: the text is the same."
    return (
        f"Read again: the text has changed. It has {after.passages} passages now, it had {before.passages}."
    )


def _fetch(url: str) -> Page:
    url = complete_typed_url(url)
    if not canonicalize(url):
        told = f"“{clip(url)}” is not a web address; name one like example.org or https://example.org/faq"
        raise UsageError(told if url else "name the page's address first")
    bench = client.workbench()
    page = bench.worker.world("demo" if host(url).endswith(".example") else "live").fetch(url)
    if page.outcome is not Outcome.OK or not page.text.strip():
        raise UsageError(f"{clip(url)} could not be read: {page.detail or 'it has no text'}")
    return page
