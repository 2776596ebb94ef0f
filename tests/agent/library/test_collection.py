"""The library: what is added is found, in many scripts; what changes is replaced; folders, the bin, scopes,
vectors, many threads."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.errors import ModelUnavailable, NotFound, UsageError
from agent.library.collection import Library
from agent.store.database import Store
from agent.types import Heading, LibraryScope, Outcome, Page, PageRef, Settings, Status, Step
from agent.web.extract import documents

HERONS = "# Herons\n\nHerons eat fish and frogs in shallow water.\n\n## Nests\n\nThey nest together in tall trees near a lake."
STORKS = "# Storks\n\nStorks build large nests on roofs and chimneys of villages."


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path}/t.db")
    yield opened
    opened.close()


@pytest.fixture
def library(store):
    return Library(store)


def page(text: str, url: str = "https://a.example.org/x", **more) -> Page:
    hashed = hashlib.sha256(text.encode()).hexdigest()
    return Page(
        **{
            "url": url,
            "final_url": url,
            "outcome": Outcome.OK,
            "text": text,
            "sha256": hashed,
            "fetched_at": "2026-11-01T09:00:00Z",
            **more,
        }
    )


def ids(library: Library, query: str, k: int = 10, **scope) -> list[str]:
    return list(
        dict.fromkeys(hit.source_id for hit in library.search(query, k, scope=LibraryScope(**scope)).hits)
    )


# --- adding and finding
# ----------------------------------------------------------------------------------------------------


def test_a_hit_quotes_the_stored_page_under_its_heading(library, store):
    source = library.add_file("birds/herons.md", HERONS.encode(), tags=["birds"])
    found = library.search("Where do herons nest?")
    hit = found.hits[0]
    assert (hit.source_id, hit.heading, hit.score, found.by) == ("kb:birds/herons.md", "Nests", 1.0, "words")
    assert (
        store.pages.get(hit.page_id).text[hit.start : hit.end] == hit.text
        and hit.url == "file:birds/herons.md"
    )
    assert (source.kind, source.title, source.tags, source.passages) == ("file", "Herons", ["birds"], 2)
    assert [h.score for h in found.hits] == sorted((h.score for h in found.hits), reverse=True)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("长江是亚洲最长的河流，发源于青藏高原，流经十一个省份，最后注入东海。", "长江发源于哪里"),
        ("京都の金閣寺は一三九七年に足利義満によって建てられた。", "金閣寺は誰が建てた"),
        ("서울의 경복궁은 조선 왕조가 1395년에 지은 궁궐이다.", "경복궁은 언제 지었나"),
        ("แม่น้ำเจ้าพระยาไหลผ่านกรุงเทพมหานครลงสู่อ่าวไทย", "แม่น้ำเจ้าพระยาไหลไปไหน"),
        (
            "Байкал — самое глубокое озеро на Земле, его глубина достигает 1642 метров.",
            "Какова глубина озера Байкал?",
        ),
        ("Ο Παρθενώνας χτίστηκε στην Αθήνα τον πέμπτο αιώνα προ Χριστού.", "πότε χτίστηκε ο Παρθενώνας"),
        ("يقع جامع القرويين في مدينة فاس وقد أسسته فاطمة الفهرية.", "من أسس جامع القرويين"),
        ("Der Käse reift sechs Monate im Keller der Molkerei.", "Wie lange reift Kase?"),
    ],
)
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


def test_a_chinese_document_is_found_passage_by_passage(library):
    text = (
        "# 茶的种类\n\n绿茶不经发酵，保留了茶叶的天然成分。\n\n## 红茶\n\n红茶是全发酵茶，祁门红茶产于安徽省祁门县。\n\n"
        "## 普洱茶\n\n普洱茶产于云南，存放多年后味道更醇厚。"
    )
    library.add_file("茶.md", text.encode())
    best = library.search("祁门红茶产于哪个省？").hits[0]
    assert (
        best.heading == "红茶"
        and "安徽省" in best.text
        and library.search("云南的普洱茶").hits[0].heading == "普洱茶"
    )


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "?!",
        '"',
        "a* OR (b",
        "NOT herons",
        "head:herons",
        "the of and",
        "x" * 5000,
        "\0herons",
        "'; DROP TABLE sources --",
    ],
)
def test_no_query_breaks_anything(library, query):
    library.add_file("a.md", HERONS.encode())
    assert isinstance(library.search(query).hits, list) and library.count() == 1


def test_the_same_text_again_changes_its_time_only(library, store):
    first = library.add_page(page("Herons eat fish."), tags=["a"])
    again = library.add_page(page("Herons eat fish.", fetched_at="2026-11-20T09:00:00Z"), tags=["b"])
    assert (again.page_id, again.added_at, again.tags) == (first.page_id, first.added_at, ["a", "b"])
    assert (
        library.source(first.source_id) == again
        and again.fetched_at == "2026-11-20T09:00:00Z"
        and store.library_index.passage_count() == 1
    )


def test_a_newer_text_replaces_the_older_whose_stored_page_stays(library, store):
    old = library.add_page(page("Herons eat fish."))
    new = library.add_page(page("Storks eat frogs.", fetched_at="2026-11-20T09:00:00Z"))
    assert old.source_id == new.source_id == "kb:https://a.example.org/x" and new.page_id != old.page_id
    assert ids(library, "herons fish") == [] and ids(library, "storks") == [new.source_id]
    assert store.pages.get(old.page_id).text == "Herons eat fish.", "an answer may cite it"


def test_a_page_without_text_is_no_source(library):
    with pytest.raises(UsageError, match="no text"):
        library.add_page(page(" "))


def test_pages_of_the_demo_world_are_marked_as_invented(library):
    assert library.add_page(page("Herons eat fish.", "https://www.dairy.example/x")).tags == ["demo"]


def test_a_folder_is_added_and_what_cannot_be_read_is_told(library, tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.md").write_text(HERONS)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    added = library.add_folder(folder, tags=["kb"])
    assert [source.source_id for source in added.sources] == ["kb:deep/a.md"]
    assert [(refused.name, "damaged" in refused.why) for refused in added.refused] == [("broken.pdf", True)]


# --- what flows have read
# --------------------------------------------------------------------------------------------------


def test_what_a_flow_stored_is_found_by_the_next_search(library, store):
    store.pages.put(page("Herons eat fish."))
    assert ids(library, "herons") == ["kb:https://a.example.org/x"] and library.index_pending() == 0


def test_catching_up_takes_no_more_than_it_is_told(library, store):
    for n in range(5):
        store.pages.put(page(f"Heron number {n}.", f"https://a.example.org/{n}"))
    store.pages.put(page("", "https://a.example.org/empty"))
    assert (
        library.index_pending(most=4) == 4
        and library.index_pending() == 2
        and library.index_pending() == 0
        and library.count() == 5
    )


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
    run_id = store.ledger.create("q", Settings(), Step(n=0, name="ask", change={}, next="decide"))
    lease = store.ledger.claim(run_id, "me")
    read = PageRef(url="https://a.example.org/2", page_id="p", final_url="https://a.example.org/2")
    store.ledger.commit(
        lease,
        Step(n=1, name="crawl", change={"pages": [read.model_dump(mode="json")]}, next="decide"),
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


# --- the index
# -------------------------------------------------------------------------------------------------------------


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
    assert [(entry.description, entry.by) for entry in library.index()] == [("What herons eat.", "model")]
    library.add_file("a.md", STORKS.encode())
    assert [entry.by for entry in library.index()] == ["keyless"]
    with pytest.raises(UsageError, match="empty"):
        library.describe("kb:a.md", " ", "person")


# --- keeping
# ---------------------------------------------------------------------------------------------------------------


def test_the_bin_and_back(library, store):
    source = library.add_file("a.md", HERONS.encode())
    library.delete(source.source_id)
    assert not library.search("herons").hits and not library.index() and library.count(deleted=True) == 1
    with pytest.raises(NotFound, match="bin"):
        library.load(source.source_id)
    assert store.pages.get(source.page_id).text, "an answer may cite it"
    library.restore(source.source_id)
    assert library.search("herons").hits
    library.delete(source.source_id)
    library.add_file("a.md", HERONS.encode())
    assert library.search("herons").hits, "who adds it again wants it"


def test_the_bin_is_emptied_for_good_and_cited_texts_stay(store):
    library = Library(store, Bags())
    cited, gone, kept = (
        library.add_file(f"{name}.md", f"Herons of {name} eat fish.".encode(), tags=["t"])
        for name in ("cited", "gone", "kept")
    )
    library.embed_pending()
    read = PageRef(url=cited.url, page_id=cited.page_id, final_url=cited.url)
    change = {"question": "q", "pages": [read.model_dump(mode="json")]}
    store.ledger.create("q", Settings(), Step(n=0, name="ask", change=change, next="decide"))
    for source in (cited, gone):
        library.delete(source.source_id)
    assert library.empty_bin(older_days=1) == 0 and library.count(deleted=True) == 2
    assert library.empty_bin() == 2 and library.count(deleted=True) == 0 and library.count() == 1
    with pytest.raises(NotFound):
        store.pages.get(gone.page_id)
    assert store.pages.get(cited.page_id).text, "a step names it"
    assert (
        ids(library, "herons eat fish") == [kept.source_id]
        and library.tags() == {"t": 1}
        and library.index_pending() == 0
    )
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
    library.untag("kb:Größen.md", "vat")
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


def test_a_source_is_read_anew(library):
    old = library.add_page(page("Herons eat fish."))
    new = library.replace(old.source_id, page("Herons eat frogs.", fetched_at="2026-11-21T09:00:00Z"))
    assert new.source_id == old.source_id and library.load(old.source_id).text == "Herons eat frogs."
    with pytest.raises(NotFound):
        library.replace("kb:nothing", page("x"))


# --- folders that are kept current
# -----------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path):
    kb, team = tmp_path / "kb", tmp_path / "team"
    (kb / "deep").mkdir(parents=True)
    team.mkdir()
    (kb / "deep" / "a.md").write_text(HERONS)
    (team / "tokens.txt").write_text("Test tokens come from the faucet page of the team.")
    return kb, team


def test_folders_are_kept_current(library, folders):
    kb, team = folders
    assert (
        library.sync(kb, team).added == ["kb:deep/a.md", "team:tokens.txt"]
        and not library.sync(kb, team).has_changes
    )
    assert library.source("team:tokens.txt").kind == "topic" and ids(library, "faucet tokens") == [
        "team:tokens.txt"
    ]
    (kb / "deep" / "a.md").write_text(STORKS)
    os.utime(kb / "deep" / "a.md", (1, 1))
    assert (
        library.sync(kb, team).changed == ["kb:deep/a.md"] and library.load("kb:deep/a.md").title == "Storks"
    )
    os.utime(kb / "deep" / "a.md", (2, 2))
    assert not library.sync(kb, team).has_changes, "touched, but the same text"
    (team / "tokens.txt").unlink()
    assert library.sync(kb, team).removed == ["team:tokens.txt"] and [
        entry.source_id for entry in library.index()
    ] == ["kb:deep/a.md"]
    assert library.source("team:tokens.txt").gone_at and not library.sync(kb, team).has_changes
    (team / "tokens.txt").write_text("Test tokens come from the faucet page of the team.")
    assert library.sync(kb, team).added == ["team:tokens.txt"] and ids(library, "faucet") == [
        "team:tokens.txt"
    ]


def test_what_a_person_put_into_the_bin_stays_there(library, folders):
    library.sync(*folders)
    library.delete("kb:deep/a.md")
    (folders[0] / "deep" / "a.md").write_text(STORKS)
    library.sync(*folders)
    assert ids(library, "storks") == [] and library.source("kb:deep/a.md").deleted_at
    assert library.empty_bin() == 0, "it would come back as new"
    (folders[0] / "deep" / "a.md").unlink()
    library.sync(*folders)
    (folders[0] / "deep" / "a.md").write_text(STORKS)
    library.sync(*folders)
    assert ids(library, "storks") == []


def test_a_folder_that_is_not_there_removes_nothing(library, folders):
    library.sync(*folders)
    folders[0].rename(folders[0].with_name("elsewhere"))
    told = library.sync(*folders)
    assert not told.has_changes and "no folder" in told.refused[0].why and library.count() == 2


def test_an_upload_does_not_take_the_place_of_a_folders_file(library, folders, tmp_path):
    kb, team = folders
    library.sync(kb, team)
    with pytest.raises(UsageError, match=r"kb:deep/a\.md is a file of a folder .*another name"):
        library.add_file("deep/a.md", STORKS.encode())
    other = tmp_path / "other" / "deep"
    other.mkdir(parents=True)
    (other / "a.md").write_text(STORKS)
    (other / "b.md").write_text(STORKS)
    added = library.add_folder(other.parent)
    assert [one.source_id for one in added.sources] == ["kb:deep/b.md"] and [
        one.name for one in added.refused
    ] == ["deep/a.md"]
    assert library.load("kb:deep/a.md").title == "Herons" and not library.sync(kb, team).has_changes
    library.add_file("deep/a.md", HERONS.encode(), tags=["birds"])
    assert library.source("kb:deep/a.md").tags == ["birds"], "the same text is no other document"
    (kb / "deep" / "a.md").write_text(STORKS)
    assert library.sync(kb, team).changed == ["kb:deep/a.md"]


def test_a_folders_file_does_not_take_the_place_of_an_upload(library, folders):
    library.add_file("deep/a.md", b"# My own notes\n\nUploaded by a person.", tags=["mine"])
    for _ in range(2):
        told = library.sync(*folders)
        assert [one.name for one in told.refused] == ["deep/a.md"] and "by hand: rename" in told.refused[
            0
        ].why
    assert library.load("kb:deep/a.md").title == "My own notes"
    library.delete("kb:deep/a.md")
    library.empty_bin()
    assert library.sync(*folders).added == ["kb:deep/a.md"] and library.source("kb:deep/a.md").tags == []


def test_what_is_added_by_hand_after_its_file_went_stays(library, folders):
    library.sync(*folders)
    (folders[0] / "deep" / "a.md").unlink()
    library.sync(*folders)
    library.add_file("deep/a.md", HERONS.encode())
    assert not library.sync(*folders).has_changes and library.load("kb:deep/a.md").title == "Herons"


def test_a_file_that_cannot_be_read_is_told_each_time_and_read_once(library, folders, monkeypatch):
    (folders[0] / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    assert [refused.name for refused in library.sync(*folders).refused] == ["broken.pdf"]
    monkeypatch.setattr("agent.web.extract.documents.read_document", None)
    assert [refused.name for refused in library.sync(*folders).refused] == ["broken.pdf"]


def test_a_bad_file_beside_a_good_one_is_told_and_the_others_are_read(library, folders, monkeypatch):
    kb, team = folders
    library.sync(kb, team)
    (kb / "big.csv").write_text('name,x\n"' + "a" * 11_000_000 + '",2\n')
    (kb / "odd.md").write_text("# Odd")
    (kb / "zebras.md").write_text("# Zebras\n\nZebras graze on the plain.")
    plain, looked = documents.markdown.extract_markdown, Path.stat

    def read(text):
        return [][1] if text == "# Odd" else plain(text)

    def stat(path, **settings):
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return looked(path, **settings)

    monkeypatch.setattr(documents.markdown, "extract_markdown", read)
    monkeypatch.setattr(Path, "stat", stat)
    told = library.sync(kb, team)
    assert told.added == ["kb:zebras.md"] and not told.removed, "what may not be looked at is not gone"
    assert {refused.name: refused.why.split()[1:3] for refused in told.refused} == {
        "big.csv": ["cannot", "be"],
        "deep/a.md": ["cannot", "be"],
        "odd.md": ["is", "damaged"],
    }
    assert [refused.name for refused in library.add_folder(kb).refused] == ["big.csv", "odd.md"], (
        "one that opens is read"
    )
    monkeypatch.undo()
    assert library.sync(kb, team).refused[0].name == "big.csv" and ids(library, "zebras") == ["kb:zebras.md"]


def test_a_folder_that_cannot_be_looked_through_removes_nothing(library, folders, monkeypatch):
    library.sync(*folders)

    def broken(*_settings):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "rglob", broken)
    told = library.sync(*folders)
    assert (
        not told.has_changes
        and all("cannot be listed" in refused.why for refused in told.refused)
        and len(told.refused) == 2
    )


# --- places
# ----------------------------------------------------------------------------------------------------------------


def test_places_are_read_from_tables_however_their_columns_are_called(library):
    rows = "Bezeichnung;Art;Adresse;Breitengrad;Längengrad\nApotheke;pharmacy;Weg 1;59,33;18,06\nOhne;x;y;;\nWeit;x;y;91;0\nNull;x;y;0;0\n;x;y;1;1\n"
    source = library.add_file("a.csv", rows.encode("cp1252"))
    library.add_file("b.csv", b"name,type,lat,lng\nClinic,clinic,33.9 S,18.4\n")
    library.add_file("c.csv", b'Name,Coordinates\nPort,"(-1.5, 100.25)"\n')
    library.add_file("d.csv", b"name,price\nCheese,12\n")
    found = library.facilities()
    assert [(f.name, f.kind, f.latitude, f.longitude, f.row) for f in found] == [
        ("Apotheke", "pharmacy", 59.33, 18.06, 1),
        ("Clinic", "clinic", -33.9, 18.4, 1),
        ("Port", "", -1.5, 100.25, 1),
    ]
    assert source.detail == "4 of 5 rows have no usable name or coordinates."
    assert [f.name for f in library.facilities(scope=LibraryScope(source_ids=["kb:b.csv"]))] == ["Clinic"]
    library.delete("kb:b.csv")
    assert [f.name for f in library.facilities()] == ["Apotheke", "Port"]


# --- meaning
# ---------------------------------------------------------------------------------------------------------------


class Bags:
    """An embedder that knows a few words' meanings: each of them turns the vector into its own direction."""

    MEANINGS = (("cat", "kitten", "feline"), ("car", "vehicle", "automobile"), ("bread", "bakery", "loaf"))

    def __init__(self, name: str = "bags", dimensions: int = 24) -> None:
        self.name, self.dimensions, self.asked, self.down = name, dimensions, 0, ""

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        if self.down:
            raise ModelUnavailable(self.down)
        self.asked += len(texts)
        return [self._one(text.lower()) for text in texts]

    def _one(self, text: str) -> list[float]:
        hits = [1.0 if any(word in text for word in words) else -1.0 for words in self.MEANINGS]
        return [hits[n % len(hits)] + n / 100 for n in range(self.dimensions)]


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
    assert (
        library.search("feline").by == "words"
        and library.embed_pending() == 3
        and library.embed_pending() == 0
    )
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


