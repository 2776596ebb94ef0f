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
from agent.types import Answer, Run, Sentence, Settings, Source, StatementCounts, Status, Usage
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode, Post
from tests.records import fill

EVIL = '=HYPERLINK("http://evil.example","x") ![](http://evil.example/p.png) <script>alert(1)</script> [a](javascript:x)'


def given() -> CollectionResult:
    posts = [
        Post(n=1, user="=cmd", date="2026-11-12T09:14", text="First\nline"),
        Post(n=2, user="bo", text=EVIL, date=""),
    ]
    items = [
        CollectedItem(
            id="i1",
            url="https://a.example/t/1",
            kind="thread",
            title="+1 for cheese",
            posts=posts,
            publish_date="2026-11-12T09:14",
            also_at=["https://b.example/t"],
            page_ids=[],
            trail=[],
            given=False,
            step=0,
        ),
        CollectedItem(
            id="i2",
            url="https://a.example/s/2",
            kind="article",
            title="A story",
            content=EVIL,
            author="Petter",
            publish_date="2026-11-02",
            page_ids=[],
            trail=[],
            given=False,
            step=0,
        ),
    ]
    source = fill(
        Source, n=1, url=items[0].url, title="+1 for cheese", quotes=["First"], fact_ids=["f1"], page_id="p"
    )
    answer = Answer(
        n=1,
        verdict="answered",
        sentences=[Sentence(text=EVIL, fact_ids=["f1"], backed=True), Sentence(text="Unbacked.")],
        sources=[source],
        statements=StatementCounts(backed=1, unsupported=1),
    )
    run = fill(
        Run,
        id="r1",
        question="What # do _they_ say?",
        status=Status.REVIEW,
        settings=Settings(flow="collect"),
    )
    tree = [
        CrawlNode(
            id="https://a.example",
            url="https://a.example/",
            outcome="not_found",
            detail="There is no such page (404).",
        )
    ]
    dropped = [
        CollectedItem(
            id="i3",
            url="https://a.example/old",
            kind="article",
            title="Old",
            status="dropped",
            reason="Dated 2019: older.",
            page_ids=[],
            trail=[],
            given=False,
            step=0,
        )
    ]
    return CollectionResult(
        run=run,
        intent=CollectIntent(topic="cheese"),
        items=items,
        dropped=dropped,
        tree=tree,
        answer=answer,
        usage=Usage(llm_calls=7, cost_usd=None),
        refusals=[],
        events=[],
    )


def test_the_table_has_a_row_for_each_article_and_post() -> None:
    rows = list(csv.reader(io.StringIO(render_collection_csv(given()), newline="")))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 4
    assert rows[1] == [
        "thread",
        "'+1 for cheese",
        "https://a.example/t/1",
        "1",
        "post",
        "'=cmd",
        "2026-11-12T09:14",
        "First\nline",
        "https://b.example/t",
    ]
    assert rows[3][:2] == ["article", "A story"] and rows[3][5] == "Petter"


@pytest.mark.parametrize("text", ["plain", "– stirring –", "2.00 or I sell.", ""])
def test_harmless_cells_stay_as_they_are(text: str) -> None:
    assert escape_csv_cell(text) == text


def test_markdown_holds_everything_and_nothing_of_it_is_markup() -> None:
    told = render_collection_markdown(given())
    assert not re.search(r"(?<!\\)!\[|(?<!\\)<script|(?<!\\)\]\(javascript", told)
    for part in (
        "1 of 2 supported",
        "*(not supported)*",
        "### 1\n\n**\\+1 for cheese**",
        "2 posts",
        "**bo**",
        "Also at:",
        "Left out",
        "older",
        "404",
    ):
        assert part in told, part


def test_the_object_has_what_is_promised() -> None:
    told = build_collection_record(given())
    assert set(told) == {
        "run",
        "prompt",
        "status",
        "intent",
        "articles",
        "dropped",
        "digest",
        "navigation",
        "refused",
        "events",
        "usage",
        "targets",
    }
    thread, article = told["articles"]
    assert set(thread) == {
        "url",
        "kind",
        "title",
        "content",
        "publish_date",
        "metadata",
        "author",
        "last_date",
        "posts",
        "also_at",
        "reason",
        "extracted_by",
        "trouble",
    }
    assert thread["metadata"] == {"post_count": 2} and article["metadata"] == {"author": "Petter"}
    assert thread["posts"][0] == {
        "n": 1,
        "role": "post",
        "user": "=cmd",
        "date": "2026-11-12T09:14",
        "text": "First\nline",
        "verbatim": False,
    }
    assert set(told["navigation"][0]) >= {
        "url",
        "parent",
        "depth",
        "action",
        "page_type",
        "reasoning",
        "confidence",
        "outcome",
    }


def test_the_targets_of_the_seed() -> None:
    met = {
        target["name"]: (target["below"], target["met"])
        for target in compare_with_targets(Usage(llm_calls=15, seconds=59.0, cost_usd=0.2))
    }
    assert met == {"model calls": (15, False), "seconds": (60.0, True), "US dollars": (0.15, False)}
    assert compare_with_targets(Usage(cost_usd=None))[2]["met"] is None


def test_a_run_without_a_digest_yet() -> None:
    plain = given()
    empty = CollectionResult(plain.run, CollectIntent(), [], [], [], None, Usage(), [], [])
    assert (
        "not come to its digest" in render_collection_markdown(empty)
        and build_collection_record(empty)["digest"] is None
        and render_collection_csv(empty).count("\n") == 1
    )
