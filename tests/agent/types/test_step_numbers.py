"""The number of a step that a person sees: the one of the journey, in which each search and page is one."""

from __future__ import annotations

from agent.types import Action
from agent.types.facts import describe_place, number_step
from tests.records import fill

LOOKS = [
    fill(Action, step=n, action="crawl_url", query_or_url=f"https://a.example/{n}") for n in (3, 6, 6, 20)
]


def test_what_follows_a_look_has_its_number():
    assert [number_step(LOOKS, n) for n in (0, 2, 3, 5, 6, 19, 20, 99)] == [0, 0, 1, 1, 3, 3, 4, 4]
    assert number_step([], 7) == 0


def test_a_place_in_the_journey_is_told_in_words():
    assert describe_place(LOOKS, 2) == "before step 1" and describe_place(LOOKS, 8) == "after step 3"
