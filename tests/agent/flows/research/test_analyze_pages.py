"""From a page to memory, keyless: quotes that stand in the stored text, leads for later, conflicts marked,
nothing from snippets."""

from __future__ import annotations

from types import SimpleNamespace

from agent.flows.research import analyze_pages
from agent.flows.research.analyze_pages import OpenPage, analyze
from agent.flows.research.state import Observation, ResearchRun, ResearchState
from agent.roles.research import AnalyzerReply
from agent.types import Outcome, Page, PageRef, Publication, SearchHit
from tests.records import fill


def test_the_results_of_several_engines_for_one_query_are_ranked_as_one():
    def seen(engine, *urls, query="grey heron"):
        hits = [
            SearchHit(
                url=url, title="a page", rank=n, engine=engine, snippet="", published_at="", publication=None
            )
            for n, url in enumerate(urls, 1)
        ]
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


def test_links_in_a_passage_that_gives_orders_are_refused(ask):
    tour = "https://ostvandring.example/2026/07/cellar-tour"
    state = ask("What does the cellar tour at Älvmora Mejeri cost per person?", start_urls=[tour]).state
    assert not [lead for lead in state.own.leads.values() if "collector.example" in lead.value]
    assert any(
        "collector.example" in refusal.what and "prompt injection" in refusal.why
        for refusal in state.refusals
    )
    assert "140" in state.answer.text and "collector" not in state.answer.text


def test_a_quote_whose_stretches_may_not_be_joined_is_told_apart_from_one_that_is_on_no_page():
    text = "Ida Rask was born in Selm in 1801. Her son Olof kept bees. He sold the mill of Selm in 1840."
    url = "https://a.test/"
    stored = Page(url=url, final_url=url, outcome=Outcome.OK, text=text)
    opened = OpenPage(fill(PageRef, url=url, page_id="1"), "1", stored)
    quotes = ["Ida Rask was born in Selm … He sold the mill of Selm in 1840.", "She sold the whole island."]
    reply = AnalyzerReply(facts=[{"statement": "It was sold.", "quote": quote} for quote in quotes])
    joined, foreign = analyze_pages.find_quote_problems(reply, [opened])
    assert "may not be joined" in joined and "on none of the pages" in foreign


def test_a_quote_that_ends_inside_a_word_of_the_page_is_refused_with_the_reason():
    text = "It grows near Selm and Overby brooka stream that falls dry in July."
    url = "https://a.test/"
    stored = Page(url=url, final_url=url, outcome=Outcome.OK, text=text)
    opened = OpenPage(fill(PageRef, url=url, page_id="1"), "1", stored)
    quote = "It grows near Selm and Overby brook"
    reply = AnalyzerReply(facts=[{"statement": "It grows there.", "quote": quote}])
    [problem] = analyze_pages.find_quote_problems(reply, [opened])
    assert "cut inside a word" in problem
    whole = AnalyzerReply(facts=[{"statement": "It grows there.", "quote": f"{quote}a stream"}])
    assert not analyze_pages.find_quote_problems(whole, [opened])
