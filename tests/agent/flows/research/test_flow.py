"""The research flow, keyless, over the demo world and small folders: its first action, its limits, its
ladder, a person's word."""

from __future__ import annotations

import pytest

from agent.types import Outcome, Status
from tests.web.folders import Told, blocked, limited, page, write_world

pytestmark = pytest.mark.slow

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
ABOUT = "https://www.alvmora-mejeri.example/about/"
TWO = {"duckduckgo": "DuckDuckGo", "google": "Google"}


def told(bench, monkeypatch, **more) -> Told:
    """The demo world, with what stands in `more` replaced."""
    world = Told(bench.worker.world("demo"), **more)
    monkeypatch.setattr(bench.worker, "world", lambda name: world)
    return world


def test_the_allowed_domains_are_never_left(ask, bench, monkeypatch):
    world = told(bench, monkeypatch)
    ask(
        "Who is the managing director of Kallsteg Instruments?",
        allowed_domains=["kallsteg.example"],
        start_urls=["https://kallsteg.example/"],
    )
    fetched = [asked for asked in world.asked if asked.startswith("http")]
    assert fetched and all(url.startswith("https://kallsteg.example/") for url in fetched)


def test_a_page_that_leads_out_of_the_allowed_domains_is_refused(ask, tmp_path):
    inside = page(
        "https://in.example/", "Heron", "The brass heron has two legs.", location="https://out.example/"
    )
    world = write_world(tmp_path, [inside, page("https://out.example/", "Out", "Out.")])
    view = ask(
        "How many legs has the brass heron?",
        world=world,
        allowed_domains=["in.example"],
        start_urls=["https://in.example/"],
    )
    assert view.state.pages["https://in.example/"].outcome is Outcome.REFUSED


def test_an_engine_that_limits_is_cooled_and_left_out_of_the_next_decision(ask, bench, monkeypatch):
    world = told(
        bench,
        monkeypatch,
        search=lambda engine, query: limited(engine, query) if engine == "duckduckgo" else None,
        engines=TWO,
    )
    state = ask(SOLAR).state
    assert state.actions[0].outcome is Outcome.RATE_LIMITED and "duckduckgo" in state.cooling
    assert {action.action for action in state.actions[1:]} <= {"search_google", "crawl_url"}
    assert sum(asked.startswith("duckduckgo") for asked in world.asked) == 1


def test_blocked_and_empty_are_told_apart(ask, bench, monkeypatch, tmp_path):
    told(bench, monkeypatch, search=blocked)
    refused = ask(SOLAR)
    assert (refused.state.answer.verdict, refused.state.answer.reason) == ("no_evidence", "blocked")
    assert "The engine asked for a captcha." in refused.state.answer.certainty
    monkeypatch.undo()
    empty = ask(
        SOLAR, world=write_world(tmp_path, [page("https://a.example/", "Other", "Nothing of the kind.")])
    )
    assert (empty.state.answer.verdict, empty.state.answer.reason) == ("no_evidence", "not_covered")
    assert empty.state.actions[0].outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("cap", "told_as"),
    [
        ({"max_steps": 1}, "limit of 1 step"),
        ({"max_pages": 1}, "limit of 1 page"),
        ({"max_seconds": 1e-9}, "working time"),
    ],
)
def test_a_spent_budget_goes_to_review_and_says_so(ask, cap, told_as):
    state = ask("How old are the children of the couple who run Älvmora Mejeri?", **cap).state
    assert state.stop_reason == "budget" and told_as in state.why_stopped
    assert state.answer.verdict in ("passages_found", "no_evidence")
    assert state.answer.why_stopped == state.why_stopped
    assert len(state.actions) <= cap.get("max_steps", 99) and state.pages_read_count <= cap.get(
        "max_pages", 99
    )


def test_step_by_step_every_decision_waits(ask, bench):
    view = ask(SOLAR, rests=Status.WAITING, mode="step")
    waited = 0
    while view.run.status is Status.WAITING:
        waited += 1
        assert view.steps[-1].name == "decide" and view.state.pending
        bench.act(view.run.id, "approve", view.head)
        bench.drive(view.run.id)
        view = bench.snapshot(view.run.id)
    assert view.run.status is Status.REVIEW
    assert waited == sum(step.name == "decide" for step in view.steps)


def test_only_the_chosen_engines_are_asked(ask, bench, monkeypatch):
    world = told(bench, monkeypatch, engines=TWO)
    ask(SOLAR, engines=["google"])
    assert not any(asked.startswith("duckduckgo") for asked in world.asked) and any(
        asked.startswith("google") for asked in world.asked
    )
