"""The shape of an answer: what was drafted as blocks, whether a writer laid it out, wrote running text, or a
fallback chose passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.evidence.contradiction import is_table_row
from agent.retrieval.answer import MAX_LEAD_WORDS, MAX_PASSAGES
from agent.text.question_parts import format_question
from agent.types import Actor, AnswerBlock, PlanPart, ReportLength, Sentence
from agent.types.answers import BlockRole

RUNNING_TEXT, NAMED_CONFLICTS = "b", "k"
"""The ids of the block of a text without blocks, and of the paragraph in which code names conflicts."""
ROLES: tuple[BlockRole, ...] = ("lead", "passage", "other")
"""The roles that a drafted quote may have in place of a block."""


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
