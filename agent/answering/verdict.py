"""From a checked draft to an answer: its blocks, the conflicts it names, and how code chooses the verdict and
the confidence and says how certain it is, how it was found and what is missing.

A writer lays out blocks or writes running text; a fallback chooses passages, which have roles in place of
blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent.answering import conflict_sentences, fact_view
from agent.answering.claim_checks import WrittenDraft
from agent.answering.confidence import assess_confidence, find_main_sentence, name_part
from agent.answering.journey import describe_journey
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.evidence.block_layout import describe_gaps, prune_blocks
from agent.evidence.citation_check import (
    accept_quotations,
    collect_sources,
    count_statements,
    filter_citations,
    has_page_support,
)
from agent.evidence.confidence import compute_part, describe_level
from agent.evidence.contradiction import is_table_row
from agent.evidence.report_words import words_for
from agent.retrieval.answer import MAX_LEAD_WORDS, MAX_PASSAGES
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.text.question_parts import format_question
from agent.types import (
    Actor,
    Answer,
    AnswerBlock,
    Assessment,
    Confidence,
    Fact,
    Outcome,
    PageRef,
    PartConfidence,
    PartStatus,
    PlanPart,
    Reason,
    ReportLength,
    Sentence,
    StatementCounts,
    Verdict,
)
from agent.types.answers import BlockRole
from agent.types.source_filter import OUTSIDE_FILTER

RUNNING_TEXT, NAMED_CONFLICTS = "b", "k"
"""The ids of the block of a text without blocks, and of the paragraph in which code names conflicts."""
ROLES: tuple[BlockRole, ...] = ("lead", "passage", "other")
"""The roles that a drafted quote may have in place of a block."""
MAX_LISTED = 3
"""Unreadable pages, and statements of a person's own, that an answer without evidence names."""
UNREADABLE_OUTCOMES = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR)
WORDED_BY_MODEL = "The model worded this; nothing checks it."
"""The remark on a refusal or a question to the person in a model's words."""
NO_EVIDENCE_REASONS: dict[Reason, str] = {
    "blocked": "Nothing could be read: every search engine or page refused or failed.",
    "budget": "The budget was used up before anything could be read.",
    "not_covered": "Nothing that was read answers this question.",
}


def read_role(blocks: Sequence[AnswerBlock], sentence: Sentence) -> BlockRole:
    """The role of the block that a sentence stands in, or is to stand in where it was only drafted."""
    roles: dict[str, BlockRole] = {role: role for role in ROLES} | {block.id: block.role for block in blocks}
    return roles.get(sentence.block, "")


def choose_roles(
    blocks: Sequence[AnswerBlock], sentences: Sequence[Sentence], length: ReportLength = "standard"
) -> list[Sentence]:
    """The sentences with their roles in place of blocks, when any has one: at most one lead and MAX_PASSAGES
    passages for each part; a brief answer has one passage for each and nothing else, a full report whatever
    was found.

    A part that lost its lead gets its first short passage as lead. A sentence without a role (a fact that a
    person pinned) becomes a passage, a table stays one. What is shown already is not folded a second time."""
    tables = {block.id for block in blocks if block.kind == "table"}
    roles = [read_role(blocks, sentence) for sentence in sentences]
    if not any(roles):
        return list(sentences)
    most = len(sentences) if length == "full" else 1 if length == "brief" else MAX_PASSAGES
    led = {sentence.part for sentence, role in zip(sentences, roles, strict=True) if role == "lead"}
    passages, chosen = dict[str, int](), list[Sentence]()
    for sentence, given in zip(sentences, roles, strict=True):
        role, part = given or "passage", sentence.part
        if sentence.block in tables:
            chosen.append(sentence)
            continue
        if role == "passage" and part not in led and len(sentence.text.split()) <= MAX_LEAD_WORDS:
            role, led = "lead", led | {part}
        if role == "passage":
            passages[part] = passages.get(part, 0) + (not is_table_row(sentence.text))
            role = "passage" if passages[part] <= most else "other"
        if role != "other" or length != "brief":
            chosen.append(sentence.replace(block=role))
    shown, kept = {s.text for s in chosen if s.block != "other"}, list[Sentence]()
    for sentence in chosen:
        if sentence.block != "other" or sentence.text not in shown:
            kept.append(sentence)
            shown.add(sentence.text)
    return kept


