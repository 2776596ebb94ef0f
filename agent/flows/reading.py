"""From what a tool brought to facts, leads, conflicts and a new confidence. The analyzer judges; the evidence rules decide."""

from __future__ import annotations

import hashlib
from typing import Any

from agent.evidence import confidence, conflicts, settlement, trust
from agent.evidence.confidence import Footing
from agent.evidence.quotes import verify
from agent.flows import moves
from agent.flows.state import Looking, Research
from agent.roles.analyzer import ANALYZER, AnalyzerReply, Extracted, ExtractedFact
from agent.roles.answering import fact_score
from agent.roles.footing import again, footing
from agent.roles.role import Judgement
from agent.state import Change
from agent.text import leads as lead_rules
from agent.text.coverage import cover
from agent.text.orders import ordered_links, orders
from agent.text.passages import passages
from agent.text.rank import rank
from agent.toolbox import Tools
from agent.types import Conflict, Fact, Lead, Page, Passage, Refusal, SearchResult
from agent.urls import canonical, found_in

SHOWN = 10
"""Passages of a page that the analyzer is shown."""
LINKS_SHOWN = 30


def of_search(state: Research, tools: Tools, looking: Looking) -> Change:
    """The change that search results make: leads, and the analyzer's word on them. Nothing is quoted from a snippet."""
    judgement = tools.judge(
        ANALYZER, question=state.question, notes=moves.notes(state), source=looking.source, title="", outcome=looking.outcome,
        hits=looking.hits, passages=[], links=[], facts=moves.memory(state),
    )  # fmt: skip
    query = looking.source.removeprefix("search: ")
    result = SearchResult(engine="", query=query, outcome=looking.outcome, hits=looking.hits)  # type: ignore[arg-type]
    found = lead_rules.from_hits(state.question, result, tools.step) + _named(tools, judgement, looking.source)
    found = lead_rules.merged(state.leads, found)
    refused = _unknown(judgement, {canonical(hit.url) for hit in looking.hits} | moves.known_urls(state), tools.step)
    return {"leads": _favoured(found, judgement), "refusals": refused, **_told(judgement), **_level(state, tools, judgement, [])}


def of_page(state: Research, tools: Tools, looking: Looking) -> Change:
    """The change that a page makes: verified facts, leads, conflicts and confidence."""
    page, forbidden = _without_ordered_links(tools.page(looking.page_id), tools.step)
    asked = " ".join([state.question, *moves.notes(state)])
    best = rank(asked, passages(page, looking.page_id), SHOWN)
    links = lead_rules.worth_showing(asked, page.links, page.text, limit=LINKS_SHOWN)
    judgement = tools.judge(
        ANALYZER, question=state.question, notes=moves.notes(state), source=looking.source, title=page.title, outcome="ok", hits=[],
        passages=best, links=links, facts=moves.memory(state),
    )  # fmt: skip
    facts = moves.heeding(state, _facts(state, tools, page, best, judgement))
    leads = lead_rules.from_page(asked, page, facts, tools.step)
    leads += _picked(judgement, page, {lead.id for lead in leads}, tools.step)
    leads += _named(tools, judgement, page.url)
    new_leads = [lead for lead in lead_rules.merged(state.leads, leads) if canonical(lead.value) not in moves.visited(state)]
    refused = forbidden + _unknown(judgement, {canonical(link.url) for link in page.links} | moves.known_urls(state), tools.step)
    signs, onward = trust.of_page(page), [lead.value for lead in leads if lead.kind == "url"]
    seen = {"facts": len(facts), "links": onward, "trust": signs.value, "trust_why": list(signs.reasons), "waiting": False}
    ref = state.pages[looking.source].model_copy(update=seen)
    acted = [action for action in state.actions[-1:] if action.page_id == looking.page_id]  # none when a person gave the page
    return {
        "leads": _favoured(new_leads, judgement), "pages": [ref], "refusals": refused,
        "actions": [action.model_copy(update={"new_facts": sum(fact.verified for fact in facts)}) for action in acted],
        **_told(judgement), **_level(state, tools, judgement, facts),
    }  # fmt: skip


