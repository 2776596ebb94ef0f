"""The answer as a paper to hand in: title, text with numbered references, and the list of these. How it was
checked stands in the other exports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

from agent.evidence.report_words import words_for
from agent.evidence.support import describe_mark
from agent.export.answer_blocks import write_bands, write_checked_text, write_text
from agent.export.blocks import Block, Bullets, Heading, Inline, Paragraph, Span
from agent.export.document import write_source
from agent.export.references import Reference, format_iso_date, make_reference
from agent.export.report import Report
from agent.text.question_analysis import format_question
from agent.text.sentences import format_sentence
from agent.types import Answer


def build_paper(report: Report, *, quoted: bool = False) -> list[Block]:
    """The blocks of the paper: the answer, what is open and assumed, how certain it is and why, how it was
    found, and its sources; `quoted`: these with their quotes. Sentences that are not supported, not checked,
    disputed, or in part absent from their sources are marked."""
    answer, question = report.answer, report.run.question or "Untitled question"
    words = words_for(question)
    title = answer.title if answer else ""
    blocks: list[Block] = [Heading(1, title or format_question(question))]
    blocks += [_label(words["question"], question)] if title else []
    blocks += write_bands(report.run.settings)
    if report.checked:
        shown = write_checked_text(report.checked, answer.sources if answer else (), linked=False)
        return [*blocks, *shown, *(_list_references(report, answer, words, "sources_read") if answer else [])]
    if answer is None:
        return [*blocks, Paragraph(["There is no answer yet."])]
    if not answer.sentences:
        refused = (answer.certainty, answer.missing, answer.journey)
        return [*blocks, *(Paragraph([text]) for text in refused if text)]
    style: Literal["cite", "ref"] = "cite" if quoted else "ref"
    mark = partial(describe_mark, words=words)
    blocks += write_text(answer, level=2, words=words, style=style, mark=mark)
    told = {
        "not_answered": answer.missing,
        "assumed": answer.assumed,
        "note": answer.remark,
        "certainty": answer.certainty,
        "how_found": answer.journey,
    }
    blocks += [_label(words[name], format_sentence(text)) for name, text in told.items() if text]
    if not quoted:
        return blocks + _list_references(report, answer, words)
    cited = {n for said in answer.main_sentences for n in answer.citation_numbers(said)}
    used = [source for source in answer.sources if source.n in cited]
    sources = [b for source in used for b in write_source(source, report, is_audit=False)]
    return [*blocks, *([Heading(2, words["references"]), *sources] if sources else [])]


def _label(name: str, text: str) -> Paragraph:
    return Paragraph([Span(f"{name}:", "strong"), f" {text}"])


def _list_references(
    report: Report, answer: Answer, words: Mapping[str, str], title: str = "references"
) -> list[Block]:
    """The sources that are cited by their numbers, in a full report with the quotes they are cited for."""
    used = set[str]()
    items: list[tuple[Inline, list[str]]] = []
    cited = {n for said in answer.main_sentences for n in answer.citation_numbers(said)}
    for source in answer.sources:
        if report.checked or source.n in cited:
            reference = make_reference(source, report, used)
            quotes = [f"“{quote}”" for quote in reference.quotes] if answer.length == "full" else []
            items.append((write_reference(reference, words["accessed"]), quotes))
    return [Heading(2, words[title]), Bullets(items, numbered=True)] if items else []


def write_reference(reference: Reference, accessed: str = "Accessed") -> Inline:
    """Author, title, site, date, address and the day it was read, behind the word `accessed`."""
    names, day = "; ".join(reference.authors).rstrip("."), format_iso_date(reference.accessed)
    note = f" ({reference.origin_note})" if reference.origin_note else ""
    spans: list[Span | str] = [f"{names}. "] if names else []
    spans += [Span(reference.title.rstrip("."), "emphasis"), f". {reference.place}{note}."]
    spans += [" ", Span(reference.url, url=reference.url)] if reference.url else []
    return [*spans, f" {accessed} {day}."] if day else spans
