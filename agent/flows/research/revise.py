"""The revision of an answer by a person's notes: they are read first; then only what they touch is written
anew, and every other sentence stays word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from agent.answering import fact_view
from agent.answering.claim_checks import WrittenDraft
from agent.answering.draft import MAX_HEADING_WORDS, draft_from_reply
from agent.answering.page_refs import offer_again
from agent.answering.plan import bears_on
from agent.answering.recompute import recompute_after_edit
from agent.answering.revision import (
    Piece,
    build_reading,
    current_reading,
    explain_unchanged,
    mark_refuted,
    notes_on_answer,
    plan_after_reading,
    split_answer,
    write_numbered_lines,
    write_quoted_lines,
)
from agent.answering.verdict import finish_answer, limit_answer
from agent.answering.write_report import ask_report, find_open_conflicts
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.evidence.answer_layout import format_question
from agent.flows.research import report_frame
from agent.flows.research.state import ResearchRun
from agent.roles.report import REVISION, ReportBlock, ReportReply, ReportRow, RevisionReply
from agent.roles.role import RoleResult
from agent.text.urls import host
from agent.types import Answer, AnswerBlock, Sentence

MAX_JOINING = 2
"""Quotes that join the one a comment is on, where no model rewrites it."""
MAX_SITES = 30
"""Sites that the reader of a note is shown."""


def revise(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Read the notes on the answer: what they exclude falls at once, new sub-questions join the plan; then
    research goes on, or the answer is written again."""
    notes, answer = notes_on_answer(state), state.answer
    if not notes or answer is None:
        return {}, "decide"
    urls = [*fact_view.recorded_urls(state), *(fact.url for fact in state.facts.values())]
    facts = fact_view.facts_after_notes(state)
    read = partial(
        tools.judge,
        REVISION,
        question=state.full_question,
        parts=state.plan,
        sites=sorted({host(url) for url in urls if url})[:MAX_SITES],
    )
    judged = read(notes=notes, lines=write_numbered_lines(answer, facts))
    asks: RevisionReply | None = judged.value
    if fact_view.has_private_notes(state):  # what goes out is made of neither them nor an answer they shaped
        public, lines = [note for note in notes if not note.private], write_quoted_lines(answer, facts)
        asks = read(notes=public, lines=lines).value if public else None
    why = judged.fallback_reason
    reading = build_reading(state, judged.value, tools.step, asks=asks, by=judged.by, trouble=why)
    change: Change = {"readings": [reading]}
    plan = plan_after_reading(state, reading)
    if plan != state.plan:
        change["plan_parts"] = plan
    if reading.needs_research:  # what was read for another question may answer the note
        change["pages"] = offer_again(state.pages.values())
    if set(reading.excluded_sites) - set(fact_view.excluded_sites(state)) or reading.excluded_topics:
        what = ", ".join([*reading.excluded_sites, *reading.excluded_topics])
        recomputed = recompute_after_edit(state_after(state, change), tools.step, why=f"left out {what}")
        change |= {name: value for name, value in recomputed.items() if name != "edits" and value}
    is_short = _leaves_part_open(state_after(state, change))
    return change, "decide" if reading.needs_research or is_short else "report"


def _leaves_part_open(state: ResearchRun) -> bool:
    """Whether what is excluded took the last fact from a part."""
    had = [fact for fact in state.facts.values() if fact.is_active]
    left = fact_view.facts_for_answer(state)
    plan = state.plan
    return any(
        any(bears_on(plan, part, f) for f in had) and not any(bears_on(plan, part, f) for f in left)
        for part in plan
    )


def narrow_question(state: ResearchRun) -> str:
    """The question for the writer: only the parts that notes limited the answer to; "" for the run's own."""
    is_narrow = any(reading.only_parts for reading in state.readings)
    return " ".join(part.question for part in state.plan) if is_narrow else ""


def find_words(state: ResearchRun, sections: int = 1) -> str:
    """The length that the newest notes were read as, for an answer or one of its sections; "" for none."""
    reading = current_reading(state)
    most = reading.max_words // max(1, sections) if reading else 0
    form = "" if reading and reading.form else ", in the form it had"
    return f"about {most} words{form}" if most else ""


