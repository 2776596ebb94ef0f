"""The facts and the pages of a run as CSV tables (RFC 4180). Every cell stands in quotes, and none is a
formula to a spreadsheet.

Quotes around every cell keep a spreadsheet that splits at semicolons from finding a formula inside a text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from agent.export.escaping import escape_csv_cell
from agent.export.report import Report
from agent.text.urls import site
from agent.types import Fact

FACT_COLUMNS = (
    "id",
    "statement",
    "quote",
    "title",
    "url",
    "site",
    "cited as",
    "verified",
    "disputed",
    "decision",
    "origin",
    "subject",
    "attribute",
    "trust",
    "relevance",
    "published",
    "fetched",
    "step",
    "by",
    "page",
    "start",
    "end",
    "sha256",
    "former",
    "struck with",
    "page came",
)
PAGE_COLUMNS = (
    "url",
    "final url",
    "title",
    "site",
    "outcome",
    "detail",
    "found on",
    "step",
    "facts",
    "cited as",
    "author",
    "published",
    "fetched",
    "content type",
    "language",
    "characters",
    "page",
    "sha256",
    "page came",
)


def render_facts_csv(report: Report) -> str:
    """The facts, one a row, in the order they were found. `cited as` holds the numbers of the answer's
    sources that cite it."""
    numbers = {
        fact_id: str(source.n)
        for source in (report.answer.sources if report.answer else ())
        for fact_id in source.fact_ids
    }
    return write_csv(FACT_COLUMNS, (_fact_row(fact, numbers.get(fact.id, "")) for fact in report.facts))


def render_pages_csv(report: Report) -> str:
    """The pages, one a row, those that could not be read too; what is stored of them stands in
    `report.stored`."""
    numbers: dict[str, str] = {}
    for source in report.answer.sources if report.answer else ():
        numbers |= {name: str(source.n) for name in (source.url, source.page_id) if name}
    rows = []
    for ref in report.all_pages:
        page = report.stored_pages.get(ref.page_id)
        cited = numbers.get(ref.page_id, "") or numbers.get(ref.final_url, "") or numbers.get(ref.url, "")
        told = (
            (
                page.author,
                page.published_at,
                page.fetched_at,
                page.content_type,
                page.language,
                len(page.text),
            )
            if page
            else ("",) * 6
        )
        rows.append(
            (
                ref.url,
                ref.final_url,
                ref.title or (page.title if page else ""),
                site(ref.final_url or ref.url),
                ref.outcome,
                ref.detail,
                ref.found_on,
                ref.step,
                ref.facts,
                cited,
                *told,
                ref.page_id,
                page.sha256 if page else "",
                ref.origin if ref.page_id else "",
            )
        )
    return write_csv(PAGE_COLUMNS, rows)


def _fact_row(fact: Fact, cited: str) -> tuple[object, ...]:
    return (
        fact.id,
        fact.statement,
        fact.quote,
        fact.title,
        fact.url,
        site(fact.url),
        cited,
        _yes_or_no(fact.verified),
        _yes_or_no(fact.disputed),
        fact.decision,
        fact.origin,
        fact.subject,
        fact.attribute,
        f"{fact.trust:.2f}",
        f"{fact.relevance:.2f}",
        fact.published_at,
        fact.fetched_at,
        fact.step,
        fact.by,
        fact.page_id,
        max(fact.start, 0) if fact.verified else "",
        max(fact.end, 0) if fact.verified else "",
        fact.sha256,
        fact.former,
        fact.struck_with,
        fact.given if fact.page_id else "",
    )


def _yes_or_no(mark: bool) -> str:
    return "yes" if mark else "no"


def write_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([escape_csv_cell(name) for name in head])
    writer.writerows([escape_csv_cell(str(value)) for value in row] for row in rows)
    return out.getvalue()
