"""The shape of an answer without a model: drafted sentences become sentences with a part and a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.evidence.answer_layout import format_question
from agent.evidence.block_layout import prune_blocks
from agent.evidence.contradiction.forms import is_table_row
from agent.retrieval.answer import MAX_LEAD_WORDS, MAX_PASSAGES
from agent.roles.report import ReportSentence
from agent.types import Actor, Answer, AnswerBlock, PlanPart, ReportLength, Sentence


def make_sentence(
    plan: Sequence[PlanPart], draft: ReportSentence, by: Actor, *, text: str | None = None
) -> Sentence:
    """A drafted sentence as one of an answer, with the part and place that a fallback gave it; what a model
    says of these is ignored. `text` replaces its own."""
    text = draft.text if text is None else text
    if by == "model":
        return Sentence(text=text, fact_ids=draft.fact_ids)
    asked = _fold(draft.part_question)
    return Sentence(
        text=text,
        fact_ids=draft.fact_ids,
        part=next((part.id for part in plan if asked and _fold(part.question) == asked), ""),
        place=draft.place,
        heading=draft.heading,
        fit=draft.fit,
    )


def arrange_places(
    sentences: Sequence[Sentence], length: ReportLength = "standard", more: int = 0
) -> list[Sentence]:
    """The sentences with at most one lead and MAX_PASSAGES passages for each part, when any has a place; a
    brief answer has one passage for each and nothing else, a full report whatever was found. A revised answer
    may have `more`.

    A part that lost its lead gets its first short passage as lead. A sentence without a place (a fact that a
    person pinned) becomes a passage. What is shown already is not folded a second time."""
    if not any(sentence.place for sentence in sentences):
        return list(sentences)
    most = len(sentences) if length == "full" else more + (1 if length == "brief" else MAX_PASSAGES)
    led = {sentence.part for sentence in sentences if sentence.place == "lead"}
    passages, arranged = dict[str, int](), list[Sentence]()
    for sentence in sentences:
        place, part = sentence.place or "passage", sentence.part
        if place == "passage" and part not in led and len(sentence.text.split()) <= MAX_LEAD_WORDS:
            place, led = "lead", led | {part}
        if place == "passage":
            passages[part] = passages.get(part, 0) + (not is_table_row(sentence.text))
            place = "passage" if passages[part] <= most else "other"
        if place != "other" or length != "brief":
            arranged.append(sentence.replace(place=place))
    shown, kept = {s.text for s in arranged if s.place != "other"}, list[Sentence]()
    for sentence in arranged:
        if sentence.place != "other" or sentence.text not in shown:
            kept.append(sentence)
            shown.add(sentence.text)
    return kept


def block_by_parts(answer: Answer, plan: Sequence[PlanPart], words: Mapping[str, str]) -> Answer:
    """An answer of passages as blocks: for each part its heading, the lead, and the passages as a list; last
    what else was found. The headings of code are from `words`."""
    questions = {
        part.id: format_question(part.question) if len(plan) > 1 else words["findings"] for part in plan
    }
    blocks, sentences = list[AnswerBlock](), list(answer.sentences)
    placed = [sentence.part for sentence in sentences if sentence.place in ("lead", "passage")]
    for id in [*questions, *(part for part in dict.fromkeys(placed) if part not in questions)]:
        heading = questions.get(id, words["further_findings"])
        blocks.append(AnswerBlock(id=f"p{id}h", kind="heading", text=heading, part=id))
        for place, kind in (("lead", "paragraph"), ("passage", "list")):
            block = AnswerBlock(id=f"p{id}{place}", kind=kind, part=id)  # type: ignore[arg-type]
            own = [n for n, said in enumerate(sentences) if said.part == id and said.place == place]
            for n in own:
                sentences[n] = sentences[n].replace(block=block.id)
            blocks += [block] if own else []
    heading = words["also_found"]
    blocks += [AnswerBlock(id="oh", kind="heading", text=heading), AnswerBlock(id="other", kind="list")]
    others = [said.replace(place="passage", block="other") for said in sentences if said.place == "other"]
    sentences = [*(said for said in sentences if said.place != "other"), *others]
    blocks, sentences = prune_blocks(blocks, sentences)
    return answer.replace(blocks=blocks, sentences=sentences)


def place_conflicts(named: Sequence[Sentence], stated: Sequence[Sentence]) -> list[Sentence]:
    """The sentences about conflicts; the first of a part without a lead leads it. Unchanged beside stated
    sentences that have no places."""
    if stated and not any(sentence.place for sentence in stated):
        return list(named)
    led = {sentence.part for sentence in stated if sentence.place == "lead"}
    placed = list[Sentence]()
    for sentence in named:
        placed.append(sentence if sentence.part in led else sentence.replace(place="lead"))
        led |= {sentence.part}
    return placed


def _fold(text: str) -> str:
    return " ".join(text.split()).rstrip("?. ").casefold()
