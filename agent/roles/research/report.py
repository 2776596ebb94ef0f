"""Writes the answer of a research run: sentences that cite facts. Writes no URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent.evidence.citation_check import state_with_subject
from agent.evidence.contradiction.forms import read_cells
from agent.retrieval.answer import PartAnswer, find_answer
from agent.retrieval.quotation import Quotation
from agent.retrieval.scorer import UNCOUNTED
from agent.roles.placed_sentence import PlacedSentence
from agent.roles.role import Role, RoleReply
from agent.text.question_parts import complete_parts, find_item
from agent.types import Action, Conflict, Fact, Passage, PlanPart
from agent.types.answers import ReportLength, SentencePlace

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


class ReportReply(RoleReply):
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


def fallback(
    *,
    question: str,
    notes: list[str],
    facts: list[Fact],
    conflicts: list[Conflict],
    history: list[Action],
    former: str,
    length: ReportLength = "standard",
    is_length_final: bool = False,
    words: str = "",
    kept: Sequence[str] = (),
    is_cell: bool = False,
    parts: Sequence[PlanPart] = (),
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
    found = [sentence for part in answered for sentence in _write_part(part, known)]
    quoted = _keep_first([*wanted, *found])
    if length == "full" or (len(parts) > 1 and not all(part.lead for part in answered)):
        place: SentencePlace = "passage" if length == "full" else "other"
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
    """The answer to a question (these parts), or to a note, among facts as passages of their pages."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        groups.setdefault((fact.page_id or fact.url or fact.id, _split_row(fact)[0]), []).append(fact)
    passages = [_make_passage(group) for group in groups.values()]
    # counted over the facts, which were chosen by the question's words, those they lack would weigh most
    return find_answer(question, passages, counts=UNCOUNTED, parts=parts).parts


def _make_passage(facts: Sequence[Fact]) -> Passage:
    """What facts of one page state, as a person may have corrected it, a paragraph each; table rows with
    their header. Its id holds the ids of the facts."""
    first, label = facts[0], _split_row(facts[0])[0]
    facts = sorted(facts, key=lambda fact: fact.start) if label else facts  # best first, rows as in the table
    text = ("\n" if label else "\n\n").join(_split_row(fact)[1] for fact in facts)
    return Passage(
        id=" ".join(fact.id for fact in facts),
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


def _split_row(fact: Fact) -> tuple[str, str]:
    """The header and the cells of a statement about a table row; "" and the statement of any other."""
    cells = read_cells(fact.statement)
    header = " | ".join(name for name, _ in cells)
    return header, " | ".join(value for _, value in cells) or fact.statement


def _write_part(part: PartAnswer, facts: Mapping[str, Fact]) -> list[ReportSentence]:
    """The sentences of a part: the lead, its passages, then what is folded."""
    placed = _write(part.lead, "lead", facts, part.fit) if part.lead else []
    for quote in part.passages:
        placed += _write(quote, "passage", facts)
    for quote in part.others:
        placed += _write(quote, "other", facts)
    return [sentence.model_copy(update={"part_question": part.question}) for sentence in placed]


def _write(
    found: Quotation, place: SentencePlace, facts: Mapping[str, Fact], fit: float | None = None
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


def _quote_fact(fact: Fact, place: SentencePlace = "lead") -> ReportSentence:
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
    fallback=fallback,
    tier="strong",
    cut=("facts", "conflicts", "history", "former"),
)
