"""The revision of an answer by a person's notes: they are read first; then each section or table that they
touch is written anew as one piece, and every other block stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from agent.answering import fact_view
from agent.answering.claim_checks import WrittenDraft
from agent.answering.conflict_sentences import is_conflict_sentence
from agent.answering.draft import draft_from_reply
from agent.answering.fact_view import find_free_id, find_part
from agent.answering.pages import offer_again
from agent.answering.revision import (
    build_reading,
    current_reading,
    has_unread_note,
    list_targets,
    notes_on_answer,
    shorten,
    write_numbered_lines,
)
from agent.answering.verdict import finish_answer
from agent.answering.write_report import ask_section
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.block_layout import lay_out_blocks
from agent.evidence.citation_check import diff_answers, filter_citations
from agent.flows.research import report_frame
from agent.flows.research.state import ResearchRun
from agent.roles.report import REVISION, ReportBlock, ReportReply, RevisionReply, SectionReply
from agent.roles.research import MAX_PARTS
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.text.question_analysis import format_question
from agent.text.tokens import content_stems
from agent.text.urls import host
from agent.types import Answer, AnswerBlock, Fact, NoteReading, OutlineSection, PlanPart, Sentence

MAX_SITES = 30
"""Sites that the reader of a note is shown."""
MAX_PIECE_FACTS = 16
"""Facts that a section may use beside those that it cited, and those for the empty cells of a table (our own
judgement: as many as a section of a report, and the new ones)."""


@dataclass(frozen=True)
class Piece:
    """A section or table that is written anew in the place of these blocks; of none at the end."""

    section: OutlineSection
    facts: list[Fact]
    blocks: list[str]
    former: list[Sentence]
    """What it says, marked where a source fell; of a table with a sentence for each empty cell."""


def revise(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Read the notes on the answer: what they exclude falls at once (where that is most of what is known, by
    the person's word), new questions join the plan; research goes on, or the answer is written again."""
    notes, answer = notes_on_answer(state), state.answer
    if not notes or answer is None or not tools.has_model:
        return {}, "decide"
    change, reading = Change(), current_reading(state)
    if reading is None or has_unread_note(state):
        reading = _read_notes(state, tools, answer)
        change["readings"] = [reading]
        if reading.waits:
            return change, "decide"
    plan = [part for part in state.plan if not reading.only_parts or part.id in reading.only_parts]
    asked, names = {part.question.casefold() for part in state.plan}, {part.id for part in plan}
    new = [question for question in reading.questions if question.casefold() not in asked]
    free = find_free_id(state.plan, state.facts.values())
    added = [PlanPart(id=str(n), question=q, by=reading.by) for n, q in enumerate(new, start=free)]
    plan = [part.replace(after=[i for i in part.after if i in names]) for part in plan]
    plan += added[: max(0, MAX_PARTS - len(plan))]
    if plan != state.plan:
        change["plan_parts"] = plan
    if reading.needs_research:  # what was read for another question may answer the note
        change["pages"] = offer_again(state.pages.values())
    now = state_after(state, change)
    had = [fact for fact in now.facts.values() if fact.is_active]
    left, plan = fact_view.facts_for_answer(now), now.plan
    lost = {find_part(plan, fact) for fact in had} - {find_part(plan, fact) for fact in left} - {""}
    return change, "decide" if reading.needs_research or lost else "report"