def lay_out_answer(
    plan: Sequence[PlanPart],
    blocks: Sequence[AnswerBlock],
    stated: Sequence[Sentence],
    named: Sequence[Sentence],
    *,
    by: Actor,
    length: ReportLength,
    words: Mapping[str, str],
    conflict_block: str = "",
    conflicts_first: bool = False,
) -> tuple[list[AnswerBlock], list[Sentence]]:
    """The blocks and sentences of an answer: what was `stated`, and the sentences about conflicts in their
    block or before or after it. Of passages the first `named` sentence of a part without a lead leads it."""
    quoted = any(said.block in ROLES for said in stated) or (by != "model" and not stated)
    led = {said.part for said in stated if said.block == "lead"}
    loose = list[Sentence]()
    for said in named:
        leads = quoted and not conflict_block and said.part not in led
        loose.append(said.replace(block="lead" if leads else conflict_block or NAMED_CONFLICTS))
        led |= {said.part}
    is_first = conflicts_first and not conflict_block
    sentences = [*loose, *stated] if is_first else [*stated, *loose]
    made = [block for block in blocks if block.id != NAMED_CONFLICTS]
    if quoted:
        made, sentences = _lay_out_passages(plan, made, sentences, length, words)
    elif running := [said for said in sentences if not said.block]:
        is_list = by != "model" and len(running) > 1
        if not any(block.id == RUNNING_TEXT for block in made):
            made.append(AnswerBlock(id=RUNNING_TEXT, kind="list" if is_list else "paragraph"))
        sentences = [said.replace(block=said.block or RUNNING_TEXT) for said in sentences]
    frame = AnswerBlock(id=NAMED_CONFLICTS)
    made = [frame, *made] if is_first else [*made, frame]
    if quoted:
        order = [block.id for block in made]
        sentences.sort(key=lambda said: order.index(said.block))
    return made, sentences


