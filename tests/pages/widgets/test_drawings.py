"""The drawings as functions: what stands in them, and that what came from outside is escaped."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from agent.actions import page_input
from agent.engine.run_state import RunState
from agent.types import (
    Action,
    Answer,
    Fact,
    Outcome,
    Page,
    PageRef,
    Publication,
    Sentence,
    Source,
    StatementCounts,
)
from pages.widgets.evidence import page_text, unreadable_pages
from pages.widgets.run import answer_card, export_menu, page_graph
from pages.widgets.shell import labels
from tests.records import fill
from tests.tables import by_table

EVIL = "<img src=x> ![a](http://x/)"


def _fact(**more):
    fields = {
        "id": "f1",
        "statement": EVIL,
        "quote": "the old mill",
        "page_id": "p",
        "url": "https://a.example/x",
    }
    return Fact(**{**fields, "start": 4, "end": 16, "verified": True, **more})


def test_a_source_that_is_a_paper_says_which():
    work = Publication(
        doi="10.5555/x", authors=["<i>Ana</i> Field"], journal="Waders", year=2021, licence="cc-by"
    )
    source = fill(
        Source,
        n=1,
        url="https://doi.org/10.5555/x",
        title="Diets",
        quotes=["Herons eat fish."],
        publication=work,
    )
    said = [Sentence(text="Herons eat fish.", fact_ids=["f1"], backed=True)]
    source.fact_ids.append("f1")
    drawn = answer_card.render(Answer(n=1, verdict="answered", sentences=said, sources=[source]), "r")
    assert "&lt;i&gt;Ana&lt;/i&gt; Field; Waders, 2021; DOI 10.5555/x; licence: cc-by" in drawn


def test_an_answer_shows_each_quote_at_its_sentence_and_what_is_not_backed():
    given = Answer(
        n=1,
        verdict="partial",
        statements=StatementCounts(backed=1, unsupported=1, dropped=2),
        confidence=0.5,
        missing=EVIL,
        sentences=[Sentence(text=EVIL, fact_ids=["f1"], backed=True), Sentence(text="Loose.", backed=False)],
        sources=[
            fill(
                Source,
                n=1,
                url="https://a.example/x",
                title=EVIL,
                quotes=["the old mill"],
                fact_ids=["f1"],
                page_id="p",
            )
        ],
    )
    drawn = answer_card.render(given, "r")
    assert "<img" not in drawn and "the old mill" in drawn
    assert (
        "1 of 2 supported" in drawn
        and "not supported" in drawn
        and "2 citations of unusable facts were dropped" in drawn
    )
    assert drawn.count('class="cite"') == 1 and 'href="page?run=r&amp;id=p&amp;fact=f1"' in drawn
    refused = Answer(n=1, verdict="no_evidence", certainty="No answer is given.", reason="not_covered")
    drawn = answer_card.render(refused, "r")
    assert '<div class="answer">No answer is given.</div>' in drawn and "No claims" not in drawn


def test_a_stored_page_marks_quotes_and_nothing_else():
    text = "See the old mill & <b>the barn</b> there."
    page_facts = [
        _fact(),
        _fact(id="f2", start=12, end=30),
        _fact(id="f3", start=-1, end=-1),
        _fact(id="f4", start=19, end=29),
    ]
    drawn = page_text.render_marked(text, page_facts, chosen="f4")
    assert '<mark>the old mill</mark> &amp; <mark class="chosen">&lt;b&gt;the bar</mark>n&lt;/b&gt;' in drawn
    assert page_text.find_quote_spans(text, page_facts) == [(4, 16, "f1"), (19, 29, "f4")]
    joined = _fact(id="f5", start=4, end=24, spans=[(4, 11), (19, 24)])
    assert page_text.find_quote_spans(text, [joined]) == [(4, 11, "f5"), (19, 24, "f5")]
    drawn = page_text.render_quote_in_context(text, joined, [joined])
    assert drawn.count('<mark class="chosen">') == 2 and "mill &amp;" in drawn
    assert "not found in the stored text" in page_text.render_quote_in_context(
        text, page_facts[2], page_facts
    )
    assert page_text.render_kept_facts(page_facts, "r", "f1", page_text.split_windows(text)).count(
        "<li"
    ) == len(page_facts)
    assert "SHA-256" in page_text.render_metadata(
        Page(
            url="https://a.example/",
            final_url="https://a.example/",
            outcome=Outcome.OK,
            text="x",
            sha256="a" * 64,
        )
    )


def test_the_map_has_a_node_for_every_look_and_a_shape_for_every_state():
    state = RunState(
        question="Q {a|b}?",
        actions=[fill(Action, step=1, action="search_duckduckgo", query_or_url="q", hits=2)],
        pages={
            u: fill(
                PageRef,
                url=u,
                step=n,
                found_on="search: q",
                outcome=o,
                facts=f,
                page_id="p" if o == "ok" else "",
            )
            for n, (u, o, f) in enumerate(
                [
                    ("https://a/", Outcome.OK, 1),
                    ("https://b/", Outcome.OK, 0),
                    ("https://c/", Outcome.BLOCKED, 0),
                ],
                2,
            )
        },
    )
    names, spec = page_graph.build_chart(state, dark=False)
    assert names == ["question", "search: q", "https://a/", "https://b/", "https://c/"]
    assert [node["category"] for node in spec["series"][0]["data"]] == [0, 1, 2, 3, 4]
    assert len(spec["series"][0]["links"]) == 4
    assert "{" not in spec["series"][0]["data"][0]["value"]
    json.dumps(spec)
    drawn = page_graph.render_page(
        fill(PageRef, url="javascript:alert(1)", title=EVIL, detail=EVIL, outcome=Outcome.BLOCKED), "r"
    )
    assert "<img" not in drawn and "javascript:" not in drawn.replace("<span>javascript:alert(1)</span>", "")


def test_what_could_not_be_read_is_counted_and_told():
    state = RunState(
        actions=[
            fill(
                Action,
                step=1,
                action="search_google",
                query_or_url=EVIL,
                outcome=Outcome.RATE_LIMITED,
                detail="Wait.",
            )
        ],
        pages={"https://c/": fill(PageRef, url="https://c/", outcome=Outcome.BLOCKED, detail=EVIL)},
        refusals=[{"what": EVIL, "why": "unknown address"}],  # type: ignore[list-item]
    )
    drawn = "".join(
        map(unreadable_pages.render_row, page_input.list_failed_requests(state))
    ) + unreadable_pages.render_refusals(state.refusals)
    assert "Wait a minute, then try again." in drawn and "Open it in your browser" in drawn
    assert (
        unreadable_pages.count_failed_requests(state) == 2
        and "asked us to slow down" in drawn
        and "blocked us" in drawn
        and "unknown address" in drawn
    )
    assert "<img" not in drawn


@by_table
def test_file_names_are_harmless(question, name):
    assert export_menu.make_file_name(question) == name


def test_figures_are_said_as_people_say_them():
    assert [labels.format_percent(0.624), labels.format_percent(None)] == ["62 %", "–"]
    assert [labels.format_duration(s) for s in (0.84, 42.2, 185)] == ["0.8 s", "42 s", "3 min 05 s"]
    assert [labels.format_money(c) for c in (None, 0, 0.0123, 1.5)] == ["unknown", "$0", "$0.0123", "$1.50"]
    assert labels.format_tokens(12_345) == "12.3 k"
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert [
        labels.format_age(t, now)
        for t in (
            "2026-11-21T11:59:30Z",
            "2026-11-21T11:30:00Z",
            "2026-11-21T09:00:00Z",
            "2026-11-18T09:00:00Z",
            "",
        )
    ] == [
        "just now",
        "30 min ago",
        "3 h ago",
        "3 days ago",
        "",
    ]
    assert set(labels.OUTCOME) == set(Outcome)
    assert [labels.describe_world(name) for name in ("live", "demo", "some/where/pages")] == [
        "live",
        "demo world",
        "folder pages",
    ]
