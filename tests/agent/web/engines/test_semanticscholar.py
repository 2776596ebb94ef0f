"""Semantic Scholar: the record of a paper, and what is asked."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from agent.types import Publication, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import DOI, SEMANTICSCHOLAR, ask, reply

Live = Callable[..., World]


def test_a_paper_with_all_that_is_known_of_it(live_world: Live) -> None:
    result, _ = ask(live_world, "semanticscholar", reply(SEMANTICSCHOLAR))
    full, preprint = result.hits
    assert full.publication == Publication(
        doi=DOI,
        authors=["Ana Field"],
        journal="Waders",
        year=2021,
        licence="CCBY",
        pdf_url="https://open.example/heron.pdf",
    )
    assert (full.url, preprint.url) == (f"https://doi.org/{DOI}", "https://arxiv.org/abs/2103.00001")


def test_the_key_goes_into_a_header_and_hyphens_become_spaces(live_world: Live) -> None:
    reach = SourceFilter(since="2020-01-01")
    _, site = ask(live_world, "semanticscholar", reply(SEMANTICSCHOLAR), query="grey-heron diet", reach=reach)
    asked = parse_qs(urlsplit(site.asked[0].path).query)
    assert site.asked[0].headers["x-api-key"] == "key-of-s2" and "key-of-s2" not in site.asked[0].path
    assert (asked["query"], asked["publicationDateOrYear"]) == (["grey heron diet"], ["2020-01-01:"])
