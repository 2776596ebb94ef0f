"""A paper that its publisher keeps closed is read from an open copy, where one is known."""

from __future__ import annotations

from collections.abc import Iterator

from agent.engine.context import RunContext
from agent.text.identifiers import find_doi
from agent.text.urls import host
from agent.types import Outcome, Page, Publication
from agent.web.unpaywall import OpenCopy


def read_open_copy(tools: RunContext, page: Page, found: Publication | None = None) -> Page:
    """The page with what is known of its work; `found` is what the engine said that named it. Where the page
    is closed (a paywall, a login, a site closed to programs) and its DOI is known, an open copy of it.
    Without one the page says why."""
    known = (page.publication or Publication()).complete(found)
    page = page.replace(publication=known if any(value for _, value in known) else None)
    known = known.replace(doi=known.doi or find_doi(page.url) or find_doi(page.final_url))
    if page.outcome is not Outcome.BLOCKED:
        return page
    failed = ""
    for copy in _find_copies(tools, known):
        read = tools.fetch(copy.url) if copy.url else None
        if read and read.outcome is Outcome.OK:
            where = f"Closed at its own address; read from the open copy at {host(read.final_url)}."
            work = known.replace(pdf_url=copy.url, licence=copy.licence or known.licence)
            return read.replace(url=page.url, detail=where, publication=work.complete(read.publication))
        failed = f"Its open copy could not be read: {read.detail}" if read else copy.detail
    return page.replace(detail=f"{page.detail} {failed}".strip())


def _find_copies(tools: RunContext, known: Publication) -> Iterator[OpenCopy]:
    """The copy that an engine named, then the one that Unpaywall knows."""
    if known.pdf_url:
        yield OpenCopy(known.pdf_url, known.licence)
    if known.doi:
        yield tools.find_open_copy(known.doi)
