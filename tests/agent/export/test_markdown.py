"""The Markdown report, read by a CommonMark parser: everything is there, every citation leads to its source."""

import re
from dataclasses import replace

from markdown_it import MarkdownIt

from agent.export.markdown import render_evidence_markdown, render_markdown
from agent.export.report import Report
from agent.types import Answer, Conflict, PageRef, Refusal, Run, Settings, Stall, Usage
from tests.records import fill
from tests.web import reports

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
EVIL = "x ![i](https://evil.example/i.png) <img src=y> [[note]] | # h\n\n---\n"
PARTS = "Answer,Conflicts,Sources,1,2,Facts,Journey,Confidence,Unavailable sources,Earlier answers,Answer 1"


def report(**more: object) -> Report:
    """A report with something in every part."""
    settled = {"status": "settled", "chosen": "31", "reason": "the register"}
    parts = {
        "conflicts": [fill(Conflict, id="c2", subject="Dairy", kind="number", **settled)],
        "former_answers": [fill(Answer, n=1, verdict="no_evidence", reason="not_covered")],
        "refusals": [fill(Refusal, what="https://evil.example/ [[x]]", why="unknown address")],
        "blockages": [fill(Stall, step=2, rung="reframe", reason=EVIL)],
        "usage": Usage(cost_usd=None),
    }
    return replace(reports.report([f"About | {EVIL}"], EVIL), **parts | more)  # type: ignore[arg-type]


def headings(text: str) -> list[str]:
    parsed = PARSER.parse(text)
    return [parsed[i + 1].content for i, t in enumerate(parsed) if t.type == "heading_open"]


def test_every_part_is_there_in_order_and_tables_keep_their_shape() -> None:
    text = render_evidence_markdown(report())
    assert headings(text)[1:] == [*PARTS.split(","), "Settings and use"]
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        rows = table.strip().split("\n")
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert [t.type for t in PARSER.parse(text)].count("table_open") == 5


def test_a_source_has_quote_address_time_and_hash() -> None:
    given = report()
    text = render_evidence_markdown(given)
    source = text[text.index("### 1") : text.index("### 2")]
    assert "<https://site1.example/a_b/1?q=%C3%A4&x=1>" in source and "> The answer 1 is 7 cows." in source
    assert "Retrieved 2026-11-21T09:00:00Z" in source and f"SHA-256 {given.facts[0].sha256}" in source


def test_figures_and_backing() -> None:
    text = render_evidence_markdown(report())
    assert "**Partly answered** · confidence 50 % · 1 of 2 supported; 1 not supported" in text
    assert "*(not supported)*" in text and "settled for “31” (the register)" in text
    assert "| cost in US dollars | unknown |" in text and "| world | demo |" in text


def test_a_run_without_an_answer_and_one_that_found_none() -> None:
    bare = reports.make_report(run=fill(Run, id="r1", status="running", settings=Settings()))
    text = render_evidence_markdown(bare)
    assert "There is no answer yet." in text
    assert headings(text) == ["Untitled question", "Answer", "Settings and use"]
    none = fill(Answer, n=1, verdict="no_evidence", reason="not_covered", certainty="Nothing was found.")
    text = render_evidence_markdown(report(answer=none))
    told = ("**No evidence found** (not covered)", "No statement could be backed", "Nothing was found.")
    assert all(words in text for words in told)


def test_the_chosen_sources_stand_in_the_head() -> None:
    chosen, full = Settings(blocked_domains=["b.example"], since="2020-01-01", language="sv"), report()
    told = render_evidence_markdown(replace(full, run=full.run.replace(settings=chosen))).split("## Answer")[
        0
    ]
    words = "never b.example; published on or after 2020-01-01 (undated pages kept); in Swedish."
    assert f"Sources: {words}" in told
    assert "Sources:" not in render_evidence_markdown(full).split("## Answer")[0]


def test_what_was_collected_is_listed_with_a_digest_and_without_one():
    gathered = [fill(PageRef, url=f"https://forum.example/{n}", title=f"Thread {n}") for n in (1, 2)]
    empty = Answer(n=1, verdict="passages_found", certainty="A digest needs a model.")
    digest = reports.report(["About"], "x").answer
    for answer in (empty, digest):
        drawn = render_markdown(replace(reports.report(["About"], "x"), answer=answer, gathered=gathered))
        assert "## Sources read" in drawn and drawn.count("*Thread ") == 2


def test_only_a_confidence_is_called_certainty_and_why_a_run_stopped_is_not_told():
    full = reports.report(["About"], "x")
    told = {"certainty": "People say so.", "remark": ""}
    opinion = full.answer.replace(confidence=None, **told)
    assert "**Note:** People say so." in render_markdown(replace(full, answer=opinion))
    drawn = render_markdown(replace(full, answer=opinion.replace(why_stopped="People say so.")))
    assert "People say so" not in drawn
    assert "**Certainty:** People say so." in render_markdown(
        replace(full, answer=opinion.replace(confidence=0.5))
    )