def of_nothing(state: Research, tools: Tools, looking: Looking) -> Change:
    """The change of a look that brought nothing to read: no model is asked for that."""
    reply = ANALYZER.keyless(
        question=state.question, notes=[], source=looking.source, title="", outcome=looking.outcome, hits=[], passages=[], links=[],
        facts=moves.memory(state),
    )  # fmt: skip
    judgement = Judgement(value=reply, by="keyless")
    return {**_told(judgement), **_level(state, tools, judgement, [])}


def _facts(state: Research, tools: Tools, page: Page, shown: list[Passage], judgement: Judgement) -> list[Fact]:
    extracted = judgement.value.extracted_info
    wanted = extracted.facts if isinstance(extracted, Extracted) else []
    page_id, standing = shown[0].page_id if shown else "", tools.trust(page, state.trusts).value
    found: dict[str, Fact] = {}
    forbidden = [(at, at + len(line)) for line in orders(page.text) if (at := page.text.find(line)) >= 0]
    for item in wanted:
        fact = Fact(
            id=_fact_id(page_id, item), statement=item.statement.strip() or item.quote, quote=item.quote, page_id=page_id,
            url=page.final_url or page.url, title=page.title, fetched_at=page.fetched_at, published_at=page.published_at,
            subject=item.subject, attribute=item.attribute, part=item.part, trust=standing,
            step=tools.step, by=judgement.by, given=page.origin,
        )  # fmt: skip
        fact = fact.model_copy(update={"relevance": fact_score(state.question, fact)})
        if fact.id not in state.facts and fact.id not in found:
            checked = verify(fact, page.text, page.sha256)
            ordered = any(checked.start < end and start < checked.end for start, end in forbidden)
            found[fact.id] = checked.model_copy(update={"verified": False}) if ordered else checked
    return list(found.values())


def _fact_id(page_id: str, item: ExtractedFact) -> str:
    return "f" + hashlib.sha256(f"{page_id}\n{item.quote}\n{item.statement}".encode()).hexdigest()[:7]


def _named(tools: Tools, judgement: Judgement, found_on: str) -> list[Lead]:
    """The analyzer's own leads (names, topics) as searches to be made some day."""
    extracted = judgement.value.extracted_info
    told = extracted.leads if isinstance(extracted, Extracted) and judgement.by == "model" else []
    return [
        Lead(id=lead_rules.lead_id("query", lead.text), kind="query", value=lead.text[:200], text=lead.text[:200], why=lead.why[:300],
             score=0.3, prior=0.3, found_on=found_on, step=tools.step)
        for lead in told[:6] if lead.text.strip() and not found_in(lead.text)
    ]  # fmt: skip


def _picks(judgement: Judgement) -> set[str]:
    """A model's promising addresses; the keyless analyzer's are in the scores already."""
    return {canonical(url) for url in judgement.value.new_potential_urls} if judgement.by == "model" else set()


def _picked(judgement: Judgement, page: Page, known: set[str], step: int) -> list[Lead]:
    """The links of the page that a model picked and the rules would not have kept."""
    picks = _picks(judgement)
    chosen = {lead_rules.lead_id("url", link.url): link for link in page.links if canonical(link.url) in picks}
    return [
        Lead(id=name, kind="url", value=link.url, text=link.text[:200] or link.url, why="the analyzer picked it", score=0.3, prior=0.3,
             found_on=page.url, step=step)
        for name, link in chosen.items() if name not in known
    ]  # fmt: skip


def _favoured(leads: list[Lead], judgement: Judgement) -> list[Lead]:
    """A model's promising addresses go before the others."""
    picks = _picks(judgement)
    return [
        lead.model_copy(update={"score": min(1.0, lead.score + 0.3), "prior": min(1.0, lead.prior + 0.3)}) if canonical(lead.value) in picks else lead
        for lead in leads
    ]


