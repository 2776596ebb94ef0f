"""Roles that write the answer of a research run from facts: REPORT; OUTLINE, SECTION and SUMMARY of a full
report; and REVISION, which reads a person's note. They write no URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent.evidence.citation_check import state_with_subject
from agent.evidence.contradiction import read_cells
from agent.evidence.report_words import words_for
from agent.retrieval.answer import PartAnswer, Quotation, find_answer
from agent.retrieval.scorer import UNCOUNTED
from agent.roles.note_requests import read_note
from agent.roles.role import PlacedSentence, Role, RoleReply, WriterReply
from agent.text.names import find_names
from agent.text.question_parts import complete_parts, find_item, format_question, is_asking, resolve_parts
from agent.types import Action, Fact, Note, Passage, PlanPart, Sentence
from agent.types.answers import BlockRole, ReportLength, SectionForm

MIN_RELEVANCE_SHARE = 0.8
"""Share of the best disputed fact's relevance below which a fact is beside the point."""


class ReportSentence(PlacedSentence):
    """One sentence, list item or table cell and the ids of the facts that state it."""

    text: str
    fact_ids: list[str] = Field(default_factory=list)


class ReportRow(RoleReply):
    """A row of a table: what it is about, then a cell for each further column."""

    label: str = ""
    cells: list[ReportSentence] = Field(
        default_factory=list, description="in the order of the columns; empty text where no fact says it"
    )

    @model_validator(mode="before")
    @classmethod
    def read_bare_cells(cls, data: Any) -> Any:
        """A bare text among the cells as a cell that cites nothing."""
        if isinstance(data, dict) and isinstance(data.get("cells"), list):
            cells = [
                {"text": str(cell)} if isinstance(cell, str | int | float) else cell for cell in data["cells"]
            ]
            return {**data, "cells": cells}
        return data


class ReportBlock(RoleReply):
    """A heading, a paragraph, a list or a table."""

    kind: Literal["paragraph", "heading", "list", "table"] = "paragraph"
    text: str = Field(default="", description="words of a heading, caption of a table; empty for others")
    sentences: list[ReportSentence] = Field(
        default_factory=list, description="sentences of a paragraph, items of a list"
    )
    heads: list[str] = Field(
        default_factory=list, description="names of a table's columns; the first is that of the row labels"
    )
    rows: list[ReportRow] = Field(default_factory=list, description="of a table")
    level: SkipJsonSchema[int] = Field(default=2, exclude=True)
    part: SkipJsonSchema[str] = Field(default="", exclude=True)
    """Of a section its level of heading and its part of the plan; no model sees or fills them."""


class ReportReply(WriterReply):
    """The answer; the renderer numbers the sources and writes every address."""

    length: ReportLength = Field(
        default="standard", description="the length that the question or the notes ask for, else the given"
    )
    blocks: list[ReportBlock] = Field(
        default_factory=list, description="empty when the facts do not answer the question"
    )
    answer: list[ReportSentence] = Field(
        default_factory=list, description="in place of blocks: the sentences of one paragraph"
    )


