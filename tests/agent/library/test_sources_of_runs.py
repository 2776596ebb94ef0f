"""What was added to the library, and what only runs brought to it."""

from __future__ import annotations

import pytest

from agent.types import LibraryScope, Outcome, Page
from agent.workbench import Workbench
from tests.tables import by_table

ADDED = LibraryScope(added_only=True)


def page(url: str, text: str = "Kilns are fired at dusk.", content_type: str = "text/html") -> Page:
    digest = text.encode().hex()[:64].ljust(64, "0")
    return Page(
        url=url, final_url=url, outcome=Outcome.OK, text=text, sha256=digest, content_type=content_type
    )


def ids(bench: Workbench, scope: LibraryScope | None = None) -> set[str]:
    found = {hit.source_id for hit in bench.library.search("kilns fired", scope=scope, words_only=True).hits}
    assert found == {entry.source_id for entry in bench.library.index(scope=scope)}
    return found


@pytest.fixture
def shelved(bench: Workbench) -> Workbench:
    """A page that was added, and one that a run has read."""
    bench.library.add_page(page("https://added.test/kilns"))
    bench.store.pages.put(page("https://read.test/kilns"))
    bench.library.index_pending()
    return bench


def test_a_page_that_a_run_read_is_searched_but_was_not_added(shelved: Workbench) -> None:
    assert ids(shelved) == {"kb:https://added.test/kilns", "kb:https://read.test/kilns"}
    assert ids(shelved, ADDED) == {"kb:https://added.test/kilns"}


def test_a_read_page_that_a_person_adds_counts_as_added(shelved: Workbench) -> None:
    shelved.library.add_page(page("https://read.test/kilns"))
    assert ids(shelved, ADDED) == ids(shelved)


def test_an_added_page_that_a_run_reads_anew_stays_added(shelved: Workbench) -> None:
    newer = page("https://added.test/kilns", "Kilns are fired at dawn now.")
    shelved.store.pages.put(newer.model_copy(update={"fetched_at": "2999-01-01T00:00:00Z"}))
    shelved.library.index_pending()
    assert ids(shelved, ADDED) == {"kb:https://added.test/kilns"}


def test_a_scope_of_added_sources_is_narrowed_by_tags_and_ids(shelved: Workbench) -> None:
    both = ["kb:https://added.test/kilns", "kb:https://read.test/kilns"]
    assert ids(shelved, LibraryScope(source_ids=both, added_only=True)) == {both[0]}
    assert ids(shelved, LibraryScope(tags=["nowhere"], added_only=True)) == set()


@by_table
def test_lists_of_pages_for_programs_are_in_no_index(bench: Workbench, url: str, content_type: str) -> None:
    bench.store.pages.put(page(url, "Kilns https://kiln.test/fired", content_type))
    bench.library.index_pending()
    assert bench.library.index() == [] and bench.library.search("kilns").hits == []
    assert bench.library.index_pending() == 0
