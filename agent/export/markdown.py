"""Blocks as one Markdown document that opens in GitHub and Obsidian. Everything a page or model wrote is
escaped.

A source's heading is its number alone, because "#1" is then the same link target in both. Nothing in the
document loads anything from outside."""

from __future__ import annotations

from collections.abc import Iterable

from agent.export.blocks import Block, Bullets, Chart, Heading, Inline, Paragraph, Span, Table
from agent.export.document import build_document, build_paper
from agent.export.escaping import (
    clean_url,
    escape_inline,
    render_blockquote,
    render_code,
    render_link,
)
from agent.export.report import Report


def render_markdown(report: Report) -> str:
    """The answer of a run as Markdown to paste: text, numbered references, nothing of how it was made."""
    return render_blocks(build_paper(report, linked=False))


def render_evidence_markdown(report: Report) -> str:
    """The whole report of a run as Markdown, with its facts, journey and checks."""
    return render_blocks(build_document(report))


def render_blocks(blocks: Iterable[Block]) -> str:
    """Any blocks as Markdown."""
    return "\n\n".join(text for text in map(_render_block, blocks) if text) + "\n"


def _render_block(block: Block) -> str:
    match block:
        case Heading(level, text, source):
            marks, line = "#" * level, escape_inline(text)
            return f"{marks} {source}\n\n**{line}**" if source else f"{marks} {line}"
        case Paragraph([str(quote)], "quote"):
            return render_blockquote(quote)
        case Paragraph(spans, style):
            text = _render_spans(spans)
            return f"**{text}**" if text and style == "band" else text
        case Bullets(items, numbers):
            signs = [f"- [{n}]" for n in numbers] or ["-"] * len(items)  # viewers count "3." anew
            lines = [
                [f"{mark} {_render_spans(said)}", *(f"    - {escape_inline(s)}" for s in sub)]
                for mark, (said, sub) in zip(signs, items, strict=True)
            ]
            return "\n".join(line for item in lines for line in item)
        case Table(heads, rows, caption):
            lines = [
                [escape_inline(head) for head in heads],
                ["---"] * len(heads),
            ]
            for row in rows:  # a dash for an empty cell, so that every viewer keeps the row's shape
                cells = ([cell] if isinstance(cell, Span | str) else cell for cell in row)
                lines.append([_render_spans(cell) or "–" for cell in cells])
            title = f"*{escape_inline(caption)}*\n\n" if caption else ""
            return title + "\n".join(f"| {' | '.join(line)} |" for line in lines)
        case Chart():
            return ""


def _render_spans(spans: Inline) -> str:
    return "".join(map(_render_span, spans)).strip()


def _render_span(span: Span | str) -> str:
    if isinstance(span, str):  # spans follow each other: a space at either end stays
        words = escape_inline(span)
        return f"{' ' if span[:1].isspace() else ''}{words}{' ' if words and span[-1:].isspace() else ''}"
    words = escape_inline(span.text)
    match span.style:
        case "cite":
            return f"[\\[{span.text}\\]](#{span.text})"
        case "ref":
            return f"[{span.text}]"
        case "code":
            return render_code(span.text)
        case "strong" | "label" if words:
            return f"**{words}{':' * (span.style == 'label')}**"
        case "emphasis" if words:
            return f"*{words}*"
    if span.text == span.url and clean_url(span.url):
        return f"<{clean_url(span.url)}>"
    return render_link(span.text, span.url) if span.url else words