def report_fallback(
    *,
    question: str,
    notes: list[str],
    facts: list[Fact],
    history: list[Action],
    length: ReportLength = "standard",
    parts: Sequence[PlanPart] = (),
    **others: object,
) -> ReportReply:
    """The answer that the facts give as passages: what a person pinned or the newest note asks for, then for
    each part of the question a lead and its passages, all citing their facts; in a full report also what else
    the cited pages state, page by page; folded in a shorter one that has nothing by the words of a part."""
    standing, usable = [fact for fact in facts if fact.can_support], _choose_usable(facts)
    known = {fact.id: fact for fact in standing}
    answered = _answer_parts(parts, standing, facts) if len(parts) > 1 else _find_parts(question, usable)
    wanted = [_quote_fact(fact) for fact in standing if fact.decision == "pinned"]
    if notes:
        for part in _find_parts(notes[-1], standing):
            wanted += _write(part.lead, "lead", known) if part.lead else []
    is_given_page = bool(history) and history[0].action == "crawl_url"
    if is_given_page and not any(part.lead for part in answered):
        wanted += [_quote_fact(fact) for fact in usable[:1]]  # its page need not name the subject
    wanted = [sentence.model_copy(update={"part_question": answered[0].question}) for sentence in wanted]
    found = [
        sentence.model_copy(update={"part_question": part.question})
        for part in answered
        for place, quote in part.placed
        for sentence in _write(quote, place, known, part.fit if place == "lead" else None)
    ]
    quoted = _keep_first([*wanted, *found])
    if length == "full" or (len(parts) > 1 and not all(part.lead for part in answered)):
        place: BlockRole = "passage" if length == "full" else "other"
        cited = [known[i] for sentence in quoted for i in sentence.fact_ids]
        pages = dict.fromkeys(fact.page_id for fact in [*cited, *facts] if fact.disputed or fact in cited)
        quoted += [_quote_fact(fact, place) for page in pages for fact in usable if fact.page_id == page]
    return ReportReply(answer=_keep_first(quoted))


def _answer_parts(parts: Sequence[PlanPart], standing: list[Fact], facts: list[Fact]) -> list[PartAnswer]:
    """The answer to each part of the plan among the facts that stand; of one on which facts are disputed only
    among its own: those of other parts must not fill it in their place. One of a list tells them apart."""
    answered, disputed = list[PartAnswer](), {fact.part for fact in facts if fact.disputed}
    best = sorted(standing, key=lambda fact: -fact.relevance)
    asked = complete_parts([part.question for part in parts])
    for part, text in zip(parts, asked, strict=True):
        own = [fact for fact in facts if fact.part == part.id or find_item(text)]
        among = _choose_usable(own) if part.id in disputed else best
        answered += [replace(one, question=part.question) for one in _find_parts(text, among, [text])]
    return answered


def _find_parts(question: str, facts: Sequence[Fact], parts: Sequence[str] = ()) -> Sequence[PartAnswer]:
    """The answer to a question (these parts), or to a note, among facts as passages: what those of a page
    state, as a person may have corrected it, a paragraph each; table rows with their header."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        groups.setdefault((fact.page_id or fact.url or fact.id, _split_row(fact)[0]), []).append(fact)
    passages = []
    for (_, label), own in groups.items():
        first = own[0]
        own = sorted(own, key=lambda fact: fact.start) if label else own  # best first, rows as in the table
        text = ("\n" if label else "\n\n").join(_split_row(fact)[1] for fact in own)
        passages.append(
            Passage(
                id=" ".join(fact.id for fact in own),
                page_id=first.page_id or first.id,
                url=first.url,
                title=first.title,
                heading=first.heading,
                kind="rows" if label else "prose",
                label=label,
                start=0,
                end=len(text),
                text=text,
            )
        )
    # counted over the facts, which were chosen by the question's words, those they lack would weigh most
    return find_answer(question, passages, counts=UNCOUNTED, parts=parts).parts


def _split_row(fact: Fact) -> tuple[str, str]:
    """The header and the cells of a statement about a table row; "" and the statement of any other."""
    cells = read_cells(fact.statement)
    header = " | ".join(name for name, _ in cells)
    return header, " | ".join(value for _, value in cells) or fact.statement


def _write(
    found: Quotation, place: BlockRole, facts: Mapping[str, Fact], fit: float | None = None
) -> list[ReportSentence]:
    """A quotation as a sentence that cites the fact it is from."""
    among = [facts[name] for name in found.passage_id.split()]
    fact = next((f for f in among if _fold(found.quote) in _fold(_split_row(f)[1])), None)
    if fact is None:
        return []
    is_whole = place == "lead" and found.statement == fact.statement
    text = state_with_subject(fact) if is_whole else found.statement
    return [ReportSentence(text=text, fact_ids=[fact.id], place=place, heading=fact.heading, fit=fit)]


def _fold(text: str) -> str:
    return " ".join(text.split())


def _quote_fact(fact: Fact, place: BlockRole = "lead") -> ReportSentence:
    text = state_with_subject(fact)
    return ReportSentence(text=text, fact_ids=[fact.id], place=place, heading=fact.heading)


def _keep_first(sentences: Sequence[ReportSentence]) -> list[ReportSentence]:
    """Of each fact the first sentence, and any that leads a part; a part's later leads become passages."""
    kept, cited, led = list[ReportSentence](), set[str](), set[str]()
    for sentence in sentences:
        is_second = sentence.place == "lead" and sentence.part_question in led
        if cited.isdisjoint(sentence.fact_ids) or (sentence.place == "lead" and not is_second):
            kept.append(sentence.model_copy(update={"place": "passage"}) if is_second else sentence)
            led |= {sentence.part_question} if sentence.place == "lead" else set()
            cited.update(sentence.fact_ids)
    return kept