def _read_notes(state: ResearchRun, tools: RunContext, answer: Answer) -> NoteReading:
    """What a model reads in the notes on the answer."""
    notes, facts = notes_on_answer(state), fact_view.facts_after_notes(state)
    urls = [*fact_view.recorded_urls(state), *(fact.url for fact in state.facts.values())]
    read = partial(
        tools.judge,
        REVISION,
        question=state.full_question,
        parts=state.plan,
        sites=sorted({host(url) for url in urls if url})[:MAX_SITES],
        excluded=fact_view.excluded_sites(state),
    )
    reply: RevisionReply = read(notes=notes, lines=write_numbered_lines(answer, facts)).value
    asks: RevisionReply | None = reply
    if state.earlier_private_notes or any(
        note.private for note in state.notes
    ):  # what goes out is made of neither them nor an answer they shaped
        public, quotes = (
            [note for note in notes if not note.private],
            [  # the verified ones of each sentence
                " ".join(facts[i].quote for i in said.fact_ids if i in facts and facts[i].verified)
                for said in answer.sentences
            ],
        )
        lines = [f"s{n}: {line}" for n, line in enumerate(quotes, start=1)]
        asks = read(notes=public, lines=lines).value if public else None
    return build_reading(state, reply, tools.step, asks=asks)


def find_words(state: ResearchRun, sections: int = 1) -> str:
    """The length that the newest notes were read as, for an answer or one of its sections; "" for none."""
    reading = current_reading(state)
    most = reading.max_words // max(1, sections) if reading else 0
    form = "" if reading and reading.form else ", in the form it had"
    return f"about {most} words{form}" if most else ""


def revise_answer(state: ResearchRun, tools: RunContext) -> Answer | None:
    """The former answer with the sections and tables that the notes touch written anew, or None for all
    anew: by a note on the whole, after a person's edits, which may bear on every sentence, and where no model
    writes or wrote. A piece stays as it was where what is written for it is worse."""
    reading, former = current_reading(state), state.answer
    if reading is None or former is None or reading.is_whole or not former.sentences:
        return None
    if state.edits_since_answer or not (tools.has_model and former.by == "model"):
        return None
    blocks, kept, pieces = split_answer(state, reading, former)
    heads, is_full = [block.text for block in blocks if block.kind == "heading"], former.length == "full"
    notes, asks, elsewhere = list[str](), list[Any](), list[list[str]]()
    for note in state.notes:
        quoted = f" (on: “{note.quoted}”)" if note.quoted else ""
        notes += [f"{note.text}{quoted}"] if note.kind != "look" else []
    told = {"notes": notes, "open": former.open, "assumed": former.assumed}
    for piece in pieces:
        elsewhere.append([said.claim for said in kept if said.block not in piece.blocks])
        given: dict[str, Any] = {**told, "former": piece.former, "kept": [] if is_full else elsewhere[-1]}
        asks.append(partial(ask_section, state, tools, piece.section, piece.facts, heads, **given))
    replies = tools.judge_side_by_side(asks)
    written, owners = list[ReportBlock](), dict[str, int]()
    for n, (piece, reply) in enumerate(zip(pieces, replies, strict=True)):
        for block in reply.value.blocks:
            level = 3 if piece.section.heading in heads or not piece.blocks else 2
            written.append(block.model_copy(update={"level": level, "part": piece.section.part}))
            owners |= {f"r{tools.step}b{len(written)}{end}": n for end in ("", "p")}
    joined = RoleResult(value=ReportReply(blocks=written), by="model")
    draft = draft_from_reply(state, tools, joined, prefix=f"r{tools.step}b")
    for n, piece in enumerate(pieces):
        new, is_worse = list[Sentence](), True
        for said in draft.sentences:
            if owners[said.block] == n and (said.context or said.claim not in elsewhere[n]):
                new.append(said)
                is_worse &= not said.backed or any(finding.is_absent for finding in said.findings)
        if not new or (is_worse and any(said.backed for said in kept if said.block in piece.blocks)):
            continue
        own = [block for block in draft.blocks if owners[block.id] == n]
        if not piece.blocks and heads:
            text = format_question(piece.section.heading)
            own.insert(0, AnswerBlock(id=f"r{tools.step}h{n}", kind="heading", text=text, part=own[0].part))
        at = [k for k, block in enumerate(blocks) if block.id in piece.blocks] or [len(blocks)]
        blocks[at[0] : at[0] + len(piece.blocks)] = own
        kept = [*(said for said in kept if said.block not in piece.blocks), *new]
    blocks += report_frame.conflict_blocks(state.question) if is_full else []
    order = {block.id: n for n, block in enumerate(blocks)}
    kept.sort(key=lambda said: order.get(said.block, -1))
    more = _join_told(former, draft, kept, [reply.value for reply in replies])
    draft = draft.replace(sentences=kept, dropped=former.statements.dropped, blocks=blocks, **more)
    block_id = report_frame.CONFLICT_BLOCK if is_full else ""
    answer = finish_answer(state, draft, tools.step, length=former.length, conflict_block=block_id)
    return answer.replace(title=former.title)


