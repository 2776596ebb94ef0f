"""OpenAlex: the record of a work, and what is asked."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from agent.types import Publication, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import DOI, OPENALEX, ask, reply

Live = Callable[..., World]


def test_a_work_with_all_that_is_known_of_it(live_world: Live) -> None:
    result, _ = ask(live_world, "openalex", reply(OPENALEX))
    full, bare = result.hits
    assert (full.url, full.snippet, full.published_at[:10]) == (
        f"https://doi.org/{DOI}",
        "Herons eat fish, eat frogs.",
        "2021-03-04",
    )
    assert full.publication == Publication(
        doi=DOI,
        authors=["Ana Field", "Bo Reed"],
        journal="Waders",
        year=2021,
        licence="cc-by",
        pdf_url="https://open.example/heron.pdf",
    )
    assert (bare.url, bare.publication) == ("https://openalex.org/W2", None)


def test_days_language_key_and_mail_are_asked_with(live_world: Live) -> None:
    reach = SourceFilter(since="2020-01-01", before="2022-01-01", language="en")
    _, site = ask(live_world, "openalex", reply(OPENALEX), reach=reach)
    asked = parse_qs(urlsplit(site.asked[0].path).query)
    assert asked["filter"] == ["from_publication_date:2020-01-01,to_publication_date:2022-01-01,language:en"]
    assert (asked["search"], asked["per_page"]) == (["grey heron diet"], ["5"])
    assert (asked["api_key"], asked["mailto"]) == (["key-of-openalex"], ["reader@heron.example"])
