"""Reports for the tests of the exports: titles and texts as strangers write them, good and evil."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import Any

from agent.export.report import Report
from agent.types import (
    Action,
    Answer,
    ConfidenceChange,
    Conflict,
    ConflictSide,
    Fact,
    Note,
    Outcome,
    Page,
    PageRef,
    Run,
    Sentence,
    Settings,
    Source,
    StatementCounts,
    Status,
    Usage,
)
from agent.types.facts import Confidence
from tests.records import fill

TITLES = [
    "Größe & Maß: „Äpfel“ zu 100 %",
    "東京の人口、そして水",
    "He said \"no\", 'twice', and ``left''",
    "{unbalanced and C:\\temp\\",
    "} the other { way }}",
    "a, b; c | d = e # f $5 _x_ ~y^2 <b>bold</b> &amp; 50%",
    "line one\nline two\r\nline three",
    "=cmd()|'/C calc'!A0",
    "@online{fake, title = {x}}",
    "ER  - \nTY  - BOOK",
    "-- two dashes --- three, and ,, commas",
    "",
]
EVIL = (
    "</style><script>alert(1)</script><img src=http://evil.example/p onerror=alert(2)> ]]> \u202egnp.exe \x00\x1b[31m {{ 7*7 }} "
    '<a href="javascript:x">y</a>'
)


def make_report(run: Run, **given: Any) -> Report:
    """A report of a run that holds nothing but what is given."""
    empty: dict[str, Any] = dict.fromkeys((one.name for one in fields(Report)), ())
    empty |= {"run": run, "answer": None, "checked": None, "usage": Usage(), "stored_pages": {}}
    return Report(**empty | given)


def one_line(text: str) -> str:
    """How a title reads in one line."""
    return " ".join(text.split())


def stored(n: int, title: str, text: str) -> Page:
    """A stored page."""
    url = f"https://site{n}.example/a_b/{n}?q=ä&x=1"
    return Page(
        url=url,
        final_url=url,
        outcome=Outcome.OK,
        title=title,
        author="Åsa Öberg, B. Lee",
        published_at="2025-03-09",
        language="en",
        text=text,
        fetched_at="2026-11-21T09:00:00Z",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def report(titles: list[str] = TITLES, evil: str = EVIL) -> Report:
    """A report whose sources have these titles, and `evil` wherever a stranger's text can stand."""
    pages = {
        f"p{n}": stored(n, title, f"Before it. The answer {n} is {n * 7} cows. After it.")
        for n, title in enumerate(titles, 1)
    }
    facts, sources, refs = [], [], []
    for n, (name, page) in enumerate(pages.items(), 1):
        start = page.text.index("The answer")
        quote = page.text[start : page.text.index(" After")]
        facts.append(
            Fact(
                id=f"f{n}",
                statement=f"=SUM(1) {evil}",
                quote=quote,
                page_id=name,
                url=page.url,
                title=page.title,
                start=start,
                end=start + len(quote),
                sha256=page.sha256,
                verified=True,
                subject="@cows",
                attribute="+number",
                step=n,
            )
        )
        sources.append(
            fill(
                Source,
                n=n,
                url=page.url,
                title=page.title,
                quotes=[quote],
                fact_ids=[f"f{n}"],
                page_id=name,
                sha256=page.sha256,
                fetched_at=page.fetched_at,
            )
        )
        refs.append(
            PageRef(url=page.url, page_id=name, title=page.title, facts=1, step=n, found_on="search: cows")
        )
    refs.append(
        fill(
            PageRef,
            url="https://gone.example/",
            outcome=Outcome.NOT_FOUND,
            detail=evil,
            found_on=refs[0].url if refs else "",
            step=99,
        )
    )
    sources.append(
        fill(
            Source, n=len(sources) + 1, url="javascript:alert(1)", title=evil, quotes=[evil], fact_ids=["fx"]
        )
    )
    answer = Answer(
        n=1,
        verdict="partial",
        confidence=0.5,
        certainty=evil,
        missing=evil,
        journey=evil,
        why_stopped=evil,
        sources=sources,
        sentences=[
            Sentence(text=f"There are cows. {evil}", fact_ids=["f1", "f2"], backed=True),
            Sentence(text=evil),
        ],
        statements=StatementCounts(backed=1, unsupported=1),
    )
    return make_report(
        run=fill(
            Run,
            id="0123456789ab",
            question=f"How many cows? {evil}",
            status=Status.REVIEW,
            settings=Settings(world="demo"),
            created_at="2026-11-21T09:00:00.000Z",
            updated_at="2026-11-21T09:01:00.000Z",
        ),
        answer=answer,
        facts=facts,
        pages=refs,
        stored_pages=pages,
        notes=[fill(Note, step=3, text=evil)],
        conflicts=[
            fill(
                Conflict,
                id="c1",
                subject=evil,
                kind="number",
                values=[ConflictSide(text=evil, fact_ids=["f1"], sites=["a.example"])],
            )
        ],
        confidence=[
            fill(Confidence, step=n, value=n / 10, moves=[ConfidenceChange(delta=0.1, reason=evil)])
            for n in range(1, 4)
        ],
        actions=[
            fill(Action, step=1, action="search_duckduckgo", query_or_url="cows"),
            fill(Action, step=2, action="crawl_url", query_or_url=refs[0].url),
        ],
    )
