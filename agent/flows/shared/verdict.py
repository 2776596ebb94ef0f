"""From a written report to an answer: citations are checked, conflicts named, and code chooses the
verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.engine.run_state import RunState
from agent.evidence.citation_check import (
    accept_quotations,
    collect_sources,
    count_statements,
    filter_citations,
    has_page_support,
)
from agent.flows.shared import conflict_sentences, fact_view
from agent.flows.shared.claim_checks import DraftCheck, check_by_code
from agent.retrieval.term_coverage import measure_coverage
from agent.roles.research.report import ReportReply
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.text.urls import remove_unknown_urls
from agent.types import Answer, Conflict, Fact, Outcome, PageRef, Reason, Sentence, StatementCounts, Verdict
from agent.types.source_filter import OUTSIDE_FILTER

MAX_LISTED = 3
"""Unreadable pages, and statements of a person's own, that an answer without evidence names."""
MIN_ANSWER_CONFIDENCE = 0.4
"""Confidence below which the verdict is at most "partial"."""
UNREADABLE_OUTCOMES = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR)
NO_EVIDENCE_REASONS: dict[Reason, str] = {
    "blocked": "Nothing could be read: every search engine or page refused or failed.",
    "budget": "The budget was used up before anything could be read.",
    "not_covered": "Nothing that was read answers this question.",
}


def build_answer(
    state: RunState,
    judgement: RoleResult,
    step: int,
    *,
    addresses: Iterable[str] = (),
    check: DraftCheck = check_by_code,
) -> Answer:
    """The answer that a person reviews; `no_evidence` when no statement of it is backed, or left unchecked
    for want of a judge.

    `addresses` may appear in it beside those of the pages of the run. `check` checks the written sentences:
    `check_sentences` with its state and tools bound, where a model may judge and repair them."""
    known = {*addresses, *(url for page in state.pages.values() for url in (page.url, page.final_url))}
    reply = _remove_foreign_urls(judgement.value, known)
    written = [Sentence(text=s.text.strip(), fact_ids=s.fact_ids) for s in reply.answer if s.text.strip()]
    facts, every = fact_view.facts_after_notes(state), state.conflicts.values()
    draft = check(written, facts, every, clean=lambda text: remove_unknown_urls(text, known))
    stated = draft.sentences
    conflicts = conflict_sentences.find_relevant_conflicts(state, stated, facts)
    named = conflict_sentences.write_conflict_sentences(state, conflicts, stated, facts)
    named, dropped = filter_citations(named, facts, every)
    named = accept_quotations(named, facts)
    first = conflict_sentences.needs_conflicts_first(state, conflicts, stated, facts)
    sentences = [*named, *stated] if first else [*stated, *named]
    if not any(_is_worth_showing(sentence, facts) for sentence in sentences):
        return _build_no_evidence(state, reply, judgement, step)
    open_conflicts = [conflict for conflict in conflicts if conflict.status == "open"]
    sure = state.current_confidence >= state.settings.threshold
    return Answer(
        n=len(state.answers) + 1,
        verdict=_choose_verdict(state, reply, open_conflicts),
        sentences=sentences,
        certainty=reply.certainty,
        reason="budget" if state.stop_reason == "budget" and not sure else "none",
        missing="" if first and _is_covered(state) else reply.missing,
        journey=reply.journey,
        sources=collect_sources(sentences, facts),
        statements=count_statements(sentences, draft.counts.dropped + dropped),
        confidence=state.current_confidence,
        by=judgement.by,
        trouble=judgement.fallback_reason,
        why_stopped=state.why_stopped,
        because=_describe_edits(state),
        conflicts=[conflict.id for conflict in open_conflicts],
        step=step,
    )


def no_answer(
    state: RunState, step: int, reason: Reason, text: str, *, by: RoleResult | None = None, **more: Any
) -> Answer:
    """An answer that says why there is none; `by` is the judgement that led to it, `more` are further
    fields."""
    fields = {"confidence": min(state.current_confidence, 0.2), "why_stopped": state.why_stopped, **more}
    return Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        reason=reason,
        certainty=text,
        by=by.by if by else "keyless",
        trouble=by.fallback_reason if by else "",
        step=step,
        **fields,
    )