def _choose_usable(facts: list[Fact]) -> list[Fact]:
    """The facts that nothing disputes, best first. Where the best fact is disputed, those that are less to
    the point than it are left out: they must not fill the answer in its place."""
    usable = sorted((fact for fact in facts if fact.can_support), key=lambda fact: -fact.relevance)
    best = max((fact.relevance for fact in usable), default=0.0)
    disputed = max((fact.relevance for fact in facts if fact.disputed), default=0.0)
    least = MIN_RELEVANCE_SHARE * disputed if disputed > best else 0.0
    return [fact for fact in usable if fact.decision == "pinned" or fact.relevance >= least]


REPORT = Role(
    name="report",
    reply=ReportReply,
    fallback=report_fallback,
    cut=("facts", "conflicts", "history", "former"),
)
"""Writes the answer of a research run: sentences that cite facts. Writes no URL."""


MAX_SECTIONS = 8


class PlannedSection(RoleReply):
    """A section: its heading, the part it answers, its form, and its facts."""

    heading: str = Field(description="a few words, no statement")
    part: str = Field(
        default="", description='the number of the part it answers, such as "2"; "" for several'
    )
    form: SectionForm = Field(default="prose", description="table where things are compared by like features")
    fact_ids: list[str] = Field(default_factory=list, description="each fact in one section only")


class OutlineReply(RoleReply):
    """The outline of a report."""

    title: str = Field(default="", description="of the report: its topic in a few words, no statement")
    sections: list[PlannedSection] = Field(default_factory=list)


def outline_fallback(
    *, question: str, parts: Sequence[PlanPart], facts: Sequence[Fact], **others: object
) -> OutlineReply:
    """A section for each part of the plan with the facts found for it; what belongs to none comes last."""
    by_part: dict[str, list[str]] = {part.id: [] for part in parts}
    rest = [fact.id for fact in facts if fact.part not in by_part]
    for fact in facts:
        by_part.get(fact.part, []).append(fact.id)
    found = [(format_question(part.question), part.id, by_part[part.id]) for part in parts]
    sections = [
        PlannedSection(heading=heading, part=part, fact_ids=ids)
        for heading, part, ids in [*found, (words_for(question)["further_findings"], "", rest)]
        if ids
    ]
    return OutlineReply(title=format_question(question), sections=sections)


OUTLINE = Role(name="outline", reply=OutlineReply, fallback=outline_fallback, cut=("facts", "former"))
"""Makes the outline of a full report: sections, each with the facts that it alone may use."""


class SectionReply(WriterReply):
    """The blocks of a section, without its heading."""

    blocks: list[ReportBlock] = Field(
        default_factory=list, description="empty when the facts say nothing on it"
    )


def section_fallback(*, facts: Sequence[Fact], **others: object) -> SectionReply:
    """The statements of the facts as a list."""
    said = [
        ReportSentence(text=state_with_subject(fact), fact_ids=[fact.id])
        for fact in facts
        if fact.can_support
    ]
    return SectionReply(blocks=[ReportBlock(kind="list", sentences=said)] if said else [])


