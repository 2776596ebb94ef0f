"""What a round brings to a research run: facts, leads, conflicts and a new confidence. Search results become
leads by rule; the analyzer reads the pages, all in one call as far as its token budget reaches; the rules of
evidence decide what counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from agent.answering import fact_view
from agent.answering.engine_choice import merge_results
from agent.answering.fact_intake import add_facts, open_conflicts, read_rulings
from agent.answering.pages import mark_read
from agent.answering.revision import list_wishes
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.citation_check import verify_fact
from agent.evidence.quote_match import split_at_ellipsis
from agent.evidence.sources import assess_trust
from agent.flows.research import opened_pages, policy, without_model
from agent.flows.research.opened_pages import OpenPage
from agent.flows.research.plan_step import describe_reading
from agent.flows.research.policy import find_known_url, find_secrets
from agent.flows.research.state import SEARCH_PREFIX, ResearchRun
from agent.retrieval.link_scoring import lead_id, make_hit_leads, make_page_leads, merge_leads
from agent.retrieval.scorer import score_fact
from agent.retrieval.shown_passages import add_spans
from agent.roles.research import ANALYZER, AnalyzerReply, ExtractedFact, join_replies
from agent.roles.role import RoleResult
from agent.text.plurals import clip
from agent.text.urls import canonicalize, find_urls
from agent.types import Action, Fact, Lead, Outcome, PageRef, Refusal, SearchResult
from agent.types.facts import make_fact_id

MAX_MERGED_HITS = 20
"""Results that are kept of one query: those of two engines, ten each."""
MAX_QUERY_LEADS = 6
"""Names and topics to search for that are kept of one reply."""
PICKED = 0.3
"""The score of a lead that only the analyzer proposes, and what its choice adds to that of any other."""


def analyze(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Turn what the round brought into facts, leads and a confidence. Search results become leads, those of
    one query by several engines as one list; nothing is ever quoted from them."""
    found = state.own.unanalyzed
    if not found:
        return {}, "decide"
    hit_leads = list[Lead]()
    for source in dict.fromkeys(item.source for item in found if item.hits):
        hits = merge_results([item.hits for item in found if item.source == source], MAX_MERGED_HITS)
        query = source.removeprefix(SEARCH_PREFIX)
        result = SearchResult(engine="", query=query, outcome=Outcome.OK, hits=hits, detail="")
        hit_leads += make_hit_leads(state.full_question, result, tools.step)
    leads = merge_leads(state.own.leads, hit_leads)
    pages = [opened_pages.open_page(state, tools, item) for item in found if item.page_id]
    if not pages:
        return {"leads": leads, **add_facts(state, tools.step, []), "is_analyzed": True}, "decide"
    state = state_after(state, {"leads": leads})
    tools.side_by_side.fetch_ahead(policy.choose_pages_ahead(state), policy.MAX_ROUND_ACTIONS)
    groups = list(opened_pages.choose_readings(state, tools, pages))
    if tools.has_model:
        asked = [partial(_ask_analyzer, state, tools, group) for group in groups]
        judgements = tools.judge_side_by_side(asked)
    else:
        judgements = [
            RoleResult(value=without_model.quote_pages(state, group), by="keyless") for group in groups
        ]
    judgement = judgements[0].replace(
        value=join_replies([judged.value for judged in judgements]),
        problems=[problem for judged in judgements for problem in judged.problems],
        withheld=sum(judged.withheld for judged in judgements),
    )
    facts: list[Fact] = []
    for group, judged in zip(groups, judgements, strict=True):
        facts += _extract_facts(state, tools, group, judged, {fact.id for fact in facts})
    refs, onward = _collect_leads(state, tools, judgement, pages, facts)
    here = [link.url for page in pages for link in page.page.links]
    refused = [refusal for page in pages for refusal in page.refused]
    if judgement.withheld:
        why = "text of this page was withheld from the model: it contains the mark of the run's fences"
        refused += [Refusal(what=page.page.url, why=why) for page in pages]
    refused += _refuse_unknown(state, judgement.value, here)
    actions = list[Action]()
    for page in pages:  # none brought a page that a person supplied
        verified = sum(fact.verified and fact.page_id == page.page_id for fact in facts)
        its = [done for done in state.actions if done.page_id == page.page_id and not done.is_search]
        actions += [done.replace(new_facts=verified) for done in its[-1:] if not page.ref.waiting]
    change: Change = {
        "leads": [*leads, *onward],
        "pages": refs,
        "refusals": [refusal.replace(step=tools.step) for refusal in refused],
        "actions": actions,
        "is_analyzed": True,
    }
    return {**change, **_assess(state, tools, judgement, facts)}, "decide"


