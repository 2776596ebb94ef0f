"""An origin and those who say they have it from there are one voice, where it is said in so many words."""

from __future__ import annotations

from agent.evidence.sources import (
    find_attribution,
    find_independent_sources,
    is_site_name,
    map_sites_to_sources,
)
from agent.types import Fact
from tests.tables import by_table


@by_table
def test_whose_word_it_is(text, name):
    assert find_attribution(text) == name


def test_a_name_and_its_site():
    assert is_site_name("lundgazette", "https://www.lund-gazette.example/x") and is_site_name(
        "thelundgazette", "https://lundgazette.example/"
    )
    assert not is_site_name("lundgazette", "https://lund.example/") and not is_site_name(
        "fao", "https://faol.example/"
    ), "too short to tell"


def fact(site: str, quote: str) -> Fact:
    return Fact(id=site, statement=quote, quote=quote, url=f"https://{site}/p", sha256=site, verified=True)


def test_those_who_name_one_origin_are_one_voice_with_it():
    own = fact("lund-gazette.example", "The Nordvik dairy opened its doors in 1921.")
    first = fact("a.example", "According to the Lund Gazette, it opened in 1921.")
    second = fact("b.example", "It opened in 1921, as reported in the Lund Gazette.")
    other = fact("c.example", "In 1921 the dairy was opened.")
    assert find_independent_sources([own, first]) == ["a.example"] and find_independent_sources(
        [first, second]
    ) == ["a.example"]
    assert len(find_independent_sources([own, first, second, other])) == 2
    heads = map_sites_to_sources([own, first, second, other])
    assert heads["lund-gazette.example"] == heads["a.example"] == heads["b.example"] != heads["c.example"]
