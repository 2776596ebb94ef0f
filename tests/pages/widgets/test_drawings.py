"""The drawings as functions: what stands in them, and that what came from outside is escaped."""

from __future__ import annotations

from datetime import UTC, datetime

from agent.actions import page_input
from agent.actions.sources import SourceDomain, StrikeImpact
from agent.engine.run_state import RunState
from agent.types import (
    Action,
    Answer,
    Conflict,
    ConflictSide,
    Fact,
    MarkedSentence,
    Outcome,
    Page,
    PageRef,
    Publication,
    Refusal,
    Run,
    Sentence,
    Settings,
    Source,
    Status,
    TextSentence,
    Usage,
)
from agent.workbench import RunSnapshot
from pages.widgets.check_text import marked_text
from pages.widgets.evidence import page_text, sources, unreadable_pages
from pages.widgets.run import answer_pane, export_menu, page_graph
from pages.widgets.shell import labels
from tests.records import fill
from tests.tables import by_table
from tests.web import block_answers

EVIL = "<img src=x> ![a](http://x/)"


URL = "https://a.example/x"


def _fact(**more):
    stands = {"url": URL, "page_id": "p", "start": 4, "end": 16, "verified": True}
    return fill(Fact, **{"id": "f1", "statement": EVIL, "quote": "the old mill", **stands, **more})


def _answer(text, **more):
    """An answer of one sentence that a quote of one source backs."""
    source = fill(Source, n=1, **{"url": URL, "fact_ids": ["f1"], "page_id": "p", **more})
    return fill(Answer, n=1, verdict="partial", sentences=[_said(text, "f1")], sources=[source])


def _said(text, *facts):
    return fill(Sentence, text=text, fact_ids=list(facts), backed=bool(facts))


def test_an_answer_is_a_way_to_its_evidence_and_shows_what_is_not_backed():
    given = fill(
        Answer,
        n=1,
        verdict="partial",
        sentences=[
            fill(Sentence, text=EVIL, fact_ids=["f1"], backed=True, check="quoted"),
            fill(Sentence, text="Loose.", check="not_supported"),
        ],
        sources=[
            fill(Source, n=1, url="https://a.example/x", title=EVIL, quotes=["the old mill"], fact_ids=["f1"])
        ],
    )
    drawn = answer_pane.render(given, "r")
    assert "<img" not in drawn and drawn.count('class="cite"') == 1 and 'data-see="r.a1.s1-1"' in drawn
    assert 'title="Quoted word for word">✓</span>' in drawn and drawn.count("<button") == 2
    assert 'data-see="r.a1.s2">✗ not in its sources</button>' in drawn
    refused = fill(Answer, n=1, verdict="no_evidence", certainty="No answer is given.", reason="not_covered")
    assert "<p>No answer is given.</p>" in answer_pane.render(refused, "r")


def test_what_is_opened_is_found_again_in_the_next_answer():
    said = [fill(Sentence, text=text) for text in ("Gone.", "Kept.")]
    answers = [fill(Answer, n=1, sentences=said), fill(Answer, n=2, sentences=said[1:])]
    run = fill(Run, id="r", question="q", settings=Settings(), status=Status.REVIEW)
    view = RunSnapshot(run, RunState(answers=answers), [], Usage(), 0, "")
    found = [answer_pane.find_sentence(f"r.a{see}", view) for see in ("1.s2-1", "1.s1", "2.s1-3", "2.s2")]
    assert found == [(answers[1], 1, 0), (answers[0], 1, 0), (answers[1], 1, 3), None]
    assert answer_pane.find_sentence("x.a1.s1", view) is None


def test_citations_stand_once_for_a_row_or_table_that_shares_them():
    given = block_answers.answer()
    cells = [said for said in given.sentences if said.context]
    drawn = answer_pane.render(given, "r")
    assert (
        "Source of each cell" in drawn
        and drawn.count('class="cite"') == len(given.sentences) - len(cells) + 1
    )
    cells[0].fact_ids = ["f1"]
    drawn = answer_pane.render(given, "r")
    rows = {said.row for said in cells}
    assert "Source of each cell" not in drawn, "one cell has another source"
    assert drawn.count('-2" aria-label') == len(rows) + 1, (
        "once for each other row, and beside it in the first"
    )