def _lay_out_passages(
    plan: Sequence[PlanPart],
    blocks: Sequence[AnswerBlock],
    sentences: Sequence[Sentence],
    length: ReportLength,
    words: Mapping[str, str],
) -> tuple[list[AnswerBlock], list[Sentence]]:
    """Sentences with roles as blocks: for each part of several its question, the lead, and the passages as a
    list, or that nothing was found; last what else was found. What code says is from `words`. The other
    `blocks` stand where they stood: those of a part in it, the rest behind all parts."""
    is_full, several = length == "full", len(plan) > 1
    heads = {part.id: format_question(part.question) if several else words["findings"] for part in plan}
    heads = heads if several or is_full else {}
    parts = dict.fromkeys([*heads, *(said.part for said in sentences if said.block in ("lead", "passage"))])
    own = [block for block in blocks if not block.role]
    made = list[AnswerBlock]()
    for part in parts:
        block = AnswerBlock(id=f"p{part}", part=part)
        if heading := heads.get(part, words["further_findings"] if is_full else ""):
            made.append(block.replace(id=f"p{part}h", kind="heading", role="lead", text=heading))
        made += [block.replace(id=f"p{part}lead", role="lead")]
        made += [table for table in own if table.part == part and table.kind == "table"]
        made += [block.replace(id=f"p{part}passage", kind="list", role="passage")]
        if several and not any(said.part == part for said in sentences):
            made.append(block.replace(role="gap", by_code=True, lines=[words["part_not_found"]]))
    made += [block for block in own if block not in made]
    if is_full:
        made.append(AnswerBlock(id="oh", kind="heading", role="lead", text=words["also_found"]))
    made.append(AnswerBlock(id="o", kind="list", role="passage" if is_full else "other"))
    ids = {"lead": "p{}lead", "passage": "p{}passage", "other": "o"}
    placed = [said.replace(block=ids.get(said.block, said.block).format(said.part)) for said in sentences]
    return made, placed


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
    stated = choose_roles(draft.blocks, stated, length)
    conflicts = conflict_sentences.find_relevant_conflicts(state, stated, facts)
    named = conflict_sentences.write_conflict_sentences(state, conflicts, stated, facts)
    named, dropped = filter_citations(named, facts, state.conflicts.values())
    named = [name_part(state.plan, sentence, facts) for sentence in accept_quotations(named, facts)]
    edits = [edit.text for edit in state.edits_since_answer] if state.answers else []
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        journey=journey or describe_journey(state),
        by=draft.by,
        trouble=draft.trouble,
        why_stopped=state.why_stopped,
        because=f"after your {'edit' if len(edits) == 1 else 'edits'}: {'; '.join(edits)}" if edits else "",
        length=length,
        step=step,
        open=draft.open,
        assumed=draft.assumed,
    )
    unjudged = [  # a doubted one because the judge's call failed
        sentence
        for sentence in [*named, *stated]
        if sentence.check == "not_checked" or (sentence.check == "doubted" and sentence.check_reason)
    ]
    cites_page = any(has_page_support(facts[i]) for sentence in unjudged for i in sentence.fact_ids)
    if not cites_page and not any(sentence.backed for sentence in [*named, *stated]):
        cited = draft.dropped + sum(len(sentence.fact_ids) for sentence in draft.sentences)
        return answer.replace(
            **explain_no_evidence(state),
            remark=describe_refused(len(draft.failed)),
            statements=StatementCounts(dropped=cited),
            confidence=assess_confidence(state, step, answer=answer).value,
        )
    blocks, sentences = lay_out_answer(
        state.plan,
        draft.blocks,
        stated,
        named,
        by=draft.by,
        length=length,
        words=words_for(state.question),
        conflict_block=conflict_block,
        conflicts_first=conflict_sentences.needs_conflicts_first(state, conflicts),
    )
    answer = answer.replace(
        blocks=blocks,
        statements=StatementCounts(dropped=draft.dropped + dropped),
        conflicts=[conflict.id for conflict in conflicts if conflict.status == "open"],
    )
    answer = limit_answer(state, answer, sentences)
    certainty = describe_level(answer.confidence, is_judged=draft.by == "model")
    return answer.replace(certainty=f"{certainty}. {caveat}".strip())


def describe_refused(count: int) -> str:
    """That drafted sentences were refused by their check; "" for none."""
    drafted = format_count(count, "drafted sentence was", "drafted sentences were")
    return f"{drafted} left out: not supported by the quotes." if count else ""


def limit_answer(state: RunState, answer: Answer, sentences: Sequence[Sentence]) -> Answer:
    """The answer with only these of its sentences; verdict, gaps, counts, sources and confidence are theirs.
    Nothing is called answered unless a model wrote it; a full report names its empty cells among its
    limits."""
    facts = fact_view.facts_after_notes(state)
    works = {page.page_id: page.publication for page in state.pages.values() if page.publication}
    blocks, sentences = prune_blocks(answer.blocks, sentences)
    answer = answer.replace(blocks=blocks, sentences=sentences)
    level = assess_confidence(state, answer.step, answer=answer)
    plan = close_plan(state, level, answer)
    cells = "" if answer.length == "full" else describe_gaps(answer)
    told = words_for(state.question)["empty_cells"].format(cells=cells) if cells else ""
    missing, left = describe_open_parts(plan, level, answer, facts), _list_open(plan)
    verdict: Verdict = "partial" if left else "answered"
    return answer.replace(
        verdict=verdict if answer.by == "model" else "passages_found",
        reason="budget" if state.stop_reason == "budget" and left else "none",
        parts=plan if len(plan) > 1 else [],
        sources=collect_sources(sentences, facts, works),
        statements=count_statements(sentences, answer.statements.dropped),
        confidence=level.value,
        missing=" ".join(filter(None, (missing, told))),
    )


