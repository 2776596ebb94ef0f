"""A closed paper is read from an open copy, and where there is none the page says why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agent.answering.pages import read_open_copy
from agent.types import Outcome, Page, Publication
from agent.web.unpaywall import NO_EMAIL, OpenCopy

URL = "https://doi.org/10.5555/heron.12"
PDF = "https://repo.example/heron.pdf"
DOI = "10.5555/heron.12"
NO_COPY = OpenCopy()


def page(outcome: Outcome = Outcome.OK, url: str = URL, **more: Any) -> Page:
    return Page(url=url, final_url=url, outcome=outcome, **more)


def tools(copy: OpenCopy = NO_COPY, pdf: Page | None = None) -> Any:
    """What a step may use, and in `asked` what it asked for."""
    asked: list[str] = []

    def find_open_copy(doi: str) -> OpenCopy:
        asked.append(doi)
        return copy

    def fetch(url: str) -> Page:
        asked.append(url)
        return pdf or page(url=url, text="Herons eat fish.")

    return SimpleNamespace(asked=asked, find_open_copy=find_open_copy, fetch=fetch)


def test_a_page_that_can_be_read_keeps_what_is_known_of_the_work() -> None:
    own = Publication(doi=DOI, journal="Waders")
    hands = tools()
    read = read_open_copy(hands, page(publication=own), Publication(journal="WADERS", year=2021))
    assert read.publication == Publication(doi=DOI, journal="Waders", year=2021) and not hands.asked
    assert read_open_copy(hands, page()).publication is None


def test_a_closed_paper_is_read_where_unpaywall_says() -> None:
    hands = tools(OpenCopy(PDF, "cc-by"))
    read = read_open_copy(hands, page(Outcome.BLOCKED, detail="Pay first."))
    assert (read.outcome, read.url, read.final_url, read.text) == (Outcome.OK, URL, PDF, "Herons eat fish.")
    assert read.publication == Publication(doi=DOI, licence="cc-by", pdf_url=PDF)
    assert hands.asked == [DOI, PDF] and "repo.example" in read.detail


def test_a_copy_that_the_engine_knows_needs_no_further_question() -> None:
    hands = tools()
    read = read_open_copy(hands, page(Outcome.BLOCKED), Publication(doi=DOI, pdf_url=PDF, year=2021))
    assert read.outcome is Outcome.OK and hands.asked == [PDF] and read.publication
    assert read.publication.year == 2021


def test_without_a_copy_the_page_stays_closed_and_says_why() -> None:
    read = read_open_copy(tools(OpenCopy(detail=NO_EMAIL)), page(Outcome.BLOCKED, detail="Pay first."))
    assert (read.outcome, read.detail) == (Outcome.BLOCKED, f"Pay first. {NO_EMAIL}")
    gone = page(Outcome.NOT_FOUND, url=PDF, detail="No such page.")
    read = read_open_copy(tools(OpenCopy(PDF), gone), page(Outcome.BLOCKED, detail="Pay first."))
    assert read.outcome is Outcome.BLOCKED and read.detail.endswith("could not be read: No such page.")


@pytest.mark.parametrize(
    "closed",
    [page(Outcome.BLOCKED, url="https://news.example/a"), page(Outcome.NOT_FOUND), page(Outcome.REFUSED)],
)
def test_nothing_is_looked_for_without_a_doi_or_where_the_page_is_not_closed(closed: Page) -> None:
    hands = tools(OpenCopy(PDF))
    assert read_open_copy(hands, closed).outcome is closed.outcome and hands.asked == []