def describe_failures(failed: list[PageRef]) -> str:
    """The first unreadable pages, each with the sentence that says what happened."""
    listed = [
        f"{page.url}: {page.detail.split('. ')[0].rstrip('.') or page.outcome.value}"
        for page in failed[:MAX_LISTED]
    ]
    more = [f"and {len(failed) - MAX_LISTED} more"] if len(failed) > MAX_LISTED else []
    return "; ".join(listed + more) + "."


def _describe_edits(state: RunState) -> str:
    """The person's edits that the answer was rewritten for; "" for none."""
    edits = [edit.text for edit in state.edits_since_answer] if state.answers else []
    return f"after your {'edit' if len(edits) == 1 else 'edits'}: {'; '.join(edits)}" if edits else ""


def _is_covered(state: RunState) -> bool:
    """Whether every word of the question is covered when disputed facts count too."""
    known = fact_view.ignore_disputes(fact_view.facts_for_prompt(state))
    return not measure_coverage(state.question, known).missing


def _is_worth_showing(sentence: Sentence, facts: Mapping[str, Fact]) -> bool:
    """Is it backed, or quotes a page and could not be judged?"""
    cites_page = any(has_page_support(facts[i]) for i in sentence.fact_ids)
    return sentence.backed or (sentence.check == "not_checked" and cites_page)


def _remove_foreign_urls(reply: ReportReply, known: set[str]) -> ReportReply:
    """The reply without the addresses a writer typed that belong to no page of this run."""
    sentences = [s.model_copy(update={"text": remove_unknown_urls(s.text, known)}) for s in reply.answer]
    texts = {
        name: remove_unknown_urls(getattr(reply, name), known) for name in ("certainty", "missing", "journey")
    }
    return reply.model_copy(update={"answer": sentences, **texts})


def _choose_verdict(state: RunState, reply: ReportReply, open_conflicts: list[Conflict]) -> Verdict:
    sure = state.current_confidence >= state.settings.threshold
    cut_short = state.stop_reason in ("budget", "blocked", "asked")
    weak = state.current_confidence < MIN_ANSWER_CONFIDENCE
    return "partial" if open_conflicts or weak or (not sure and (cut_short or reply.missing)) else "answered"


def _build_no_evidence(state: RunState, reply: ReportReply, judgement: RoleResult, step: int) -> Answer:
    pages = list(state.pages.values())
    searches = [action for action in state.actions if action.action != "crawl_url"]
    failed = [item.outcome in UNREADABLE_OUTCOMES for item in (pages or searches)]
    reason: Reason = "not_covered"
    if failed and all(failed):
        reason = "blocked"
    elif state.stop_reason == "budget" and not pages:
        reason = "budget"
    tried = format_count(state.pages_read_count, "page") + " read"
    if searches or not pages:
        tried = f"{format_count(len(searches), 'search', 'searches')} and {tried}"
    if outside := sum(OUTSIDE_FILTER in page.detail for page in pages):
        tried += f"; {outside} more lie outside the chosen sources"
    text = f"No answer is given. {NO_EVIDENCE_REASONS[reason]} ({tried}.){_describe_own_statements(state)}"
    return no_answer(
        state,
        step,
        reason,
        text,
        by=judgement,
        missing=reply.missing,
        journey=reply.journey,
        statements=StatementCounts(dropped=sum(len(sentence.fact_ids) for sentence in reply.answer)),
        because=_describe_edits(state),
    )


def _describe_own_statements(state: RunState) -> str:
    """What a person stated without a page that backs it."""
    own = [f"“{f.statement}”" for f in state.facts.values() if f.rests_on_person and f.decision != "struck"]
    more = f" and {len(own) - MAX_LISTED} more" if len(own) > MAX_LISTED else ""
    return f" Stated by you, not backed by a page: {'; '.join(own[:MAX_LISTED])}{more}." if own else ""
