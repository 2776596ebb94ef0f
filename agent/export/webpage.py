"""A run as one HTML file that opens offline. It loads nothing and runs nothing: its policy forbids both, whatever a page or model wrote.

All texts are escaped by the template engine; characters that reorder text are taken out; links lead to http(s) addresses only.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from agent.export.escaping import address, visible
from agent.export.markdown import ACTIONS, INVENTED, backing, made_of
from agent.export.report import Report, cited
from agent.types import GIVEN, Fact, Source

HERE = Path(__file__).parent
_GAP = re.compile(r"\n\s*\n")
AROUND = 160
"""Characters of the page shown before and after a quote."""


def webpage(report: Report) -> str:
    """The file's text. Quotes of pages in `report.stored` are shown among the words around them."""
    answer = report.answer
    dots, said = _dots(report), answer.sentences if answer else []
    style = (HERE / "webpage.css").read_text(encoding="utf-8")
    text: str = _template().render(
        run=report.run, answer=answer, invented=INVENTED if report.settings.world == "demo" else "", style=Markup(style), policy=policy(style),
        backing=backing(answer.statements) if answer else "", sentences=[(s, cited(s, answer), report.lacking(s)) for s in said] if answer else [],
        remarks=answer.remarks if answer else [],
        conflicts=report.conflicts, sources=[(source, _passages(source, report)) for source in answer.sources] if answer else [],
        made_of=made_of(report.confidence[-1]) if report.confidence else "", threshold=report.settings.threshold,
        confidence=report.confidence, curve=" ".join(f"{x},{y}" for x, y in dots), dots=dots, goal=_height(report.settings.threshold),
        actions=report.actions, named=ACTIONS, facts=report.facts, unread=report.unread, notes=report.notes,
        edits=report.edits, touched=report.touched,
    )  # fmt: skip
    return text


def policy(style: str) -> str:
    """What the file may do: show itself, in this one style. No script, no picture, no frame, no form, nothing from anywhere."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@lru_cache(maxsize=1)
def _template() -> Any:
    made = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_seen)
    made.filters |= {"address": address, "spaced": lambda text: str(text).replace("_", " "), "marks": _marks, "given": GIVEN.__getitem__}
    return made.get_template("webpage.html")


def _seen(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _passages(source: Source, report: Report) -> list[tuple[str, str, str]]:
    """Each quote with what stands before and after it on the stored page."""
    facts = {fact.id: fact for fact in report.facts}
    found = []
    for n, quote in enumerate(source.quotes):
        fact = facts.get(source.fact_ids[n]) if n < len(source.fact_ids) else None
        page = report.stored.get(fact.page_id) if fact else None
        if fact and page and fact.verified and page.text[fact.start : fact.end] == quote:
            before, after = page.text[max(0, fact.start - AROUND) : fact.start], page.text[fact.end : fact.end + AROUND]
            before = f"… {before.partition(' ')[2]}" if fact.start > AROUND else before
            after = f"{after.rpartition(' ')[0]} …" if fact.end + AROUND < len(page.text) else after
            found.append((_close(before), quote, _close(after)))
        else:
            found.append(("", quote, ""))
    return found


def _close(text: str) -> str:
    """The text without its empty lines."""
    return _GAP.sub("\n", text)


def _dots(report: Report) -> list[tuple[float, float]]:
    """The confidence after each step as points of the drawing."""
    levels = list(report.confidence)
    wide = max(1, len(levels) - 1)
    return [(round(45 + 580 * n / wide, 1), _height(level.value)) for n, level in enumerate(levels)]


def _height(value: float) -> float:
    return round(160 - 150 * min(1.0, max(0.0, value)), 1)


def _marks(fact: Fact) -> str:
    told = ["verified" if fact.verified else "not verified", "disputed" if fact.disputed else "", fact.decision if fact.decision != "none" else ""]
    told.append(GIVEN[fact.given])
    return ", ".join(mark for mark in (*told, "" if fact.origin == "page" else f"from: {fact.origin}".replace("_", " ")) if mark)
