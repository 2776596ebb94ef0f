"""Roles that write the answer of a research run from facts: REPORT; OUTLINE, SECTION and SUMMARY of a full
report; and REVISION, which reads a person's note. They write no URL."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent.roles.role import Role, RoleReply, WriterReply, optional_list, optional_text
from agent.types.answers import ReportLength, SectionForm


class ReportSentence(RoleReply):
    """One sentence, list item or table cell and the ids of the facts that state it."""

    text: str
    fact_ids: list[str] = Field(default_factory=list)


class ReportRow(RoleReply):
    """A row of a table: what it is about, then a cell for each further column."""

    label: str = ""
    cells: list[ReportSentence] = optional_list(
        "in the order of the columns; empty text where no fact says it"
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
    text: str = optional_text("words of a heading, caption of a table; empty for others")
    sentences: list[ReportSentence] = optional_list("sentences of a paragraph, items of a list")
    heads: list[str] = optional_list("names of a table's columns; the first is that of the row labels")
    rows: list[ReportRow] = optional_list("of a table")
    level: SkipJsonSchema[int] = Field(default=2, exclude=True)
    part: SkipJsonSchema[str] = Field(default="", exclude=True)
    """Of a section its level of heading and its part of the plan; no model sees or fills them."""


class ReportReply(WriterReply):
    """The answer; the renderer numbers the sources and writes every address."""

    length: ReportLength = Field(
        default="standard", description="the length that the question or the notes ask for, else the given"
    )
    blocks: list[ReportBlock] = optional_list("empty when the facts do not answer the question")
    answer: list[ReportSentence] = optional_list("in place of blocks: the sentences of one paragraph")


REPORT = Role(
    name="report", reply=ReportReply, on_failure="rest", cut=("facts", "conflicts", "turns", "former")
)
"""Writes the answer of a research run: sentences that cite facts. Writes no URL."""


MAX_SECTIONS = 8


class PlannedSection(RoleReply):
    """A section: its heading, the part it answers, its form, and its facts."""

    heading: str = Field(description="a few words, no statement")
    part: str = optional_text('the number of the part it answers, such as "2"; "" for several')
    form: SectionForm = Field(default="prose", description="table where things are compared by like features")
    fact_ids: list[str] = optional_list("what it is written from")


class OutlineReply(RoleReply):
    """The outline of a report."""

    title: str = optional_text("of the report: its topic in a few words, no statement")
    sections: list[PlannedSection] = Field(default_factory=list)


OUTLINE = Role(name="outline", reply=OutlineReply, cut=("facts", "former"))
"""Makes the outline of a full report: sections, each with its facts."""


class SectionReply(WriterReply):
    """The blocks of a section, without its heading."""

    blocks: list[ReportBlock] = optional_list("empty when the facts say nothing on it")


SECTION = Role(name="section", reply=SectionReply, on_failure="rest", cut=("facts", "conflicts"))
"""Writes one section of a full report from its facts."""


class SummaryReply(WriterReply):
    """The summary; its first sentence answers the question."""

    sentences: list[ReportSentence] = Field(default_factory=list)


SUMMARY = Role(name="summary", reply=SummaryReply, on_failure="rest", cut=("sentences",))
"""Writes the summary of a full report from its checked sentences."""


MAX_ITEMS = 3
"""New sub-questions and searches of one reading (our own judgement: a note asks for few)."""


class RevisionReply(RoleReply):
    """What the notes ask for; code checks every id and site."""

    understood: str = optional_text("what is to be done, in one short line")
    excluded_sites: list[str] = optional_list("hosts or addresses ruled out")
    allowed_sites: list[str] = optional_list("sites left out before that may be used again")
    removed: list[str] = optional_list(
        "ids of sentences, headings, tables that go, with nothing in their place"
    )
    about: list[str] = optional_list(
        "ids of sentences (s3), headings (h2), tables (t1), cells (c1.2), parts (2) to change"
    )
    only_parts: list[str] = optional_list("ids of parts; empty for all")
    questions: list[str] = optional_list("new sub-questions")
    searches: list[str] = optional_list("what to look for")
    length: Literal["same", "shorter", "brief", "standard", "full"] = Field(
        default="same", description="another length, if asked for"
    )
    max_words: int = Field(default=0, ge=0, description="0 for no limit")
    form: str = optional_text("a form asked for, such as a table")
    is_whole: bool = Field(default=False, description="whether the whole answer is to be written again")
    needs_research: bool = Field(default=False, description="whether something new must be looked for")


REVISION = Role(name="revision", reply=RevisionReply, on_failure="rest")
"""Reads a person's notes on an answer: what is to be left out, changed, added, and in which form."""