def _ask_analyzer(state: ResearchRun, tools: RunContext, group: Sequence[OpenPage]) -> RoleResult:
    """The analyzer's report on some pages, with those facts of a refused one whose quotes are good, and the
    ids that its new facts will have in the place of their numbers."""
    here = [link.url for page in group for link in page.page.links]

    def check(reply: AnalyzerReply) -> list[str]:
        return [
            *find_quote_problems(reply, group),
            *(f"{refusal.what}: {refusal.why}" for refusal in _refuse_unknown(state, reply, here)),
        ]

    judged = tools.judge(
        ANALYZER,
        check=check,
        question=state.full_question,
        notes=fact_view.public_note_texts(state),
        wishes=list_wishes(state)[:3],
        pages=[page.reading for page in group],
        parts=state.plan,
        conflicts=open_conflicts(state),
        reading=describe_reading(state),
        **policy.choose_known_facts(state),
    )
    earlier = judged.earlier.facts if judged.earlier else []
    given = {item.quote for item in judged.value.facts}
    kept = [item for item in earlier if item.quote not in given and _find_quoted_page(item, group)[1]]
    facts = [*judged.value.facts, *kept]
    pages = [_find_quoted_page(item, group)[0] for item in facts]
    numbered = {
        f"n{n}": make_fact_id(page.page_id, item.quote, item.statement)
        for n, (item, page) in enumerate(zip(facts, pages, strict=True), 1)
    }
    sides = [numbered.get(name.strip("[] ").lower(), name) for name in judged.value.inconsistent_fact_ids]
    update = {"facts": facts, "inconsistent_fact_ids": sides}
    return judged.replace(value=judged.value.model_copy(update=update))


def _extract_facts(
    state: ResearchRun, tools: RunContext, group: Sequence[OpenPage], judgement: RoleResult, known: set[str]
) -> list[Fact]:
    """The new facts of a reply, each checked against the page that it quotes."""
    facts, answer = dict[str, Fact](), state.answer
    cited = {i for said in answer.sentences for i in said.fact_ids} if answer else state.facts.keys()
    trusts = {page.page_id: assess_trust(page.page).value for page in group}
    for item in judgement.value.facts:
        page, _ = _find_quoted_page(item, group)
        above = (passage.above for passage in page.reading.passages if item.quote in passage.text)
        fact = Fact(
            id=make_fact_id(page.page_id, item.quote, item.statement),
            statement=item.statement.strip() or item.quote,
            quote=item.quote,
            page_id=page.page_id,
            url=page.page.final_url or page.page.url,
            title=page.page.title,
            heading=next(above, ""),
            fetched_at=page.page.fetched_at,
            published_at=page.page.published_at,
            subject=item.subject,
            attribute=item.attribute,
            part=item.part,
            trust=trusts[page.page_id],
            step=tools.step,
            by=judgement.by,
            given=page.page.origin,
        )
        if (old := state.facts.get(fact.id)) and old.id not in cited and item.part not in ("", old.part):
            facts[old.id] = old.replace(part=item.part)  # read again for a note: it may answer that part
        if old or fact.id in facts or fact.id in known:
            continue
        fact = fact.replace(relevance=score_fact(state.full_question, fact))
        facts[fact.id] = verify_fact(fact, page.page.text, page.page.sha256)
    return list(facts.values())


def _find_quoted_page(item: ExtractedFact, group: Sequence[OpenPage]) -> tuple[OpenPage, bool]:
    """The page that a fact is of, and whether it has its quote: that of the passage it names, if the quote is
    there, else the first of the others with it, else the page it names, or the first."""
    shown = {page.page_id for page in group for one in page.reading.passages if one.id == item.passage_id}
    ordered = sorted(group, key=lambda page: page.page_id not in shown)
    page = next((page for page in ordered if page.has_quote(item.quote)), None)
    return page or ordered[0], page is not None


