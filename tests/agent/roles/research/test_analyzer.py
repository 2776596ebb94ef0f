"""What a search or a page brought, by rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.passages import split_passages
from agent.roles.research.analyzer import MAX_QUOTES, AnalyzerReply, fallback
from agent.types import Fact, Link, Outcome, Page, Passage, SearchHit, Table

QUESTION = "When was the ferry Blue Heron built?"
PAGE = "https://a.example/"


def analyze(question: str = QUESTION, **given: Any) -> AnalyzerReply:
    blanks = {
        "notes": [],
        "source": PAGE,
        "title": "",
        "outcome": "ok",
        "hits": [],
        "passages": [],
        "links": [],
        "facts": [],
    }
    return fallback(question=question, **{**blanks, **given})


def of(text: str, **more: Any) -> list[Passage]:
    return split_passages(Page(url=PAGE, final_url=PAGE, outcome=Outcome.OK, text=text, **more), "p1")


def known(quote: str, title: str = "") -> Fact:
    return Fact(id="k", statement=quote, quote=quote, title=title, url="https://k.example/", verified=True)


TEXT = (
    "Welcome to the harbour. The ferry Blue Heron was built in 1907 at the Quill yard. The weather is fine "
    "today."
)


def test_a_page_gives_the_sentences_that_bear_on_the_question_verbatim() -> None:
    reply = analyze(title="Harbour", passages=of(TEXT, title="Harbour"))
    facts = reply.facts
    assert facts[0].quote == facts[0].statement == "The ferry Blue Heron was built in 1907 at the Quill yard."
    assert facts[0].passage_id == "p1:0" and facts[0].subject == "Blue Heron"
    assert all(fact.quote in TEXT for fact in facts)
    assert "weather" not in facts[0].quote
    assert reply.confidence_score > 0.5 and "Harbour" in reply.assessment


def test_no_more_quotes_than_a_page_may_give() -> None:
    text = " ".join(f"The ferry Blue Heron was built in 19{n}." for n in range(10, 40))
    assert len(analyze(passages=of(text)).facts) == MAX_QUOTES


def test_a_table_row_is_quoted_as_it_stands_and_stated_with_its_header() -> None:
    text = "Ferry | Built\nGrey Gull | 1899\nBlue Heron | 1907"
    rows = [line.split(" | ") for line in text.split("\n")]
    fact = analyze(passages=of(text, tables=[Table(start=0, end=len(text), rows=rows)])).facts[0]
    assert (fact.quote, fact.statement) == ("Blue Heron | 1907", "Ferry: Blue Heron; Built: 1907")


def test_names_in_good_quotes_are_leads_and_links_are_those_of_the_page() -> None:
    links = [Link(url=f"{PAGE}menu", text="Menu"), Link(url=f"{PAGE}yard", text="Quill yard")]
    reply = analyze(passages=of(TEXT), links=links)
    assert reply.leads[0] == "Quill"
    assert reply.new_potential_urls[0] == f"{PAGE}yard" and set(reply.new_potential_urls) <= {
        link.url for link in links
    }


def test_of_a_search_nothing_is_quoted() -> None:
    hits = [
        SearchHit(url=f"https://h{n}.example/", title="Blue Heron", snippet="built in 1907") for n in range(8)
    ]
    reply = analyze(source=f"search: {QUESTION}", hits=hits)
    assert reply.facts == [] and "8 results" in reply.assessment
    assert reply.new_potential_urls[0] == hits[0].url and set(reply.new_potential_urls) <= {
        hit.url for hit in hits
    }
    assert len(reply.new_potential_urls) <= 5 and reply.suggestions_for_next_step
    assert analyze(source="search: x").new_potential_urls == []


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_what_could_not_be_read_is_told_apart(outcome: Outcome) -> None:
    reply = analyze(outcome=outcome)
    assert outcome in reply.assessment and reply.confidence_score == 0


def test_other_scripts() -> None:
    reply = analyze(
        "東京の人口は何人ですか?", passages=of("天気がとても良い一日でした。東京の人口は千四百万人です。")
    )
    assert reply.facts[0].quote == "東京の人口は千四百万人です。"


@given(st.text(), st.text(max_size=400), st.text(max_size=40), st.lists(st.text(max_size=60), max_size=2))
def test_any_page_is_analyzed_with_quotes_of_its_own(
    question: str, text: str, title: str, more: list[str]
) -> None:
    given_ = {
        "title": title,
        "passages": of(text, title=title),
        "facts": [known(quote) for quote in more],
        "notes": more,
    }
    given_["links"] = [Link(url=PAGE, text=title)]
    reply = analyze(question, **given_)
    assert all(fact.quote and fact.quote in text for fact in reply.facts)
    assert 0 <= reply.confidence_score <= 1 and reply == analyze(question, **given_)
    assert analyze(
        question, source=f"search: {text}", hits=[SearchHit(url=PAGE, title=title, snippet=text)]
    ).new_potential_urls == [PAGE]
