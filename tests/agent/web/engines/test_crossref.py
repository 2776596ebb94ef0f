"""Crossref: the record of a work, and what is asked."""

from __future__ import annotations

import copy
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from agent.types import Publication, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import CROSSREF, DOI, ask, reply

Live = Callable[..., World]


def test_a_work_with_all_that_is_known_of_it(live_world: Live) -> None:
    result, _ = ask(live_world, "crossref", reply(CROSSREF))
    full, bare = result.hits
    assert (full.url, full.title, full.snippet) == (
        f"https://doi.org/{DOI}",
        "Diets of herons",
        "Herons eat fish.",
    )
    assert full.published_at == "2021-03-04" and bare.published_at == ""
    assert full.publication == Publication(
        doi=DOI,
        authors=["Ana Field", "The Heron Group"],
        journal="Waders",
        year=2021,
        licence="http://creativecommons.org/licenses/by/4.0/",
        pdf_url="https://open.example/heron.pdf",
    )
    assert bare.publication == Publication(doi="10.5555/bare")


def test_a_pdf_without_an_open_licence_is_not_taken_for_open(live_world: Live) -> None:
    closed = copy.deepcopy(CROSSREF)
    closed["message"]["items"][0]["license"] = [{"URL": "https://publisher.example/terms"}]
    result, _ = ask(live_world, "crossref", reply(closed))
    assert result.hits[0].publication and result.hits[0].publication.pdf_url == ""


def test_days_and_mail_are_asked_with(live_world: Live) -> None:
    _, site = ask(live_world, "crossref", reply(CROSSREF), reach=SourceFilter(since="2020-01-01"))
    asked = parse_qs(urlsplit(site.asked[0].path).query)
    assert asked["filter"] == ["from-pub-date:2020-01-01"] and asked["rows"] == ["5"]
    assert asked["mailto"] == ["reader@heron.example"]