def _join_told(
    former: Answer, draft: WrittenDraft, kept: Sequence[Sentence], replies: Sequence[SectionReply]
) -> dict[str, Any]:
    """What is open, assumed and answered in an answer with these pieces: what was open closes when a piece
    says so; what was assumed falls when neither a piece nor a sentence that stays rests on it; of the parts
    those stay answered whose sentences do not all go, and the new draft's judge says the rest."""
    said = {sentence.text for sentence in former.sentences}
    stays = [sentence for sentence in kept if sentence.text in said]
    still = dict.fromkeys(reply.open for reply in replies if reply.open)
    is_closed = bool(former.open) and any(not reply.open for reply in replies)
    assumed = dict.fromkeys([former.assumed] if stays or not replies else [])
    assumed |= dict.fromkeys(reply.assumed for reply in replies)
    old, new = former.answered_parts, draft.answered_parts
    answered: dict[str, None] | None = None
    if old is not None or new is not None:
        on = {sentence.part: None for sentence in stays if sentence.backed}
        gone = {sentence.part for sentence in former.sentences} - on.keys()
        answered = {part: None for part in (on if old is None else old) if on and part not in gone}
        more = [said.part for said in draft.sentences if said.backed] if new is None else new
        answered |= dict.fromkeys(more)
    return {
        "open": "" if is_closed else " ".join(still) or former.open,
        "assumed": " ".join(filter(None, assumed)),
        "answered_parts": None if answered is None else list(answered),
    }


