"""The facts and the pages of a run as CSV tables (RFC 4180): one table of column names and getters for each.

Quotes around every cell keep a spreadsheet that splits at semicolons from finding a formula inside a text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from agent.export.escaping import escape_csv_cell
from agent.export.report import Report
from agent.text.urls import site
from agent.types import Fact, Page, PageRef
from agent.types.facts import number_step

_FACTS: dict[str, Callable[[Fact], object]] = {
    **{name: attrgetter(name) for name in ("id", "statement", "quote", "title", "url")},
    "site": lambda fact: site(fact.url),
    "cited as": lambda fact: "",
    "verified": lambda fact: "yes" if fact.verified else "no",
    "disputed": lambda fact: "yes" if fact.disputed else "no",
    "order to machines": lambda fact: fact.flagged,
    **{name: attrgetter(name) for name in ("decision", "origin", "subject", "attribute")},
    "trust": lambda fact: f"{fact.trust:.2f}",
    "relevance": lambda fact: f"{fact.relevance:.2f}",
    **{name: attrgetter(f"{name}_at") for name in ("published", "fetched")},
    "step": lambda _: "",
    "by": attrgetter("by"),
    "page": attrgetter("page_id"),
    "start": lambda fact: max(fact.start, 0) if fact.verified else "",
    "end": lambda fact: max(fact.end, 0) if fact.verified else "",
    **{name: attrgetter(name) for name in ("sha256", "former")},
    "refused": attrgetter("refused_statement"),
    "struck with": attrgetter("struck_with"),
    "page came": lambda fact: fact.given if fact.page_id else "",
}
_PAGES: dict[str, Callable[[PageRef, Page | None], object]] = {
    "url": lambda ref, _: ref.url,
    "final url": lambda ref, _: ref.final_url,
    "title": lambda ref, page: ref.title or (page.title if page else ""),
    "site": lambda ref, _: site(ref.final_url or ref.url),
    "outcome": lambda ref, _: ref.outcome,
    "detail": lambda ref, _: ref.detail,
    "found on": lambda ref, _: ref.found_on,
    "step": lambda *_: "",
    "facts": lambda ref, _: ref.facts,
    "cited as": lambda *_: "",
    "author": lambda _, page: page.author if page else "",
    "published": lambda _, page: page.published_at if page else "",
    "fetched": lambda _, page: page.fetched_at if page else "",
    "content type": lambda _, page: page.content_type if page else "",
    "language": lambda _, page: page.language if page else "",
    "characters": lambda _, page: len(page.text) if page else "",
    "page": lambda ref, _: ref.page_id,
    "sha256": lambda _, page: page.sha256 if page else "",
    "page came": lambda ref, _: ref.origin if ref.page_id else "",
}
FACT_COLUMNS, PAGE_COLUMNS = tuple(_FACTS), tuple(_PAGES)


def render_facts_csv(report: Report) -> str:
    """The facts, one a row, in the order they were found. `cited as` is the number of the source that cites
    it, `step` that of the journey's card."""
    sources = report.answer.sources if report.answer else ()
    numbers = {fact_id: source.n for source in sources for fact_id in source.fact_ids}
    rows = (
        {name: get(fact) for name, get in _FACTS.items()}
        | {"cited as": numbers.get(fact.id, ""), "step": number_step(report.actions, fact.step)}
        for fact in report.facts
    )
    return write_csv(FACT_COLUMNS, (list(row.values()) for row in rows))


def render_pages_csv(report: Report) -> str:
    """The pages, one a row, unavailable ones too, with what `report.stored_pages` has of them."""
    numbers: dict[str, int] = {}
    for source in report.answer.sources if report.answer else ():
        numbers |= {name: source.n for name in (source.url, source.page_id) if name}
    rows = []
    for ref in report.all_pages:
        page = report.stored_pages.get(ref.page_id)
        names = (name for name in (ref.page_id, ref.final_url, ref.url) if name in numbers)
        row = {name: get(ref, page) for name, get in _PAGES.items()}
        row |= {"cited as": next((numbers[name] for name in names), "")}
        rows.append(list((row | {"step": number_step(report.actions, ref.step)}).values()))
    return write_csv(PAGE_COLUMNS, rows)


def write_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([escape_csv_cell(name) for name in head])
    writer.writerows([escape_csv_cell(str(value)) for value in row] for row in rows)
    return out.getvalue()
