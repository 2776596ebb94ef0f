"""What a search or a page brings to a research run: facts, leads, conflicts and a new confidence. The
analyzer reads; the rules of evidence decide what counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence.fact_check import verify_fact
from agent.flows.research.policy import find_secrets, known_urls
from agent.flows.research.state import Observation, ResearchRun
from agent.flows.shared import fact_view
from agent.flows.shared.citations import has_page_quote
from agent.flows.shared.fact_intake import add_facts
from agent.flows.shared.model_rulings import open_conflicts, review_by_rulings
from agent.flows.shared.page_refs import mark_read
from agent.retrieval.link_scoring import lead_id, make_hit_leads, make_page_leads, merge_leads, rank_links
from agent.retrieval.passages import split_passages
from agent.retrieval.relevance import score_fact
from agent.retrieval.scorer import rank_passages
from agent.roles.research.analyzer import ANALYZER, AnalyzerReply, ExtractedFact
from agent.roles.role import RoleResult
from agent.text.urls import canonicalize, find_urls
from agent.types import Conflict, Fact, Lead, Page, Passage, Refusal, SearchResult
from agent.types.facts import make_fact_id
from agent.web.prompt_injection import find_injected_links

MAX_PASSAGES, MAX_LINKS = 10, 30
"""Passages and links of a page that the analyzer is shown."""
MAX_QUERY_LEADS = 6
"""Names and topics to search for that are kept of one reply."""
PICKED_PRIOR, PICKED_BONUS = 0.3, 0.3
"""The score of a lead that only the analyzer proposes, and what its choice adds to that of any other."""
SURE_ESTIMATE = 0.8
"""The estimate from which a model that fills in no answered part means that all are answered."""
NO_INCONSISTENCY = ("", "none", "null", "no")


def analyze_search(state: ResearchRun, tools: RunContext, looking: Observation) -> Change:
    """The change that search results make: leads, and the analyzer's report. Nothing is quoted from a
    snippet."""
    known = [hit.url for hit in looking.hits]
    judgement = tools.judge(
        ANALYZER,
        check=lambda reply: [
            f"{refusal.what}: {refusal.why}" for refusal in _refuse_unknown(state, reply, known)
        ],
        **_inputs(state, looking, outcome=looking.outcome, hits=looking.hits),
    )
    query = looking.source.removeprefix("search: ")
    result = SearchResult(engine="", query=query, outcome=looking.outcome, hits=looking.hits)  # type: ignore[arg-type]
    leads = make_hit_leads(state.question, result, tools.step)
    leads += _build_query_leads(state, tools, judgement, looking.source)
    return {
        "leads": _raise_picked(merge_leads(state.own.leads, leads), judgement),
        "refusals": _refuse_unknown(state, judgement.value, known, tools.step),
        **_report_change(judgement),
        **_add_facts(state, tools, judgement, []),
    }


def analyze_page(state: ResearchRun, tools: RunContext, looking: Observation) -> Change:
    """The change that a page makes: verified facts, leads, conflicts and confidence."""
    page, refused = _remove_injected_links(tools.page(looking.page_id), tools.step)
    wanted = " ".join([state.question, *fact_view.public_note_texts(state)])
    passages = rank_passages(
        " ".join([state.question, *fact_view.note_texts(state)]),
        split_passages(page, looking.page_id),
        MAX_PASSAGES,
    )
    visited = fact_view.visited_urls(state)
    unread = [link for link in page.links if canonicalize(link.url) not in visited]
    links = rank_links(wanted, unread, page.text, limit=MAX_LINKS)
    known = [link.url for link in page.links]
    judgement = tools.judge(
        ANALYZER,
        check=lambda reply: [
            *_find_quote_problems(reply, page),
            *(f"{refusal.what}: {refusal.why}" for refusal in _refuse_unknown(state, reply, known)),
        ],
        **_inputs(state, looking, title=page.title, passages=passages, links=links),
    )
    facts = fact_view.apply_person_marks(state, _extract_facts(state, tools, page, passages, judgement))
    leads = make_page_leads(wanted, page, facts, tools.step)
    leads += _build_picked_leads(judgement, page, {lead.id for lead in leads}, tools.step)
    leads += _build_query_leads(state, tools, judgement, page.url)
    new = [lead for lead in merge_leads(state.own.leads, leads) if canonicalize(lead.value) not in visited]
    onward = [lead.value for lead in leads if lead.kind == "url"]
    verified = sum(fact.verified for fact in facts)
    return {
        "leads": _raise_picked(new, judgement),
        "pages": [mark_read(state.pages[looking.source], page, facts=len(facts), links=onward)],
        "refusals": refused
        + _refuse_withheld(judgement, page, tools.step)
        + _refuse_unknown(state, judgement.value, known, tools.step),
        "actions": [  # none when a person supplied the page
            action.replace(new_facts=verified)
            for action in state.actions[-1:]
            if action.page_id == looking.page_id
        ],
        **_report_change(judgement),
        **_add_facts(state, tools, judgement, facts),
    }


def analyze_empty_result(state: ResearchRun, tools: RunContext, looking: Observation) -> Change:
    """The change of a search or page without anything to read: no model is asked."""
    reply = ANALYZER.fallback(**_inputs(state, looking, outcome=looking.outcome))
    judgement = RoleResult(value=reply, by="keyless")
    return {**_report_change(judgement), **_add_facts(state, tools, judgement, [])}


def _inputs(state: ResearchRun, looking: Observation, **more: Any) -> dict[str, Any]:
    return {
        "question": state.question,
        "notes": fact_view.note_texts(state),
        "source": looking.source,
        "title": "",
        "outcome": "ok",
        "hits": [],
        "passages": [],
        "links": [],
        "facts": fact_view.facts_for_prompt(state),
        "parts": state.plan,
        "conflicts": open_conflicts(state),
        **more,
    }


def _extract_facts(
    state: ResearchRun,
    tools: RunContext,
    page: Page,
    passages: Sequence[Passage],
    judgement: RoleResult,
) -> list[Fact]:
    """The new facts of a reply, each checked against the page."""
    facts = dict[str, Fact]()
    trust = tools.assess_trust(page, state.trusts).value
    page_id = passages[0].page_id if passages else ""
    for item in _all_extracted(judgement, page):
        fact = Fact(
            id=make_fact_id(page_id, item.quote, item.statement),
            statement=item.statement.strip() or item.quote,
            quote=item.quote,
            page_id=page_id,
            url=page.final_url or page.url,
            title=page.title,
            heading=next((passage.heading for passage in passages if item.quote in passage.text), ""),
            fetched_at=page.fetched_at,
            published_at=page.published_at,
            subject=item.subject,
            attribute=item.attribute,
            part=item.part,
            trust=trust,
            step=tools.step,
            by=judgement.by,
            given=page.origin,
        )
        if fact.id in state.facts or fact.id in facts:
            continue
        fact = fact.replace(relevance=score_fact(state.question, fact))
        fact = verify_fact(fact, page.text, page.sha256)
        facts[fact.id] = fact
    return list(facts.values())


def _all_extracted(judgement: RoleResult, page: Page) -> list[ExtractedFact]:
    """The facts of a reply, and those with a good quote of the reply that was refused before it."""
    facts = list(judgement.value.facts)
    quoted = {item.quote for item in facts}
    earlier = judgement.earlier.facts if judgement.earlier else []
    return facts + [item for item in earlier if item.quote not in quoted and has_page_quote(page, item.quote)]


def _build_lead(kind: str, value: str, text: str, why: str, found_on: str, step: int) -> Lead:
    return Lead(
        id=lead_id(kind, value),
        kind=kind,  # type: ignore[arg-type]
        value=value,
        text=text[:200],
        why=why[:300],
        score=PICKED_PRIOR,
        prior=PICKED_PRIOR,
        found_on=found_on,
        step=step,
    )


def _build_query_leads(
    state: ResearchRun, tools: RunContext, judgement: RoleResult, found_on: str
) -> list[Lead]:
    """The names and topics that a model wants to search for."""
    named = judgement.value.leads if judgement.by == "model" else []
    return [
        _build_lead("query", lead[:200], lead, "the analyzer names it", found_on, tools.step)
        for lead in named[:MAX_QUERY_LEADS]
        if lead.strip() and not find_urls(lead) and not find_secrets(state, lead)
    ]


def _picked_urls(judgement: RoleResult) -> set[str]:
    """The addresses that a model calls promising; those of the fallback are in the scores already."""
    urls = judgement.value.new_potential_urls if judgement.by == "model" else []
    return {canonicalize(url) for url in urls}


def _build_picked_leads(judgement: RoleResult, page: Page, known: set[str], step: int) -> list[Lead]:
    """The links of the page that a model picked and the rules would not have kept."""
    picked = _picked_urls(judgement)
    leads = {
        lead_id("url", link.url): _build_lead(
            "url", link.url, link.text or link.url, "the analyzer picked it", page.url, step
        )
        for link in page.links
        if canonicalize(link.url) in picked
    }
    return [lead for name, lead in leads.items() if name not in known]


def _raise_picked(leads: list[Lead], judgement: RoleResult) -> list[Lead]:
    """The leads with those that a model picked before the others."""
    picked = _picked_urls(judgement)
    return [
        lead.replace(score=min(1.0, lead.score + PICKED_BONUS), prior=min(1.0, lead.prior + PICKED_BONUS))
        if canonicalize(lead.value) in picked
        else lead
        for lead in leads
    ]


def _remove_injected_links(page: Page, step: int) -> tuple[Page, list[Refusal]]:
    """The page without the links of passages that give orders to machines, and these as refusals."""
    injected = find_injected_links(page.text, page.links)
    if not injected:
        return page, []
    why = "Blocked: suspected prompt injection"
    kept = [link for link in page.links if link not in injected]
    refused = [Refusal(what=link.url[:300], why=why, step=step) for link in injected]
    return page.replace(links=kept), refused


def _find_quote_problems(reply: AnalyzerReply, page: Page) -> list[str]:
    """What the analyzer is told of its quotes that are not on the page."""
    return [
        f"The quote “{item.quote[:120]}” is not on the page: copy it character by character."
        for item in reply.facts
        if not has_page_quote(page, item.quote)
    ]


def _refuse_withheld(judgement: RoleResult, page: Page, step: int) -> list[Refusal]:
    """A refusal where text of the page was not shown to the model because it holds the mark of the run."""
    why = "text of this page was withheld from the model: it contains the mark of the run's fences"
    return [Refusal(what=page.url[:300], why=why, step=step)] if judgement.withheld else []


def _refuse_unknown(
    state: ResearchRun, reply: AnalyzerReply, here: list[str], step: int = 0
) -> list[Refusal]:
    """A refusal for each address of the analyzer that neither stands here nor is known to the run."""
    known = {canonicalize(url) for url in here} | known_urls(state).keys()
    why = "the analyzer named an address that does not occur on any page or result of this run"
    return [
        Refusal(what=url[:300], why=why, step=step)
        for url in reply.new_potential_urls
        if canonicalize(url) not in known
    ]


def _report_change(judgement: RoleResult) -> Change:
    """The analyzer's report as it is stored: its facts are only counted, the state has them."""
    reply: AnalyzerReply = judgement.value
    info = {"facts": len(reply.facts), "leads": reply.leads}
    report = reply.model_dump(mode="json", exclude={"facts", "leads"})
    by = {"by": judgement.by, "trouble": judgement.fallback_reason or " ".join(judgement.problems)}
    return {"report": {**report, "extracted_info": info, **by}}