def test_words_and_meaning_together_beat_either(store):
    library = filled(store, Bags())
    library.embed_pending()
    assert ids(library, "vehicle petrol", k=1) == ["kb:cars.txt"]


def test_without_a_model_or_with_one_that_is_down_words_are_searched_and_the_note_says_so(store):
    assert "No model is set up." in filled(store, None).search("kittens").note
    embedder = Bags()
    library = filled(store, embedder)
    library.embed_pending()
    embedder.down = "The server sleeps."
    found = library.search("kittens")
    assert (found.by, [hit.source_id for hit in found.hits]) == (
        "words",
        ["kb:cats.txt"],
    ) and "The server sleeps." in found.note
    library.add_file("new.txt", b"Something new.")
    with pytest.raises(ModelUnavailable):
        library.embed_pending()
    assert library.vector_index.count_missing() == 1


def test_vectors_go_on_where_they_stood_and_new_texts_are_found_at_once(store):
    library = filled(store, Bags())
    assert library.embed_pending(most=2) == 2 and library.vector_index.count_missing() == 1
    assert "1 passages have no vector yet" in library.search("feline").note
    assert library.embed_pending() == 1
    library.add_file("lion.txt", b"The feline of the savannah.")
    assert library.embed_pending() == 1 and "kb:lion.txt" in ids(library, "kitten", k=2)
    library.add_file("lion.txt", b"An automobile by that name.")
    library.embed_pending()
    assert set(ids(library, "vehicle", k=2)) == {"kb:cars.txt", "kb:lion.txt"}


