"""What was gathered leaves as Markdown, CSV and JSON, and nothing in it becomes markup or a formula."""

from __future__ import annotations

import csv
import io
import re

import pytest

from agent.export.collected import (
    COLUMNS,
    CollectionResult,
    build_collection_record,
    compare_with_targets,
    render_collection_csv,
    render_collection_markdown,
)
from agent.export.escaping import escape_csv_cell
from agent.types import Answer, Run, Sentence, Settings, Source, StatementCounts, Usage
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode, Post
from tests.records import fill

EVIL = '=HYPERLINK("http://evil.example","x") ![](http://evil.example/p.png) <script>alert(1)</script> [a](javascript:x)'
WRITTEN = "2026-11-12T09:14"
PROMISED = "run prompt status intent articles dropped digest navigation refused events usage targets"
OF_ITEM = (
    "url kind title content publish_date metadata author last_date posts also_at reason extracted_by trouble"
)
OF_NODE = "url parent depth action page_type reasoning confidence outcome"
RUN = fill(Run, id="r1", question="What # do _they_ say?", status="review", settings=Settings(flow="collect"))


def item(path: str, kind: str, title: str, **more: object) -> CollectedItem:
    return fill(CollectedItem, id=path, url=f"https://a.example/{path}", kind=kind, title=title, **more)


def given() -> CollectionResult:
    posts = [
        fill(Post, n=1, user="=cmd", date=WRITTEN, text="First\nline"),
        fill(Post, n=2, user="bo", text=EVIL, date=""),
    ]
    more = {"posts": posts, "publish_date": WRITTEN, "also_at": ["https://b.example/t"]}
    thread = item("t/1", "thread", "+1 for cheese", **more)
    story = item("s/2", "article", "A story", content=EVIL, author="Petter", publish_date="2026-11-02")
    source = fill(Source, n=1, url=thread.url, title=thread.title, quotes=["First"], fact_ids=["f1"])
    said = [fill(Sentence, text=EVIL, fact_ids=["f1"], backed=True), fill(Sentence, text="Unbacked.")]
    counts = StatementCounts(backed=1, unsupported=1)
    gone = {"outcome": "not_found", "detail": "There is no such page (404)."}
    return CollectionResult(
        run=RUN,
        intent=CollectIntent(topic="cheese"),
        items=[thread, story],
        dropped=[item("old", "article", "Old", status="dropped", reason="Dated 2019: older.")],
        tree=[fill(CrawlNode, id="a", url="https://a.example/", **gone)],
        answer=fill(Answer, n=1, verdict="answered", sentences=said, sources=[source], statements=counts),
        usage=Usage(llm_calls=7, cost_usd=None),
        refusals=[],
        events=[],
    )


def test_the_table_has_a_row_for_each_article_and_post() -> None:
    rows = list(csv.reader(io.StringIO(render_collection_csv(given()), newline="")))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 4
    first = [
        "thread",
        "'+1 for cheese",
        "https://a.example/t/1",
        "1",
        "post",
        "'=cmd",
        WRITTEN,
        "First\nline",
    ]
    assert rows[1] == [*first, "https://b.example/t"]
    assert rows[3][:2] == ["article", "A story"] and rows[3][5] == "Petter"


@pytest.mark.parametrize("text", ["plain", "– stirring –", "2.00 or I sell.", ""])
def test_harmless_cells_stay_as_they_are(text: str) -> None:
    assert escape_csv_cell(text) == text


def test_markdown_holds_everything_and_nothing_of_it_is_markup() -> None:
    told = render_collection_markdown(given())
    assert not re.search(r"(?<!\\)!\[|(?<!\\)<script|(?<!\\)\]\(javascript", told)
    parts = ["1 of 2 supported", "*(not supported)*", "### 1\n\n**\\+1 for cheese**", "2 posts", "**bo**"]
    assert [one for one in (*parts, "Also at:", "Left out", "older", "404") if one not in told] == []


def test_the_object_has_what_is_promised() -> None:
    told = build_collection_record(given())
    assert set(told) == set(PROMISED.split())
    thread, article = told["articles"]
    assert set(thread) == set(OF_ITEM.split()) and set(told["navigation"][0]) >= set(OF_NODE.split())
    assert thread["metadata"] == {"post_count": 2} and article["metadata"] == {"author": "Petter"}
    post = {"n": 1, "role": "post", "user": "=cmd", "date": WRITTEN, "text": "First\nline", "verbatim": False}
    assert thread["posts"][0] == post


def test_the_targets_of_the_seed() -> None:
    told = compare_with_targets(Usage(llm_calls=15, seconds=59.0, cost_usd=0.2))
    assert [(one["below"], one["met"]) for one in told] == [(15, False), (60.0, True), (0.15, False)]
    assert compare_with_targets(Usage(cost_usd=None))[2]["met"] is None


def test_a_run_without_a_digest_yet() -> None:
    empty = CollectionResult(RUN, CollectIntent(), [], [], [], None, Usage(), [], [])
    assert "not come to its digest" in render_collection_markdown(empty)
    assert build_collection_record(empty)["digest"] is None
    assert render_collection_csv(empty).count("\n") == 1
