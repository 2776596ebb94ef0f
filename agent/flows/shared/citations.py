"""From a writer's quotes to facts: each is looked for in the stored page it names, and what is not found
there backs nothing.

Shared by the flows that write from passages. Knows drafts and pages, no state of a flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.engine.context import RunContext
from agent.evidence.quote_match import verify_quote
from agent.retrieval.extractive_answer import Quotation
from agent.retrieval.relevance import score_fact
from agent.roles.research.report import ReportSentence
from agent.roles.site.draft import DraftSentence
from agent.types import Actor, Fact, Page, Passage, TrustRating
from agent.types.facts import make_fact_id


def build_fact_from_quote(
    asked: str,
    tools: RunContext,
    page: Page,
    quoted: Quotation,
    *,
    by: Actor,
    here: Mapping[str, TrustRating] | None = None,
) -> Fact:
    """A quote of a stored page as a fact, checked against the page's text; its relevance is to the question
    `asked`.

    `here` is a person's word in this run on how far domains are trusted."""
    fact = Fact(
        id=make_fact_id(quoted.page_id, quoted.quote, quoted.statement or quoted.quote),
        statement=quoted.statement or quoted.quote,
        quote=quoted.quote,
        page_id=quoted.page_id,
        url=page.final_url or page.url,
        title=page.title,
        fetched_at=page.fetched_at,
        published_at=page.published_at,
        subject=quoted.subject,
        attribute=quoted.attribute,
        trust=tools.assess_trust(page, here).value,
        step=tools.step,
        by=by,
        given=page.origin,
    )
    fact = verify_quote(fact, page.text, page.sha256)
    return fact.model_copy(update={"relevance": max(quoted.score, score_fact(asked, fact))})


def resolve_citations(
    asked: str,
    tools: RunContext,
    draft: Sequence[DraftSentence],
    passages: Sequence[Passage],
    *,
    by: Actor,
    here: Mapping[str, TrustRating] | None = None,
) -> tuple[dict[str, Fact], list[ReportSentence]]:
    """The facts of a draft's quotes, and its sentences with their ids. `here`: see `fact_of`.

    A quote of an unknown passage keeps an id that resolves to nothing, so that it is dropped and counted.
    """
    shown = {passage.id: passage for passage in passages}
    facts: dict[str, Fact] = {}
    sentences = []
    for sentence in draft:
        ids = []
        for quote in sentence.quotes:
            passage = shown.get(quote.passage_id)
            if passage is None:
                ids.append(f"unknown:{quote.passage_id}"[:60])
                continue
            statement = sentence.text.strip() if len(sentence.quotes) == 1 else ""
            quoted = Quotation(passage.page_id, quote.quote.strip(), statement, passage.title[:120])
            fact = build_fact_from_quote(asked, tools, tools.page(passage.page_id), quoted, by=by, here=here)
            ids.append(fact.id)
            facts[fact.id] = fact
        sentences.append(ReportSentence(text=sentence.text, fact_ids=ids))
    return facts, sentences
