"""From a writer's quotes to facts: each quote is looked for in the stored page it names."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.evidence.fact_check import verify_fact
from agent.evidence.quote_match import verify_quote
from agent.evidence.source_trust import assess_trust
from agent.retrieval.quotation import Quotation
from agent.retrieval.relevance import score_fact
from agent.roles.report import ReportSentence
from agent.roles.site import DraftSentence
from agent.types import Actor, Fact, Page, Passage
from agent.types.facts import make_fact_id


def has_page_quote(page: Page, quote: str) -> bool:
    """Whether a quote is found on a page."""
    fact = Fact(id="", statement=quote, quote=quote.strip())
    return verify_quote(fact, page.text, page.sha256).verified


def build_fact_from_quote(
    question: str, tools: RunContext, page: Page, quotation: Quotation, *, by: Actor
) -> Fact:
    """A quote of a stored page as a fact: checked against the page, with its relevance to the question."""
    statement = quotation.statement or quotation.quote
    fact = Fact(
        id=make_fact_id(quotation.page_id, quotation.quote, statement),
        statement=statement,
        quote=quotation.quote,
        page_id=quotation.page_id,
        url=page.final_url or page.url,
        title=page.title,
        fetched_at=page.fetched_at,
        published_at=page.published_at,
        subject=quotation.subject,
        attribute=quotation.attribute,
        trust=assess_trust(page).value,
        step=tools.step,
        by=by,
        given=page.origin,
    )
    fact = verify_fact(fact, page.text, page.sha256)
    return fact.replace(relevance=max(quotation.score, score_fact(question, fact)))


def resolve_citations(
    question: str,
    tools: RunContext,
    draft: Sequence[DraftSentence],
    passages: Sequence[Passage],
    *,
    by: Actor,
) -> tuple[dict[str, Fact], list[ReportSentence]]:
    """The facts of a draft's quotes, and its sentences with their fact ids.

    A quote of an unknown passage gets an id without a fact, so that it is counted as dropped. `here`: see
    `build_fact_from_quote`."""
    shown, facts = {passage.id: passage for passage in passages}, dict[str, Fact]()

    def cite(passage_id: str, quote: str, statement: str) -> str:
        passage = shown.get(passage_id)
        if passage is None:
            return f"unknown:{passage_id}"[:60]
        quotation = Quotation(passage.page_id, quote.strip(), statement, passage.title[:120])
        page = tools.page(passage.page_id)
        fact = build_fact_from_quote(question, tools, page, quotation, by=by)
        facts[fact.id] = fact.replace(
            title=passage.title or fact.title,
            heading=passage.heading,
            published_at=passage.published_at or fact.published_at,
        )
        return fact.id

    sentences = []
    for sentence in draft:
        statement = sentence.text.strip() if len(sentence.quotes) == 1 else ""
        ids = [cite(quote.passage_id, quote.quote, statement) for quote in sentence.quotes]
        sentences.append(ReportSentence(text=sentence.text, fact_ids=ids, **sentence.placement))
    return facts, sentences


def find_quote_problems(
    tools: RunContext, draft: Sequence[DraftSentence], passages: Sequence[Passage]
) -> list[str]:
    """What a writer is told of its quotes: those that their pages do not hold, and sentences without any."""
    pages = {passage.id: passage.page_id for passage in passages}
    problems = []
    for n, sentence in enumerate(draft, start=1):
        if not sentence.quotes:
            problems.append(f"Sentence {n} has no quote: copy the words of a passage that state it.")
        for quote in sentence.quotes:
            if quote.passage_id not in pages:
                problems.append(f"Sentence {n} quotes passage {quote.passage_id!r}, which is not listed.")
            elif not has_page_quote(tools.page(pages[quote.passage_id]), quote.quote):
                problems.append(
                    f"Sentence {n}: “{quote.quote[:120]}” is not there: copy it character by character."
                )
    return problems
