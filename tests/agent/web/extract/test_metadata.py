"""What a page says about itself, and nothing that it does not say."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from agent.text.dates import normalize_date
from agent.types import Publication
from agent.web.extract import metadata
from tests.tables import by_table


def about(html: str) -> metadata.PageMetadata:
    return metadata.read_metadata(LexborHTMLParser(html))


def test_a_paper_says_what_it_is_in_citation_tags() -> None:
    found = about(
        "<meta name=citation_title content='Diets of herons'><meta name=citation_author content='Field, Ana'>"
        "<meta name=citation_author content='Reed, Bo'><meta name=citation_doi content='doi:10.5555/HERON.12'>"
        "<meta name=citation_journal_title content=Waders><meta name=citation_publication_date content='2021/3/4'>"
        '<script type="application/ld+json">{"@type": "Article", "license": "https://licence.example/by"}</script>'
    ).publication
    assert found == Publication(
        doi="10.5555/heron.12",
        authors=["Field, Ana", "Reed, Bo"],
        people={"Field, Ana": "Field, Ana", "Reed, Bo": "Reed, Bo"},
        journal="Waders",
        year=2021,
        licence="https://licence.example/by",
    )


def test_a_page_without_them_says_nothing_of_a_paper() -> None:
    assert about("<meta name=author content='Ana Field'><title>A dairy</title>").publication is None


@by_table
def test_titles(html: str, title: str) -> None:
    assert about(html).title == title


@by_table
def test_authors(html: str, author: str) -> None:
    assert about(html).author == author


@by_table
def test_dates_are_stated_or_absent(html: str, day: str) -> None:
    assert about(html).published_at == day


@pytest.mark.parametrize(
    ("value", "iso"),
    [("2024", "2024"), ("2024-05", "2024-05"), ("99999-01-01", ""), ("20240501", "2024-05-01"), ("", "")],
)
def test_when(value: str, iso: str) -> None:
    assert normalize_date(value) == iso


@by_table
def test_languages(html: str, language: str) -> None:
    assert about(html).language == language