def _collect_leads(
    state: ResearchRun,
    tools: RunContext,
    judgement: RoleResult,
    pages: Sequence[OpenPage],
    facts: Sequence[Fact],
) -> tuple[list[PageRef], list[Lead]]:
    """The pages as they are recorded, and where they lead: by rule, by the links that a model picked, which
    come before the others, and by the names and topics that it wants to search for."""
    reply: AnalyzerReply = judgement.value
    picked = {canonicalize(url) for url in reply.new_potential_urls}
    shared: Any = {"score": PICKED, "prior": PICKED, "step": tools.step}
    refs, leads, found_on = list[PageRef](), list[Lead](), ""
    for page in pages:
        own, found_on = [fact for fact in facts if fact.page_id == page.page_id], page.page.url
        found = make_page_leads(opened_pages.find_topic(state), page.page, own, tools.step)
        known = {lead.id for lead in found}
        for link in page.page.links:
            name = lead_id("url", link.url)
            if canonicalize(link.url) in picked and name not in known:
                known.add(name)
                text, why = (link.text or link.url)[:200], "the analyzer picked it"
                lead = Lead(
                    id=name, kind="url", value=link.url, text=text, why=why, found_on=found_on, **shared
                )
                found.append(lead)
        shown, spans = page.ref.shown, [(passage.start, passage.end) for passage in page.reading.passages]
        shown = add_spans(shown, spans) if judgement.by == "model" else shown
        count, onward = page.ref.facts + len(own), [lead.value for lead in found if lead.kind == "url"]
        refs.append(mark_read(page.ref, page.page, facts=count, links=onward, shown=shown))
        leads += found
    for topic in reply.leads[:MAX_QUERY_LEADS]:
        if topic.strip() and not find_urls(topic) and not find_secrets(state, topic):
            name, why = lead_id("query", topic[:200]), "the analyzer names it"
            shared |= {"value": topic[:200], "text": topic[:200], "found_on": found_on}
            leads.append(Lead(id=name, kind="query", why=why, **shared))
    visited, new = fact_view.visited_urls(state), list[Lead]()
    for lead in merge_leads(state.own.leads, leads):
        if (spelled := canonicalize(lead.value)) not in visited:
            bonus = PICKED if spelled in picked else 0.0
            new.append(lead.replace(score=min(1.0, lead.score + bonus), prior=min(1.0, lead.prior + bonus)))
    return refs, new


def find_quote_problems(reply: AnalyzerReply, group: Sequence[OpenPage]) -> list[str]:
    """What the analyzer is told of its quotes that are on no page of the round: why, and what to do."""
    problems = list[str]()
    for item in reply.facts:
        if _find_quoted_page(item, group)[1]:
            continue
        parts, why = split_at_ellipsis(item.quote), "is on none of the pages: copy it character by character"
        if any(item.quote in page.page.text for page in group):
            why = "is cut inside a word, a number or a negation: "
            why += "copy the whole sentence, as it is spelled there"
        elif parts and any(all(page.has_quote(part) for part in parts) for page in group):
            why = "joins by … what may not be joined: "
            why += "copy all between them, too, or make each a fact of its own"
        problems.append(f"The quote “{clip(item.quote)}” {why}.")
    return problems


def _refuse_unknown(state: ResearchRun, reply: AnalyzerReply, here: Sequence[str]) -> list[Refusal]:
    """A refusal for each address of the analyzer that neither stands here nor is known to the run."""
    known = {canonicalize(url) for url in here}
    why = "the analyzer named an address that does not occur on any page or result of this run"
    return [
        Refusal(what=url, why=why)
        for url in reply.new_potential_urls
        if canonicalize(url) not in known and not find_known_url(state, url)
    ]


def _assess(state: ResearchRun, tools: RunContext, judgement: RoleResult, new: list[Fact]) -> Change:
    """The facts, what a model says of the whole and of the conflicts it was shown, and the report as it is
    stored, in which the facts are only counted."""
    reply: AnalyzerReply = judgement.value
    info = {"facts": len(reply.facts), "leads": reply.leads}
    trouble = judgement.failure or " ".join(judgement.problems)
    report = {
        **reply.model_dump(mode="json", exclude={"facts", "leads", "inconsistent_fact_ids"}),
        "extracted_info": info,
    }
    report |= {"by": judgement.by, "trouble": trouble}
    if judgement.by != "model":
        return {"report": report, **add_facts(state, tools.step, new)}
    plan, known = [part.id for part in state.plan], {*state.facts, *(fact.id for fact in new)}
    report["answered_parts"] = [part for part in plan if part in reply.answered_parts]
    unanswered = [part for part in plan if part not in reply.answered_parts]
    sides = [name for name in dict.fromkeys(reply.inconsistent_fact_ids) if name in known]
    change = add_facts(
        state,
        tools.step,
        new,
        model=reply.confidence_score,
        unanswered=unanswered,
        sides=sides if len(sides) > 1 else [],
    )
    rulings = read_rulings(open_conflicts(state), reply.conflicts, tools.step)
    return {"report": report, "reported_at": tools.step, **change, "rulings": rulings}