def test_a_name_from_a_bundle_opens_nothing_else():
    name = '"><img src=x onerror=y>'
    page = fill(PageRef, url=URL, step=1, outcome="ok", page_id=name, found_on=name)
    conflict = fill(Conflict, id=name, values=[fill(ConflictSide, text="1", fact_ids=["f1"])])
    said = fill(Sentence, text="Loose.", fact_ids=["f1"], check="quoted", disputed="They differ.")
    answers = [fill(Answer, n=n, verdict="partial", certainty=name * n, sentences=[said]) for n in (1, 2)]
    run = fill(Run, id=name, settings=Settings())
    view = RunSnapshot(run, RunState(pages={URL: page}), [], Usage(), 0, "")
    marked = fill(MarkedSentence, sentence=fill(TextSentence, id=name, kind="claim"), mark="supported")
    drawn = (
        page_graph.render(view)
        + answer_pane.render(answers[0], name, conflicts=[conflict])
        + answer_pane.render_changes(*answers)
        + marked_text.render([[marked]], name)
        + marked_text.render_evidence(marked)
    )
    assert drawn.count("&lt;img") > 5 and "<img" not in drawn and '"">' not in drawn


def test_headings_labels_and_captions_are_escaped():
    given = block_answers.answer(title=EVIL)
    given.blocks = [
        block.replace(text=EVIL, heads=[EVIL] * len(block.heads), row_labels=[EVIL] * len(block.row_labels))
        for block in given.blocks
    ]
    given.sentences = [sentence.replace(text=EVIL) for sentence in given.sentences]
    html = answer_pane.render(given, "r1")
    assert "<img" not in html and html.count("&lt;img src=x") > 10


def test_a_source_tells_its_trust_its_copies_and_each_work_once():
    work = fill(
        Publication, doi="10.5555/x", authors=["Ana Field"], journal="Waders", year=2021, licence="cc-by"
    )
    pages = [
        fill(
            PageRef,
            url=f"https://a.example/{n}",
            page_id=f"p{n}",
            title=EVIL,
            trust_why=[EVIL],
            publication=work,
        )
        for n in range(2)
    ]
    answer = Answer(n=1, verdict="answered", sources=[fill(Source, n=3, page_id="p1")])
    other = fill(PageRef, url="https://b.example/", page_id="p9", publication=work)
    state = RunState(answers=[answer], pages={page.url: page for page in [*pages, other]})
    view = RunSnapshot(fill(Run, settings=Settings(), status=Status.REVIEW), state, [], Usage(), 0, "")
    drawn = sources.render_site(SourceDomain("a.example", pages, [], ["c.example"]), view)
    assert "same text as c.example" in drawn and drawn.count("<li>") == 1 and 'title="Cited as 3"' in drawn
    assert "also at a.example, b.example" in drawn and "<img" not in drawn
    assert "the same work as" in sources.render_site(SourceDomain("b.example", [other]), view)
    lost = [fill(Sentence, text=f"Sentence <{n}>.") for n in range(6)]
    told = sources.render_strike_impact(
        StrikeImpact("a.example", [_fact()], lost, [fill(Sentence, text="kept")])
    )
    assert "loses 6 sentences, and 1 sentence one of its sources" in told and "and 2 more" in told
    assert "&lt;0&gt;" in told and "no sentence" in sources.render_strike_impact(
        StrikeImpact("a", [], [], [])
    )


def test_a_stored_page_marks_quotes_and_nothing_else():
    text = "See the old mill & <b>the barn</b> there."
    where = {"f2": (12, 30), "f3": (-1, -1), "f4": (19, 29)}
    facts = [_fact(), *(_fact(id=name, start=start, end=end) for name, (start, end) in where.items())]
    drawn = page_text.render_marked(text, facts, chosen="f4")
    assert '<mark>the old mill</mark> &amp; <mark class="chosen">&lt;b&gt;the bar</mark>n&lt;/b&gt;' in drawn
    assert page_text.find_quote_spans(text, facts) == [(4, 16, "f1"), (19, 29, "f4")]
    joined = _fact(id="f5", start=4, end=24, spans=[(4, 11), (19, 24)])
    assert page_text.find_quote_spans(text, [joined]) == [(4, 11, "f5"), (19, 24, "f5")]
    drawn = page_text.render_quote(text, joined)
    assert drawn.count("<mark>") == 2 and "mill &amp;" in drawn
    row = _fact(quote="1 | <b>", heading="Huts › Year | Beds")
    assert "<th>Year</th><th>Beds</th>" in page_text.render_quote(text, row)
    assert page_text.render_quote(text, facts[2]) == '<div class="quote">the old mill</div>'
    kept = page_text.render_kept_facts(facts, "r", "f1")
    assert kept.count("<li") == len(facts)
    read = fill(Page, url=URL, final_url=URL, outcome=Outcome.OK, text="x", sha256="a" * 64)
    assert "SHA-256" in page_text.render_metadata(read)


