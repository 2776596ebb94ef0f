"""Roles that write the answer of a research run from facts: REPORT; OUTLINE, SECTION and SUMMARY of a full
report; and REVISION, which reads a person's note. They write no URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent.evidence.citation_check import state_with_subject
from agent.evidence.report_words import words_for
from agent.roles.note_requests import read_note
from agent.roles.role import PlacedSentence, Role, RoleReply, WriterReply
from agent.text.names import find_names
from agent.text.question_parts import format_question, is_asking, resolve_parts
from agent.types import Fact, Note, PlanPart, Sentence
from agent.types.answers import ReportLength, SectionForm


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


REPORT = Role(
    name="report",
    reply=ReportReply,
    on_failure="rest",
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