def _add_facts(state: ResearchRun, tools: RunContext, judgement: RoleResult, new: list[Fact]) -> Change:
    """Facts with their marks, conflicts with the inconsistency that a model reports, and the confidence."""
    model = judgement.by == "model"
    confidence = judgement.value.confidence_score if model else None
    review = review_by_rulings(state, judgement.value.conflicts) if model else None
    unanswered = _find_unanswered(state, judgement.value) if model else None
    change = add_facts(state, tools.step, new, model=confidence, unanswered=unanswered, review=review)
    reported = judgement.value.inconsistencies_found.strip()
    if new and model and reported.lower() not in NO_INCONSISTENCY:
        change["conflicts"].append(  # shown to the person; only conflicts found by code mark facts
            Conflict(
                id="model",
                subject=reported[:300],
                attribute="",
                kind="name",
                values=[],
                found_by="model",
                step=tools.step,
            )
        )
    return change


def _find_unanswered(state: ResearchRun, reply: AnalyzerReply) -> list[str]:
    """The parts that a model does not call answered; none where it names no part and is sure all the same."""
    plan = [part.id for part in state.plan]
    answered = [part for part in reply.answered_parts if part in plan]
    is_sure = reply.confidence_score >= SURE_ESTIMATE and not answered
    return [] if is_sure else [part for part in plan if part not in answered]