def revise_answer(state: ResearchRun, tools: RunContext) -> Answer | None:
    """The former answer with the pieces that the notes touch written anew, or None for all anew."""
    reading, former = current_reading(state), state.answer
    if reading is None or former is None or reading.is_whole or not former.sentences:
        return None
    if (former.by == "keyless" and tools.client) or state.edits_since_answer:
        return None  # a model writes what rules only quoted; a person's edits may bear on every sentence
    kept, pieces = split_answer(state, reading)
    stay = [
        [s for n, s in enumerate(kept) if s and s.place != "other" and n not in piece.places]
        for piece in pieces
    ]
    replies = tools.judge_side_by_side(
        [partial(_ask_piece, state, tools, piece, former, stay[n]) for n, piece in enumerate(pieces)]
    )
    layout = _Layout(former, kept, state.question)
    for n, (piece, reply) in enumerate(zip(pieces, replies, strict=True)):
        prefix = f"r{tools.step}p{n}b"
        if piece.is_cell and reply.by == "model":
            reply = reply.replace(value=_make_cell(reply.value, former, former.sentences[piece.places[0]]))
        _cite_as_before(reply.value, [former.sentences[k] for k in piece.places])
        written = draft_from_reply(state, tools, reply, prefix=prefix)
        draft = _drop_repeated(written, [said.claim for said in stay[n]])
        if _is_better(draft, [former.sentences[k] for k in piece.places if kept[k]]):
            layout.put(piece, draft, prefix)
    sentences, blocks = layout.join()
    shown = {said.claim for said in sentences if said.place != "other"}
    sentences = [said for said in sentences if said.place != "other" or said.claim not in shown]
    wrote = tools.client and "model" in (reading.by, *(reply.by for reply in replies))
    trouble = next((reply.fallback_reason for reply in replies if reply.fallback_reason), "")
    answer = finish_answer(
        state,
        WrittenDraft(
            sentences,
            former.statements.dropped,
            blocks=blocks,
            by="model" if wrote else "keyless",
            trouble=trouble,
        ),
        tools.step,
        length=former.length,
        more_passages=sum(said.place == "passage" for said in sentences),
        conflict_block=report_frame.CONFLICT_BLOCK if former.length == "full" else "",
    )
    return answer.replace(title=former.title)


def finish_revision(state: ResearchRun, answer: Answer) -> Answer:
    """The new answer, cut by code to the words asked for if no model wrote it, and why nothing changed."""
    reading = current_reading(state)
    if reading and reading.max_words and answer.by == "keyless" and answer.sentences:
        answer = limit_answer(state, answer, _cut_to_words(answer.main_sentences, reading.max_words))
    why = explain_unchanged(state, answer)
    return answer.replace(remark=" ".join(filter(None, (answer.remark, why)))) if why else answer


def _ask_piece(
    state: ResearchRun, tools: RunContext, piece: Piece, former: Answer, stay: Sequence[Sentence]
) -> RoleResult:
    """What the writer says of a piece; facts of other pieces, and sentences of a full report on other parts,
    are not shown."""
    is_near = former.length != "full" or not piece.part
    kept = [mark_refuted(said) for said in stay if is_near or said.part in ("", piece.part)]
    ids, reading = {fact.id for fact in piece.facts}, current_reading(state)
    return ask_report(
        state,
        tools,
        question=piece.question,
        facts=piece.facts,
        conflicts=[
            conflict
            for conflict in find_open_conflicts(state)
            if any(ids.intersection(value.fact_ids) for value in conflict.values)
        ],
        history=[action for action in state.actions if reading and action.step > reading.note],
        former=" ".join(mark_refuted(former.sentences[n]) for n in piece.places),
        is_cell=piece.is_cell,
        length="standard" if former.length == "full" else former.length,
        kept=kept or ["(none)"],
    )


def _cite_as_before(reply: ReportReply, former: Sequence[Sentence]) -> None:
    """Give a sentence that the writer left as it was, citing nothing, the facts that it cited before."""
    known = {said.claim: said.fact_ids for said in former}
    for said in [*reply.answer, *(s for block in reply.blocks for s in block.sentences)]:
        said.fact_ids = said.fact_ids or known.get(said.text, [])


def _make_cell(reply: ReportReply, former: Answer, old: Sentence) -> ReportReply:
    """The first sentence of a reply as the cell in the place of `old`, so that it is checked as one; what is
    too long for a cell stays as it is and becomes a note under the table."""
    blocks = reply.blocks
    said = [
        *(s for b in blocks for s in [*b.sentences, *(c for r in b.rows for c in r.cells)]),
        *reply.answer,
    ]
    table = next((block for block in former.blocks if block.id == old.block), None)
    text = said[0].text.removeprefix(f"{old.context}:").strip() if said else ""
    if table is None or not text or len(text.split()) > MAX_HEADING_WORDS:
        return reply
    row = ReportRow(label=table.row_labels[old.row], cells=[said[0].model_copy(update={"text": text})])
    heads = [table.heads[0], table.heads[old.column]]
    return ReportReply(blocks=[ReportBlock(kind="table", heads=heads, rows=[row], part=old.part)])


