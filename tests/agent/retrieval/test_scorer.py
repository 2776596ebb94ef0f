"""Which passages bear on a question."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.scorer import (
    CollectionCounts,
    rank_passages,
)
from agent.types import Passage


def passage(n: int, text: str, **more) -> Passage:
    return Passage(
        id=f"p:{n}", page_id="p", url="https://a.example/", text=text, start=0, end=len(text), **more
    )


ASKED = "How deep is lake Granvattnet?"
TEXTS = [
    "The weather was fine.",
    "Granvattnet is a deep lake in the north.",
    "A lake has water.",
    "Nobody swam.",
]
GIVEN = [passage(n, text) for n, text in enumerate(TEXTS)]


def test_the_passage_that_says_most_comes_first() -> None:
    best = rank_passages(ASKED, GIVEN, 3)
    assert [p.id for p in best[:2]] == ["p:1", "p:2"] and len(best) == 3
    assert best[0].score > best[1].score > best[2].score == 0
    assert GIVEN[1].score == 0, "what was given is left as it was"


def test_a_heading_and_a_label_count_for_their_passage() -> None:
    under = passage(7, "It is 40 m at most.", heading="Granvattnet: how deep the lake is")
    ranked = rank_passages(ASKED, [*GIVEN, under], 5)
    assert {p.id for p in ranked[:2]} == {"p:1", "p:7"}
    defined = passage(8, "The most that a boat may carry.", label="max_load")
    assert rank_passages("What is max load?", [*GIVEN, defined], 1)[0].id == "p:8"


def test_a_score_is_the_share_of_the_question_so_missing_words_lower_it() -> None:
    known = rank_passages("lake", GIVEN, 1)[0].score
    assert 0 < rank_passages("lake zyzzogeton", GIVEN, 1)[0].score < known / 2
    many = passage(9, "lake " * 50)
    assert 0.9 < rank_passages("lake", [*GIVEN, many], 1)[0].score < 1


def test_words_are_counted_over_the_collection_where_it_is_given() -> None:
    texts = ["heron heron and frog", "frog and stork"]
    given_ = [passage(n, text) for n, text in enumerate(texts)]
    assert rank_passages("heron stork", given_, 1)[0].id == "p:0"
    counts = CollectionCounts(1000, {"heron": 900, "stork": 2})
    assert rank_passages("heron stork", given_, 1, counts)[0].id == "p:1"


def test_ties_stay_in_the_order_of_the_text() -> None:
    assert [p.id for p in rank_passages("xyzzy", GIVEN, 9)] == [p.id for p in GIVEN]
    assert rank_passages(ASKED, [], 5) == [] and rank_passages("", GIVEN, 2) == GIVEN[:2]


def test_unspaced_and_other_scripts_are_ranked_too() -> None:
    texts = ["天気が良い。", "東京の人口は多い。", "Озеро глубокое."]
    given_ = [passage(n, text) for n, text in enumerate(texts)]
    assert rank_passages("東京の人口は?", given_, 1)[0].id == "p:1"
    assert rank_passages("Как глубоки озёра?", given_, 1)[0].id == "p:2"


def test_the_order_given_does_not_matter_where_scores_differ() -> None:
    mixed = GIVEN[:]
    random.Random(7).shuffle(mixed)
    assert rank_passages(ASKED, mixed, 2) == rank_passages(ASKED, GIVEN, 2)


@given(st.text(), st.lists(st.text(), max_size=6))
def test_any_text_is_ranked_between_0_and_1(question: str, texts: list[str]) -> None:
    ranked = rank_passages(question, [passage(n, text) for n, text in enumerate(texts)], 4)
    assert len(ranked) == min(4, len(texts))
    assert all(0 <= p.score <= 1 for p in ranked) and [p.score for p in ranked] == sorted(
        (p.score for p in ranked), reverse=True
    )
