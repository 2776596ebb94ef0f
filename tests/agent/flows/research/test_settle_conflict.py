"""An open conflict on what was asked gets up to two actions before the run hands over; they are counted in the
ledger, tell what they are for, and stop when nothing more can be tried."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent.engine.run_state import RunState
from agent.flows.research import policy
from agent.flows.research.state import ResearchState
from agent.retrieval.link_scoring import lead_id
from agent.types import Action, Conflict, ConflictSide, Fact, Lead
from tests.records import fill
from tests.web.folders import page, write_world
from tests.web.researching_model import END, Script, crawl, run, together
from tests.web.scripted import ScriptedModel

ALL = ["search_duckduckgo", "crawl_url", "send_to_hitl"]
HERON = "In which year was the brass heron of Port Ember built?"
ONE, TWO, THREE = ("https://one.example/heron", "https://two.example/heron", "https://three.example/heron")


def said(name: str, year: int, url: str) -> Fact:
    text = f"The brass heron of Port Ember was built in {year}."
    return Fact(id=name, statement=text, quote=text, url=url, verified=True, relevance=0.9, disputed=True)


FACTS = {"a": said("a", 1921, ONE), "b": said("b", 1934, TWO)}
CLASH = fill(
    Conflict,
    id="c1",
    subject="the brass heron",
    attribute="built",
    kind="date",
    values=[
        ConflictSide(text="1921", fact_ids=["a"], sites=["one.example"]),
        ConflictSide(text="1934", fact_ids=["b"], sites=["two.example"]),
    ],
    asks=True,
)


def disputed(*actions: Action, conflict: Conflict = CLASH, urls: tuple[str, ...] = (), **more) -> RunState:
    leads = {
        lead_id("url", url): fill(Lead, id=lead_id("url", url), kind="url", value=url, score=0.5)
        for url in urls
    }
    return RunState(
        question=HERON,
        own=ResearchState(leads=leads),
        facts=FACTS,
        conflicts={conflict.id: conflict},
        actions=list(actions),
        **more,
    )


def tried(step: int, query: str, about: str = "c1") -> Action:
    return fill(Action, step=step, action="search_duckduckgo", query_or_url=query, about=about)


def test_the_question_and_both_values_are_searched_for_first():
    state = disputed()
    assert policy.conflict_to_settle(state) == CLASH
    proposal, *_ = policy.propose_settling(state, CLASH, ALL)
    assert proposal.query_or_url == "In which year was the brass heron of Port Ember built 1921 1934"
    assert proposal.about == "c1" and "1921 (one.example) or 1934 (two.example)" in proposal.reasoning


def test_then_a_page_of_a_third_site_that_it_found_is_read():
    query = policy.settling_query(disputed(), CLASH)
    state = disputed(tried(3, query), urls=("https://one.example/more", THREE))
    assert policy.propose_settling(state, CLASH, ALL) == [], "another search found them"
    leads = {name: lead.replace(found_on=f"search: {query}") for name, lead in state.own.leads.items()}
    state.own.leads = leads
    assert policy.propose_settling(state, CLASH, ALL)[0].query_or_url == THREE
    assert policy.propose_settling(disputed(tried(3, query)), CLASH, ALL) == []


@pytest.mark.parametrize(
    "state",
    [
        disputed(tried(3, "x"), tried(4, "y")),
        disputed(conflict=CLASH.replace(asks=False)),
        disputed(conflict=CLASH.replace(status="settled")),
    ],
)
def test_nothing_is_tried_after_two_actions_or_when_it_is_not_open_on_the_question(state):
    assert policy.conflict_to_settle(state) is None


def analyze(prompt: str) -> dict[str, Any]:
    """The facts that the passages of a prompt hold; nothing is called answered."""
    shown = re.split(r"Passage (p\d+)[^\n]*:\n", prompt.split("Pages of this round")[-1])
    told = [
        {"quote": fact.quote, "statement": fact.quote, "passage_id": name, "part": "1"}
        for name, text in zip(shown[1::2], shown[2::2], strict=True)
        for fact in FACTS.values()
        if fact.quote in text
    ]
    return {"facts": told, "answered_parts": [], "confidence_score": 0.9}


@pytest.mark.slow
def test_a_model_that_hands_over_too_early_is_told_that_it_was_put_off(bench, tmp_path):
    script = Script(together(crawl(ONE), crawl(TWO)), END, END, analyzer=analyze)
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(script.scripted), "")
    pages = [
        page(fact.url, f"Brass heron {fact.id}", f"{fact.quote}\nIt is made of brass.")
        for fact in FACTS.values()
    ]
    state = run(bench, HERON, world=write_world(tmp_path / "w", pages)).state
    [conflict] = state.conflicts.values()
    assert conflict.id in [action.about for action in state.actions]
    [refusal] = [refusal for refusal in state.refusals if refusal.what == "send_to_hitl"]
    assert "put off until this was tried" in refusal.why