def split_answer(
    state: ResearchRun, reading: NoteReading, former: Answer
) -> tuple[list[AnswerBlock], list[Sentence], list[Piece]]:
    """The blocks that a writer made, the sentences that may stay, and the pieces that are written anew: what
    the notes name, where a sentence has lost a source, and what is new. What code adds is left out."""
    frame = {block.id for block in report_frame.conflict_blocks(state.question)}
    blocks = [b for b in former.blocks if not b.by_code and b.kind != "chart" and b.id not in frame]
    targets, facts, kept = list_targets(former), fact_view.facts_after_notes(state), list[Sentence]()
    shown, touched, gone = list[Sentence](), set[str](), set[str]()
    for name in reading.about:
        touched |= targets.get(name, set())
    for name in reading.removed:
        gone |= targets[name] if name[0] in "ht" else set()
    for n, said in enumerate(former.sentences, start=1):
        (checked,), _ = filter_citations([said], facts, state.conflicts.values())
        is_out = bool(reading.only_parts) and said.part not in ("", *reading.only_parts)
        is_out |= f"s{n}" in reading.removed or said.block in gone
        if is_out or is_conflict_sentence(said.text):
            continue
        has_fallen = checked.fact_ids != said.fact_ids
        if has_fallen or said.part in reading.about:
            touched |= targets[f"s{n}"]
        if has_fallen:
            shown.append(checked.replace(check="not_supported", check_reason="has lost a source"))
        else:
            shown.append(checked)
            kept.append(checked)
    usable = fact_view.facts_for_answer(state)
    new = [fact for fact in usable if fact.step > reading.note]
    pieces, heading, told = list[Piece](), "", {said.part for said in kept}
    for is_touched, group in groupby(blocks, key=lambda block: block.id in touched):
        run = list(group)
        if is_touched:
            ids, kinds = [block.id for block in run], {block.kind for block in run}
            parts, cited = set[str](), set[str]()
            for said in former.sentences:
                if said.block in ids:
                    parts.add(said.part)
                    cited |= {*said.fact_ids}
            stays = former.replace(blocks=run, sentences=[said for said in shown if said.block in ids])
            own = [fact for fact in usable if fact.id in cited]
            near = [fact for fact in usable if find_part(state.plan, fact) in parts]
            told_there = list_former(stays)
            fits = find_cell_facts(told_there, usable)
            ranked = {fact.id: fact for fact in [*own, *(f for f in new if f in near), *new, *fits, *near]}
            section = OutlineSection(
                heading=heading,
                part=next(iter(parts)) if len(parts) == 1 else "",
                form="table" if kinds == {"table"} else "list" if kinds == {"list"} else "prose",
            )
            known = list(ranked.values())[: len(own) + len(fits) + MAX_PIECE_FACTS]
            pieces.append(Piece(section, known, ids, told_there))
            told |= parts
        for block in run:
            heading = block.text if block.kind == "heading" else heading
    for part in state.plan:
        if part.id not in told:
            own = [fact for fact in usable if find_part(state.plan, fact) == part.id]
            added = OutlineSection(heading=part.question, part=part.id)
            pieces.append(Piece(added, own[:MAX_PIECE_FACTS], [], []))
    if reading.searches and not pieces:
        added = OutlineSection(heading="; ".join(reading.searches))
        pieces.append(Piece(added, new[:MAX_PIECE_FACTS], [], []))
    return blocks, kept, [piece for piece in pieces if piece.facts]


def list_former(answer: Answer) -> list[Sentence]:
    """The sentences of an answer, with one for each empty cell of its tables."""
    found = list[Sentence]()
    for layout in lay_out_blocks(answer):
        found += [] if layout.rows else layout.sentences
        for n, row in enumerate(layout.rows):
            for k, cell in enumerate(row, start=1):
                found.append(cell or Sentence(text="(empty)", context=layout.block.describe_cell(n, k)))
    return found


def find_cell_facts(former: Sequence[Sentence], facts: Sequence[Fact]) -> list[Fact]:
    """The facts that name the row or the column of a cell that cites nothing, MAX_PIECE_FACTS at most."""
    found = dict[str, Fact]()
    for cell in former:
        names = cell.context.split(": ", 1) if not cell.fact_ids else []
        for words in filter(None, ({*content_stems(name)} for name in names)):
            for fact in facts:
                text = f"{fact.subject} {fact.attribute} {fact.statement} {fact.title}"
                if words <= {*content_stems(text)}:
                    found[fact.id] = fact
    return list(found.values())[:MAX_PIECE_FACTS]


def finish_revision(state: ResearchRun, answer: Answer) -> Answer:
    """The new answer, and why nothing changed in it."""
    reading = current_reading(state)
    if reading is None or state.answer is None:
        return answer
    if any(change.kind != "same" for change in diff_answers(state.answer, answer)):
        return answer
    tried = [action for action in state.actions if action.step > reading.note]
    why = "the facts that were found give no other wording"
    if reading.searches and not tried:
        wish = "”, “".join(map(shorten, reading.searches))
        why = f"no search was made for “{wish}”: the same words were searched for before, or none was left"
    elif tried and not any(fact.step > reading.note and fact.is_active for fact in state.facts.values()):
        looked = format_count(len(tried), "further search or page", "further searches and pages")
        why = f"{looked} brought no new fact"
    elif reading.excluded_sites and not reading.is_whole:
        why = "no sentence rests on what is left out"
    return answer.replace(remark=f"{answer.remark} Nothing changed in the sentences: {why}.".strip())
