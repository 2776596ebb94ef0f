"""What a round brings to a research run: facts, leads, conflicts and a new confidence. Search results become
leads by rule; the analyzer reads the pages, all in one call as far as its token budget reaches; the rules of
evidence decide what counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from agent.answering import fact_view
from agent.answering.engine_choice import merge_results
from agent.answering.fact_intake import add_facts
from agent.answering.model_rulings import open_conflicts, review_by_rulings
from agent.answering.pages import mark_read
from agent.answering.revision import list_wishes
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.fact_check import verify_fact
from agent.evidence.quote_joints import split_at_ellipsis
from agent.evidence.source_trust import assess_trust
from agent.flows.research import opened_pages, policy
from agent.flows.research.opened_pages import OpenPage
from agent.flows.research.policy import find_known_url, find_secrets
from agent.flows.research.state import SEARCH_PREFIX, Observation, ResearchRun
from agent.retrieval.link_scoring import lead_id, make_hit_leads, make_page_leads, merge_leads
from agent.retrieval.scorer import score_fact
from agent.roles.research import ANALYZER, AnalyzerReply, ExtractedFact, join_replies
from agent.roles.role import RoleResult
from agent.text.urls import canonicalize, find_urls
from agent.types import Action, Conflict, Fact, Lead, Outcome, Page, PageRef, Refusal, SearchResult
from agent.types.facts import make_fact_id

MAX_MERGED_HITS = 20
"""Results that are kept of one query: those of two engines, ten each."""
MAX_QUERY_LEADS = 6
"""Names and topics to search for that are kept of one reply."""
PICKED_PRIOR, PICKED_BONUS = 0.3, 0.3
"""The score of a lead that only the analyzer proposes, and what its choice adds to that of any other."""
SURE_ESTIMATE = 0.8
"""The estimate from which a model that fills in no answered part means that all are answered."""
NO_INCONSISTENCY = ("", "none", "null", "no")


def analyze(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Turn what the round brought into facts, leads and a confidence."""
    found = state.own.unanalyzed
    if not found:
        return {}, "decide"
    over: Change = {"is_analyzed": True}
    leads = _collect_hit_leads(state, found, tools.step)
    read = [item for item in found if item.page_id]
    if not read:
        return {"leads": leads, **add_facts(state, tools.step, []), **over}, "decide"
    now = state_after(state, {"leads": leads})
    change = analyze_pages(now, tools, read)
    return {**change, "leads": [*leads, *change["leads"]], **over}, "decide"


def _collect_hit_leads(state: ResearchRun, found: Sequence[Observation], step: int) -> list[Lead]:
    """The results of the searches as leads, those of one query by several engines as one list. Nothing is
    ever quoted from them."""
    leads: list[Lead] = []
    for source in dict.fromkeys(item.source for item in found if item.hits):
        hits = merge_results([item.hits for item in found if item.source == source], MAX_MERGED_HITS)
        query = source.removeprefix(SEARCH_PREFIX)
        result = SearchResult(engine="", query=query, outcome=Outcome.OK, hits=hits)
        leads += make_hit_leads(state.full_question, result, step)
    return merge_leads(state.own.leads, leads)


def analyze_pages(state: ResearchRun, tools: RunContext, read: Sequence[Observation]) -> Change:
    """The change that pages make: verified facts, leads, conflicts and confidence."""
    pages = [opened_pages.open_page(state, tools, item) for item in read]
    tools.side_by_side.fetch_ahead(policy.choose_pages_ahead(state), policy.MAX_AHEAD)
    groups = list(opened_pages.choose_readings(state, tools, pages))
    judgements = tools.judge_side_by_side([partial(_ask_analyzer, state, tools, group) for group in groups])
    judgement = _join_judgements(judgements)
    facts: list[Fact] = []
    for group, judged in zip(groups, judgements, strict=True):
        facts += _extract_facts(state, tools, group, judged, {fact.id for fact in facts})
    facts = fact_view.apply_person_marks(state, facts)
    leads: list[Lead] = []
    refs: list[PageRef] = []
    refused: list[Refusal] = []
    for page in pages:
        own = [fact for fact in facts if fact.page_id == page.page_id]
        found = make_page_leads(opened_pages.find_topic(state), page.page, own, tools.step)
        found += _build_picked_leads(judgement, page.page, {lead.id for lead in found}, tools.step)
        onward = [lead.value for lead in found if lead.kind == "url"]
        shown = page.shown_spans if judgement.by == "model" else page.ref.shown
        count = page.ref.facts + len(own)
        refs.append(mark_read(page.ref, page.page, facts=count, links=onward, shown=shown))
        refused += [refusal.replace(step=tools.step) for refusal in page.refused]
        leads += found
    leads += _build_query_leads(state, tools, judgement, pages[-1].page.url)
    visited = fact_view.visited_urls(state)
    new = [lead for lead in merge_leads(state.own.leads, leads) if canonicalize(lead.value) not in visited]
    here = [link.url for page in pages for link in page.page.links]
    return {
        "leads": _raise_picked(new, judgement),
        "pages": refs,
        "refusals": refused
        + [_refuse_withheld(page.page, tools.step) for page in pages if judgement.withheld]
        + _refuse_unknown(state, judgement.value, here, tools.step),
        "actions": list(_count_new_facts(state, pages, facts)),
        **_report_change(state, judgement, tools.step),
        **_add_facts(state, tools, judgement, facts),
    }


