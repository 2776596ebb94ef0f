"""The Library screen, whole: empty, browsed, filtered, searched, tagged, deleted and taken back; what is
refused is told per document."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from agent.types import Outcome, Page
from pages.widgets.library import upload
from tests.pages.conftest import find_button, shown
from tests.records import fill

pytestmark = pytest.mark.slow

HANDBOOK = b"# Handbook\n\nThe gate opens at seven. Visitors sign in at the desk.\n\n## Keys\n\nKeys are kept by Ines Aldana.\n"


def _part(app, view: str, **query: str) -> AppTest:
    return app("library", view=view, **query)


def read(url: str, **more: str) -> Page:
    return fill(Page, url=url, final_url=url, outcome=Outcome.OK, title="Old", **more)


@pytest.fixture
def shelf(bench):
    bench.library.add_file("handbook.md", HANDBOOK, tags=["house"])
    bench.library.add_file("prices.csv", b"edition,price\nHarbour,48 euros\n")
    return bench.library


def test_an_empty_library_says_how_to_fill_it(app, bench):
    tester = app("library")
    assert not tester.exception and "The library is empty" in shown(tester)
    find_button(tester, "Add the demo knowledge base").click().run()
    assert not tester.exception and bench.library.count(tag="demo") >= 5
    assert "Everything in it is invented" in tester.success[0].value.replace("\\", "")
    assert {source.kind for source in bench.library.sources(tag="demo")} == {"file"}


def test_sources_are_filtered(app, shelf):
    tester = app("library")
    assert "2 sources" in shown(tester)
    tester.text_input(key="library-find").set_value("handbook").run()
    assert "1 source" in shown(tester) and "handbook" in tester.query_params["find"]
    tester.text_input(key="library-find").set_value("").run()
    tester.selectbox(key="library-tag").set_value("house").run()
    assert "handbook.md" in shown(tester) and "prices.csv" not in shown(tester)
    tester.selectbox(key="library-kind").set_value("topic").run()
    assert "No source fits" in shown(tester)
    find_button(tester, "Show everything").click().run()
    assert "2 sources" in shown(tester)
    tester.selectbox(key="library-age").set_value(30).run()
    assert "No source fits" in shown(tester)


def test_a_long_list_is_turned_by_pages(app, bench):
    for n in range(45):
        bench.library.add_file(f"note-{n:02}.txt", f"Note number {n} says something of its own.".encode())
    tester = app("library", at="3")
    assert not tester.exception
    assert (
        "45 sources" in shown(tester)
        and "41 to 45 of 45 sources" in shown(tester)
        and "note-02.txt" in shown(tester)
    )
    tester.text_input(key="library-find").set_value("note-4").run()
    assert "5 sources" in shown(tester)


def test_the_bin_is_emptied_after_a_confirmation_and_leaves_the_other_sources(app, shelf):
    shelf.delete("kb:handbook.md")
    assert not any(button.key == "library-empty-bin-do" for button in app("library").button)
    tester = app("library", bin="1")
    tester.button(key="library-empty-bin-do").click().run()
    assert "Removed for good" in tester.success[0].value
    assert (shelf.count(), shelf.count(deleted=True)) == (1, 0) and "Nothing in the bin fits" in shown(tester)


def test_own_sources_and_those_of_the_demo_are_apart(app, shelf):
    shelf.add_page(read("https://dairy.example/", text="Invented.", sha256="1" * 64, fetched_at="2199-01-01"))
    tester = app("library")
    assert "2 sources" in shown(tester) and "dairy.example" not in shown(tester)
    tester.segmented_control(key="library-whose").set_value("demo").run()
    assert "1 source" in shown(tester) and "dairy.example" in shown(tester)


def test_a_folder_is_added_and_a_missing_one_refused(app, shelf, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "gate.txt").write_text("The gate closes at nine.", encoding="utf-8")
    tester = _part(app, "add")
    tester.text_input(key="library-add-folder").set_value(str(tmp_path / "nowhere")).run()
    find_button(tester, "Add folder").click().run()
    assert "there is no folder" in tester.warning[0].value.replace("\\", "").lower()
    tester.text_input(key="library-add-folder").set_value(str(tmp_path / "more")).run()
    find_button(tester, "Add folder").click().run()
    assert shelf.source("kb:gate.txt").passages == 1 and "1 document added" in shown(tester)


def test_what_is_no_address_is_refused(app, shelf):
    tester = _part(app, "add")
    tester.text_input(key="library-add-url").set_value("not an address").run()
    find_button(tester, "Read and add").click().run()
    assert "is not a web address" in tester.warning[0].value.replace("\\", "")


def test_a_page_is_read_again_and_told_whether_it_changed(demo, bench):
    demo()
    source = next(source for source in bench.library.sources() if "people" in source.url)
    assert upload.refetch_page(source.source_id) == "Read again: the text is the same."
    old = read(source.url, text="What stood there before.", sha256="0" * 64)
    bench.library.replace(source.source_id, old)
    assert "the text has changed" in upload.refetch_page(source.source_id)


def test_a_web_page_that_was_not_read_for_long_is_marked(app, bench):
    for n, when in enumerate(("2020-01-01T00:00:00Z", "2199-01-01T00:00:00Z")):
        url, text = f"https://a.example/{n}", f"Words of page {n}."
        bench.library.add_page(read(url, text=text, sha256=str(n) * 64, fetched_at=when))
    text = shown(app("library"))
    assert text.count(">stale<") == 1 and text.index(">stale<") > text.index("Words of page 0")
    assert "1 source" in shown(app("library", age="30"))


def test_only_what_is_tagged_so_is_the_demos(app, bench, demo):
    demo()
    bench.library.add_page(read("https://my.test/notes.example/one", text="The gate opens at seven."))
    own = app("library")
    assert "1 source" in shown(own) and "notes.example" in shown(own)
    own.segmented_control(key="library-whose").set_value("demo").run()
    assert "notes.example" not in shown(own) and ".example" in shown(own)