def no_answer(
    state: RunState, step: int, reason: Reason, text: str, *, by: RoleResult | None = None, **more: Any
) -> Answer:
    """An answer that says why there is none; `by` is the judgement behind it, `more` are further fields."""
    fields = {"confidence": 0.0, "why_stopped": state.why_stopped, **more}
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


def record_answer(answer: Answer, change: Change | None = None) -> Change:
    """The change of an answer, beside that of the facts it rests on."""
    before = change or {}
    said = [*before.get("assessments", []), Assessment(step=answer.step)]
    return {**before, "answers": [answer], "assessments": said}


def close_plan(state: RunState, level: Confidence, answer: Answer) -> list[PlanPart]:
    """The plan with the status and confidence of each part: answered when quotes support its main sentence
    (found, where no model wrote that), disputed when an open conflict contradicts it, not found when no
    sentence answers it, else open."""
    facts = fact_view.facts_after_notes(state)
    by = answer.by
    figures, plan = {part.part: part for part in level.parts}, list[PlanPart]()
    for part in state.plan:
        figure = figures.get(part.id, PartConfidence(part=part.id))
        status: PartStatus = "answered" if by == "model" else "found"
        if not figure.weight:
            main = find_main_sentence(state.plan, part, answer, facts)
            is_unjudged = by != "model" and main and main.check == "not_checked"
            status = "found" if is_unjudged else "open" if main else "not_found"
        elif figure.disputed:
            status = "disputed"
        elif figure.unanswered and by == "model":
            status = "open"
        plan.append(part.replace(status=status, confidence=round(compute_part(figure), 4)))
    return plan


def describe_open_parts(
    plan: Sequence[PlanPart], level: Confidence, answer: Answer, facts: Mapping[str, Fact]
) -> str:
    """Which parts of the question are open, and why, in the question's language, one cause each; "" for none.
    Without a model nothing is known but that no passage has these words."""
    if not (left := _list_open(plan)):
        return ""
    words = words_for(" ".join(part.question for part in plan))
    unanswered = {part.part for part in level.parts if part.unanswered}
    by_cause: dict[str, list[str]] = {}
    for part in left:
        main = find_main_sentence(plan, part, answer, facts)
        cause: str = part.status
        if part.status == "not_found" and answer.by != "model":
            cause = "unmatched"
        if part.status == "open" and main and (main.backed or main.check == "not_checked"):
            cause = "unanswered" if part.id in unanswered else "unchecked"
        by_cause.setdefault(words[f"cause_{cause}"], []).append(f"“{part.question.rstrip('?. ')}”")
    if len(plan) == 1:
        return "".join(f"{cause[0].upper()}{cause[1:]}." for cause in by_cause)
    return " ".join(f"{'; '.join(parts)}: {cause}." for cause, parts in by_cause.items())


def _list_open(plan: Sequence[PlanPart]) -> list[PlanPart]:
    return [part for part in plan if part.status not in ("answered", "found")]


def describe_failures(failed: list[PageRef]) -> str:
    """The first unreadable pages, each with the sentence that says what happened."""
    listed = [
        f"{page.url}: {page.detail.split('. ')[0].rstrip('.') or page.outcome.value}"
        for page in failed[:MAX_LISTED]
    ]
    more = [f"and {len(failed) - MAX_LISTED} more"] if len(failed) > MAX_LISTED else []
    return "; ".join(listed + more) + "."


def explain_no_evidence(state: RunState) -> dict[str, Any]:
    """The reason and certainty of an answer without evidence: what was tried, and what a person stated that
    no page backs."""
    pages = list(state.pages.values())
    searches = [action for action in state.actions if action.is_search]
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
    text = f"No answer is given. {NO_EVIDENCE_REASONS[reason]} ({tried}.)"
    own = [f"“{f.statement}”" for f in state.facts.values() if f.rests_on_person and f.decision != "struck"]
    if own:
        more = f" and {len(own) - MAX_LISTED} more" if len(own) > MAX_LISTED else ""
        text += f" Stated by you, not backed by a page: {'; '.join(own[:MAX_LISTED])}{more}."
    return {"reason": reason, "certainty": text}