SECTION = Role(name="section", reply=SectionReply, fallback=section_fallback, cut=("facts", "conflicts"))
"""Writes one section of a full report from its facts."""


FALLBACK_SENTENCES = 2
"""Sentences that a summary without a model repeats."""


class SummaryReply(WriterReply):
    """The summary; its first sentence answers the question."""

    sentences: list[ReportSentence] = Field(default_factory=list)


def summary_fallback(*, sentences: Sequence[Sentence], **others: object) -> SummaryReply:
    """The first sentences of the report."""
    first = sentences[:FALLBACK_SENTENCES]
    return SummaryReply(sentences=[ReportSentence(text=s.claim, fact_ids=s.fact_ids) for s in first])


SUMMARY = Role(name="summary", reply=SummaryReply, fallback=summary_fallback, cut=("sentences",))
"""Writes the summary of a full report from its checked sentences."""


MAX_ITEMS = 3
"""New sub-questions and searches of one reading (our own judgement: a note asks for few)."""


class RevisionReply(RoleReply):
    """What the notes ask for; code checks every id and site."""

    understood: str = Field(default="", description="what is to be done, in one short line")
    excluded_sites: list[str] = Field(default_factory=list, description="hosts or addresses ruled out")
    excluded_topics: list[str] = Field(default_factory=list, description="matters not to speak of")
    about: list[str] = Field(
        default_factory=list,
        description="ids of sentences (s3), headings (h2), tables (t1), parts (2) to change",
    )
    only_parts: list[str] = Field(default_factory=list, description="ids of parts; empty for all")
    questions: list[str] = Field(default_factory=list, description="new sub-questions")
    searches: list[str] = Field(default_factory=list, description="what to look for")
    length: Literal["same", "shorter", "brief", "standard", "full"] = Field(
        default="same", description="another length, if asked for"
    )
    max_words: int = Field(default=0, ge=0, description="0 for no limit")
    form: str = Field(default="", description="a form asked for, such as a table")
    is_whole: bool = Field(default=False, description="whether the whole answer is to be written again")
    needs_research: bool = Field(default=False, description="whether something new must be looked for")
    not_understood: SkipJsonSchema[list[str]] = Field(default_factory=list, exclude=True)
    """What the rules do not understand; no model fills it."""


def revision_fallback(
    *, question: str, notes: Sequence[Note], parts: Sequence[PlanPart], **others: object
) -> RevisionReply:
    """What rules understand: exclusions, length, parts, addresses, topics and questions. A comment looks for
    what its sentence says, or for what it names or asks itself; a pronoun is what that sentence, or the
    question, is plainly about."""
    reply = RevisionReply()
    for note in notes:
        asked = read_note(note.text, is_comment=note.kind == "comment")
        reply.excluded_sites += asked.sites
        reply.excluded_topics += asked.unwanted
        is_understood = note.kind == "comment" and (bool(asked.topics) or not asked.rest)
        about = f"“{note.quoted}" if note.quoted else question
        topics = resolve_parts([about, *asked.topics])[1:]
        for topic in topics:  # a question speaks for itself
            names = [] if is_asking(topic) else find_names(note.quoted)
            reply.searches.append(" ".join([topic, *(name for name in names if name not in topic)]))
        if is_understood and not (topics or asked.unwanted):
            reply.searches.append(note.quoted)
        reply.length = "shorter" if asked.is_shorter else asked.length or reply.length
        reply.max_words = asked.max_words or reply.max_words
        if asked.part is not None and asked.part >= len(parts):
            reply.not_understood.append(note.text)
        elif asked.part is not None:
            (reply.only_parts if asked.is_only_part else reply.about).append(parts[asked.part].id)
        reply.needs_research |= bool(asked.topics or asked.addresses or asked.wants_more or is_understood)
        reply.not_understood += asked.rest
    reply.is_whole = reply.length != "same" or bool(reply.max_words)
    return reply


REVISION = Role(name="revision", reply=RevisionReply, fallback=revision_fallback)
"""Reads a person's notes on an answer: what is to be left out, changed, added, and in which form."""
