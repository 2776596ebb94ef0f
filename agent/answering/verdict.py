"""From a checked draft to an answer: its blocks, the conflicts it names, and how code chooses the verdict and
the confidence and says how certain it is, how it was found and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.answering import conflict_sentences, fact_view
from agent.answering.claim_checks import WrittenDraft
from agent.answering.journey import describe_journey
from agent.answering.view import assess_confidence, close_plan, find_answered, name_part
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.evidence.block_layout import prune_blocks
from agent.evidence.citation_check import (
    accept_quotations,
    collect_sources,
    count_statements,
    filter_citations,
    has_page_support,
)
from agent.evidence.confidence import describe_certainty
from agent.evidence.report_words import words_for
from agent.roles.role import RoleResult
from agent.text.plurals import format_count, list_first
from agent.text.question_analysis import format_question
from agent.types import (
    Answer,
    AnswerBlock,
    Assessment,
    Outcome,
    PageRef,
    Reason,
    ReportLength,
    Sentence,
    StatementCounts,
    Verdict,
)
from agent.types.source_filter import OUTSIDE_FILTER

RUNNING_TEXT, NAMED_CONFLICTS = "b", "k"
"""The ids of the block of a text without blocks, and of the paragraph in which code names conflicts."""
UNREADABLE_OUTCOMES = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR)
WORDED_BY_MODEL = "The model worded this; nothing checks it."
"""The remark on a refusal or a question to the person in a model's words."""
UNJUDGED_VERDICTS = frozenset({"not_checked", "differs"})
"""Verdicts of a sentence that no judge was asked about: it is shown, and counts for nothing."""
NO_EVIDENCE_REASONS: dict[Reason, str] = {
    "blocked": "Nothing could be read: every search engine or page refused or failed.",
    "budget": "The budget was used up before anything could be read.",
    "not_covered": "Nothing that was read answers this question.",
    "unsupported": "Nothing of what was drafted is supported by its quotes.",
}


def finish_answer(
    state: RunState,
    draft: WrittenDraft,
    step: int,
    *,
    caveat: str = "",
    journey: str = "",
    length: ReportLength = "standard",
    conflict_block: str = "",
) -> Answer:
    """The answer of a checked draft that a person reviews; `no_evidence` when no statement of it is backed or
    left unchecked for want of a judge. `record_answer` makes the change.

    `caveat` follows its certainty, and `journey` replaces the account of searches and pages; both are code's.
    The conflicts that it must name stand in the block `conflict_block` where that is given."""
    facts = fact_view.facts_after_notes(state)
    stated = [name_part(state.plan, sentence, facts) for sentence in draft.sentences]
    conflicts = conflict_sentences.find_relevant_conflicts(state, stated, facts)
    named = conflict_sentences.write_conflict_sentences(state, conflicts, stated, facts)
    named, dropped = filter_citations(named, facts, state.conflicts.values())
    named = [name_part(state.plan, sentence, facts) for sentence in accept_quotations(named, facts)]
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        journey=journey or describe_journey(state),
        by=draft.by,
        trouble=draft.trouble,
        why_stopped=state.why_stopped,
        because=describe_edits(state),
        length=length,
        step=step,
        open=draft.open,
        assumed=draft.assumed,
        answered_parts=draft.answered_parts,
        judge=draft.judge,
    )
    unjudged = [sentence for sentence in [*named, *stated] if sentence.check in UNJUDGED_VERDICTS]
    cites_page = any(has_page_support(facts[i]) for sentence in unjudged for i in sentence.fact_ids)
    if not cites_page and not any(sentence.backed for sentence in [*named, *stated]):
        cited = draft.dropped + sum(len(sentence.fact_ids) for sentence in draft.sentences)
        return answer.replace(
            **explain_no_evidence(state, is_drafted=bool(draft.refused)),
            open="",
            assumed="",
            remark=describe_refused(draft.refused),
            statements=StatementCounts(dropped=cited),
        )
    is_first = bool(conflict_sentences.list_rulings(state)) or any(
        conflict.asks for conflict in conflicts if conflict.settled_by != "model"
    )
    told = [said.replace(block=conflict_block or NAMED_CONFLICTS) for said in named]
    placed = [said.replace(block=said.block or RUNNING_TEXT) for said in stated]
    frame = AnswerBlock(id=NAMED_CONFLICTS)
    blocks = [block for block in draft.blocks if block.id != NAMED_CONFLICTS]
    if all(block.id != RUNNING_TEXT for block in blocks):
        blocks.append(AnswerBlock(id=RUNNING_TEXT))
    if is_first and not conflict_block:
        blocks, sentences = [frame, *blocks], [*told, *placed]
    else:
        blocks, sentences = [*blocks, frame], [*placed, *told]
    answer = answer.replace(
        blocks=blocks,
        statements=StatementCounts(dropped=draft.dropped + dropped),
        conflicts=[conflict.id for conflict in conflicts if conflict.status == "open"],
    )
    answer = limit_answer(state, answer, sentences)
    return answer.replace(certainty=f"{answer.certainty} {caveat}".strip())


