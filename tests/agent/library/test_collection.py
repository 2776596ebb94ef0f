"""The library: what is added is found, in many scripts; what changes is replaced; folders, the bin, scopes,
vectors, many threads."""

from __future__ import annotations

import pytest

from agent.errors import NotFound, UsageError
from agent.library.collection import Library
from agent.types import LibraryScope, PageRef, Settings, Status, Step
from tests.agent.library.pages import HERONS, STORKS, Bags, ids, page
from tests.records import fill
from tests.tables import by_table


def test_a_hit_quotes_the_stored_page_under_its_heading(library, store):
    source = library.add_file("birds/herons.md", HERONS.encode(), tags=["birds"])
    found = library.search("Where do herons nest?")
    hit = found.hits[0]
    assert (hit.source_id, hit.heading, hit.score, found.by) == ("kb:birds/herons.md", "Nests", 1.0, "words")
    assert store.pages.get(hit.page_id).text[hit.start : hit.end] == hit.text
    assert hit.url == "file:birds/herons.md"
    assert (source.kind, source.title, source.tags, source.passages) == ("file", "Herons", ["birds"], 2)
    assert [h.score for h in found.hits] == sorted((h.score for h in found.hits), reverse=True)


@by_table
def test_a_text_is_found_by_its_words_in_any_script(library, text, query):
    others = (
        "東京タワーは赤い。",
        "北京的天气很冷，冬天常常下雪。",
        "부산은 항구 도시이다.",
        "Сегодня идёт снег.",
        "Birds sing.",
        "กรุงปารีสสวย",
    )
    for n, other in enumerate(others):
        library.add_file(f"other{n}.txt", other.encode())
    library.add_file("sought.txt", text.encode())
    assert library.search(query).hits[0].source_id == "kb:sought.txt"


def test_the_same_text_again_changes_its_time_only(library, store):
    first = library.add_page(page("Herons eat fish."), tags=["a"])
    again = library.add_page(page("Herons eat fish.", fetched_at="2026-11-20T09:00:00Z"), tags=["b"])
    assert (again.page_id, again.added_at, again.tags) == (first.page_id, first.added_at, ["a", "b"])
    assert library.source(first.source_id) == again and again.fetched_at == "2026-11-20T09:00:00Z"
    assert store.library_index.passage_count() == 1


def test_a_newer_text_replaces_the_older_whose_stored_page_stays(library, store):
    old = library.add_page(page("Herons eat fish."))
    new = library.add_page(page("Storks eat frogs.", fetched_at="2026-11-20T09:00:00Z"))
    assert old.source_id == new.source_id == "kb:https://a.example.org/x" and new.page_id != old.page_id
    assert ids(library, "herons fish") == [] and ids(library, "storks") == [new.source_id]
    assert store.pages.get(old.page_id).text == "Herons eat fish.", "an answer may cite it"


