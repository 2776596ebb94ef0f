"""What the pages of a round brought, by rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.passages import split_passages
from agent.roles.research import MAX_QUOTES, AnalyzerReply, ShownPage, join_replies
from agent.roles.research import analyzer_fallback as fallback
from agent.types import Link, Outcome, Page, Passage, Table

QUESTION = "When was the ferry Blue Heron built?"
PAGE = "https://a.example/"


def analyze(question: str = QUESTION, notes: Sequence[str] = (), **page: Any) -> AnalyzerReply:
    shown = ShownPage(**{"url": PAGE, **page})
    return fallback(question=question, notes=list(notes), pages=[shown], facts=[])


def of(text: str, **more: Any) -> list[Passage]:
    return split_passages(Page(url=PAGE, final_url=PAGE, outcome=Outcome.OK, text=text, **more), "p1")


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


def test_each_page_of_a_round_gives_its_own_quotes() -> None:
    other = split_passages(
        Page(url=PAGE, final_url=PAGE, outcome=Outcome.OK, text="Blue Heron was built by Ada Quill."), "p2"
    )
    pages = [
        ShownPage(url=PAGE, title="Harbour", passages=of(TEXT)),
        ShownPage(url="https://b.example/", title="Yard", passages=other),
    ]
    reply = fallback(question=QUESTION, notes=[], pages=pages, facts=[])
    assert {fact.passage_id.split(":")[0] for fact in reply.facts} == {"p1", "p2"}
    assert "Harbour" in reply.assessment and "Yard" in reply.assessment


def test_reports_on_groups_of_pages_are_joined() -> None:
    one = AnalyzerReply(answered_parts=["1"], confidence_score=0.4, leads=["Quill"], assessment="One.")
    two = AnalyzerReply(answered_parts=["1", "2"], confidence_score=0.7, leads=["Quill"], assessment="Two.")
    joined = join_replies([one, two])
    assert (joined.answered_parts, joined.leads, joined.assessment) == (["1", "2"], ["Quill"], "One. Two.")
    assert joined.confidence_score == 0.7 and join_replies([]).facts == []


def test_other_scripts() -> None:
    reply = analyze(
        "東京の人口は何人ですか?", passages=of("天気がとても良い一日でした。東京の人口は千四百万人です。")
    )
    assert reply.facts[0].quote == "東京の人口は千四百万人です。"


@given(st.text(), st.text(max_size=400), st.text(max_size=40), st.lists(st.text(max_size=60), max_size=2))
def test_any_page_is_analyzed_with_quotes_of_its_own(
    question: str, text: str, title: str, more: list[str]
) -> None:
    page = {"title": title, "passages": of(text, title=title), "links": [Link(url=PAGE, text=title)]}
    given_: dict[str, Any] = {**page, "notes": more}
    reply = analyze(question, **given_)
    assert all(fact.quote and fact.quote in text for fact in reply.facts)
    assert 0 <= reply.confidence_score <= 1 and reply == analyze(question, **given_)
