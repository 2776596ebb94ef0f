"""What a page says about itself, and nothing that it does not say."""

from __future__ import annotations

import json

import pytest
from selectolax.lexbor import LexborHTMLParser

from agent.types import Publication
from agent.web.extract import metadata
from agent.web.extract.page_dates import normalize_date


def about(html: str) -> metadata.PageMetadata:
    return metadata.read_metadata(html, LexborHTMLParser(html))


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
        journal="Waders",
        year=2021,
        licence="https://licence.example/by",
    )


def test_a_page_without_them_says_nothing_of_a_paper() -> None:
    assert about("<meta name=author content='Ana Field'><title>A dairy</title>").publication is None


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Dairy - The Ostrava Times</title><h1>Dairy</h1>", "Dairy"),
        (
            "<title>Dairy - The Times</title><meta property=og:title content='The dairy'><h1>Other</h1>",
            "The dairy",
        ),
        ("<title> Dairy\n here </title><body><p>x", "Dairy here"),
        ("<h1>Only <i>this</i></h1>", "Only this"),
        ("<title>a</title><body><svg><title>icon</title></svg>", "a"),
        ("<p>x", ""),
    ],
)
def test_titles(html: str, title: str) -> None:
    assert about(html).title == title


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<meta name=author content='Ada Lehm'>", "Ada Lehm"),
        (
            '<script type="application/ld+json">{"author": [{"name": "Ada"}, {"name": "Bo"}]}</script>',
            "Ada, Bo",
        ),
        ('<script type="application/ld+json">{"@graph": [{"author": "Cy"}]}</script>', "Cy"),
        ("<body><p class=byline>By Ada Lehm</p>", "Ada Lehm"),
        ("<meta property=article:author content='https://x.example.com/ada'>", ""),
        ('<script type="application/ld+json">{broken</script>', ""),
    ],
)
def test_authors(html: str, author: str) -> None:
    assert about(html).author == author


@pytest.mark.parametrize(
    ("html", "day"),
    [
        (
            "<meta property=article:published_time content='2024-05-01T10:00:00+02:00'>",
            "2024-05-01T08:00:00Z",
        ),
        ('<script type="application/ld+json">{"datePublished": "2024-05-01"}</script>', "2024-05-01"),
        ("<body><article><time datetime='2023-01-02'>yesterday</time></article>", "2023-01-02"),
        ("<meta name=date content='1 May 2024'>", "2024-05-01"),
        ("<meta name=date content='May 2024'>", ""),
        ("<meta name=date content='10:30'>", ""),
        ("<meta name=date content='tomorrow'>", ""),
        ("<p>Published on 1 May 2024", ""),
    ],
)
def test_dates_are_stated_or_absent(html: str, day: str) -> None:
    assert about(html).published_at == day


@pytest.mark.parametrize(
    ("value", "iso"),
    [("2024", "2024"), ("2024-05", "2024-05"), ("99999-01-01", ""), ("20240501", "2024-05-01"), ("", "")],
)
def test_when(value: str, iso: str) -> None:
    assert normalize_date(value) == iso


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "de-AT"),
        ("<meta property=og:locale content=en_GB>", "en-GB"),
        ("<meta http-equiv=content-language content='fr, en'>", "fr"),
        ("<p>", ""),
    ],
)
def test_languages(html: str, language: str) -> None:
    assert about(html).language == language


def test_a_paywall_is_stated_in_the_data() -> None:
    data = json.dumps({"@type": "NewsArticle", "isAccessibleForFree": "False"})
    assert not about(f'<script type="application/ld+json">{data}</script>').is_free
    assert about("<p>").is_free