def _without_ordered_links(page: Page, step: int) -> tuple[Page, list[Refusal]]:
    """The page without the links that stand where it gives orders to a machine, and these as refusals."""
    ordered = ordered_links(page.text, page.links)
    refused = [Refusal(what=link.url[:300], why="it stands in a passage that gives orders to its reader", step=step) for link in ordered]
    return page.model_copy(update={"links": [link for link in page.links if link not in ordered]}) if ordered else page, refused


def _unknown(judgement: Judgement, known: set[str], step: int) -> list[Refusal]:
    """The analyzer's addresses that stand nowhere: refused and counted."""
    return [
        Refusal(what=url[:300], why="the analyzer named an address that stands on no page or result of this run", step=step)
        for url in judgement.value.new_potential_urls
        if canonical(url) not in known
    ]


def _told(judgement: Judgement) -> Change:
    reply: AnalyzerReply = judgement.value
    told = reply.model_dump(mode="json", exclude={"extracted_info"})
    return {"report": {**told, "extracted_info": _brief(reply), "by": judgement.by, "trouble": judgement.trouble}}


def _brief(reply: AnalyzerReply) -> Any:
    """The extracted info without the facts: those stand in the state already."""
    if isinstance(reply.extracted_info, str):
        return reply.extracted_info
    return {"facts": len(reply.extracted_info.facts), "leads": [lead.text for lead in reply.extracted_info.leads]}


def _level(state: Research, tools: Tools, judgement: Judgement, new: list[Fact]) -> Change:
    """Facts with their marks, conflicts, and the confidence that follows."""
    known = [*moves.memory(state), *new]
    clashes = conflicts.find(known, state.conflicts.values(), moves.at_issue(state)) if new else list(state.conflicts.values())
    marked = {fact.id: fact for fact in conflicts.dispute(known, clashes)} if new else {}
    facts = [marked.get(fact.id, fact) for fact in new] + [fact for fact in marked.values() if fact.id in state.facts]
    now_known = [marked.get(fact.id, fact) for fact in known]
    level = confidence.assess(
        step=tools.step, facts=now_known, conflicts=clashes, coverage=cover(state.question, _undisputed(now_known)).share,
        previous=state.confidence[-1] if state.confidence else None,
        model=judgement.value.confidence_score if judgement.by == "model" else None, footing=_footing(state, now_known, new),
    )  # fmt: skip
    found = {clash.id for clash in clashes}
    closed = [
        old.model_copy(update={"status": "settled", "reason": settlement.FELL})
        for old in state.conflicts.values()
        if old.id not in found and old.status == "open" and old.found_by == "code"
    ]
    doubts = _doubted(tools, judgement) if new and not any(clash.found_by == "code" for clash in clashes) else []
    clashes = [*clashes, *closed, *doubts]
    fresh = [clash for clash in clashes if clash != state.conflicts.get(clash.id)]
    return {"facts": facts, "conflicts": fresh, "confidence": [level]}


def _footing(state: Research, known: list[Fact], new: list[Fact]) -> Footing:
    """What an answer would stand on: counted anew when there are new facts, or a note that may rule some out."""
    before = state.confidence[-1] if state.confidence else None
    if new or before is None or "told" not in before.basis or any(note.step > before.step for note in state.notes):
        return footing(state.question, known)
    return again(state.question, before.basis)


def _doubted(tools: Tools, judgement: Judgement) -> list[Conflict]:
    """The inconsistency a model reports in words: kept for the person to see; only code's conflicts mark facts as disputed."""
    told = (judgement.value.inconsistencies_found or "").strip() if judgement.by == "model" else ""
    if not told or told.lower() in ("none", "null", "no"):
        return []
    return [Conflict(id="model", subject=told[:300], attribute="", kind="name", values=[], found_by="model", step=tools.step)]


def _undisputed(facts: list[Fact]) -> list[Fact]:
    """The facts as if none were disputed: what is disputed is covered all the same; agreement and open conflicts take their share."""
    return [fact.model_copy(update={"disputed": False}) if fact.disputed else fact for fact in facts]
