"""The write-up of a research run: a brief or standard answer in one step; a full report by an outline, then
its sections side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from agent.answering import fact_view
from agent.answering.claim_checks import WrittenDraft
from agent.answering.draft import draft_from_reply
from agent.answering.fact_intake import review_by_model
from agent.answering.passages import show_passages
from agent.answering.plan import find_part
from agent.answering.verdict import finish_answer, limit_answer, record_answer
from agent.answering.write_report import ask_report, ask_section, choose_length, is_length_final
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.block_layout import add_charts
from agent.evidence.citation_check import state_with_subject
from agent.evidence.report_words import words_for
from agent.flows.research import report_frame, revise
from agent.flows.research.plan_step import describe_reading, is_plan_edited
from agent.flows.research.state import ResearchRun
from agent.llm.model import BYTES_PER_TOKEN
from agent.roles.report import (
    MAX_SECTIONS,
    OUTLINE,
    SECTION,
    SUMMARY,
    OutlineReply,
    ReportBlock,
    ReportReply,
    ReportSentence,
    SectionReply,
)
from agent.roles.role import RoleResult
from agent.types import Answer, Fact, Outline, OutlineSection
from agent.types.answers import Sentence

MAX_REPORT_FACTS = 54
"""Facts that an outline is shown: six sections of MAX_SECTION_FACTS."""
MAX_SECTION_FACTS = 9
"""Facts that a section is written from: with more, section and check cost over 4,000 tokens
(`tests.bench.report`)."""
FACTS_SHARE, FACT_TAG_CHARS = 0.75, 60
"""The part of a small model's room that the facts of a section get, and what stands around one (its id, host
and date)."""
MAX_SUMMARY_SENTENCES = 30
"""Sentences of the body that a summary of 120 words is written from, the first of every block: five of each
of six sections."""


def report(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Write up what was found, for a person to review. A full report that a model writes goes on with its
    outline, or with the one that still holds."""
    if not tools.has_model:
        return _show_passages(state, tools)
    rulings = review_by_model(tools)(state)
    reviewed: Change = {"rulings": rulings} if rulings else {}
    now = state_after(state, reviewed)
    if revised := revise.revise_answer(now, tools):
        return {**_record(now, tools, revised, reviewed), "pending": None}, "review"
    next = "sections" if is_outline_current(now) else "outline"
    can_write = bool(tools.client and fact_view.facts_for_answer(now))
    is_asked_plainly = is_length_final(now) or not fact_view.note_texts(now)
    if can_write and now.settings.report == "full" and is_asked_plainly:
        return {**reviewed, "pending": None}, next
    judgement = ask_report(now, tools, question=revise.narrow_question(now), words=revise.find_words(now))
    if judgement.by != "model" and judgement.fallback_reason:
        return {
            **_record(now, tools, _quote_facts(now, tools, judgement), reviewed),
            "pending": None,
        }, "review"
    length = choose_length(now, judgement)
    if judgement.by == "model" and length == "full":
        return {**reviewed, "pending": None}, next
    answer = finish_answer(now, draft_from_reply(now, tools, judgement), tools.step, length=length)
    return {**_record(now, tools, answer, reviewed), "pending": None}, "review"


def _quote_facts(state: ResearchRun, tools: RunContext, failed: RoleResult) -> Answer:
    """The facts as quotes, by part, where no budget is left to write them up and nobody is asked."""
    facts = fact_view.facts_for_answer(state)
    blocks = list[ReportBlock]()
    for part in [*(part.id for part in state.plan), ""]:
        own = [fact for fact in facts if find_part(state.plan, fact) == part]
        heading = next((one.question for one in state.plan if one.id == part and len(state.plan) > 1), "")
        blocks += [ReportBlock(kind="heading", text=heading, part=part)] if own and heading else []
        said = [ReportSentence(text=fact.quote or fact.statement, fact_ids=[fact.id]) for fact in own]
        blocks += [ReportBlock(kind="list", sentences=said, part=part)] if own else []
    judgement = failed.replace(value=ReportReply(blocks=blocks))
    answer = finish_answer(state, draft_from_reply(state, None, judgement), tools.step)
    return answer.replace(certainty=f"Not written up: {failed.fallback_reason}. {answer.certainty}")


