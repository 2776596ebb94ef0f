"""A paper that its publisher keeps closed is read from an open copy, where one is known."""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.text.identifiers import find_doi
from agent.text.urls import host
from agent.types import Outcome, Page, Publication
from agent.web.unpaywall import OpenCopy

CLOSED = (Outcome.BLOCKED, Outcome.REFUSED)
"""Ends of a fetch after which an open copy is looked for: a paywall, a login, a site closed to programs."""


def read_open_copy(tools: RunContext, page: Page, found: Publication | None = None) -> Page:
    """The page with what is known of its work (`found` is what the engine said that named it); where it is
    closed and has a DOI, an open copy of it: the one that the engine knows, else the one of Unpaywall.
    Without one the page says why."""
    known = (page.publication or Publication()).complete(found)
    doi = known.doi or find_doi(page.url) or find_doi(page.final_url)
    page = page.replace(publication=known if any(value for _, value in known) else None)
    if page.outcome not in CLOSED or not (doi or known.pdf_url):
        return page
    known = known.replace(doi=doi)
    copy = OpenCopy(known.pdf_url, known.licence) if known.pdf_url else tools.find_open_copy(doi)
    read = tools.fetch(copy.url) if copy.url else None
    if read is None or read.outcome is not Outcome.OK:
        failed = f"Its open copy could not be read: {read.detail}" if read else copy.detail
        return page.replace(detail=f"{page.detail} {failed}".strip())
    work = known.replace(pdf_url=copy.url, licence=copy.licence or known.licence)
    where = f"Closed at its own address; read from the open copy at {host(read.final_url)}."
    return read.replace(url=page.url, detail=where, publication=work.complete(read.publication))
