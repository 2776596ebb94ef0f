"""From a page to memory, keyless: quotes that stand in the stored text, leads for later, conflicts marked,
nothing from snippets."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.evidence.quote_match import find_quote
from agent.flows.research import analyze_pages
from agent.flows.research.analyze_pages import analyze
from agent.flows.research.opened_pages import OpenPage
from agent.flows.research.state import Observation, ResearchRun, ResearchState
from agent.roles.research import AnalyzerReply
from agent.roles.role import RoleResult
from agent.text.urls import site
from agent.types import Answer, Outcome, Page, PageRef, Publication, SearchHit
from tests.web.folders import page, write_world

HERON = "In which year was the brass heron of Port Ember built?"
YEAR_A = page(
    "https://one.example/heron",
    "Brass heron",
    "The brass heron of Port Ember was built in 1921.\nIt stands by the harbour.",
)
YEAR_B = page(
    "https://two.example/heron",
    "Brass heron of Port Ember",
    "The brass heron of Port Ember was built in 1934.\nIt is made of brass.",
)
QUESTIONS = [
    "How many solar panels are there on the roof of Älvmora Mejeri?",
    "What was the population of Granvattnet municipality in 2010?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_fact_quotes_the_stored_page_to_the_letter(ask, bench, question):
    state = ask(question).state
    assert state.facts
    for fact in state.facts.values():
        stored = bench.page(fact.page_id)
        assert fact.verified and stored.text[fact.start : fact.end].split() == fact.quote.split()
        assert (fact.sha256, fact.fetched_at, fact.by) == (stored.sha256, stored.fetched_at, "keyless")
        assert find_quote(fact.quote, stored.text) is not None


def test_nothing_is_quoted_from_a_search(ask):
    view = ask(QUESTIONS[0], max_steps=1)
    assert view.state.actions[0].hits and not view.state.facts
    assert view.state.own.leads, "results are leads"


def test_the_results_of_several_engines_for_one_query_are_ranked_as_one():
    def seen(engine, *urls, query="grey heron"):
        hits = [SearchHit(url=url, title="a page", rank=n, engine=engine) for n, url in enumerate(urls, 1)]
        return Observation(source=f"search: {query}", hits=hits)

    work = Publication(doi="10.5555/heron")
    both = seen("openalex", "https://c.test/", "https://b.test/")
    both.hits[1] = both.hits[1].replace(publication=work)
    brought = [
        seen("duckduckgo", "https://a.test/", "https://b.test/"),
        both,
        seen("brave", "https://d.test/", query="egret"),
    ]
    state = ResearchRun(question="What does the grey heron eat?", own=ResearchState(brought=brought))
    change, _ = analyze(state, SimpleNamespace(step=3))
    leads = {lead.value: lead for lead in change["leads"]}
    assert leads["https://b.test/"].prior == 1.0 and leads["https://b.test/"].publication == work
    assert leads["https://c.test/"].prior < leads["https://a.test/"].prior < 1.0
    assert leads["https://d.test/"].prior == 1.0, "another query has a list of its own"


def test_the_report_to_the_decision_has_the_six_fields(ask):
    report = ask(QUESTIONS[0]).state.own.report
    six = {
        "extracted_info",
        "assessment",
        "confidence_score",
        "suggestions_for_next_step",
        "new_potential_urls",
        "inconsistencies_found",
    }
    assert six | {"answered_parts", "conflicts", "by", "trouble"} == set(report)


def test_links_of_a_page_become_leads_and_say_where_they_stood(ask):
    about = "https://www.alvmora-mejeri.example/about/"
    leads = ask("Who runs Älvmora Mejeri?", start_urls=[about], max_steps=1).state.own.leads.values()
    assert [lead for lead in leads if lead.found_on == about and lead.kind == "url"]


def test_two_sites_that_disagree_make_a_conflict_that_the_answer_names(ask, tmp_path):
    state = ask(HERON, world=write_world(tmp_path, [YEAR_A, YEAR_B])).state
    [conflict] = state.conflicts.values()
    sites = {site(state.facts[i].url) for value in conflict.values for i in value.fact_ids}
    assert conflict.status == "open" and sites == {"one.example", "two.example"}
    disputed = {fact.id for fact in state.facts.values() if fact.disputed}
    assert {i for value in conflict.values for i in value.fact_ids} <= disputed
    answer = state.answer
    assert (answer.verdict, answer.conflicts) == ("passages_found", [conflict.id])
    assert "1921" in answer.text and "1934" in answer.text
    for sentence in answer.sentences:
        assert not disputed & set(sentence.fact_ids) or len(disputed & set(sentence.fact_ids)) > 1, (
            "never one side alone"
        )


def test_a_page_that_brings_nothing_new_adds_nothing(ask, tmp_path):
    copy = {**YEAR_A, "url": "https://one.example/copy"}
    state = ask(HERON, world=write_world(tmp_path, [YEAR_A, copy])).state
    assert len({fact.quote for fact in state.facts.values()}) <= len(state.facts)
    assert not state.conflicts, "a copy does not contradict"


def test_links_in_a_passage_that_gives_orders_are_refused(ask):
    tour = "https://ostvandring.example/2026/07/cellar-tour"
    state = ask("What does the cellar tour at Älvmora Mejeri cost per person?", start_urls=[tour]).state
    assert not [lead for lead in state.own.leads.values() if "collector.example" in lead.value]
    assert any(
        "collector.example" in refusal.what and "prompt injection" in refusal.why
        for refusal in state.refusals
    )
    assert "140" in state.answer.text and "collector" not in state.answer.text


def test_what_could_not_be_read_leaves_memory_as_it_was(ask):
    lost = "https://granvattnet-courier.example/2024/02/11/ferry"
    view = ask(QUESTIONS[0], start_urls=[lost], max_steps=1)
    assert view.state.actions[0].outcome is Outcome.NOT_FOUND
    assert not view.state.facts and view.state.current_confidence == 0.0 and view.state.own.report is None


def test_a_quote_whose_stretches_may_not_be_joined_is_told_apart_from_one_that_is_on_no_page():
    text = "Ida Rask was born in Selm in 1801. Her son Olof kept bees. He sold the mill of Selm in 1840."
    url = "https://a.test/"
    stored = Page(url=url, final_url=url, outcome=Outcome.OK, text=text)
    opened = OpenPage(PageRef(url=url, page_id="1"), "1", stored)
    quotes = ["Ida Rask was born in Selm … He sold the mill of Selm in 1840.", "She sold the whole island."]
    reply = AnalyzerReply(facts=[{"statement": "It was sold.", "quote": quote} for quote in quotes])
    joined, foreign = analyze_pages.find_quote_problems(reply, [opened])
    assert "may not be joined" in joined and "on none of the pages" in foreign


def test_a_quote_that_ends_inside_a_word_of_the_page_is_refused_with_the_reason():
    text = "It grows near Selm and Overby brooka stream that falls dry in July."
    url = "https://a.test/"
    stored = Page(url=url, final_url=url, outcome=Outcome.OK, text=text)
    opened = OpenPage(PageRef(url=url, page_id="1"), "1", stored)
    quote = "It grows near Selm and Overby brook"
    reply = AnalyzerReply(facts=[{"statement": "It grows there.", "quote": quote}])
    [problem] = analyze_pages.find_quote_problems(reply, [opened])
    assert "cut inside a word" in problem
    whole = AnalyzerReply(facts=[{"statement": "It grows there.", "quote": f"{quote}a stream"}])
    assert not analyze_pages.find_quote_problems(whole, [opened])


def test_a_fact_that_is_reported_again_for_its_own_part_is_not_new():
    url = "https://a.test/"
    stored = Page(url=url, final_url=url, outcome=Outcome.OK, text="The kiln of Selm was lit in 1801.")
    opened = OpenPage(PageRef(url=url, page_id="1"), "1", stored)
    tools = SimpleNamespace(assess_trust=lambda *_given: SimpleNamespace(value=0.5), step=3)

    def extract(part, *known):
        item = {"quote": stored.text, "statement": stored.text, "part": part}
        judged = RoleResult(value=AnalyzerReply(facts=[item]), by="model")
        facts, answer = {fact.id: fact for fact in known}, Answer(n=1, verdict="partial")
        state = ResearchRun(own=ResearchState(), facts=facts, answers=[answer])
        return analyze_pages._extract_facts(state, tools, [opened], judged, set())

    [fact] = extract("1")
    assert extract("1", fact) == []
    assert [again.part for again in extract("2", fact)] == ["2"]
