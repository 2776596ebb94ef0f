"""A stored page: its quotes marked, its markup dead, a way back."""

from __future__ import annotations

import pytest

from tests.pages.conftest import shown

pytestmark = pytest.mark.slow


def test_a_stored_page_shows_the_chosen_quote_marked(app, demo, bench):
    run_id = demo()
    fact = next(fact for fact in bench.snapshot(run_id).state.facts.values() if fact.verified)
    tester = app("page", run=run_id, id=fact.page_id, fact=fact.id)
    assert not tester.exception
    text = shown(tester)
    assert '<mark class="chosen">' in text and fact.sha256 in text


def test_a_page_that_is_not_there_says_where_pages_are_found(app):
    assert "No stored page is called this" in shown(app("page", id="nothing"))
