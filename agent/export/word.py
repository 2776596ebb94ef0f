"""A run as a Word document (DOCX): answer with numbered sources, conflicts, quotes, journey, what could not
be read. Plain text throughout.

Nothing in it is loaded from elsewhere; links are links to the web (http, https) and nothing else. Its dates
are the run's own."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from agent.export.escaping import clean_url, clean_xml, to_one_line
from agent.export.markdown import ACTION_LABELS, DEMO_WORLD_NOTE, describe_backing
from agent.export.report import Report, citation_numbers
from agent.types import PAGE_ORIGIN_LABELS, Action, Answer, Conflict, Source

HYPERLINK_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"


def render_docx(report: Report) -> bytes:
    """The file."""
    from docx import Document  # a fifth of a second: only who writes a document waits for it

    document = Document()
    _properties(document, report)
    document.add_heading(_clean_line(report.run.question) or "Untitled question", 0)
    document.add_paragraph(
        _clean_line(
            f"Run {report.run.id} · {report.run.status} · started {report.run.created_at} · changed {report.run.updated_at}"
        )
    )
    if report.run.forked_from:
        document.add_paragraph(
            _clean_line(
                f"Forked from run {report.run.forked_from}: steps 0 to {report.run.forked_at} are shared with it."
            )
        )
    if report.settings.world == "demo":
        document.add_paragraph().add_run(DEMO_WORLD_NOTE).bold = True
    if report.settings.source_descriptions:
        document.add_paragraph(_clean_line(f"Sources: {'; '.join(report.settings.source_descriptions)}."))
    document.add_heading("Answer", 1)
    if report.answer:
        _answer(document, report.answer, report)
    else:
        document.add_paragraph("There is no answer yet.")
    _conflicts(document, report)
    if report.answer and report.answer.sources:
        document.add_heading("Sources", 1)
        for source in report.answer.sources:
            _source(document, source)
    _edits(document, report)
    _journey(document, report)
    _unread_pages(document, report)
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def _properties(document: Any, report: Report) -> None:
    told = document.core_properties
    told.title, told.author, told.comments = (
        _clean_line(report.run.question)[:250],
        "Touchstone",
        f"Run {report.run.id}",
    )
    told.created = told.modified = _parse_time(report.run.updated_at)


def _parse_time(at: str) -> datetime:
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return datetime(1980, 1, 1)


def _answer(document: Any, answer: Answer, report: Report) -> None:
    reason = f" ({answer.reason.replace('_', ' ')})" if answer.reason != "none" else ""
    told = document.add_paragraph()
    told.add_run(f"{answer.verdict.replace('_', ' ')}{reason}").bold = True
    told.add_run(
        f" · confidence {answer.confidence:.2f} · {describe_backing(answer.statements)} · written by: {answer.by}"
    )
    body = document.add_paragraph()
    for sentence in answer.sentences:
        body.add_run(_clean_line(sentence.text))
        for n in citation_numbers(sentence, answer):
            body.add_run(f" [{n}]").font.superscript = True
        if lacking := report.describe_missing_support(sentence):
            body.add_run(f" ({lacking})").italic = True
        body.add_run(" ")
    if not answer.sentences:
        body.add_run("No statement could be backed, so none is made.")
    for name, text in answer.side_notes:
        if text:
            line = document.add_paragraph()
            line.add_run(f"{name}: ").bold = True
            line.add_run(_clean_line(text))


def _conflicts(document: Any, report: Report) -> None:
    if report.conflicts:
        document.add_heading("Conflicts", 1)
    for conflict in report.conflicts:
        line = document.add_paragraph(style="List Bullet")
        line.add_run(_clean_line(_topic(conflict))).bold = True
        line.add_run(_clean_line(f": {conflict.status_text}"))
        for value in conflict.values:
            document.add_paragraph(
                _clean_line(f"“{value.text}”: {', '.join(value.sites) or 'no site'}"), style="List Bullet 2"
            )


def _topic(conflict: Conflict) -> str:
    return ", ".join(part for part in (conflict.subject, conflict.attribute) if part) or "the same statement"


def _source(document: Any, source: Source) -> None:
    document.add_heading(_clean_line(f"[{source.n}] {source.title or source.url}"), 2)
    _link(document.add_paragraph(), source.url)
    for quote in source.quotes:
        document.add_paragraph(_clean_lines(quote), style="Quote")
    kept = [
        PAGE_ORIGIN_LABELS[source.given],
        f"Retrieved {source.fetched_at}" if source.fetched_at else "",
        f"SHA-256 {source.sha256}" if source.sha256 else "",
    ]
    if any(kept):
        document.add_paragraph(_clean_line(" · ".join(part for part in kept if part)))


def _edits(document: Any, report: Report) -> None:
    if report.edits:
        document.add_heading("What a person changed", 1)
    for edit in report.edits:
        document.add_paragraph(_clean_line(f"Step {edit.step}: {edit.text}"), style="List Bullet")
    if report.edits and report.edited_facts:
        rows: list[tuple[str, ...]] = [
            (told, fact.statement, fact.former, fact.title or fact.url) for fact, told in report.edited_facts
        ]
        _table(document, ("Fact", "Statement", "Before the correction", "Page"), rows)


def _journey(document: Any, report: Report) -> None:
    if not (report.actions or (report.answer and report.answer.journey)):
        return
    document.add_heading("Journey", 1)
    if report.answer and report.answer.journey:
        document.add_paragraph(_clean_line(report.answer.journey))
    if report.actions:
        _table(
            document,
            ("Step", "Action", "Query or address", "Outcome", "New facts"),
            [_action(action) for action in report.actions],
        )


def _action(action: Action) -> tuple[str, ...]:
    outcome = f"{action.outcome}{': ' + action.detail if action.detail else ''}"
    return (
        str(action.step),
        ACTION_LABELS.get(action.action, action.action),
        action.query_or_url,
        outcome,
        str(action.new_facts),
    )


def _unread_pages(document: Any, report: Report) -> None:
    if report.unread_pages:
        document.add_heading("Could not read", 1)
        _table(
            document,
            ("Address", "What happened", "Detail"),
            [(p.url, p.outcome.replace("_", " "), p.detail) for p in report.unread_pages],
        )


def _table(document: Any, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = document.add_table(rows=1, cols=len(heads), style="Light Grid Accent 1")
    for row in (heads, *rows):
        cells = table.rows[0].cells if row is heads else table.add_row().cells
        for cell, text in zip(cells, row, strict=True):
            cell.text = _clean_line(text)


def _link(paragraph: Any, url: str) -> None:
    """The address as a link, or as plain text when it is not http(s)."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    target = clean_url(url)
    if not target:
        paragraph.add_run(_clean_line(url))
        return
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(target, HYPERLINK_TYPE, is_external=True))
    run = paragraph.add_run(_clean_line(url))
    run.font.underline = True
    link.append(run._r)
    paragraph._p.append(link)


def _clean_line(text: str) -> str:
    return clean_xml(to_one_line(text))


def _clean_lines(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in clean_xml(text).splitlines() if line.strip())
