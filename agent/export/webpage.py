"""Blocks as HTML: one file that opens offline, and what a screen shows of an answer. The file loads nothing
and runs nothing: its policy forbids both.

Every text is escaped; characters that reorder text are taken out; links lead to http(s) addresses only."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from agent.evidence.quote_match import has_quote
from agent.export.blocks import Block, Bullets, Cell, Chart, Heading, Inline, Paragraph, Span, Table
from agent.export.chart import draw_svg
from agent.export.document import build_paper, list_paper_sources
from agent.export.escaping import clean_url, strip_invisible
from agent.export.report import Report

HERE = Path(__file__).parent


def render_html(report: Report) -> str:
    """The answer of a run as one HTML file."""
    style = (HERE / "webpage.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    frame, made = Markup((HERE / "webpage.html").read_text(encoding="utf-8")), "Made with Touchstone."
    quotes = [
        (report.stored_pages.get(source.page_id), quote)
        for source in (() if report.checked else list_paper_sources(report))
        for quote in source.page_quotes
    ]
    if quotes and all(page and has_quote(quote, page.text) for page, quote in quotes):
        made += " Every quote was found word for word in its source."
    return frame.format(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        title=_clean(report.run.question or "Untitled question"),
        style=Markup(style),
        footer=made,
        body=Markup("\n").join(map(render_block, build_paper(report))),
    )


def render_block(block: Block) -> Markup:
    """A block as HTML. Text that is `Markup` stands as it is: a screen writes its own citations."""
    match block:
        case Heading(level, text, source):
            name, number = (f' id="source-{source}"', f"[{source}] ") if source else ("", "")
            return Markup(f"<h{level}{name}>{number}{_clean(text)}</h{level}>")
        case Paragraph(spans, style):
            kind = Markup(f' class="{style}"') if style != "plain" else ""
            tag = Markup("div" if any(isinstance(span, Markup) for span in spans) else "p")
            return Markup("<{0}{1}>{2}</{0}>").format(tag, kind, _render_spans(spans))
        case Bullets(items, numbers):
            lines = (
                _render_spans(spans) + (_render_list(map(_clean, sub)) if sub else "") for spans, sub in items
            )
            return _render_list(lines, numbers)
        case Table(heads, rows, caption):
            title = Markup("<caption>{}</caption>").format(_clean(caption)) if caption else ""
            head = Markup("").join(Markup('<th scope="col">{}</th>').format(_clean(name)) for name in heads)
            body = (Markup("<tr>{}</tr>\n").format(Markup("").join(map(_render_cell, row))) for row in rows)
            return Markup('<div class="scroll" tabindex="0"><table>{}<tr>{}</tr>\n{}</table></div>').format(
                title, head, Markup("").join(body)
            )
        case Chart(caption, series):
            picture = Markup(draw_svg(series))
            return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(picture, _clean(caption))


def _clean(text: str) -> Markup:
    return text if isinstance(text, Markup) else escape(strip_invisible(text))


def _render_list(items: Iterable[Markup], numbers: Sequence[int] = ()) -> Markup:
    tag, opened = "ol" if numbers else "ul", (f' id="source-{n}" value="{n}"' for n in numbers)
    listed = (Markup(f"<li{next(opened, '')}>{{}}</li>").format(item) for item in items)
    return Markup(f"<{tag}>{{}}</{tag}>").format(Markup("").join(listed))


def _render_spans(spans: Inline) -> Markup:
    return Markup("").join(map(_render_span, spans))


def _render_span(span: Span | str) -> Markup:
    if isinstance(span, str):
        return _clean(span)
    text = _clean(span.text)
    if span.style == "cite":
        return Markup('<sup><a href="#source-{0}" aria-label="Source {0}">[{0}]</a></sup>').format(text)
    if address := clean_url(span.url) if span.url else "":
        return Markup('<a href="{}" rel="noopener noreferrer nofollow">{}</a>').format(address, text)
    if span.style == "label":
        return Markup('<span class="path">{}</span>').format(text)
    tag = {"strong": "b", "code": "code", "emphasis": "em"}.get(span.style)
    return Markup(f"<{tag}>{text}</{tag}>") if tag else text


def _render_cell(cell: Cell) -> Markup:
    if isinstance(cell, Span) and cell.style == "strong":
        return Markup('<th scope="row">{}</th>').format(_clean(cell.text))
    numeric = isinstance(cell, str) and re.fullmatch(r"[+−-]?[\d.,]+(?: %)?", cell)
    inside = _render_span(cell) if isinstance(cell, Span | str) else _render_spans(cell)
    return Markup("<td{}>{}</td>").format(Markup(' class="n"') if numeric else "", inside)
