"""The live world from end to end on this machine: a search page that speaks DuckDuckGo's HTML, a real site,
and a whole run over both."""

from __future__ import annotations

import threading

import pytest

from agent.actions.export import export_run
from agent.settings import config
from agent.types import Outcome, Settings, Status
from agent.workbench import Workbench
from tests.web.engine_answers import ANSWERS, reply
from tests.web.researching_model import Script, crawl
from tests.web.scripted import ScriptedModel
from tests.web.site import Asked, Reply, Site, html

pytestmark = pytest.mark.slow

LIVE = Settings(world="live", model="keyless", max_steps=6)
PARAGRAPH = "<p>The Hollin lighthouse stands on the northern skerry. It was lit for the first time in 1897 by the keeper Ansa Brorsen.</p>"


def results(*found: tuple[str, str, str]) -> Reply:
    """A page of results as the engine's own page has them."""
    rows = "".join(
        f'<div class="body"><h2>{title}</h2><a href="{url}">{snippet}</a></div>'
        for url, title, snippet in found
    )
    return html(f"<html><body><div id='links'>{rows}</div></body></html>")


@pytest.fixture
def site():
    pages = {
        "/hollin": html(
            f"<html><head><title>Hollin lighthouse</title></head><body><nav>Home</nav>"
            f"<article><h1>Hollin lighthouse</h1>{PARAGRAPH * 3}</article></body></html>"
        ),
        "/closed": html("<h1>Forbidden</h1>", 403),
    }
    with Site(pages) as running:
        running.pages["/html/"] = lambda asked: results(
            (running.url("/closed"), "Hollin archive", "The lighthouse of Hollin, when it was lit"),
            (running.url("/hollin"), "Hollin lighthouse", "Hollin lighthouse was lit for the first time"),
        )
        yield running


@pytest.fixture
def bench(site):
    opened = open_bench(site, ENGINES_OFF=",".join(ANSWERS))
    yield opened
    opened.shutdown()


def open_bench(site, **settings):
    """A workbench whose live world is the site: DuckDuckGo there, and the engines that the settings name."""
    here = {"DDG_ENDPOINT": site.url("/html/"), "FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"}
    return Workbench(config.read_config({**here, **settings}))


def test_a_question_is_searched_read_and_answered_over_real_http(bench, site):
    run_id = bench.start("In which year was the Hollin lighthouse lit for the first time?", LIVE)
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    state = bench.snapshot(run_id).state
    assert "1897" in state.answer.text and state.answer.sources[0].url == site.url("/hollin")
    assert {page.url: page.outcome for page in state.pages.values()}[site.url("/hollin")] is Outcome.OK
    blocked = [page for page in state.pages.values() if page.outcome is Outcome.BLOCKED]
    assert all(page.detail for page in blocked)
    agents = {asked.headers.get("User-Agent", "") for asked in site.asked if asked.path == "/hollin"}
    assert all(agent.startswith("Touchstone/") for agent in agents)


def asked_paths(site: Site) -> list[str]:
    return [asked.path for asked in site.asked if asked.path in ("/hollin", "/closed")]


def test_the_best_results_are_fetched_while_the_model_decides_and_asked_for_once(bench, site):
    """The reply comes only when both results were asked for; the one that it does not choose is forgotten."""

    def decide(_prompt: str) -> dict[str, str]:
        while len(asked_paths(site)) < 2:
            threading.Event().wait(0.005)
        return crawl(site.url("/hollin"))

    script = Script(decision=decide, quotes=["It was lit for the first time in 1897"])
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(script.scripted), "")
    run_id = bench.start("In which year was the Hollin lighthouse lit for the first time?", LIVE)
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    state = bench.snapshot(run_id).state
    assert asked_paths(site).count("/hollin") == 1 and "/closed" in asked_paths(site)
    assert list(state.pages) == [site.url("/hollin")] and state.pages_read_count == 1


def test_a_process_that_was_killed_in_a_round_asks_for_no_page_twice(bench, site):
    class Killed(BaseException):
        pass

    script = Script(crawl(site.url("/hollin")), quotes=["It was lit for the first time in 1897"])
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(script.scripted), "")
    commit, killed = bench.store.ledger.commit, []

    def kill(lease, step, *more):
        if step.name == "act" and step.change["pages"] and not killed:
            killed.append(step.n)
            raise Killed
        commit(lease, step, *more)

    bench.store.ledger.commit = kill
    run_id = bench.start("In which year was the Hollin lighthouse lit for the first time?", LIVE)
    with pytest.raises(Killed):
        bench.drive(run_id)
    assert bench.drive(run_id) is Status.REVIEW and killed
    assert asked_paths(site).count("/hollin") == 1
    assert any("1897" in fact.quote for fact in bench.snapshot(run_id).state.facts.values())


