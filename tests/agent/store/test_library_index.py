"""The shelf's rows: the upgrade to it, what is put in place of what, the index of words, vectors kept apart
by model."""

from __future__ import annotations

import hashlib

from sqlalchemy import text

from agent.store.database import Store
from agent.store.library_index import IndexedPassage, SourceQuery, SourceUpdate
from agent.store.pages import make_page_id
from agent.types import LibrarySource, Outcome, Page, Passage
from tests.records import fill
from tests.tables import by_table


def page(words_of_it: str, url: str = "https://a.example/x") -> Page:
    hashed = hashlib.sha256(words_of_it.encode()).hexdigest()
    return Page(
        url=url,
        final_url=url,
        outcome=Outcome.OK,
        text=words_of_it,
        sha256=hashed,
        fetched_at="2026-11-21T09:00:00Z",
    )


UNKNOWN = {
    **dict.fromkeys(("sha256", "description", "fetched_at", "deleted_at", "detail"), ""),
    "described_by": "keyless",
    "tags": [],
    "passages": 0,
    "added_at": "2026",
}


def put(store: Store, said: str, name: str = "kb:x", **more) -> bool:
    """A source whose every line is a passage; its terms are its words."""
    former = store.library_index.get(name)
    said_page = page(said, f"https://a.example/{name}")
    pieces, at = [], 0
    for n, line in enumerate(said.split("\n")):
        passage = Passage(id=f"{n}", page_id="", url="", text=line, start=at, end=at + len(line))
        pieces.append(IndexedPassage(passage, head="", body=line))
        at += len(line) + 1
    source = fill(
        LibrarySource,
        source_id=name,
        kind="page",
        title=name,
        url=f"https://a.example/{name}",
        page_id=make_page_id(said_page),
        **UNKNOWN | {"passages": len(pieces)} | more,
    )
    return not store.library_index.put(
        [SourceUpdate(source, pieces, said_page, {"words": "w", "folded": name}, former=former)]
    )


def found(store: Store, *terms: str, k: int = 10) -> list[str]:
    return [
        passage.text
        for passage, _ in store.library_index.passages(store.library_index.search(list(terms), k))
    ]


# --- sources
# ---------------------------------------------------------------------------------------------------------------


def test_another_text_takes_the_place_of_the_former_and_its_words_are_gone(store):
    assert put(store, "heron fish\nfrog") and put(store, "stork\ncrane")
    assert found(store, "heron", "frog") == [] and sorted(found(store, "stork", "crane", "heron")) == [
        "crane",
        "stork",
    ]
    assert store.library_index.passage_count() == 2 and store.library_index.document_frequencies(
        ["heron", "stork"]
    ) == {"stork": 1}
    if store.engine.dialect.name == "sqlite":
        with store.engine.connect() as connection:
            connection.execute(text("INSERT INTO library_words(library_words) VALUES ('integrity-check')"))


def test_who_looked_at_an_older_state_is_told_to_look_again(store):
    put(store, "heron")
    rival = page("rival")
    source = fill(LibrarySource, **UNKNOWN, source_id="kb:x", kind="page", page_id=make_page_id(rival))
    assert store.library_index.put([SourceUpdate(source, [], rival, {"words": "w"}, former=None)]) == {"kb:x"}
    stale = store.library_index.get("kb:x")
    put(store, "stork")
    assert store.library_index.put([SourceUpdate(source, [], rival, {"words": "w"}, former=stale)]) == {
        "kb:x"
    }
    assert found(store, "stork") == ["stork"]


def test_what_lies_in_the_bin_is_not_found_however_much_of_it_there_is(store):
    for n in range(30):
        put(store, f"heron {n}", f"kb:{n}")
        if n != 17:
            store.library_index.set(f"kb:{n}", deleted_at="2026")
    assert found(store, "heron", k=3) == ["heron 17"]
    assert store.library_index.count(SourceQuery()) == 1
    assert store.library_index.count(SourceQuery(deleted=True)) == 29


# --- words
# -----------------------------------------------------------------------------------------------------------------


@by_table
def test_a_term_is_never_read_as_a_query(store, term):
    put(store, "heron fish")
    assert found(store, term) in ([], ["heron fish"])
    assert found(store, term, "fish") == ["heron fish"]


def test_forgotten_words_wait_to_be_made_anew(store):
    put(store, "heron")
    held = store.library_index.get("kb:x")
    store.library_index.use_terms("another way")
    assert found(store, "heron") == [] and store.library_index.list_unindexed(5) == [held.source.page_id]
    put(store, "heron")
    store.library_index.use_terms("another way")
    assert found(store, "heron") == ["heron"], "the same way again"


# --- vectors
# ---------------------------------------------------------------------------------------------------------------


def test_vectors_of_two_models_are_not_mixed(store):
    put(store, "heron\nfrog")
    ids = [bare.id for bare in store.vectors.list_unembedded(-1, after=0, most=9)]
    one, two = store.vectors.get_or_create_embedder("one", 8), store.vectors.get_or_create_embedder("two", 8)
    assert one != two and store.vectors.get_or_create_embedder("one", 8) == one
    assert store.vectors.newest_embedder("two") == two and store.vectors.newest_embedder("three") is None
    store.vectors.add(one, [(i, b"\1" * 8) for i in ids])
    store.vectors.add(two, [(ids[0], b"\2" * 8)])
    assert store.vectors.count_unembedded(one) == 0 and store.vectors.count_unembedded(two) == 1
    assert [bare.text for bare in store.vectors.list_unembedded(two, after=0, most=9)] == ["frog"]
    store.vectors.delete_other_models(two)
    assert [row[3] for row in store.vectors.list_after(two, 0, most=9)] == [
        b"\2" * 8
    ] and store.vectors.list_after(one, 0, most=9) == []


def test_a_vector_of_a_passage_that_went_away_is_not_kept(store):
    put(store, "heron")
    model = store.vectors.get_or_create_embedder("m", 8)
    old = store.vectors.list_unembedded(model, after=0, most=1)[0].id
    put(store, "stork")
    assert store.vectors.add(model, [(old, b"\1" * 8)]) == 0
    new = store.vectors.list_unembedded(model, after=0, most=1)[0].id
    assert store.vectors.add(model, [(new, b"\1" * 8)]) == 1
    assert store.vectors.add(model, [(new, b"\1" * 8)]) == 0
    put(store, "crane")
    assert store.vectors.list_after(model, 0, most=9) == [] and store.vectors.count(model) == 0


def test_any_number_of_sources_may_be_searched(store):
    put(store, "heron one", "kb:1")
    assert store.library_index.match_terms(["heron"], []) == (0, {"heron": {}})
    assert store.library_index.match_terms(["heron"], range(70_000))[0] == 1
