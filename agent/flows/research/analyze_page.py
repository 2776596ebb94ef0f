"""From what a tool brought to facts, leads, conflicts and a new confidence. The analyzer judges; the evidence
rules decide."""

from __future__ import annotations

from typing import Any

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import source_trust
from agent.evidence.confidence import AnswerFeatures
from agent.evidence.quote_match import verify_quote
from agent.flows.research import policy
from agent.flows.research.state import Observation, ResearchRun
from agent.flows.shared import fact_view
from agent.flows.shared.answer_features import restore_answer_features
from agent.flows.shared.fact_intake import add_facts
from agent.retrieval import link_scoring as lead_rules
from agent.retrieval.bm25 import rank_passages
from agent.retrieval.chunking import split_passages
from agent.retrieval.relevance import score_fact
from agent.roles.research.analyzer import ANALYZER, AnalyzerReply, ExtractedInfo
from agent.roles.role import RoleResult
from agent.text.urls import canonicalize, find_urls
from agent.types import Conflict, Fact, Lead, Page, Passage, Refusal, SearchResult
from agent.types.facts import make_fact_id
from agent.web.prompt_injection import find_injected_lines, find_injected_links

MAX_PASSAGES = 10
"""Passages of a page that the analyzer is shown."""
MAX_LINKS = 30


def analyze_search(state: ResearchRun, tools: RunContext, looking: Observation) -> Change:
    """The change that search results make: leads, and the analyzer's word on them. Nothing is quoted from a
    snippet."""
    judgement = tools.judge(
        ANALYZER,
        question=state.question,
        notes=fact_view.note_texts(state),
        source=looking.source,
        title="",
        outcome=looking.outcome,
        hits=looking.hits,
        passages=[],
        links=[],
        facts=fact_view.facts_for_prompt(state),
    )
    query = looking.source.removeprefix("search: ")
    result = SearchResult(engine="", query=query, outcome=looking.outcome, hits=looking.hits)  # type: ignore[arg-type]
    found = lead_rules.make_hit_leads(state.question, result, tools.step) + _build_query_leads(
        tools, judgement, looking.source
    )
    found = lead_rules.merge_leads(state.own.leads, found)
    refused = _refuse_unknown_urls(
        judgement, {canonicalize(hit.url) for hit in looking.hits} | policy.known_urls(state), tools.step
    )
    return {
        "leads": _boost_picked_leads(found, judgement),
        "refusals": refused,
        **_report_change(judgement),
        **_take_in(state, tools, judgement, []),
    }


def analyze_page(state: ResearchRun, tools: RunContext, looking: Observation) -> Change:
    """The change that a page makes: verified facts, leads, conflicts and confidence."""
    page, forbidden = _remove_injected_links(tools.page(looking.page_id), tools.step)
    asked = " ".join([state.question, *fact_view.note_texts(state)])
    best = rank_passages(asked, split_passages(page, looking.page_id), MAX_PASSAGES)
    links = lead_rules.rank_links(asked, page.links, page.text, limit=MAX_LINKS)
    judgement = tools.judge(
        ANALYZER,
        question=state.question,
        notes=fact_view.note_texts(state),
        source=looking.source,
        title=page.title,
        outcome="ok",
        hits=[],
        passages=best,
        links=links,
        facts=fact_view.facts_for_prompt(state),
    )
    facts = fact_view.apply_person_marks(state, _extract_facts(state, tools, page, best, judgement))
    leads = lead_rules.make_page_leads(asked, page, facts, tools.step)
    leads += _build_picked_leads(judgement, page, {lead.id for lead in leads}, tools.step)
    leads += _build_query_leads(tools, judgement, page.url)
    new_leads = [
        lead
        for lead in lead_rules.merge_leads(state.own.leads, leads)
        if canonicalize(lead.value) not in fact_view.visited_urls(state)
    ]
    refused = forbidden + _refuse_unknown_urls(
        judgement, {canonicalize(link.url) for link in page.links} | policy.known_urls(state), tools.step
    )
    signs, onward = source_trust.assess_trust(page), [lead.value for lead in leads if lead.kind == "url"]
    seen = {
        "facts": len(facts),
        "links": onward,
        "trust": signs.value,
        "trust_why": list(signs.reasons),
        "waiting": False,
    }
    ref = state.pages[looking.source].model_copy(update=seen)
    acted = [
        action for action in state.actions[-1:] if action.page_id == looking.page_id
    ]  # none when a person gave the page
    return {
        "leads": _boost_picked_leads(new_leads, judgement),
        "pages": [ref],
        "refusals": refused,
        "actions": [
            action.model_copy(update={"new_facts": sum(fact.verified for fact in facts)}) for action in acted
        ],
        **_report_change(judgement),
        **_take_in(state, tools, judgement, facts),
    }