def test_another_model_begins_anew_and_the_old_vectors_are_not_mixed_in(store):
    filled(store, Bags()).embed_pending()
    other = Bags("other", dimensions=40)
    library = Library(store, other)
    assert library.search("feline").by == "words" and library.vector_index.count_missing() == 3
    assert (
        library.embed_pending() == 3 and other.asked >= 3 and ids(library, "feline", k=1) == ["kb:cats.txt"]
    )
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
        library.embed_pending(checkpoint=stop)
    assert library.vector_index.count_missing() == 3 and library.embed_pending() == 3, (
        "and it can go on afterwards"
    )


# --- an update of the words, many threads
# ----------------------------------------------------------------------------------


def test_terms_made_in_another_way_are_made_anew_and_vectors_stay(store, monkeypatch):
    embedder = Bags()
    filled(store, embedder).embed_pending()
    asked = embedder.asked
    monkeypatch.setattr(
        "agent.library.ingest.join_terms", lambda text: " ".join(word[:3] for word in text.lower().split())
    )
    library = Library(store, embedder)
    library.index_pending()
    with store.engine.connect() as connection:
        assert store.library_index.document_frequencies(["kit", "kitten"]) == {"kit": 1}
        connection.exec_driver_sql("INSERT INTO library_words(library_words) VALUES ('integrity-check')")
    assert (
        library.embed_pending() == 0 and embedder.asked == asked and store.library_index.passage_count() == 3
    )


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
                library.embed_pending(most=4)
                library.delete(f"kb:{n}-{i}.txt") if i % 2 else library.tag(f"kb:{n}-{i}.txt", "even")
        except BaseException as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles, troubles
    library.embed_pending()
    assert (
        library.count() == 1 + 6 * 3
        and library.count(deleted=True) == 6 * 3
        and library.tags() == {"even": 18}
    )
    assert len(library.search("heron", 100).hits) == 19 and library.vector_index.count_missing() == 0
    with store.engine.connect() as connection:
        connection.exec_driver_sql("INSERT INTO library_words(library_words) VALUES ('integrity-check')")


def test_the_mark_of_a_pdfs_page_is_no_passage(library):
    text = "Page 1\n\nHabits of herons\nHerons eat fish and frogs in shallow water."
    page = Page(
        url="file:a.pdf",
        final_url="file:a.pdf",
        outcome=Outcome.OK,
        title="Herons",
        text=text,
        sha256="a" * 64,
    )
    page.headings = [
        Heading(start=0, level=2, text="Page 1"),
        Heading(start=8, level=2, text="Habits of herons"),
    ]
    library.add_page(page, kind="file")
    assert [hit.text.startswith("Habits") for hit in library.search("herons").hits] == [True]
