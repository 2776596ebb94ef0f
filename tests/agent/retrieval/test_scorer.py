"""Which passages bear on a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.scorer import CollectionCounts, fuse_rankings, rank_passages, score_fact
from agent.types import Fact, Passage


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


@given(st.text(), st.lists(st.text(), max_size=6))
def test_any_text_is_ranked_between_0_and_1(question: str, texts: list[str]) -> None:
    ranked = rank_passages(question, [passage(n, text) for n, text in enumerate(texts)], 4)
    assert len(ranked) == min(4, len(texts))
    assert all(0 <= p.score <= 1 for p in ranked) and [p.score for p in ranked] == sorted(
        (p.score for p in ranked), reverse=True
    )


def test_what_both_rankings_hold_comes_before_what_one_holds():
    assert [thing for thing, _ in fuse_rankings([["a", "b", "c"], ["d", "b", "e"]])] == [
        "b",
        "a",
        "d",
        "c",
        "e",
    ]
    assert dict(fuse_rankings([["a", "b"], ["b"]])) == {"a": 1 / 61, "b": 1 / 62 + 1 / 61}


FERRY = "When was the ferry Blue Heron built?"


def score(quote: str, title: str = "", question: str = FERRY) -> float:
    return score_fact(question, Fact(id="f", statement=quote, quote=quote, title=title))


def test_a_fact_that_holds_more_of_the_question_is_more_relevant() -> None:
    whole, half = score("The ferry Blue Heron was built in 1907."), score("The ferry was built in 1907.")
    assert whole > half > score("Nothing of the kind stands here.") == 0


def test_the_title_says_what_the_quote_is_about() -> None:
    assert score("It was built in 1907.", "Blue Heron") > score("It was built in 1907.")


def test_other_languages_and_scripts() -> None:
    assert score("东京的人口是一千四百万人。", question="东京的人口是多少?") > 0
    assert score("Die Brücke wurde 1907 gebaut.", question="Wann wurde die Brücke gebaut?") > 0