def analyze_empty_result(state: ResearchRun, tools: RunContext, looking: Observation) -> Change:
    """The change of a look that brought nothing to read: no model is asked for that."""
    reply = ANALYZER.fallback(
        question=state.question,
        notes=[],
        source=looking.source,
        title="",
        outcome=looking.outcome,
        hits=[],
        passages=[],
        links=[],
        facts=fact_view.facts_for_prompt(state),
    )
    judgement = RoleResult(value=reply, by="keyless")
    return {**_report_change(judgement), **_take_in(state, tools, judgement, [])}


def _extract_facts(
    state: ResearchRun, tools: RunContext, page: Page, shown: list[Passage], judgement: RoleResult
) -> list[Fact]:
    extracted = judgement.value.extracted_info
    wanted = extracted.facts if isinstance(extracted, ExtractedInfo) else []
    page_id, standing = shown[0].page_id if shown else "", tools.assess_trust(page, state.trusts).value
    found: dict[str, Fact] = {}
    forbidden = [
        (at, at + len(line)) for line in find_injected_lines(page.text) if (at := page.text.find(line)) >= 0
    ]
    for item in wanted:
        fact = Fact(
            id=make_fact_id(page_id, item.quote, item.statement),
            statement=item.statement.strip() or item.quote,
            quote=item.quote,
            page_id=page_id,
            url=page.final_url or page.url,
            title=page.title,
            fetched_at=page.fetched_at,
            published_at=page.published_at,
            subject=item.subject,
            attribute=item.attribute,
            part=item.part,
            trust=standing,
            step=tools.step,
            by=judgement.by,
            given=page.origin,
        )
        fact = fact.model_copy(update={"relevance": score_fact(state.question, fact)})
        if fact.id not in state.facts and fact.id not in found:
            checked = verify_quote(fact, page.text, page.sha256)
            ordered = any(checked.start < end and start < checked.end for start, end in forbidden)
            found[fact.id] = checked.model_copy(update={"verified": False}) if ordered else checked
    return list(found.values())


def _build_query_leads(tools: RunContext, judgement: RoleResult, found_on: str) -> list[Lead]:
    """The analyzer's own leads (names, topics) as searches to be made some day."""
    extracted = judgement.value.extracted_info
    told = extracted.leads if isinstance(extracted, ExtractedInfo) and judgement.by == "model" else []
    return [
        Lead(
            id=lead_rules.lead_id("query", lead.text),
            kind="query",
            value=lead.text[:200],
            text=lead.text[:200],
            why=lead.why[:300],
            score=0.3,
            prior=0.3,
            found_on=found_on,
            step=tools.step,
        )
        for lead in told[:6]
        if lead.text.strip() and not find_urls(lead.text)
    ]


def _picked_urls(judgement: RoleResult) -> set[str]:
    """A model's promising addresses; the keyless analyzer's are in the scores already."""
    return (
        {canonicalize(url) for url in judgement.value.new_potential_urls}
        if judgement.by == "model"
        else set()
    )


