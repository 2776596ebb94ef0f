"""What is new since the run before: facts with quotes, not wordings, and nothing that may not leave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from agent.actions.export import export_run
from agent.errors import NotFound
from agent.types import Settings
from agent.workbench import Workbench
from tests.web.site import Reply, Site, html

pytestmark = pytest.mark.slow

QUESTION = "How many cows does Lund farm keep, and who bought it?"
COWS = (
    "<title>Lund farm</title><h1>Lund farm</h1><p>Lund farm keeps {} cows on its wide meadows by the sea.</p>"
)
BOUGHT = "<title>Lund farm, history</title><p>Lund farm was bought by the Moen family in the year {}.</p>"
Asking = Callable[..., str]


@pytest.fixture
def farm(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Site, Workbench, Asking]]:
    """A site, a workbench, and a way to ask as a schedule does: each run follows the one before."""
    monkeypatch.setenv("FETCH_ALLOW", "127.0.0.1")
    monkeypatch.setenv("FETCH_GAP", "0")
    with Site({"/a": html(COWS.format(32)), "/b": html(BOUGHT.format(1921))}) as site:
        bench = Workbench()
        urls = [site.url(path) for path in ("/a", "/b")]
        given = Settings(
            flow="site", model="keyless", world="live", start_urls=urls, allowed_domains=["127.0.0.1"]
        )
        given = given.replace(site=given.site.replace(fresh_days=0))

        def ask(follows: str = "", settings: Settings = given) -> str:
            run_id = bench.start(QUESTION, settings, known={"follows": follows})
            bench.drive(run_id)
            return run_id

        yield site, bench, ask
        bench.shutdown()


def test_nothing_changed_is_quiet(farm):
    _, bench, ask = farm
    first = ask()
    assert not bench.new_since(first).since
    told = bench.new_since(second := ask(first))
    assert (told.since, told.summary) == (first, "")
    assert not told.facts
    assert json.loads(export_run(bench, second, "json"))["new_since"] == told.model_dump()
    assert "new_since" not in json.loads(export_run(bench, first, "json"))


def test_new_changed_and_gone_facts_with_their_quotes(farm):
    site, bench, ask = farm
    first = ask()
    site.pages["/a"] = html(COWS.format(40))
    site.pages["/b"] = html("<title>Lund farm, history</title><p>Lund farm has a new barn of red larch.</p>")
    told = bench.new_since(ask(first))
    assert told.summary == "1 new, 1 changed, 1 gone"
    new, changed, gone = told.facts
    assert "32 cows" in changed.was and "40 cows" in changed.quote
    assert "barn" in new.quote and new.url == site.url("/b")
    assert "1921" in gone.quote


def test_a_page_that_cannot_be_read_takes_no_fact_away(farm):
    site, bench, ask = farm
    first = ask()
    site.pages["/b"] = Reply(403)
    assert bench.new_since(ask(first)).summary == ""


def test_what_is_in_the_bin_is_compared_with_nothing(farm):
    _, bench, ask = farm
    first = ask()
    second = ask(first)
    last = ask(second)
    bench.delete(second)
    assert bench.new_since(last).since == first
    with pytest.raises(NotFound, match="in the bin"):
        bench.new_since(last, second)


def test_a_run_without_an_answer_is_passed_over(farm):
    site, bench, ask = farm
    first = ask()
    failed = bench.start(QUESTION, known={"follows": first}, settings=Settings(world="demo", model="keyless"))
    site.pages["/a"] = html(COWS.format(40))
    third = ask(failed)
    told = bench.new_since(third)
    assert (told.since, told.summary) == (first, "1 changed")
    assert bench.new_since(third, failed).since == failed  # where it is asked for
    with pytest.raises(NotFound):
        bench.new_since(third, "0" * 12)


def test_what_a_verification_finds_otherwise_is_new(farm):
    site, bench, ask = farm
    answered = ask()
    settings = Settings(flow="verify_again", verifies=answered, model="keyless")
    second = ask(ask(settings=settings), settings)
    assert bench.new_since(second).summary == ""
    site.pages["/a"] = html(COWS.format(40))
    told = bench.new_since(ask(second, settings))
    assert told.summary == "1 changed" and told.facts[0].was == "Stands."
    assert told.facts[0].statement.startswith("Changed. Nearest: “Lund farm keeps 40")
    assert "32 cows" in told.facts[0].quote
