"""The write-up of research: a brief or standard answer at once; a full report by outline and sections."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from agent.answering import fact_view
from agent.answering.claim_checks import ROOM_SHARE, WrittenDraft
from agent.answering.draft import draft_from_reply, lay_out_reply
from agent.answering.fact_view import find_part, review_conflicts
from agent.answering.passages import show_passages
from agent.answering.verdict import finish_answer, record_answer
from agent.answering.write_report import ask_report, ask_section, choose_length, is_length_final
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.block_layout import add_charts
from agent.evidence.report_words import words_for
from agent.flows.research import report_frame, revise
from agent.flows.research.policy import describe_reading, is_plan_edited
from agent.flows.research.state import ResearchRun
from agent.llm.model import BYTES_PER_TOKEN
from agent.roles.report import (
    MAX_SECTIONS,
    OUTLINE,
    SECTION,
    SUMMARY,
    OutlineReply,
    PlannedSection,
    ReportBlock,
    ReportReply,
    SectionReply,
)
from agent.roles.role import RoleResult
from agent.store.ledger import utc_timestamp
from agent.text.question_analysis import format_question
from agent.types import Answer, Fact, Outline, OutlineSection
from agent.types.answers import Sentence

MAX_SUMMARY_SENTENCES = 60
"""Sentences and table rows of the body that a summary is written from, the first of every block in turn: it
says what is open, so it sees nearly all."""


def report(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Write up what was found for review; a full report that a model writes goes on with an outline."""
    if not tools.has_model:
        return _show_passages(state, tools)
    rulings = review_conflicts(state, tools)
    reviewed: Change = {"rulings": rulings} if rulings else {}
    now = state_after(state, reviewed)
    if revised := revise.revise_answer(now, tools):
        return _deliver(now, tools, revised, reviewed)
    next = "sections" if is_outline_current(now) else "outline"
    is_asked_plainly = is_length_final(now) or not fact_view.note_texts(now)
    if fact_view.facts_for_answer(now) and now.settings.report == "full" and is_asked_plainly:
        return {**reviewed, "pending": None}, next
    judgement = ask_report(now, tools, question=find_planned_question(now), words=revise.find_words(now))
    if judgement.by != "model" and judgement.failure:
        change, next = _show_passages(now, tools, judgement.failure)
        return {**reviewed, **change}, next
    length = choose_length(now, judgement)
    if judgement.by == "model" and length == "full":
        return {**reviewed, "pending": None}, next
    answer = finish_answer(now, draft_from_reply(now, tools, judgement), tools.step, length=length)
    return _deliver(now, tools, answer, reviewed)