def _drop_repeated(draft: WrittenDraft, texts: Sequence[str]) -> WrittenDraft:
    """The piece without sentences that the answer has already, outside of its tables."""
    blocks = {block.id for block in draft.blocks if block.kind == "table"}
    new = [s for s in draft.sentences if s.block in blocks or s.claim not in texts]
    return replace(draft, sentences=new)


def _is_better(draft: WrittenDraft, stays: Sequence[Sentence]) -> bool:
    """Whether a new piece may replace sentences that could stay: it is supported where they are."""
    new = draft.sentences
    was_backed = any(said.backed for said in stays)
    return bool(new) and (not stays or not was_backed or any(said.backed for said in new))


def _cut_to_words(sentences: Sequence[Sentence], most: int) -> list[Sentence]:
    """The first sentences with at most so many words in all, the first one in any case; what fits after a
    longer one is taken."""
    kept, words = list[Sentence](), 0
    for said in sentences:
        count = len(said.text.split())
        if not kept or words + count <= most:
            kept, words = [*kept, said], words + count
    return kept


class _Layout:
    """The sentences and blocks of a former answer into which new pieces are put."""

    def __init__(self, former: Answer, kept: Sequence[Sentence | None], question: str) -> None:
        self.former, self.kept = former, list(kept)
        self.frame = report_frame.conflict_blocks(question)
        by_code = {block.id for block in self.frame}
        self.blocks = [
            b for b in former.blocks if not b.by_code and b.kind != "chart" and b.id not in by_code
        ]
        self.new: dict[int, list[Sentence]] = {}
        """By the index of a former sentence those that stand in its place."""
        self.behind: dict[int, list[Sentence]] = {}
        """By the index of a former sentence those that join it."""
        self.added: list[tuple[str, list[AnswerBlock], list[Sentence]]] = []
        """Blocks that stand behind the block of this id ("" for the end), with their sentences."""

    def put(self, piece: Piece, draft: WrittenDraft, prefix: str) -> None:
        """Put a checked piece in the place of its sentences: in their block where it has the same form, else
        in blocks of its own behind it."""
        old = [self.former.sentences[n] for n in piece.places]
        target = next((b for b in self.blocks if old and b.id == old[0].block), None)
        kinds = {block.kind for block in draft.blocks}
        sentences = [said.replace(part=said.part or piece.part) for said in draft.sentences]
        if old and old[-1].place and self.kept[piece.places[-1]]:  # a quote stays, those found since join it
            joining = [said.replace(place="passage") for said in sentences if said.place != "other"]
            self.behind[piece.places[-1]] = joining[:MAX_JOINING]
            return
        if piece.is_cell and kinds == {"table"}:
            place = {"block": old[0].block, "row": old[0].row, "column": old[0].column}
            self.new[piece.places[0]] = [said.replace(**place) for said in sentences[:1]]
            self.kept[piece.places[0]] = None
            return
        is_same = bool(old) and kinds <= {target.kind if target else "paragraph"} and "table" not in kinds
        if is_same:
            block = target.id if target else ""
            place = {"block": block, "row": -1, "column": -1, "context": ""}
            self.new[piece.places[0]] = [said.replace(**place) for said in sentences]
        else:
            frame = AnswerBlock(id=f"{prefix}0", kind="paragraph", part=piece.part)
            loose = [said.replace(block=said.block or frame.id) for said in sentences]
            blocks = draft.blocks or [frame]
            if not old and any(block.kind == "heading" for block in self.blocks):
                head = frame.replace(id=f"{prefix}h", kind="heading", text=format_question(piece.question))
                blocks = [head, *(b.replace(level=3) if b.kind == "heading" else b for b in blocks)]
            self.added.append((target.id if target else "", blocks, loose))
        cells = {n for n, said in enumerate(self.former.sentences) if target and said.block == target.id}
        is_table_anew = "table" in kinds and cells <= set(piece.places)
        if is_same or is_table_anew or (target and target.kind != "table"):
            for n in piece.places:
                self.kept[n] = None

    def join(self) -> tuple[list[Sentence], list[AnswerBlock]]:
        """All sentences and blocks in order; an answer in one paragraph stays one where nothing else came."""
        sentences = [
            said
            for n, old in enumerate(self.kept)
            for said in [*self.new.get(n, []), *([old] if old else []), *self.behind.get(n, [])]
        ]
        blocks = list(self.blocks)
        if self.added and not blocks:
            blocks = [AnswerBlock(id="a0")]
            sentences = [said.replace(block="a0") for said in sentences]
        for behind, more, _ in self.added:
            at = next((n + 1 for n, block in enumerate(blocks) if block.id == behind), len(blocks))
            blocks[at:at] = more
        if self.former.length == "full":
            blocks += self.frame
        return [*sentences, *(said for _, _, added in self.added for said in added)], blocks
