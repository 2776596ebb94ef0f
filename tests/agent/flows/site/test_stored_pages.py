"""What a question uses again of the pages that an earlier run fetched from their server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.flows.site import earlier_pages
from agent.store.ledger import utc_timestamp
from agent.types import Outcome, SiteLimits, Status
from agent.web.extract import dispatch, extraction
from tests.web.folders import page, write_world
from tests.web.site import Asked, Reply, Site, html

pytestmark = pytest.mark.slow

QUESTION = "Where does the purple lamp hang?"
HALL = "<h1>The purple lamp</h1><p>The purple lamp hangs in the hall.</p>"
KITCHEN = HALL.replace("hall", "kitchen")


def answer_if_changed(body: Callable[[], str]) -> Callable[[Asked], Reply]:
    """A page with an ETag: 304 to who knows it."""

    def reply(asked: Asked) -> Reply:
        tag = f'"{len(body())}"'
        if asked.headers.get("If-None-Match") == tag:
            return Reply(304, b"", {"ETag": tag})
        return html(body(), ETag=tag)

    return reply


@pytest.fixture
def lamps():
    """A site of two pages whose second can be changed."""
    texts = {"/purple-lamp": HALL}
    with Site({"/": html('<h1>Lamps</h1><a href="/purple-lamp">The purple lamp</a>')}) as server:
        server.pages["/purple-lamp"] = answer_if_changed(lambda: texts["/purple-lamp"])
        server.texts = texts
        yield server


def page_requests(server: Site) -> list[str]:
    return [path for path in server.paths() if not path.endswith(".xml")]


def test_a_later_question_uses_fresh_pages_without_a_request(ask, lamps):
    first = ask(QUESTION, lamps.url("/"), world="live")
    lamps.asked.clear()
    second = ask("Does the purple lamp hang in the hall?", lamps.url("/"), world="live")
    assert page_requests(lamps) == [] and not second.state.own.fetched
    assert "in the hall" in first.state.answer.text and "in the hall" in second.state.answer.text
    day = first.run.created_at[:10]
    told = f"{len(second.state.own.reused)} of them from the library, fetched on {day}"
    assert not second.state.actions and told in second.state.answer.journey


def test_older_pages_are_asked_for_only_if_they_changed(ask, lamps):
    ask(QUESTION, lamps.url("/"), world="live")
    lamps.asked.clear()
    always = SiteLimits(fresh_days=0)
    same = ask(QUESTION, lamps.url("/"), world="live", site=always)
    asked = next(asked for asked in lamps.asked if asked.path == "/purple-lamp")
    assert asked.headers["If-None-Match"] == f'"{len(HALL)}"'
    assert "in the hall" in same.state.answer.text
    lamps.texts["/purple-lamp"] = KITCHEN
    changed = ask(QUESTION, lamps.url("/"), world="live", site=always)
    assert "in the kitchen" in changed.state.answer.text and "hall" not in changed.state.answer.text


def test_a_page_that_a_person_asks_for_again_is_fetched(ask, bench, lamps):
    """Another run may have fetched it since, and it is fresh."""
    lamps.pages["/"] = Reply(500, b"")
    first = ask(QUESTION, lamps.url("/"), world="live")
    start = first.state.own.all_discovered_urls[0]
    lamps.pages["/"] = html("<h1>Lamps</h1><p>They are in storage.</p>")
    ask("What is in storage?", lamps.url("/"), world="live")
    lamps.asked.clear()
    bench.act(first.run.id, "retry", what=start)
    assert bench.drive(first.run.id) is Status.REVIEW
    assert "/" in lamps.paths()


def test_what_an_older_version_read_is_fetched_and_read_again(ask, bench, lamps, monkeypatch):
    ask(QUESTION, lamps.url("/"), world="live")
    for module in (earlier_pages, extraction):
        monkeypatch.setattr(module, "EXTRACTION_VERSION", extraction.EXTRACTION_VERSION + 1)
    extract = dispatch.extract_content

    def extract_better(raw, *args):
        return extract(raw.replace(b"in the hall", b"in the great hall"), *args)

    monkeypatch.setattr(dispatch, "extract_content", extract_better)
    always = SiteLimits(fresh_days=0)
    for _ in range(2):
        told = ask(QUESTION, lamps.url("/"), world="live", site=always).state.answer.text
        assert "in the great hall" in told


def test_pages_of_another_world_are_never_used(ask, lamps, tmp_path):
    start = "https://lamps.example/"
    docs = [page(f"{start}purple-lamp", "The purple lamp", "The purple lamp hangs in the hall.")]
    assert "in the hall" in ask(QUESTION, start, world=write_world(tmp_path / "w", docs)).state.answer.text
    live = ask(QUESTION, start, world="live", allowed_domains=["lamps.example"])
    assert live.state.pages[start].outcome is not Outcome.OK and not live.state.answer.text


def test_a_stored_page_that_stood_at_a_blocked_address_is_not_used(ask, bench, lamps):
    """The first question was redirected to it; the second may not go there."""
    ask(QUESTION, lamps.url("/"), world="live")
    stored = bench.store.pages
    moved = stored.get(stored.find_fetched([lamps.url("/purple-lamp")])[lamps.url("/purple-lamp")].page_id)
    lamps.pages["/purple-lamp"] = Reply(302, b"", {"Location": "https://away.example.org/lamp"})
    there = moved.replace(final_url="https://away.example.org/lamp", fetched_at=utc_timestamp())
    stored.put_fetched([(lamps.url("/purple-lamp"), there)])
    assert "hall" in ask(QUESTION, lamps.url("/"), world="live").state.answer.text
    second = ask(QUESTION, lamps.url("/"), world="live", blocked_domains=["example.org"])
    assert "hall" not in second.state.answer.text and second.state.own.url_content(second.state).keys() == {0}


def test_what_a_person_pasted_is_used_in_its_run_only(ask, bench, lamps):
    first = ask(QUESTION, lamps.url("/"), world="live")
    bench.act(
        first.run.id, "supply", url=lamps.url("/purple-lamp"), text="The purple lamp hangs in the garage."
    )
    bench.drive(first.run.id)
    second = ask(QUESTION, lamps.url("/"), world="live")
    assert "hall" in second.state.answer.text and "garage" not in second.state.answer.text