def describe_edits(state: RunState) -> str:
    """What a person edited since the last answer; "" for nothing."""
    edits = [edit.text for edit in state.edits_since_answer] if state.answers else []
    return f"after your {'edit' if len(edits) == 1 else 'edits'}: {'; '.join(edits)}" if edits else ""


def describe_refused(count: int) -> str:
    """That drafted sentences were refused by their check; "" for none."""
    drafted = format_count(count, "drafted sentence was", "drafted sentences were")
    return f"{drafted} left out: not supported by the quotes." if count else ""


def limit_answer(state: RunState, answer: Answer, sentences: Sequence[Sentence]) -> Answer:
    """The answer with only these of its sentences; verdict, gaps, counts, sources and confidence are theirs.
    Nothing is called answered unless a model wrote it."""
    facts = fact_view.facts_after_notes(state)
    works = {page.page_id: page.publication for page in state.pages.values() if page.publication}
    blocks, sentences = prune_blocks(answer.blocks, sentences)
    answer = answer.replace(blocks=blocks, sentences=sentences)
    level = assess_confidence(state, answer.step, answer=answer)
    plan = close_plan(state, level, answer)
    answered = find_answered(plan, answer, facts)
    left = [] if answer.by != "model" else [part for part in plan if part.id not in answered]
    verdict: Verdict = "partial" if left or answer.open else "answered"
    missing = " ".join(format_question(part.question).rstrip(".") for part in left)
    if left and len(plan) == 1:
        is_judged = any(sentence.backed for sentence in answer.sentences)
        missing = words_for(plan[0].question)["incomplete" if is_judged else "unchecked"]
    return answer.replace(
        verdict=verdict if answer.by == "model" else "passages_found",
        reason="budget" if state.stop_reason == "budget" and verdict == "partial" else "none",
        parts=plan if len(plan) > 1 else [],
        sources=collect_sources(sentences, facts, works),
        statements=count_statements(sentences, answer.statements.dropped),
        confidence=level.value if level else None,
        certainty=describe_certainty(level) if level else "",
        missing=answer.open or missing,
    )


def no_answer(
    state: RunState, step: int, reason: Reason, text: str, *, by: RoleResult | None = None, **more: Any
) -> Answer:
    """An answer that says why there is none; `by` is the judgement behind it, `more` are further fields."""
    fields = {"why_stopped": state.why_stopped, **more}
    return Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        reason=reason,
        certainty=text,
        by=by.by if by else "keyless",
        trouble=by.failure if by else "",
        step=step,
        **fields,
    )


def record_answer(answer: Answer, change: Change | None = None) -> Change:
    """The change of an answer, beside that of the facts it rests on."""
    before = change or {}
    said = [*before.get("assessments", []), Assessment(step=answer.step)]
    return {**before, "answers": [answer], "assessments": said}


def describe_failures(failed: list[PageRef]) -> str:
    """The first unreadable pages, each with the sentence that says what happened."""
    told = (f"{page.url}: {page.detail.split('. ')[0].rstrip('.') or page.outcome.value}" for page in failed)
    return f"{list_first(told, '; ')}."


def explain_no_evidence(state: RunState, *, is_drafted: bool = False) -> dict[str, Any]:
    """The reason and certainty of an answer without evidence: what was tried, whether what was drafted failed
    its check, and what a person stated that no page backs."""
    pages = list(state.pages.values())
    searches = [action for action in state.actions if action.is_search]
    failed = [item.outcome in UNREADABLE_OUTCOMES for item in (pages or searches)]
    reason: Reason = "unsupported" if is_drafted else "not_covered"
    if failed and all(failed):
        reason = "blocked"
    elif state.stop_reason == "budget" and not pages:
        reason = "budget"
    tried = format_count(state.pages_read_count, "page") + " read"
    if searches or not pages:
        tried = f"{format_count(len(searches), 'search', 'searches')} and {tried}"
    if outside := sum(OUTSIDE_FILTER in page.detail for page in pages):
        tried += f"; {outside} more lie outside the chosen sources"
    text = f"No answer is given. {NO_EVIDENCE_REASONS[reason]} ({tried}.)"
    own = [f"“{f.statement}”" for f in state.facts.values() if f.rests_on_person and f.decision != "struck"]
    if own:
        text += f" Stated by you, not backed by a page: {list_first(own, '; ')}."
    return {"reason": reason, "certainty": text}