def _build_picked_leads(judgement: RoleResult, page: Page, known: set[str], step: int) -> list[Lead]:
    """The links of the page that a model picked and the rules would not have kept."""
    picks = _picked_urls(judgement)
    chosen = {
        lead_rules.lead_id("url", link.url): link for link in page.links if canonicalize(link.url) in picks
    }
    return [
        Lead(
            id=name,
            kind="url",
            value=link.url,
            text=link.text[:200] or link.url,
            why="the analyzer picked it",
            score=0.3,
            prior=0.3,
            found_on=page.url,
            step=step,
        )
        for name, link in chosen.items()
        if name not in known
    ]


def _boost_picked_leads(leads: list[Lead], judgement: RoleResult) -> list[Lead]:
    """A model's promising addresses go before the others."""
    picks = _picked_urls(judgement)
    return [
        lead.model_copy(update={"score": min(1.0, lead.score + 0.3), "prior": min(1.0, lead.prior + 0.3)})
        if canonicalize(lead.value) in picks
        else lead
        for lead in leads
    ]


def _remove_injected_links(page: Page, step: int) -> tuple[Page, list[Refusal]]:
    """The page without the links that stand where it gives orders to a machine, and these as refusals."""
    ordered = find_injected_links(page.text, page.links)
    refused = [
        Refusal(what=link.url[:300], why="Blocked: suspected prompt injection", step=step) for link in ordered
    ]
    return page.model_copy(
        update={"links": [link for link in page.links if link not in ordered]}
    ) if ordered else page, refused


def _refuse_unknown_urls(judgement: RoleResult, known: set[str], step: int) -> list[Refusal]:
    """The analyzer's addresses that stand nowhere: refused and counted."""
    return [
        Refusal(
            what=url[:300],
            why="the analyzer named an address that stands on no page or result of this run",
            step=step,
        )
        for url in judgement.value.new_potential_urls
        if canonicalize(url) not in known
    ]


def _report_change(judgement: RoleResult) -> Change:
    reply: AnalyzerReply = judgement.value
    told = reply.model_dump(mode="json", exclude={"extracted_info"})
    return {
        "report": {
            **told,
            "extracted_info": _summarize_extraction(reply),
            "by": judgement.by,
            "trouble": judgement.fallback_reason,
        }
    }


def _summarize_extraction(reply: AnalyzerReply) -> Any:
    """The extracted info without the facts: those stand in the state already."""
    if isinstance(reply.extracted_info, str):
        return reply.extracted_info
    return {
        "facts": len(reply.extracted_info.facts),
        "leads": [lead.text for lead in reply.extracted_info.leads],
    }


def _take_in(state: ResearchRun, tools: RunContext, judgement: RoleResult, new: list[Fact]) -> Change:
    """Facts with their marks, conflicts, the inconsistency the model reports, and the confidence."""
    change = add_facts(
        state,
        tools.step,
        new,
        model=judgement.value.confidence_score if judgement.by == "model" else None,
        features=_answer_features(state, new),
    )
    doubts = _model_conflicts(tools, judgement) if new else []
    return {**change, "conflicts": [*change["conflicts"], *doubts]}


def _answer_features(state: ResearchRun, new: list[Fact]) -> AnswerFeatures:
    """What an answer would rest on: counted anew when there are new facts, or a note that may rule some out."""
    before = state.confidence[-1] if state.confidence else None
    if (
        new
        or before is None
        or "told" not in before.basis
        or any(note.step > before.step for note in state.notes)
    ):
        return state.own.answer_features(state, [*fact_view.facts_for_prompt(state), *new])
    return restore_answer_features(state.question, before.basis)


def _model_conflicts(tools: RunContext, judgement: RoleResult) -> list[Conflict]:
    """The inconsistency a model reports in words: kept for the person to see; only code's conflicts mark
    facts as disputed."""
    told = (judgement.value.inconsistencies_found or "").strip() if judgement.by == "model" else ""
    if not told or told.lower() in ("none", "null", "no"):
        return []
    return [
        Conflict(
            id="model",
            subject=told[:300],
            attribute="",
            kind="name",
            values=[],
            found_by="model",
            step=tools.step,
        )
    ]
