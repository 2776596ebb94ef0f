"""From a written report to an answer: citations checked, open conflicts named, and a verdict that code gives,
not the writer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent.engine.run_state import RunState
from agent.evidence import citation_check
from agent.flows.shared import conflict_sentences, fact_view
from agent.retrieval.term_coverage import measure_coverage
from agent.roles.research.report import ReportReply
from agent.roles.role import RoleResult
from agent.text.urls import canonicalize, remove_unknown_urls
from agent.types import Answer, Conflict, Outcome, PageRef, Reason, Sentence, StatementCounts, Verdict
from agent.types.source_filter import OUTSIDE_FILTER

MAX_LISTED = 3
"""Pages that could not be read which an answer of nothing names, and statements of a person's own that it
keeps."""
MIN_ANSWER_CONFIDENCE = 0.4
"""Confidence below which an answer is never called more than partial."""
UNREADABLE_OUTCOMES = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR)


def build_answer(
    state: RunState, judgement: RoleResult, step: int, *, addresses: Iterable[str] = ()
) -> Answer:
    """The answer that a person reviews. Without one backed statement it is an honest `no_evidence`, and says
    what was tried.

    `addresses` are those that may stand in it beside the pages of the run."""
    reply = _remove_foreign_urls(state, judgement.value, {canonicalize(url) for url in addresses})
    written = [Sentence(text=s.text.strip(), fact_ids=s.fact_ids) for s in reply.answer if s.text.strip()]
    facts = fact_view.facts_after_notes(state)
    clashes = conflict_sentences.find_relevant_conflicts(state, written, facts)
    stated, counts = citation_check.check_citations(written, facts, state.conflicts.values())
    named, more = citation_check.check_citations(
        conflict_sentences.write_conflict_sentences(state, clashes, written, facts),
        facts,
        state.conflicts.values(),
    )
    open_ones, first = (
        [clash for clash in clashes if clash.status == "open"],
        conflict_sentences.needs_conflicts_first(state, clashes, stated, facts),
    )
    sentences, counts = [*named, *stated] if first else [*stated, *named], _add_counts(counts, more)
    if not any(sentence.backed for sentence in sentences):
        return _build_no_evidence(state, reply, judgement, step)
    return Answer(
        n=len(state.answers) + 1,
        verdict=_choose_verdict(state, reply, open_ones),
        sentences=sentences,
        certainty=reply.certainty,
        reason="budget"
        if state.stop_reason == "budget" and state.current_confidence < state.settings.threshold
        else "none",
        missing="" if first and _is_covered(state) else reply.missing,
        journey=reply.journey,
        sources=citation_check.collect_sources(sentences, facts),
        statements=counts,
        confidence=state.current_confidence,
        by=judgement.by,
        trouble=judgement.fallback_reason,
        why_stopped=state.why_stopped,
        because=_describe_edits(state),
        conflicts=[clash.id for clash in open_ones],
        step=step,
    )


def _describe_edits(state: RunState) -> str:
    """Why there is another answer, when a person's edits are the reason."""
    edits = [edit.text for edit in state.edits_since_answer] if state.answers else []
    return f"after your {'edit' if len(edits) == 1 else 'edits'}: {'; '.join(edits)}" if edits else ""


def _is_covered(state: RunState) -> bool:
    """Is every word of the question covered when disputed facts count too? Then nothing is missing but
    agreement."""
    known = fact_view.ignore_disputes(fact_view.facts_for_prompt(state))
    return not measure_coverage(state.question, known).missing


def _add_counts(one: StatementCounts, two: StatementCounts) -> StatementCounts:
    return StatementCounts(
        backed=one.backed + two.backed,
        unsupported=one.unsupported + two.unsupported,
        dropped=one.dropped + two.dropped,
    )


def _remove_foreign_urls(state: RunState, reply: ReportReply, allowed: set[str]) -> ReportReply:
    """The reply without the addresses a writer typed that are no page of this run: the renderer writes every
    address."""
    known = allowed.union(fact_view.visited_urls(state))
    sentences = [
        sentence.model_copy(update={"text": remove_unknown_urls(sentence.text, known)})
        for sentence in reply.answer
    ]
    parts = {
        name: remove_unknown_urls(getattr(reply, name), known) for name in ("certainty", "missing", "journey")
    }
    return reply.model_copy(update={"answer": sentences, **parts})


def _choose_verdict(state: RunState, reply: ReportReply, clashes: list[Conflict]) -> Verdict:
    sure = state.current_confidence >= state.settings.threshold
    cut_short = state.stop_reason in ("budget", "blocked", "asked") and not sure
    return (
        "partial"
        if clashes
        or cut_short
        or (reply.missing and not sure)
        or state.current_confidence < MIN_ANSWER_CONFIDENCE
        else "answered"
    )


def no_answer(
    state: RunState, step: int, reason: Reason, text: str, *, by: RoleResult | None = None, **more: Any
) -> Answer:
    """An answer that says why there is none; `by` is the judgement that led to it, `more` are further fields."""
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


def _build_no_evidence(state: RunState, reply: ReportReply, judgement: RoleResult, step: int) -> Answer:
    looked = list(state.pages.values())
    unread = [page for page in looked if page.outcome in UNREADABLE_OUTCOMES]
    engines = [action for action in state.actions if action.action != "crawl_url"]
    failed = [action for action in engines if action.outcome in UNREADABLE_OUTCOMES]
    blocked = (bool(looked) and len(unread) == len(looked)) or (
        bool(engines) and len(failed) == len(engines) and not looked
    )
    reason: Reason = (
        "blocked" if blocked else "budget" if state.stop_reason == "budget" and not looked else "not_covered"
    )
    searched = (
        f"{len(engines)} {'search' if len(engines) == 1 else 'searches'} and "
        if engines or not looked
        else ""
    )
    read = sum(1 for p in looked if p.page_id)
    tried = f"{searched}{read} {'page' if read == 1 else 'pages'} read"
    outside = sum(OUTSIDE_FILTER in page.detail for page in looked)
    tried += f"; {outside} more lie outside the chosen sources" if outside else ""
    why = {
        "blocked": "Nothing could be read: every search engine or page refused or failed.",
        "budget": "The budget was used up before anything could be read.",
        "not_covered": "Nothing that was read answers this question.",
    }[reason]
    return no_answer(
        state,
        step,
        reason,
        f"No answer is given. {why} ({tried}.){_describe_own_statements(state)}",
        by=judgement,
        missing=reply.missing,
        journey=reply.journey,
        statements=StatementCounts(dropped=sum(len(sentence.fact_ids) for sentence in reply.answer)),
        because=_describe_edits(state),
    )


def _describe_own_statements(state: RunState) -> str:
    """What a person stated beyond any quote: no page backs it, so it is no answer, but it is not lost."""
    mine = [
        f"“{fact.statement}”"
        for fact in state.facts.values()
        if fact.rests_on_person and fact.decision != "struck"
    ]
    more = f" and {len(mine) - MAX_LISTED} more" if len(mine) > MAX_LISTED else ""
    return f" On your word alone, backed by no page: {'; '.join(mine[:MAX_LISTED])}{more}." if mine else ""


def describe_failures(failed: list[PageRef]) -> str:
    """The first of them, each with the sentence that says what happened; what a person can do about each
    stands in its own list."""
    told = [
        f"{page.url}: {page.detail.split('. ')[0].rstrip('.') or page.outcome.value}"
        for page in failed[:MAX_LISTED]
    ]
    return (
        "; ".join([*told, f"and {len(failed) - MAX_LISTED} more"] if len(failed) > MAX_LISTED else told) + "."
    )