def _show_passages(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """The quotes that fit best of what was read."""
    change, answer = show_passages(state, tools, facts=fact_view.facts_for_answer(state))
    remark = "A full report needs a model." if state.settings.report == "full" else ""
    return {**record_answer(answer.replace(remark=remark), change), "pending": None}, "review"


def outline(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Plan the sections of a full report; a run that goes step by step shows the plan to its person."""
    if not tools.has_model:
        return _show_passages(state, tools)
    facts = choose_report_facts(state)
    blocks = state.answer.blocks if state.answer else []
    judgement = tools.judge(
        OUTLINE,
        question=find_planned_question(state),
        notes=fact_view.note_texts(state),
        parts=state.plan,
        facts=[
            fact.replace(part=find_part(state.plan, fact), statement=state_with_subject(fact))
            for fact in facts
        ],
        former="\n".join(block.text for block in blocks if block.kind == "heading" and not block.by_code),
    )
    made = build_outline(state, judgement, facts, tools.step)
    is_stepwise = state.settings.stop_point == "step"
    return {"outline": made}, "check_outline" if is_stepwise else "sections"


def sections(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Write the sections side by side from their facts, check them together, write the summary from what
    holds, and join all with what code knows of limits and method."""
    if not tools.has_model:
        return _show_passages(state, tools)
    plan, facts = state.own.outline or Outline(), fact_view.facts_after_notes(state)
    pieces = [
        (section, own)
        for section in plan.sections
        for own in _split_facts(
            tools, [facts[i] for i in section.fact_ids if i in facts and facts[i].decision != "struck"]
        )
        if own
    ]

    def check(reply: SectionReply) -> list[str]:
        is_empty = not any(block.sentences or block.rows for block in reply.blocks)
        return ["The section is empty: write what its facts say in `blocks`."] if is_empty else []

    written = tools.judge_side_by_side(
        [
            partial(
                ask_section,
                state,
                tools,
                section,
                own,
                [other.heading for other in plan.sections],
                check=check,
                question=find_planned_question(state),
                words=revise.find_words(state, len(plan.sections)),
            )
            for section, own in pieces
        ]
    )
    blocks: list[ReportBlock] = []
    for n, ((section, _), result) in enumerate(zip(pieces, written, strict=True)):
        if not n or pieces[n - 1][0] is not section:
            blocks.append(ReportBlock(kind="heading", text=section.heading, part=section.part))
        update = {"level": 3, "part": section.part}
        blocks += (block.model_copy(update=update) for block in result.value.blocks)
    trouble = next((result.fallback_reason for result in written if result.fallback_reason), "")
    by: Literal["model", "keyless"] = "model" if any(r.by == "model" for r in written) else "keyless"
    judgement = RoleResult(value=ReportReply(blocks=blocks), by=by, fallback_reason=trouble)
    if by == "keyless" and trouble:
        return {**_record(state, tools, _quote_facts(state, tools, judgement)), "pending": None}, "review"
    body = draft_from_reply(state, tools, judgement)
    summary = _write_summary(state, tools, body)
    draft = replace(
        body,
        sentences=[*summary.sentences, *body.sentences],
        blocks=[*summary.blocks, *body.blocks, *report_frame.conflict_blocks(state.question)],
        dropped=summary.dropped + body.dropped,
    )
    answer = finish_answer(
        state, draft, tools.step, length="full", conflict_block=report_frame.CONFLICT_BLOCK
    )
    answer = answer.replace(title=plan.title or find_planned_question(state))
    return {**_record(state, tools, answer), "pending": None}, "review"


def find_planned_question(state: ResearchRun) -> str:
    """The question of a full report: the parts of the plan, where a person or a note changed them."""
    planned = " ".join(part.question for part in state.plan) if is_plan_edited(state) else ""
    return planned or revise.narrow_question(state) or state.full_question


def is_outline_current(state: ResearchRun) -> bool:
    """Whether the outline still holds: no note and no usable fact came since it was made, and the plan has
    the parts of its sections."""
    made, parts = state.own.outline, {"", *(part.id for part in state.plan)}
    if made is None or any(note.step > made.step for note in state.notes):
        return False
    if any(section.part not in parts for section in made.sections):
        return False
    return not any(fact.step > made.step for fact in fact_view.facts_for_answer(state))


def choose_report_facts(state: ResearchRun) -> list[Fact]:
    """The facts a report may use, MAX_REPORT_FACTS at most: each part's best in turn; by part and page."""
    usable = fact_view.facts_for_answer(state)
    parts = [find_part(state.plan, fact) for fact in usable]
    chosen = fact_view.share_by_part(usable, parts, MAX_REPORT_FACTS)
    return sorted(chosen, key=lambda fact: (find_part(state.plan, fact), fact.step, fact.url))


def build_outline(state: ResearchRun, judgement: RoleResult, facts: Sequence[Fact], step: int) -> Outline:
    """The outline of a reply: each fact in the first section that names it, no section without facts or a
    heading. A part of the plan that has facts and no section gets the fallback's."""
    reply: OutlineReply = judgement.value
    known, parts = {fact.id for fact in facts}, {part.id for part in state.plan}
    taken, made = set[str](), list[OutlineSection]()
    named = {i for section in reply.sections for i in section.fact_ids}
    covered = {find_part(state.plan, fact) for fact in facts if fact.id in named}
    covered |= {section.part for section in reply.sections}
    by_rule = _outline_by_rule(state, [fact for fact in facts if fact.id not in named])
    missed = [section for section in by_rule.sections if section.part and section.part not in covered]
    for section in [*reply.sections, *missed][:MAX_SECTIONS]:
        ids = [i for i in dict.fromkeys(section.fact_ids) if i in known and i not in taken]
        ids = ids[:MAX_SECTION_FACTS]
        heading = report_frame.clean_heading(section.heading)
        if ids and heading:
            taken.update(ids)
            part = section.part if section.part in parts else ""
            made.append(OutlineSection(heading=heading, part=part, fact_ids=ids, form=section.form))
    if not made and judgement.by == "model":
        judgement = RoleResult(value=_outline_by_rule(state, facts), by="keyless")
        return build_outline(state, judgement, facts, step)
    title = report_frame.clean_heading(reply.title) or find_planned_question(state)
    return Outline(title=title, sections=made, by=judgement.by, step=step)


def _outline_by_rule(state: ResearchRun, facts: Sequence[Fact]) -> Any:
    """The outline of the fallback, for these facts."""
    return OUTLINE.fallback(  # type: ignore[misc]
        question=find_planned_question(state), notes=[], parts=state.plan, facts=facts, former=""
    )


def _split_facts(tools: RunContext, facts: Sequence[Fact]) -> list[list[Fact]]:
    """The facts of a section in as few pieces as a small model can take, each for a call of its own."""
    room = tools.find_room(SECTION) * BYTES_PER_TOKEN * FACTS_SHARE
    pieces, left = list[list[Fact]]([[]]), room
    for fact in facts:
        size = len(f"{fact.statement}{fact.quote}{fact.title}".encode()) + FACT_TAG_CHARS
        if pieces[-1] and size > left:
            pieces.append([])
            left = room
        pieces[-1].append(fact)
        left -= size
    return pieces


def _write_summary(state: ResearchRun, tools: RunContext, body: WrittenDraft) -> WrittenDraft:
    """The summary under its heading, from the sentences of the body that hold, checked as they were; what its
    quotes do not support is left out."""
    held = [sentence for sentence in body.sentences if sentence.backed]
    if not held:
        return WrittenDraft([], 0)
    rows: dict[tuple[str, int], Sentence] = {}
    for n, sentence in enumerate(held):  # the cells of a table's row are one, which cites the facts of all
        key = (sentence.block, sentence.row) if sentence.context else ("", n)
        label, _, head = sentence.context.rpartition(": ")
        text = f"{head}: {sentence.text}" if head else sentence.text
        if row := rows.get(key):
            ids = list(dict.fromkeys([*row.fact_ids, *sentence.fact_ids]))
            rows[key] = row.replace(text=f"{row.text}; {text}", fact_ids=ids)
        else:
            rows[key] = sentence.replace(context=label, text=text)
    notes, joined = fact_view.note_texts(state), list(rows.values())
    lines = fact_view.share_by_part(joined, [line.block for line in joined], MAX_SUMMARY_SENTENCES)
    result = tools.judge(SUMMARY, question=find_planned_question(state), notes=notes, sentences=lines)
    blocks = [
        ReportBlock(kind="heading", text=words_for(state.question)["summary"]),
        ReportBlock(kind="paragraph", sentences=result.value.sentences),
    ]
    reply = RoleResult(value=ReportReply(blocks=blocks), by=result.by)
    draft = draft_from_reply(state, tools, reply, prefix="s")
    return replace(draft, sentences=[sentence for sentence in draft.sentences if sentence.backed])


def _record(state: ResearchRun, tools: RunContext, answer: Answer, reviewed: Change | None = None) -> Change:
    """The change of the answer; of a full one with charts, and what code knows of limits and method. How an
    ambiguous question was read is told with it."""
    answer = revise.finish_revision(state, answer)
    answer = answer.replace(journey=" ".join(filter(None, [describe_reading(state), answer.journey])))
    if answer.length == "full" and answer.sentences:
        has_table = any(block.kind == "table" for block in answer.blocks)
        if not has_table and any(block.role for block in answer.blocks):
            blocks, said = report_frame.tabulate_rows(answer, fact_view.facts_after_notes(state))
            answer = limit_answer(state, answer.replace(blocks=blocks), said)
        level = next(reversed(state_after(state, record_answer(answer)).confidence), None)
        frame = report_frame.build_frame(state, answer, level, tools.now())
        answer = answer.replace(blocks=[*add_charts(answer.blocks, answer.sentences), *frame])
    return record_answer(answer, reviewed)
