"""Versions of a page: every text that stood at its address, what differs, and which quotes still stand."""

from __future__ import annotations

import pytest

from agent.actions import sources
from agent.types import Settings
from tests.web.folders import page, write_world

URL = "https://heron.example/about"
QUESTION = "How many feathers has the brass heron of Ostrava?"
FIRST = "The brass heron of Ostrava has 412 feathers. It stands on the old bridge.\n\nIt was made in 1921 by two sisters."
LATER = "The brass heron of Ostrava has 410 feathers. It stands on the old bridge.\n\nIt was made in 1921 by two sisters."


@pytest.fixture
def twice(bench, tmp_path):
    """Two runs that read the same address, whose text changed between them."""
    ran = []
    for text in (FIRST, LATER):
        world = write_world(
            tmp_path / "herons", [page(URL, "Heron", text), page("https://b.example/", "Bridge", "A bridge.")]
        )
        bench.worker._worlds.clear()
        ran.append(bench.start(QUESTION, Settings(world=world, model="keyless", start_urls=[URL])))
        bench.drive(ran[-1])
    return ran


def test_a_text_that_changed_is_a_new_version_and_the_quotes_are_looked_up_in_the_other(bench, twice):
    states = [bench.snapshot(run_id).state for run_id in twice]
    old, new = (bench.page(state.pages[URL].page_id) for state in states)
    found = sources.list_versions(bench, new)
    assert {version.page_id for version in found} == {state.pages[URL].page_id for state in states}
    assert [version.origin for version in found] == ["fetched", "fetched"]
    assert {version.characters for version in found} == {len(new.text)}
    told = sources.compare_versions(old, new, states[0].facts.values())
    assert [piece for part in told.parts for piece, only in part.new if only] == ["410"]
    assert told.line_counts["changed"] == 1
    assert told.lost_facts
    assert all("412" in fact.quote for fact in told.lost_facts)
    assert sources.compare_versions(old, new, states[1].facts.values()).lost_facts, (
        "a later quote does not stand in the earlier text"
    )


def test_the_same_text_read_again_is_no_new_version(bench, twice):
    before = len(sources.list_versions(bench, bench.page(bench.snapshot(twice[1]).state.pages[URL].page_id)))
    again = bench.start(QUESTION, bench.snapshot(twice[1]).run.settings)
    bench.drive(again)
    assert (
        len(sources.list_versions(bench, bench.page(bench.snapshot(again).state.pages[URL].page_id)))
        == before
        == 2
    )


def test_what_a_person_gave_is_a_version_of_its_own(bench, twice):
    bench.act(twice[1], "supply", url=URL, text=LATER)
    bench.drive(twice[1])
    found = sources.list_versions(bench, bench.page(bench.snapshot(twice[1]).state.pages[URL].page_id))
    assert sorted(version.origin for version in found) == ["fetched", "fetched", "pasted"]
