"""The Markdown report, read by a CommonMark parser: everything is there, every citation leads to its source,
nothing loads."""

import re
from dataclasses import replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent.export.markdown import render_evidence_markdown
from agent.export.report import Report
from agent.types import (
    Action,
    Answer,
    Confidence,
    ConfidenceChange,
    Conflict,
    ConflictSide,
    Note,
    Outcome,
    PageRef,
    Refusal,
    Run,
    Sentence,
    Settings,
    Source,
    Stall,
    StatementCounts,
    Status,
    Usage,
)
from tests.records import fill
from tests.web.reports import make_report

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
EVIL = "x ![i](https://evil.example/i.png) <img src=y> [[note]] | # h\n\n---\n"
QUOTE = "The dairy was founded in 1921.\nYear | Cows | [[1921]] | ![c](https://evil.example/c.png)"


def report(**more: object) -> Report:
    settings = Settings(world="demo", allowed_domains=["a.example", "b|c.example"])
    sources = [
        fill(
            Source,
            n=1,
            url="https://a.example/p(1)",
            title=f"About | {EVIL}",
            quotes=[QUOTE, "A second quote."],
            fact_ids=["f1", "f3"],
            sha256="ab12",
            fetched_at="2026-11-21T09:00:00Z",
        ),
        fill(Source, n=2, url="javascript:alert(1)", quotes=[EVIL], fact_ids=["f2"]),
    ]
    answer = Answer(
        n=2,
        verdict="partial",
        reason="budget",
        confidence=0.76,
        certainty="Fairly sure.",
        missing=EVIL,
        journey=f"It began {EVIL}",
        sentences=[
            Sentence(text=f"It was founded in 1921 {EVIL}", fact_ids=["f1", "f2"], backed=True),
            Sentence(text="It is old.", fact_ids=[]),
        ],
        sources=sources,
        statements=StatementCounts(backed=9, unsupported=1, dropped=2),
    )
    given: dict[str, object] = {
        "run": fill(
            Run,
            id="r1",
            question=f"When? {EVIL}",
            status=Status.REVIEW,
            settings=settings,
            created_at="2026-11-21T09:00:00Z",
        ),
        "answer": answer,
        "former_answers": [Answer(n=1, verdict="no_evidence", reason="not_covered")],
        "conflicts": [
            fill(
                Conflict,
                id="c1",
                subject=EVIL,
                attribute="founded",
                kind="date",
                values=[
                    ConflictSide(text="1921", fact_ids=["f1"], sites=["a.example"]),
                    ConflictSide(text=EVIL, fact_ids=["f2"], sites=[]),
                ],
            ),
            fill(
                Conflict,
                id="c2",
                subject="Dairy",
                kind="number",
                status="settled",
                chosen="31",
                reason="the register",
            ),
        ],
        "confidence": [
            Confidence(
                step=1,
                value=0.76,
                moves=[ConfidenceChange(delta=0.76, reason="the first evidence")],
                model=0.9,
            ),
            fill(Confidence, step=2, value=0.76),
        ],
        "actions": [
            fill(Action, step=1, action="search_duckduckgo", query_or_url=EVIL, reasoning=EVIL, hits=3),
            fill(
                Action,
                step=2,
                action="crawl_url",
                query_or_url="https://a.example/p(1)",
                outcome=Outcome.BLOCKED,
                detail=EVIL,
            ),
        ],
        "pages": [
            fill(PageRef, url="https://a.example/p(1)"),
            fill(PageRef, url="https://b.example/|x", outcome=Outcome.BLOCKED, detail=f"robots {EVIL}"),
        ],
        "refusals": [Refusal(what="https://evil.example/ [[x]]", why="unknown address")],
        "blockages": [Stall(step=2, rung="reframe", reason=EVIL)],
        "notes": [fill(Note, step=2, text=EVIL)],
        "usage": Usage(llm_calls=0, cost_usd=None, seconds=1.5),
        **more,
    }
    return make_report(**given)


def tokens(text: str) -> list[Token]:
    return [t for block in PARSER.parse(text) for t in [block, *(block.children or [])]]


def headings(text: str) -> list[str]:
    parsed = PARSER.parse(text)
    return [parsed[i + 1].content for i, t in enumerate(parsed) if t.type == "heading_open"]


def test_every_part_is_there_in_order() -> None:
    parts = [h for h in headings(render_evidence_markdown(report())) if not h.startswith("When?")]
    assert parts == [
        "Answer",
        "Conflicts",
        "Sources",
        "1",
        "2",
        "Journey",
        "Confidence",
        "Unavailable sources",
        "Earlier answers",
        "Answer 1",
        "Settings and use",
    ]


def test_tables_keep_their_shape() -> None:
    for table in re.findall(r"(?:^\|.*\n?)+", render_evidence_markdown(report()), re.MULTILINE):
        rows = table.strip().split("\n")
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert [t.type for t in tokens(render_evidence_markdown(report()))].count("table_open") == 4


def test_a_source_has_quote_address_time_and_hash() -> None:
    text = render_evidence_markdown(report())
    source = text[text.index("### 1") : text.index("### 2")]
    assert (
        "<https://a.example/p%281%29>" in source
        and "Retrieved 2026-11-21T09:00:00Z" in source
        and "SHA-256 ab12" in source
    )
    assert [t.type for t in PARSER.parse(source)].count("blockquote_open") == 2
    assert "> The dairy was founded in 1921." in source


def test_figures_and_backing() -> None:
    text = render_evidence_markdown(report())
    assert "**Partly answered** (budget) · confidence 76 % · 1 of 2 supported; 1 not supported" in text
    assert "*(not supported)*" in text and "settled for “31” (the register)" in text
    assert "| cost in US dollars | unknown |" in text and "| world | demo |" in text


def test_a_run_without_an_answer_or_anything_else() -> None:
    text = render_evidence_markdown(
        make_report(run=fill(Run, id="r1", status=Status.RUNNING, settings=Settings()))
    )
    assert "There is no answer yet." in text and headings(text) == [
        "Untitled question",
        "Answer",
        "Settings and use",
    ]


def test_no_evidence_is_told() -> None:
    text = render_evidence_markdown(
        report(
            answer=Answer(n=1, verdict="no_evidence", reason="not_covered", certainty="Nothing was found.")
        )
    )
    assert (
        "**No evidence found** (not covered)" in text
        and "No statement could be backed" in text
        and "Nothing was found." in text
    )


def test_the_chosen_sources_stand_in_the_head():
    chosen = Settings(blocked_domains=["b.example"], since="2020-01-01", language="sv")
    full = report()
    told, plain = (replace(full, run=full.run.replace(settings=one)) for one in (chosen, Settings()))
    assert (
        "Sources: never b.example; published on or after 2020-01-01 (undated pages kept); in Swedish."
        in render_evidence_markdown(told).split("## Answer")[0]
    )
    assert "Sources:" not in render_evidence_markdown(plain).split("## Answer")[0]
