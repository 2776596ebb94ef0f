"""Europe PMC: the record of a work, its open copy, and its query language."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from agent.types import Publication, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import DOI, EUROPEPMC, ask, reply

Live = Callable[..., World]


def test_a_work_with_its_open_copy(live_world: Live) -> None:
    result, _ = ask(live_world, "europepmc", reply(EUROPEPMC))
    full, bare = result.hits
    assert full.publication == Publication(
        doi=DOI,
        authors=["Field A", "Heron Group"],
        journal="Waders",
        year=2021,
        licence="cc by",
        pdf_url="https://open.example/a.pdf",
    )
    assert (full.url, full.published_at) == (f"https://doi.org/{DOI}", "2021-03-04")
    assert bare.url == "https://europepmc.org/article/PPR/PPR9" and bare.publication is None


def test_signs_of_its_query_language_are_read_as_words(live_world: Live) -> None:
    reach = SourceFilter(since="2020-01-01")
    _, site = ask(live_world, "europepmc", reply(EUROPEPMC), query='DOI:"10.1" (heron)', reach=reach)
    asked = parse_qs(urlsplit(site.asked[0].path).query)
    assert asked["query"] == ["(DOI 10.1 heron) AND (FIRST_PDATE:[2020-01-01 TO 2999-01-01])"]
    assert (asked["resultType"], asked["pageSize"]) == (["core"], ["5"])
