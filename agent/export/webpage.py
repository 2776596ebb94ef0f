"""A run as one HTML file that opens offline. It loads nothing and runs nothing: its policy forbids both,
whatever a page or model wrote.

All texts are escaped by the template engine; characters that reorder text are taken out; links lead to
http(s) addresses only."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from agent.export.escaping import clean_url, strip_invisible
from agent.export.markdown import ACTION_LABELS, DEMO_WORLD_NOTE, describe_backing, explain_confidence
from agent.export.report import Report, citation_numbers
from agent.types import PAGE_ORIGIN_LABELS, Fact, Source

HERE = Path(__file__).parent
_EMPTY_LINES = re.compile(r"\n\s*\n")
CONTEXT_CHARS = 160
"""Characters of the page shown before and after a quote."""


def render_html(report: Report) -> str:
    """The file's text. Quotes of pages in `report.stored` are shown among the words around them."""
    answer = report.answer
    dots, said = _curve_points(report), answer.sentences if answer else []
    style = (HERE / "webpage.css").read_text(encoding="utf-8")
    text: str = _load_template().render(
        run=report.run,
        answer=answer,
        invented=DEMO_WORLD_NOTE if report.settings.world == "demo" else "",
        style=Markup(style),
        policy=content_security_policy(style),
        backing=describe_backing(answer.statements) if answer else "",
        sentences=[(s, citation_numbers(s, answer), report.describe_missing_support(s)) for s in said]
        if answer
        else [],
        remarks=answer.side_notes if answer else [],
        conflicts=report.conflicts,
        sources=[(source, _quotes_in_context(source, report)) for source in answer.sources] if answer else [],
        made_of=explain_confidence(report.confidence[-1]) if report.confidence else "",
        threshold=report.settings.threshold,
        confidence=report.confidence,
        curve=" ".join(f"{x},{y}" for x, y in dots),
        dots=dots,
        goal=_curve_y(report.settings.threshold),
        actions=report.actions,
        named=ACTION_LABELS,
        facts=report.facts,
        unread=report.unread_pages,
        notes=report.notes,
        edits=report.edits,
        touched=report.edited_facts,
    )
    return text


def content_security_policy(style: str) -> str:
    """What the file may do: show itself, in this one style. No script, no picture, no frame, no form, nothing
    from anywhere."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@lru_cache(maxsize=1)
def _load_template() -> Any:
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_finalize,
    )
    made.filters |= {
        "address": clean_url,
        "spaced": lambda text: str(text).replace("_", " "),
        "marks": _describe_marks,
        "given": PAGE_ORIGIN_LABELS.__getitem__,
    }
    return made.get_template("webpage.html")


def _finalize(value: Any) -> Any:
    return strip_invisible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _quotes_in_context(source: Source, report: Report) -> list[tuple[str, str, str]]:
    """Each quote with what stands before and after it on the stored page."""
    facts = {fact.id: fact for fact in report.facts}
    found = []
    for n, quote in enumerate(source.quotes):
        fact = facts.get(source.fact_ids[n]) if n < len(source.fact_ids) else None
        page = report.stored_pages.get(fact.page_id) if fact else None
        if fact and page and fact.verified and page.text[fact.start : fact.end] == quote:
            before, after = (
                page.text[max(0, fact.start - CONTEXT_CHARS) : fact.start],
                page.text[fact.end : fact.end + CONTEXT_CHARS],
            )
            before = f"… {before.partition(' ')[2]}" if fact.start > CONTEXT_CHARS else before
            after = f"{after.rpartition(' ')[0]} …" if fact.end + CONTEXT_CHARS < len(page.text) else after
            found.append((_drop_empty_lines(before), quote, _drop_empty_lines(after)))
        else:
            found.append(("", quote, ""))
    return found


def _drop_empty_lines(text: str) -> str:
    """The text without its empty lines."""
    return _EMPTY_LINES.sub("\n", text)


def _curve_points(report: Report) -> list[tuple[float, float]]:
    """The confidence after each step as points of the drawing."""
    levels = list(report.confidence)
    wide = max(1, len(levels) - 1)
    return [(round(45 + 580 * n / wide, 1), _curve_y(level.value)) for n, level in enumerate(levels)]


def _curve_y(value: float) -> float:
    return round(160 - 150 * min(1.0, max(0.0, value)), 1)


def _describe_marks(fact: Fact) -> str:
    told = [
        "verified" if fact.verified else "not verified",
        "disputed" if fact.disputed else "",
        fact.decision if fact.decision != "none" else "",
    ]
    told.append(PAGE_ORIGIN_LABELS[fact.given])
    return ", ".join(
        mark
        for mark in (*told, "" if fact.origin == "page" else f"from: {fact.origin}".replace("_", " "))
        if mark
    )
