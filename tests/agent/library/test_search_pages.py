"""Search over chosen stored pages: only they count, those that wait are indexed, and scores are the scorer's."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from agent.library import collection
from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import rank_passages
from agent.store.pages import make_page_id
from tests.agent.library.pages import ids, page

GUIDE = [
    "A heron is a bird. The heron stands in the water.",
    "Every heron builds a nest. The nest of a heron is made of twigs.",
    "A heron eats fish. In winter the heron eats a frog now and then.",
]


def keep(store, *texts: str, host: str = "herons.example.org") -> list[str]:
    return [store.pages.put(page(said, f"https://{host}/{n}")) for n, said in enumerate(texts)]


def test_only_the_chosen_pages_are_indexed_and_searched(library, store):
    chosen, other = keep(store, *GUIDE), keep(store, "A heron of iron.", host="iron.example.org")
    found = library.search_pages("heron nest", chosen, 5)
    assert found[0].page_id == chosen[1] and {hit.page_id for hit in found} == set(chosen)
    assert store.library_index.list_unindexed(9) == other
    assert library.search_pages("heron nest", [], 5) == [] and library.search_pages("zebu", chosen, 5) == []


def test_a_word_that_all_chosen_pages_hold_tells_nothing_however_rare_it_is_elsewhere(library, store):
    for n in range(60):
        library.add_page(page(f"The frog number {n} sits.", f"https://frogs.example.org/{n}"))
    chosen = keep(store, *GUIDE, "A heron, a heron, a heron: heron or heron, and heron.")
    assert library.search("heron frog").hits[0].page_id == chosen[3]
    best, *rest = library.search_pages("heron frog", chosen, 5)
    assert best.page_id == chosen[2] and best.score > 2 * rest[0].score


def test_stored_passages_have_the_scores_of_passages_at_hand_whatever_else_is_stored(library, store):
    for n in range(1, 9):
        library.add_page(page("A heron nests. " * 50 * n, f"https://far.example.org/{n}"))
    longer = (
        "The grey heron nests in colonies. " * 9 + "Its nests are large, and a colony may last a century."
    )
    chosen = keep(store, *GUIDE, longer, "Twigs, reed and moss make nests.")
    passages = [p for name in chosen for p in split_passages(store.pages.get(name), name)]
    for asked in ("heron", "what are nests made of?", "colony century", "frog zyzzogeton"):
        by_hand = [hit for hit in rank_passages(asked, passages, 9) if hit.score]
        by_index = library.search_pages(asked, chosen, 9)
        assert {hit.id: hit.score for hit in by_index} == pytest.approx(
            {hit.id: hit.score for hit in by_hand}, abs=2e-4
        )


def test_a_large_scope_is_searched_in_the_whole_index(library, monkeypatch):
    for n, said in enumerate(GUIDE * 4):
        library.add_page(
            page(f"{said} {n}", f"https://a.example.org/{n}"), tags=["even"] if n % 2 == 0 else []
        )
    few = ids(library, "heron frog", 9, tags=["even"])
    monkeypatch.setattr(collection, "MAX_COUNTED_PASSAGES", 3)
    many = ids(library, "heron frog", 9, tags=["even"])
    assert len(few) == 6 and set(many) == set(few) and many[0] in few[:2]


def test_a_replaced_and_a_deleted_page_are_searched_too(library, store):
    old = store.pages.put(page(GUIDE[1], "https://a.example.org/1", fetched_at="2026-01-01T09:00:00Z"))
    new = library.add_page(page("Another text.", "https://a.example.org/1"))
    gone = library.add_page(page(GUIDE[2], "https://a.example.org/2"))
    library.delete(gone.source_id)
    found = library.search_pages("heron frog nest", [old, new.page_id, gone.page_id], 5)
    assert {hit.page_id for hit in found} == {old, gone.page_id}
    assert found.counts.passages == 3 and found.counts.document_frequencies["heron"] == 2


def test_pages_that_are_not_in_the_index_are_counted_and_scored_as_those_in_it(library, store):
    imported = [page(said, f"https://b.example.org/{n}") for n, said in enumerate([*GUIDE, "A pond."])]
    for one in imported:
        store.pages.add_if_absent(one)
    found = library.search_pages("heron frog", [make_page_id(one) for one in imported], 9)
    passages = [passage for one in imported for passage in split_passages(one, "x")]
    by_hand = rank_passages("heron frog", passages, 9)
    assert [hit.score for hit in found] == [hit.score for hit in by_hand if hit.score] and len(found) == 3
    assert found.counts.passages == 4 and found.counts.document_frequencies == {"heron": 3, "frog": 1}


def test_the_terms_of_a_label_leave_the_index_with_their_passage(library, store):
    library.add_file("prices.csv", b"zander,price\nlarge,40\nsmall,20\n")
    assert library.search("zander").hits[0].label
    library.add_file("prices.csv", b"perch,price\nlarge,41\nsmall,21\n")
    assert store.library_index.document_frequencies(["zander", "perch"]) == {"perch": 1}
    with store.engine.connect() as connection:
        connection.execute(text("INSERT INTO library_words(library_words) VALUES ('integrity-check')"))


def test_a_word_of_a_language_without_stemmer_is_found_in_its_other_forms(library, store):
    chosen = keep(
        store,
        "Der Reiher lässt sich mit der Klappe umschalten. Danach schaltet man die Lampe aus.",
        "Die Lampe steht im Schilf, und der Reiher steht daneben.",
    )
    asked = "Wie schalte ich die Lampe aus?"
    found = library.search_pages(asked, chosen, 1)
    assert found[0].page_id == chosen[0] and found.counts.document_frequencies["schalt"] == 1
    in_english = library.search_pages("How do I schalte the Lampe?", chosen, 1)
    assert in_english.counts.document_frequencies["schalt"] == 0