def test_the_graph_has_a_row_for_each_search_and_page_below_what_it_was_found_on():
    looks = [("https://a/", "ok"), ("https://b/", "ok"), ("https://c/", "blocked")]
    pages = [
        fill(
            PageRef,
            url=u,
            title=EVIL,
            step=n,
            found_on="search: q",
            outcome=o,
            page_id=u[8] * (o == "ok"),
        )
        for n, (u, o) in enumerate(looks, 3)
    ]
    pages[1].links = ["https://a/", "https://elsewhere/"]
    searches = [
        fill(Action, step=n, action="search_duckduckgo", query_or_url=q, hits=2)
        for n, q in ((1, "q"), (2, EVIL))
    ]
    answer = Answer(n=1, verdict="answered", sources=[fill(Source, n=7, page_id="a")])
    state = RunState(
        question="Q?", actions=searches, pages={page.url: page for page in pages}, answers=[answer]
    )
    state.facts = {name: _fact(id=name, page_id="a") for name in ("f1", "f2")}
    view = RunSnapshot(fill(Run, id="r", settings=Settings()), state, [], Usage(), 0, "")
    drawn = page_graph.render(view)
    places = [drawn.index(name) for name in ("“q”", "2 facts · a<", "<small>b<", "“&lt;img")]
    assert drawn.count("<li>") == 6 and places == sorted(places)
    assert (
        drawn.count('<path class=""') == 3
        and drawn.count('<path class="way"') == 2
        and drawn.count('<path class="link"') == 1
    )
    assert '<circle class="cited"' in drawn and '<b class="n">7</b>' in drawn and "blocked us" in drawn
    assert drawn.count('data-see="r.p-') == 2 and "<img" not in drawn


def test_what_could_not_be_read_is_counted_and_told():
    slow = {"outcome": Outcome.RATE_LIMITED, "detail": "Wait."}
    state = RunState(
        actions=[fill(Action, step=1, action="search_google", query_or_url=EVIL, **slow)],
        pages={"https://c/": fill(PageRef, url="https://c/", outcome=Outcome.BLOCKED, detail=EVIL)},
        refusals=[fill(Refusal, what=EVIL, why="unknown address")],
    )
    rows = map(unreadable_pages.render_row, page_input.list_failed_requests(state))
    drawn = "".join(rows) + unreadable_pages.render_refusals(state.refusals)
    told = (
        "Wait a minute, then try again.",
        "Open it in your browser",
        "asked us to slow down",
        "blocked us",
    )
    assert [words for words in (*told, "unknown address") if words not in drawn] == []
    assert "<img" not in drawn


@by_table
def test_file_names_are_harmless(question, name):
    assert export_menu.make_file_name(question) == name


def test_figures_are_said_as_people_say_them():
    assert [labels.format_percent(0.624), labels.format_percent(None)] == ["62 %", "–"]
    assert [labels.format_duration(s) for s in (0.84, 42.2, 185)] == ["0.8 s", "42 s", "3 min 05 s"]
    assert [labels.format_money(c) for c in (None, 0, 0.0123, 1.5)] == ["unknown", "$0", "$0.0123", "$1.50"]
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    ages = {"21T11:59:30Z": "just now", "21T11:30:00Z": "30 min ago", "21T09:00:00Z": "3 h ago"}
    for at, told in (ages | {"18T09:00:00Z": "3 days ago"}).items():
        assert labels.format_age(f"2026-11-{at}", now) == told
    assert labels.format_age("", now) == ""
    assert set(labels.OUTCOME) == set(Outcome)
    assert [labels.describe_world(name) for name in ("live", "demo", "some/where/pages")] == [
        "live",
        "demo world",
        "folder pages",
    ]
