"""Verifying an answer again: what stands, moved, changed, is gone or could not be read, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.errors import ConcurrentChange, UsageError
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.site import Reply, Site, html, sends_to

pytestmark = pytest.mark.slow

QUESTION = "How many cows does Lund farm keep?"
PLACES = {
    "/a": (31, "by the northern shore, next to an old mill"),
    "/b": (32, "behind that railway station since last spring"),
    "/c": (33, "under tall birches where nobody else may graze"),
    "/d": (34, "across three islands reached over wooden bridges"),
    "/e": (35, "along a river that floods each april without warning"),
}
Pages = dict[str, Reply | str]


def write_page(path: str, *, heading: str = "Lund farm", cows: int = 0) -> str:
    count, where = PLACES[path]
    text = f"Lund farm keeps {cows or count} cows on its {count * 2} hectares {where}."
    return f"<title>Lund farm</title><h1>Lund farm</h1><h2>{heading}</h2><p>{text}</p>"


def show(site: Site, pages: Pages) -> None:
    site.pages = {path: html(page) if isinstance(page, str) else page for path, page in pages.items()}


@pytest.fixture
def farm(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Site, Callable[[], Workbench], str]]:
    """A site, a workbench and an accepted answer from its pages."""
    monkeypatch.setenv("FETCH_ALLOW", "127.0.0.1")
    monkeypatch.setenv("FETCH_GAP", "0")
    with Site({}) as site:
        show(site, {path: write_page(path) for path in PLACES})
        urls = [site.url(path) for path in PLACES]
        own = {"world": "live", "model": "keyless", "flow": "site", "allowed_domains": ["127.0.0.1"]}
        bench = Workbench()
        run_id = bench.start(QUESTION, Settings(start_urls=urls, **own))
        bench.drive(run_id)
        bench.act(run_id, "accept")
        yield site, bench, run_id
        bench.shutdown()


def verify(bench: Workbench, run_id: str) -> dict[str, dict]:
    """What became of the quotes, by the path of their page."""
    new = bench.act(run_id, "verify_again")
    assert bench.drive(new) is Status.DONE
    told = json.loads(export_run(bench, new, "json"))
    assert told["usage"]["llm_calls"] == 0 and told["verifies"] == run_id
    assert export_run(bench, new, "md").decode().count("Lund farm keeps") >= len(told["quotes"])
    return {one["url"].rpartition("/")[2]: one for one in told["quotes"]} | {"": told}


def test_what_became_of_each_quote(farm):
    site, bench, run_id = farm
    assert {name: one["standing"] for name, one in verify(bench, run_id).items() if name} == dict.fromkeys(
        "abcde", "stands"
    )
    show(
        site,
        {
            "/a": "<title>Lund farm</title><p>Another year has begun on the coast, with snow.</p>"
            + write_page("/a"),
            "/b": write_page("/b", cows=40),
            "/c": Reply(410),
            "/d": Reply(403),
            "/e": sends_to("/moved", 301),
            "/moved": write_page("/e"),
        },
    )
    told = verify(bench, run_id)
    assert {name: one["standing"] for name, one in told.items() if name} == {
        "a": "stands",
        "b": "changed",
        "c": "gone",
        "d": "not_read",
        "e": "moved",
    }
    assert "40 cows" in told["b"]["nearest"] and "32 cows" in told["b"]["quote"]
    assert "403" in told["d"]["now"] and told["e"]["now_url"] == site.url("/moved")
    assert told[""]["verdict"] == "checked"
    assert (
        told[""]["certainty"]
        == "2 of 5 quotes still on the pages today, 1 of them elsewhere; 1 changed, 1 gone, 1 not read."
    )


def test_under_another_heading_or_nowhere_at_all(farm):
    site, bench, run_id = farm
    show(
        site,
        {
            "/a": write_page("/a", heading="Former farms"),
            "/b": html(
                "<title>Boats</title><p>Three ferries cross the strait every morning and evening.</p>"
            ),
            "/c": sends_to("/welcome"),
            "/welcome": html("<title>Welcome</title><p>Three ferries cross the strait every day.</p>"),
            "/d": Reply(200, ends="resets"),
            "/e": html("", 404),
        },
    )
    told = verify(bench, run_id)
    standings = {name: one["standing"] for name, one in told.items() if name}
    assert standings == {"a": "moved", "b": "changed", "c": "changed", "d": "not_read", "e": "gone"}
    assert told["a"]["now"] == "Under “Former farms”."
    assert told["b"]["nearest"] == "" and site.url("/welcome") in told["c"]["now"]


def test_a_page_limit_leaves_the_others_unread(farm):
    _, bench, run_id = farm
    given = Settings(flow="verify_again", verifies=run_id, model="keyless", max_pages=2)
    new = bench.start(QUESTION, given)  # as a schedule starts it, from its settings alone
    assert bench.drive(new) is Status.DONE
    told = json.loads(export_run(bench, new, "json"))["quotes"]
    assert sorted(one["standing"] for one in told) == ["not_read"] * 3 + ["stands"] * 2
    assert any("budget of 2 pages" in one["now"] for one in told)
    asks = bench.start(QUESTION, given.replace(at_cap="ask"))
    assert bench.drive(asks) is Status.PAUSED
    bench.act(asks, "raise", caps={"pages": 9})
    assert bench.drive(asks) is Status.DONE
    told = json.loads(export_run(bench, asks, "json"))["quotes"]
    assert {one["standing"] for one in told} == {"stands"} and len(told) == 5


def test_nothing_to_verify_is_said(farm):
    _, bench, run_id = farm
    with pytest.raises(UsageError, match="verifies"):
        bench.start(QUESTION, Settings(flow="verify_again"))
    again = bench.act(run_id, "verify_again")
    bench.drive(again)
    with pytest.raises(UsageError, match="is for research"):
        bench.act(again, "verify_again")
    bench.delete(run_id)
    for other in (run_id, "0" * 12):
        new = bench.start(QUESTION, Settings(flow="verify_again", verifies=other, model="keyless"))
        assert bench.drive(new) is Status.DONE
        answer = bench.snapshot(new).state.answer
        assert (answer.verdict, answer.certainty) == (
            "no_evidence",
            f"Nothing to verify: run {other} has no answer with quotes of stored pages.",
        )


def test_a_run_without_an_answer_cannot_be_verified(bench):
    run_id = bench.start(QUESTION, Settings(world="demo", model="keyless"))
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "verify_again")


def test_it_goes_on_where_it_was_stopped_and_its_bundle_verifies(farm):
    _, bench, run_id = farm
    new = bench.act(run_id, "verify_again")

    def stop_before_fetching() -> None:
        if bench.snapshot(new).next == "fetch" and bench.snapshot(new).run.status is Status.RUNNING:
            bench.act(new, "stop")

    assert bench.drive(new, stop_before_fetching) is Status.STOPPED
    bench.act(new, "resume")
    assert bench.drive(new) is Status.DONE
    steps = [step.name for step in bench.snapshot(new).steps]
    assert steps == ["ask", "list_quotes", "stop", "resume", "fetch", "result"]
    found = verify_bundle(export_run(bench, new, "bundle"))
    assert found.is_valid and found.quote_count == found.found_quote_count == 5, found.problems
    for name in ("html", "docx", "evidence.md", "csv", "bib"):
        assert export_run(bench, new, name)