def test_a_folder_is_added_and_what_cannot_be_read_is_told(library, tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.md").write_text(HERONS)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    added = library.add_folder(folder, tags=["kb"])
    assert [source.source_id for source in added.sources] == ["kb:deep/a.md"]
    assert [(refused.name, "damaged" in refused.why) for refused in added.refused] == [("broken.pdf", True)]


def test_catching_up_takes_no_more_than_it_is_told(library, store):
    for n in range(5):
        store.pages.put(page(f"Heron number {n}.", f"https://a.example.org/{n}"))
    store.pages.put(page("", "https://a.example.org/empty"))
    assert library.index_pending(most=4) == 4 and library.index_pending() == 2
    assert library.index_pending() == 0 and library.count() == 5


def test_an_older_reading_does_not_replace_a_newer_one_nor_empty_the_bin(library, store):
    newest = library.add_page(page("Storks.", fetched_at="2026-11-20T09:00:00Z"))
    store.pages.put(page("Herons.", fetched_at="2026-11-02T09:00:00Z"))
    assert library.index_pending() == 1 and library.load(newest.source_id).text == "Storks."
    library.delete(newest.source_id)
    store.pages.put(page("Cranes.", fetched_at="2026-11-21T09:00:00Z"))
    library.index_pending()
    assert ids(library, "cranes") == [] and library.count(deleted=True) == 1
    library.restore(newest.source_id)
    assert ids(library, "cranes") == [newest.source_id]


def test_a_scope_names_runs_tags_and_sources(library, store):
    for n, tag in enumerate(("a", "b", "c")):
        library.add_page(page(f"Heron number {n}.", f"https://a.example.org/{n}"), tags=[tag])
    run_id = store.ledger.create("q", Settings(), fill(Step, name="ask", change={}, next="decide"))
    lease = store.ledger.claim(run_id, "me")
    read = fill(PageRef, url="https://a.example.org/2", page_id="p", final_url="https://a.example.org/2")
    store.ledger.commit(
        lease,
        fill(Step, n=1, name="crawl", change={"pages": [read.model_dump(mode="json")]}, next="decide"),
        Status.RUNNING,
        {},
    )
    assert ids(library, "heron", run_ids=[run_id]) == ["kb:https://a.example.org/2"]
    assert ids(library, "heron", tags=["a"], source_ids=["kb:https://a.example.org/1"]) == [
        f"kb:https://a.example.org/{n}" for n in (0, 1)
    ]
    assert ids(library, "heron", tags=["nothing"]) == [] and ids(library, "heron", run_ids=["nothing"]) == []
    assert [entry.source_id for entry in library.index(scope=LibraryScope(tags=["b"]))] == [
        "kb:https://a.example.org/1"
    ]


def test_the_index_is_one_entry_a_source_with_its_id_and_a_description(library):
    library.add_file("herons.md", HERONS.encode())
    library.add_page(page("Storks build large nests on roofs.", title="Storks"))
    assert [(entry.source_id, entry.description) for entry in library.index()] == [
        ("kb:herons.md", "Herons: Herons eat fish and frogs in shallow water. — Nests"),
        ("kb:https://a.example.org/x", "Storks: Storks build large nests on roofs."),
    ]
    assert library.load("kb:herons.md").title == "Herons"
    for missing in ("kb:nothing", "team:nothing"):
        with pytest.raises(NotFound):
            library.load(missing)


def test_a_written_description_stays_as_long_as_its_text(library):
    library.add_file("a.md", HERONS.encode())
    library.describe("kb:a.md", "What herons\neat.", "model")
    library.add_file("a.md", HERONS.encode())
    assert [(entry.description, entry.described_by) for entry in library.index()] == [
        ("What herons eat.", "model")
    ]
    library.add_file("a.md", STORKS.encode())
    assert [entry.described_by for entry in library.index()] == ["keyless"]
    with pytest.raises(UsageError, match="empty"):
        library.describe("kb:a.md", " ", "person")


def test_the_bin_is_emptied_for_good_and_cited_texts_stay(store):
    library = Library(store, Bags())
    cited, gone, kept = (
        library.add_file(f"{name}.md", f"Herons of {name} eat fish.".encode(), tags=["t"])
        for name in ("cited", "gone", "kept")
    )
    library.vector_index.embed_pending()
    read = fill(PageRef, url=cited.url, page_id=cited.page_id, final_url=cited.url)
    change = {"question": "q", "pages": [read.model_dump(mode="json")]}
    store.ledger.create("q", Settings(), fill(Step, name="ask", change=change, next="decide"))
    for source in (cited, gone):
        library.delete(source.source_id)
    assert library.count(deleted=True) == 2
    assert library.empty_bin() == 2 and library.count(deleted=True) == 0 and library.count() == 1
    with pytest.raises(NotFound):
        store.pages.get(gone.page_id)
    assert store.pages.get(cited.page_id).text, "a step names it"
    assert ids(library, "herons eat fish") == [kept.source_id] and library.tags() == {"t": 1}
    assert library.index_pending() == 0
    with pytest.raises(NotFound):
        library.restore(gone.source_id)
    with store.engine.connect() as connection:
        connection.exec_driver_sql("INSERT INTO library_words(library_words) VALUES ('integrity-check')")
        assert connection.exec_driver_sql(
            "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM vectors)"
        ).one() == (1, 1)
    assert library.add_file("gone.md", b"Herons of gone eat fish.").passages == 1 and "kb:gone.md" in ids(
        library, "gone herons"
    )


def test_one_text_held_by_two_sources_stays_until_both_are_gone(library, store):
    one = library.add_page(page("Herons eat fish."), source_id="kb:one")
    other = library.add_page(page("Herons eat fish."), source_id="kb:other")
    assert one.page_id == other.page_id
    library.delete("kb:one")
    assert (
        library.empty_bin() == 1 and library.load("kb:other").text and ids(library, "herons") == ["kb:other"]
    )
    library.delete("kb:other")
    assert library.empty_bin() == 1
    with pytest.raises(NotFound):
        store.pages.get(one.page_id)


def test_sources_are_listed_by_words_tags_kinds_and_age(library):
    library.add_file("Größen.md", b"# Sizes\n\nThe vat holds 400 litres of milk.")
    library.add_page(page("Storks build nests.", title="Storks", fetched_at="2020-01-01T00:00:00Z"))
    library.tag("kb:Größen.md", "#Milk ", "vat")
    library.tag("kb:Größen.md", "vat", away=True)
    assert library.tags() == {"Milk": 1}
    assert [source.source_id for source in library.sources(text="GROSSEN milk")] == ["kb:Größen.md"]
    assert [source.title for source in library.sources(tag="Milk")] == ["Sizes"] and library.count(
        kind="page"
    ) == 1
    assert [source.title for source in library.sources(stale_days=30)] == ["Storks"] and library.count(
        stale_days=100_000
    ) == 0
    assert [source.title for source in library.sources(limit=1, offset=1)] == ["Sizes"]
    with pytest.raises(UsageError, match="tag"):
        library.tag("kb:Größen.md", "x" * 99)


def test_places_are_those_of_the_sources_in_scope(library):
    rows = "Bezeichnung;Art;Adresse;Breitengrad;Längengrad\nApotheke;pharmacy;Weg 1;59,33;18,06\nOhne;x;y;;\nWeit;x;y;91;0\n;x;y;1;1\n"
    source = library.add_file("a.csv", rows.encode("cp1252"))
    library.add_file("b.csv", b"name,type,lat,lng\nClinic,clinic,33.9 S,18.4\n")
    assert [(f.name, f.kind, f.latitude) for f in library.facilities()] == [
        ("Apotheke", "pharmacy", 59.33),
        ("Clinic", "clinic", -33.9),
    ]
    assert source.detail == "3 of 4 rows have no usable name or coordinates."
    assert [f.name for f in library.facilities(scope=LibraryScope(source_ids=["kb:b.csv"]))] == ["Clinic"]
    library.delete("kb:b.csv")
    assert [f.name for f in library.facilities()] == ["Apotheke"]