def _show_passages(state: ResearchRun, tools: RunContext, failure: str = "") -> tuple[Change, str]:
    """The quotes that fit best: without a model, or where no budget is left to write and nobody is asked."""
    change, answer = show_passages(state, tools, facts=fact_view.facts_for_answer(state))
    remark = "A full report needs a model." if state.settings.report == "full" and not failure else ""
    if failure:
        answer = answer.replace(trouble=failure, certainty=f"Not written up: {failure}. {answer.certainty}")
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
        facts=[fact.replace(part=find_part(state.plan, fact)) for fact in facts],
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
    headings, usable = [section.heading for section in plan.sections], fact_view.facts_for_answer(state)
    given: dict[str, Any] = {"question": find_planned_question(state)}
    given["words"] = revise.find_words(state, len(plan.sections))

    def check(reply: SectionReply) -> list[str]:
        is_empty = not any(block.sentences or block.rows for block in reply.blocks)
        return ["The section is empty: write what its facts say in `blocks`."] if is_empty else []

    def write(section: OutlineSection, own: Sequence[Fact]) -> RoleResult:
        def ask(facts: Sequence[Fact], **more: Any) -> RoleResult:
            return ask_section(state, tools, section, facts, headings, check=check, **given, **more)

        written = ask(own)
        laid, cells = lay_out_reply(written.value.blocks, str.strip)
        former = revise.list_former(Answer(n=0, verdict="partial", blocks=laid, sentences=cells))
        named = revise.find_cell_facts(former, [fact for fact in usable if fact not in own])
        return ask([*own, *named], former=former) if named else written

    pieces = list[tuple[OutlineSection, list[Fact]]]()
    for section in plan.sections:
        own = [facts[i] for i in section.fact_ids if i in facts and facts[i].decision != "struck"]
        pieces += [(section, piece) for piece in _split_facts(tools, own) if piece]
    written = tools.judge_side_by_side([partial(write, *piece) for piece in pieces])
    blocks, assumed, trouble = list[ReportBlock](), dict[str, None](), ""
    last: OutlineSection | None = None
    for (section, _), result in zip(pieces, written, strict=True):
        if section is not last:
            blocks.append(ReportBlock(kind="heading", text=section.heading, part=section.part))
        last, trouble = section, trouble or result.failure
        assumed |= {result.value.assumed: None} if result.value.assumed else {}
        for block in result.value.blocks:
            blocks.append(block.model_copy(update={"level": 3, "part": section.part}))
    is_written = any(result.by == "model" for result in written)
    if trouble and not is_written:
        return _show_passages(state, tools, trouble)
    by: Literal["model", "keyless"] = "model" if is_written else "keyless"
    judgement = RoleResult(value=ReportReply(blocks=blocks), by=by, failure=trouble)
    body = draft_from_reply(state, tools, judgement)
    summary = _write_summary(state, tools, body.replace(assumed=" ".join(assumed)))
    draft = body.replace(
        sentences=[*summary.sentences, *body.sentences],
        blocks=[*summary.blocks, *body.blocks, *report_frame.conflict_blocks(state.question)],
        dropped=summary.dropped + body.dropped,
        open=summary.open,
        assumed=summary.assumed,
    )
    block = report_frame.CONFLICT_BLOCK
    answer = finish_answer(state, draft, tools.step, length="full", conflict_block=block)
    return _deliver(state, tools, answer.replace(title=plan.title or find_planned_question(state)))


def find_planned_question(state: ResearchRun) -> str:
    """The question that is written up: the parts of the plan, where a person or a note changed them; a
    further question as it was typed, beside the conversation and the plan that make it whole."""
    is_narrow = is_plan_edited(state) or any(reading.only_parts for reading in state.readings)
    planned = " ".join(part.question for part in state.plan) if is_narrow else ""
    return planned or (state.question if state.history else state.full_question)


def is_outline_current(state: ResearchRun) -> bool:
    """Whether the outline holds: no note or usable fact came since, and the plan has its sections' parts."""
    if not (made := state.own.outline):
        return False
    said = [note.step for note in state.notes]
    said += [fact.step for fact in fact_view.facts_for_answer(state)]
    parts = {section.part for section in made.sections} - {""}
    return parts <= {part.id for part in state.plan} and max(said, default=-1) <= made.step


def choose_report_facts(state: ResearchRun) -> list[Fact]:
    """The facts a report may use, by part and page: all that an outline has room for."""
    chosen: list[Fact] = fact_view.show_facts(fact_view.facts_for_answer(state))["facts"]
    return sorted(chosen, key=lambda fact: (find_part(state.plan, fact), fact.step, fact.url))


