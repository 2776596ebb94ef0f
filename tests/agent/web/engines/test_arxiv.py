"""arXiv: the Atom entry, its query language, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from agent.types import Outcome, Publication, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import ARXIV, ARXIV_ERROR, DOI, ask, reply

Live = Callable[..., World]


def test_a_preprint_with_all_that_is_known_of_it(live_world: Live) -> None:
    result, _ = ask(live_world, "arxiv", reply(ARXIV))
    (hit,) = result.hits
    assert (hit.url, hit.title) == ("https://arxiv.org/abs/2103.00001v2", "Diets of herons")
    assert hit.published_at == "2021-03-04" and hit.publication == Publication(
        doi=DOI,
        authors=["Ana Field", "Bo Reed"],
        journal="Waders 7 (2021) 1-9",
        year=2021,
        pdf_url="http://arxiv.org/pdf/2103.00001v2",
    )


def test_the_content_words_are_asked_for_and_signs_of_its_language_are_not_sent(live_world: Live) -> None:
    reach = SourceFilter(since="2020-01-01", before="2022-01-01")
    _, site = ask(live_world, "arxiv", reply(ARXIV), query="What do the herons (ti:x) eat?", reach=reach)
    asked = parse_qs(urlsplit(site.asked[0].path).query)["search_query"][0]
    assert asked.startswith("all:herons AND ") and "all:the" not in asked
    assert "(" not in asked and "ti:" not in asked.replace("all:ti", "")
    assert asked.endswith("submittedDate:[202001010000 TO 202201010000]")


def test_an_error_that_comes_as_an_entry_is_no_hit(live_world: Live) -> None:
    result, _ = ask(live_world, "arxiv", reply(ARXIV_ERROR))
    assert result.outcome is Outcome.ERROR and "query too long" in result.detail


def test_a_feed_that_defines_entities_reads_no_file(live_world: Live) -> None:
    evil = '<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + ARXIV.partition("?>")[2].replace(
        "Herons eat fish.", "&x;"
    )
    result, _ = ask(live_world, "arxiv", reply(evil))
    assert [hit.snippet for hit in result.hits] in ([""], [])