def _ask_analyzer(state: ResearchRun, tools: RunContext, group: Sequence[OpenPage]) -> RoleResult:
    """The analyzer's report on some pages, with those facts of a refused one whose quotes are good."""
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
        **policy.choose_known_facts(state),
    )
    earlier = judged.earlier.facts if judged.earlier else []
    given = {item.quote for item in judged.value.facts}
    kept = [item for item in earlier if item.quote not in given and _find_quoted_page(item, group)]
    return judged.replace(value=judged.value.model_copy(update={"facts": [*judged.value.facts, *kept]}))


def _join_judgements(judgements: Sequence[RoleResult]) -> RoleResult:
    """The reports on the groups of a round as one; a model's only where it made all of them."""
    if len(judgements) == 1:
        return judgements[0]
    reasons = [judged.fallback_reason for judged in judgements if judged.fallback_reason]
    return RoleResult(
        value=join_replies([judged.value for judged in judgements]),
        by="keyless" if reasons else judgements[0].by,
        fallback_reason=" ".join(dict.fromkeys(reasons)),
        problems=[problem for judged in judgements for problem in judged.problems],
        withheld=sum(judged.withheld for judged in judgements),
    )


def _count_new_facts(
    state: ResearchRun, pages: Sequence[OpenPage], facts: Sequence[Fact]
) -> Iterator[Action]:
    """The actions that brought the pages, with their verified facts; none for a page from a person."""
    for page in pages:
        verified = sum(fact.verified and fact.page_id == page.page_id for fact in facts)
        its = [done for done in state.actions if done.page_id == page.page_id and not done.is_search]
        if its and not page.ref.waiting:
            yield its[-1].replace(new_facts=verified)


def _extract_facts(
    state: ResearchRun, tools: RunContext, group: Sequence[OpenPage], judgement: RoleResult, known: set[str]
) -> list[Fact]:
    """The new facts of a reply, each checked against the page that it quotes."""
    facts, answer = dict[str, Fact](), state.answer
    cited = {i for said in answer.sentences for i in said.fact_ids} if answer else state.facts.keys()
    trusts = {page.page_id: assess_trust(page.page).value for page in group}
    for item in judgement.value.facts:
        named = (page for page in group if page.has_passage(item.passage_id))
        page = _find_quoted_page(item, group) or next(named, group[0])
        fact = Fact(
            id=make_fact_id(page.page_id, item.quote, item.statement),
            statement=item.statement.strip() or item.quote,
            quote=item.quote,
            page_id=page.page_id,
            url=page.page.final_url or page.page.url,
            title=page.page.title,
            heading=page.find_heading(item.quote),
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


def _find_quoted_page(item: ExtractedFact, group: Sequence[OpenPage]) -> OpenPage | None:
    """The page that has a fact's quote: that of the passage it names, if it is there, else the first of the
    others; None when no page has it."""
    ordered = sorted(group, key=lambda page: not page.has_passage(item.passage_id))
    return next((page for page in ordered if page.has_quote(item.quote)), None)


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


def find_quote_problems(reply: AnalyzerReply, group: Sequence[OpenPage]) -> list[str]:
    """What the analyzer is told of its quotes that are on no page of the round."""
    return [
        f"The quote “{item.quote[:120]}” {_explain_refused(item.quote, group)}"
        for item in reply.facts
        if not _find_quoted_page(item, group)
    ]


def _explain_refused(quote: str, group: Sequence[OpenPage]) -> str:
    """Why a quote does not count, and what to do."""
    if any(quote in page.page.text for page in group):
        return (
            "is cut inside a word, a number or a negation: copy the whole sentence, as it is spelled there."
        )
    if _has_all_stretches(quote, group):
        return (
            "joins by … what may not be joined: copy all between them, too, or make each a fact of its own."
        )
    return "is on none of the pages: copy it character by character."


def _has_all_stretches(quote: str, group: Sequence[OpenPage]) -> bool:
    """Whether one page has every stretch of a quote that an ellipsis joins."""
    parts = split_at_ellipsis(quote)
    return bool(parts) and any(all(page.has_quote(part) for part in parts) for page in group)


def _refuse_withheld(page: Page, step: int) -> Refusal:
    """A refusal for text that was not shown to the model because it holds the mark of the run."""
    why = "text of this page was withheld from the model: it contains the mark of the run's fences"
    return Refusal(what=page.url[:300], why=why, step=step)


def _refuse_unknown(
    state: ResearchRun, reply: AnalyzerReply, here: list[str], step: int = 0
) -> list[Refusal]:
    """A refusal for each address of the analyzer that neither stands here nor is known to the run."""
    known = {canonicalize(url) for url in here}
    why = "the analyzer named an address that does not occur on any page or result of this run"
    return [
        Refusal(what=url[:300], why=why, step=step)
        for url in reply.new_potential_urls
        if canonicalize(url) not in known and not find_known_url(state, url)
    ]


def _report_change(state: ResearchRun, judgement: RoleResult, step: int) -> Change:
    """The analyzer's report as it is stored: its facts are only counted, the state has them."""
    reply: AnalyzerReply = judgement.value
    info = {"facts": len(reply.facts), "leads": reply.leads}
    report = reply.model_dump(mode="json", exclude={"facts", "leads"})
    by = {"by": judgement.by, "trouble": judgement.fallback_reason or " ".join(judgement.problems)}
    if judgement.by != "model":
        return {"report": {**report, "extracted_info": info, **by}}
    unanswered = _find_unanswered(state, reply)
    report["answered_parts"] = [part.id for part in state.plan if part.id not in unanswered]
    return {"report": {**report, "extracted_info": info, **by}, "reported_at": step}


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