def build_outline(state: ResearchRun, judgement: RoleResult, facts: Sequence[Fact], step: int) -> Outline:
    """The outline of a reply: each fact in the first table and in the first text that names it, no section
    without facts or a heading. A part of the plan that has facts and no section gets one; without sections
    each part does, and a last one has what belongs to no part."""
    reply: OutlineReply = judgement.value
    known, by_part = {fact.id for fact in facts}, {part.id: list[str]() for part in state.plan}
    named, rest = {i for section in reply.sections for i in section.fact_ids} & known, list[str]()
    covered = {section.part for section in reply.sections} if named else set()
    covered |= {find_part(state.plan, fact) for fact in facts if fact.id in named}
    for fact in facts:
        if fact.id not in named:
            by_part.get(find_part(state.plan, fact), rest).append(fact.id)
    sections, made = list(reply.sections), list[OutlineSection]()
    for one in state.plan:
        if one.id not in covered:
            heading = format_question(one.question)
            sections.append(PlannedSection(heading=heading, part=one.id, fact_ids=by_part[one.id]))
    if not covered:
        heading = words_for(state.question)["further_findings"]
        sections.append(PlannedSection(heading=heading, part="", fact_ids=rest))
    taken = {True: set[str](), False: set[str]()}
    for section in sections:
        others = taken[section.form == "table"]
        ids = [i for i in dict.fromkeys(section.fact_ids) if i in known and i not in others]
        heading = report_frame.clean_heading(section.heading)
        if ids and heading and len(made) < MAX_SECTIONS:
            others.update(ids)
            part = section.part if section.part in by_part else ""
            made.append(OutlineSection(heading=heading, part=part, fact_ids=ids, form=section.form))
    title = report_frame.clean_heading(reply.title) or find_planned_question(state)
    return Outline(title=title, sections=made, by=judgement.by if named else "keyless", step=step)


def _split_facts(tools: RunContext, facts: Sequence[Fact]) -> list[list[Fact]]:
    """The facts of a section in as few pieces as a small model can take, each for a call of its own."""
    room = tools.find_room(SECTION) * BYTES_PER_TOKEN * ROOM_SHARE
    pieces, left = list[list[Fact]]([[]]), room
    for fact in facts:
        size = len(f"{fact.statement}{fact.quote}{fact.title}".encode()) + fact_view.FACT_TAG_CHARS
        if pieces[-1] and size > left:
            pieces.append([])
            left = room
        pieces[-1].append(fact)
        left -= size
    return pieces


def _write_summary(state: ResearchRun, tools: RunContext, body: WrittenDraft) -> WrittenDraft:
    """The summary under its heading, of the body's backed sentences; what these do not back is left out."""
    held = [sentence for sentence in body.sentences if sentence.backed]
    if not held:
        return WrittenDraft()
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
    joined = list(rows.values())
    turns = fact_view.take_turns([line.block for line in joined])
    result = tools.judge(
        SUMMARY,
        question=find_planned_question(state),
        notes=fact_view.note_texts(state),
        parts=state.plan,
        sentences=[joined[n] for n in sorted(turns[:MAX_SUMMARY_SENTENCES])],
        assumed=body.assumed,
    )
    blocks = [
        ReportBlock(kind="heading", text=words_for(state.question)["summary"]),
        ReportBlock(kind="paragraph", sentences=result.value.sentences),
    ]
    said = {"open": result.value.open, "assumed": result.value.assumed or body.assumed}
    reply = RoleResult(value=ReportReply(blocks=blocks, **said), by=result.by)
    draft = draft_from_reply(state, tools, reply, prefix="s")
    return draft.replace(sentences=[sentence for sentence in draft.sentences if sentence.backed])


def _deliver(
    state: ResearchRun, tools: RunContext, answer: Answer, reviewed: Change | None = None
) -> tuple[Change, str]:
    """The answer for review; a full one with charts, and what code knows of limits and method. How an
    ambiguous question was read is told with it."""
    answer = revise.finish_revision(state, answer)
    answer = answer.replace(journey=" ".join(filter(None, [describe_reading(state), answer.journey])))
    if answer.length == "full" and answer.sentences:
        level = next(reversed(state_after(state, record_answer(answer)).confidence), None)
        frame = report_frame.build_frame(state, answer, level, utc_timestamp())
        answer = answer.replace(blocks=[*add_charts(answer.blocks, answer.sentences), *frame])
    return {**record_answer(answer, reviewed), "pending": None}, "review"
