"""Search by meaning, and the vectors it needs."""

from __future__ import annotations

import threading

import pytest

from agent.errors import ModelUnavailable
from agent.library.collection import Library
from agent.store.database import Store
from tests.agent.library.pages import Bags, ids

TEXTS = {
    "cats.txt": "Kittens sleep all day.",
    "cars.txt": "The automobile needs petrol.",
    "bread.txt": "A loaf is baked at dawn.",
}


def filled(store: Store, embedder: Bags | None) -> Library:
    library = Library(store, embedder, absent="No model is set up.")
    for name, text in TEXTS.items():
        library.add_file(name, text.encode())
    return library


def test_what_is_meant_is_found_without_a_word_in_common(store):
    library = filled(store, Bags())
    assert library.search("feline").by == "words" and library.vector_index.embed_pending() == 3
    assert library.vector_index.embed_pending() == 0
    found = library.search("feline")
    assert (found.by, found.note, found.hits[0].source_id, found.hits[0].score) == (
        "words and meaning",
        "",
        "kb:cats.txt",
        1.0,
    )
    assert ids(library, "vehicle", k=1) == ["kb:cars.txt"] and ids(
        library, "bakery", source_ids=["kb:cats.txt"]
    ) == ["kb:cats.txt"]
    library.delete("kb:cats.txt")
    assert "kb:cats.txt" not in ids(library, "feline")


def test_without_a_model_or_with_one_that_is_down_words_are_searched_and_the_note_says_so(store):
    assert "No model is set up." in filled(store, None).search("kittens").note
    embedder = Bags()
    library = filled(store, embedder)
    library.vector_index.embed_pending()
    embedder.down = "The server sleeps."
    found = library.search("kittens")
    assert (found.by, [hit.source_id for hit in found.hits]) == (
        "words",
        ["kb:cats.txt"],
    ) and "The server sleeps." in found.note
    library.add_file("new.txt", b"Something new.")
    with pytest.raises(ModelUnavailable):
        library.vector_index.embed_pending()
    assert library.vector_index.count_missing() == 1


def test_vectors_go_on_where_they_stood_and_new_texts_are_found_at_once(store):
    library = filled(store, Bags())
    assert library.vector_index.embed_pending(most=2) == 2 and library.vector_index.count_missing() == 1
    assert "1 passages have no vector yet" in library.search("feline").note
    assert library.vector_index.embed_pending() == 1
    library.add_file("lion.txt", b"The feline of the savannah.")
    assert library.vector_index.embed_pending() == 1 and "kb:lion.txt" in ids(library, "kitten", k=2)
    library.add_file("lion.txt", b"An automobile by that name.")
    library.vector_index.embed_pending()
    assert set(ids(library, "vehicle", k=2)) == {"kb:cars.txt", "kb:lion.txt"}


def test_another_model_begins_anew_and_the_old_vectors_are_not_mixed_in(store):
    filled(store, Bags()).vector_index.embed_pending()
    other = Bags("other", dimensions=40)
    library = Library(store, other)
    assert library.search("feline").by == "words" and library.vector_index.count_missing() == 3
    assert library.vector_index.embed_pending() == 3 and other.asked >= 3
    assert ids(library, "feline", k=1) == ["kb:cats.txt"]
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*), count(DISTINCT embedder) FROM vectors").one() == (
            3,
            1,
        )


def test_a_signal_ends_the_making_of_vectors(store):
    class Enough(Exception):
        pass

    def stop() -> None:
        raise Enough

    library = filled(store, Bags())
    with pytest.raises(Enough):
        library.vector_index.embed_pending(checkpoint=stop)
    assert library.vector_index.count_missing() == 3 and library.vector_index.embed_pending() == 3, (
        "and it can go on afterwards"
    )


def test_terms_made_in_another_way_are_made_anew_and_vectors_stay(store, monkeypatch):
    embedder = Bags()
    filled(store, embedder).vector_index.embed_pending()
    asked = embedder.asked
    monkeypatch.setattr(
        "agent.library.ingest.join_terms", lambda text: " ".join(word[:3] for word in text.lower().split())
    )
    monkeypatch.setattr("agent.library.ingest.ANALYSIS_FINGERPRINT", "the first three letters")
    library = Library(store, embedder)
    library.index_pending()
    with store.engine.connect() as connection:
        assert store.library_index.document_frequencies(["kit", "kitten"]) == {"kit": 1}
        connection.exec_driver_sql("INSERT INTO library_words(library_words) VALUES ('integrity-check')")
    assert library.vector_index.embed_pending() == 0 and embedder.asked == asked
    assert store.library_index.passage_count() == 3


@pytest.mark.slow
def test_many_threads_add_search_and_bin_at_the_same_time(store):
    library = Library(store, Bags())
    library.add_file("shared.txt", b"Heron zero.")
    troubles: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for i in range(6):
                library.add_file(f"{n}-{i}.txt", f"Heron {n} {i} feline.".encode())
                library.add_file("shared.txt", f"Heron of thread {n}, round {i}.".encode())
                assert library.search("heron", 5).hits
                library.vector_index.embed_pending(most=4)
                library.delete(f"kb:{n}-{i}.txt") if i % 2 else library.tag(f"kb:{n}-{i}.txt", "even")
        except BaseException as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles, troubles
    library.vector_index.embed_pending()
    assert library.count() == 1 + 6 * 3 and library.count(deleted=True) == 6 * 3
    assert library.tags() == {"even": 18}
    assert len(library.search("heron", 100).hits) == 19 and library.vector_index.count_missing() == 0
    with store.engine.connect() as connection:
        connection.exec_driver_sql("INSERT INTO library_words(library_words) VALUES ('integrity-check')")