def test_nothing_is_fetched_ahead_where_a_person_approves_each_action(bench, site):
    script = Script(crawl(site.url("/hollin")))
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(script.scripted), "")
    question = "In which year was the Hollin lighthouse lit for the first time?"
    run_id = bench.start(question, LIVE.replace(mode="step"))
    assert bench.drive(run_id) is Status.WAITING
    while not any(action.is_search for action in bench.snapshot(run_id).state.actions):
        bench.act(run_id, "approve", bench.snapshot(run_id).head)
        assert bench.drive(run_id) is Status.WAITING
    assert asked_paths(site) == []


def test_a_rate_limit_is_told_and_never_called_empty(bench, site):
    def slow_down(_: Asked) -> Reply:
        return Reply(429, b"slow down", {"Retry-After": "90"})

    site.pages["/html/"] = slow_down
    run_id = bench.start("In which year was the Hollin lighthouse lit for the first time?", LIVE)
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    assert [action.outcome for action in state.actions] == [Outcome.RATE_LIMITED]
    assert "duckduckgo" in state.cooling
    assert (state.answer.verdict, state.answer.reason) == ("no_evidence", "blocked")


def test_another_engine_takes_over_from_one_that_asks_for_a_pause(site):
    server = {"server": site.url(""), "articlepath": "/$1"}
    found = [{"title": "hollin", "snippet": "Hollin lighthouse was lit for the first time"}]
    site.pages |= {
        "/html/": Reply(429, b"slow down", {"Retry-After": "90"}),
        "/wiki": reply({"query": {"general": server, "search": found}}),
    }
    off = ",".join(name for name in ANSWERS if name != "wikipedia")
    bench = open_bench(site, ENGINES_OFF=off, ENGINE_URLS=f"wikipedia={site.url('/wiki')}")
    run_id = bench.start("In which year was the Hollin lighthouse lit for the first time?", LIVE)
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    tried = [(action.action, action.outcome) for action in state.actions]
    assert tried[:2] == [("search_duckduckgo", Outcome.RATE_LIMITED), ("search_wikipedia", Outcome.OK)]
    assert state.actions[0].query_or_url == state.actions[1].query_or_url
    assert "takes over" in state.actions[1].reasoning and "1897" in state.answer.text
    bench.shutdown()


def test_a_closed_paper_is_read_from_its_open_copy_and_cited_with_what_is_known_of_it(site):
    closed = site.url("/doi/10.5555/hollin.1")
    work = {
        **ANSWERS["openalex"]["results"][0],
        "doi": "https://doi.org/10.5555/hollin.1",
        "display_name": "The Hollin lighthouse lit for the first time",
        "primary_location": {"landing_page_url": closed, "source": {"display_name": "Lights"}},
        "best_oa_location": None,
    }
    best = {"url_for_pdf": site.url("/hollin"), "license": "cc-by"}
    site.pages |= {
        "/doi/10.5555/hollin.1": html("<h1>Forbidden</h1>", 403),
        "/works": reply({"results": [work]}),
        "/v2/10.5555/hollin.1": reply({"best_oa_location": best}),
    }
    urls = f"openalex={site.url('/works')},unpaywall={site.url('/v2')}"
    bench = open_bench(site, ENGINE_URLS=urls, CONTACT_EMAIL="reader@heron.example")
    question = "In which year was the Hollin lighthouse lit for the first time?"
    run_id = bench.start(question, LIVE.replace(engines=["openalex"]))
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    page = state.pages[closed]
    assert (page.outcome, page.final_url) == (Outcome.OK, site.url("/hollin")) and "open copy" in page.detail
    (source,) = state.answer.sources
    work = source.publication
    assert work and (work.doi, work.journal, work.licence) == ("10.5555/hollin.1", "Lights", "cc-by")
    told = {"bib": "doi = {10.5555/hollin.1}", "ris": "DO  - 10.5555/hollin.1", "md": "licence: cc-by"}
    for name, words in told.items():
        assert words in export_run(bench, run_id, name).decode(), name
    assert "reader@heron.example" not in export_run(bench, run_id, "json").decode()
    bench.shutdown()


def test_pages_on_this_machine_are_refused_unless_allowed(site):
    bench = open_bench(site, FETCH_ALLOW="", ENGINES_OFF=",".join(ANSWERS))
    run_id = bench.start(f"What does {site.url('/hollin')} say about the lighthouse?", LIVE)
    bench.drive(run_id)
    state = bench.snapshot(run_id).state
    assert state.pages[site.url("/hollin")].outcome is Outcome.REFUSED
    assert not [asked for asked in site.asked if asked.path == "/hollin"]
    bench.shutdown()
