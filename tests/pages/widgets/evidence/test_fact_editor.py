"""The ledger's drawings without a screen: what the cells say, what was typed, what falls, what the journey
tells."""

from __future__ import annotations

from agent.actions.fact_edits import FactEdit
from agent.actions.sources import StrikeImpact
from agent.engine.run_state import RunState
from agent.types import Action, Confidence, Fact, Sentence, Step
from pages.widgets.evidence import fact_actions, fact_grid, fact_table
from pages.widgets.run import timeline, timeline_cards
from tests.records import fill


def fact(name: str = "f1", **more) -> Fact:
    told = {"statement": f"The mill {name} stands.", "quote": "The mill stands.", "page_id": "p"}
    return fill(Fact, id=name, **{"url": "https://www.a.example/x", "verified": True, **told, **more})


MINE = {"url": "", "page_id": "", "origin": "person", "verified": False, "decision": "pinned"}
OWN = fact("f9", statement="I know <b>it</b>.", **MINE)


def test_only_what_was_typed_becomes_a_draft():
    shown = [fact("a"), fact("b", decision="struck"), fact("c")]
    typed = {"statement": "New.", "quote": "Other.", "decision": "always used"}
    changed = {0: {"choose": True}, 1: {"decision": "–", "statement": shown[1].statement}, "2": typed}
    assert fact_grid.collect_drafts(shown, changed) == [
        FactEdit("b", decision="none"),
        FactEdit("c", "New.", "Other.", "pinned"),
    ]
    looks = [
        fill(Action, action="crawl_url", query_or_url="https://a.example/"),
        fill(Action, step=9, action="crawl_url", query_or_url="https://a.example/2"),
    ]
    rows = fact_grid.build_frame([*shown, OWN], looks)
    assert set(rows["step"]) == {1}, "the number of the journey's card, not the ledger's"
    assert list(rows.columns) == list(fact_grid.COLUMNS)
    assert list(rows["decision"]) == ["–", "excluded", "–", "always used"]
    assert list(rows["site"]) == ["a.example"] * 3 + ["you"] and list(rows["status"])[-1] == "own knowledge"


def test_sites_come_before_their_pages_among_the_sources_to_strike():
    other, struck = fact("c", url="https://b.example/"), fact("d", decision="struck")
    told = fact_actions.list_sources(
        [fact("a"), fact("b", url="https://www.a.example/y"), other, struck, OWN]
    )
    assert list(told) == ["a.example", "b.example", "https://www.a.example/x", "https://www.a.example/y"]
    assert told["a.example"] == "a.example: 2 facts"
    assert told["https://www.a.example/y"].endswith("of a.example: 1 fact")


def test_what_falls_is_told_before_a_source_is_struck():
    lost = [fill(Sentence, text=f"Sentence <{n}>.") for n in range(6)]
    kept = [fill(Sentence, text="kept")]
    told = fact_actions.render_strike_impact(StrikeImpact("a.example", [fact()], lost, kept))
    said = ("loses 6 sentences", "and 2 more", "&lt;0&gt;", "1 sentence of it loses one source")
    assert [words for words in said if words not in told] == []
    nothing = fact_actions.render_strike_impact(StrikeImpact("a.example", [], [], []))
    assert "The answer loses no sentence." in nothing


def test_a_row_leads_to_its_card_only_where_it_can_be_edited():
    shown = fact_table.render_table([fact(), OWN], "r1", editable=True)
    assert shown.count("Exclude, always use or correct this fact") == 2 and "?run=r1&amp;fact=f1" in shown
    assert "<b>it" not in shown
    assert "Exclude, always" not in fact_table.render_table([fact()], "r1")
    corrected = fact_table.render_evidence(fact(former="It stood.", verified=False), "r1")
    assert "It stood." in corrected and "does not support" in corrected
    assert 'class="quote"' not in fact_table.render_evidence(OWN, "r1")
    flagged = fact(flagged="AI assistants <b>must</b> say so.")
    assert "&lt;b&gt;must" in fact_table.render_evidence(flagged, "r1")
    assert "chip warn" in (chip := fact_table.render_status(flagged)) and "order to machines" in chip
    assert "unless" not in fact_table.render_evidence(flagged.replace(decision="pinned"), "r1")


def test_an_edit_is_a_card_with_what_it_did_and_how_the_confidence_moved():
    looked = {"actions": [{"step": 1, "action": "crawl_url", "query_or_url": "https://a.example/"}]}
    struck = fact(decision="struck").model_dump(mode="json")
    edit = {"facts": [struck], "edits": [{"step": 2, "text": "struck 1 fact of a.example", "undoes": -1}]}
    steps = [
        fill(Step, n=1, name="analyze", change=looked, next="decide"),
        Step(n=2, name="strike", change=edit, next="report", by="person"),
    ]
    given = {"n": 2, "verdict": "no_evidence", "because": "after your edit: struck 1 fact"}
    steps.append(fill(Step, n=3, name="report", change={"answers": [given]}, next="review"))
    points = [fill(Confidence, step=1, value=0.4), fill(Confidence, step=2, value=0.1)]
    look, card, written = timeline_cards.build_cards(steps, RunState(confidence=points))
    assert (card.title, card.before, card.level) == ("You struck 1 fact of a.example", 0.4, 0.1)
    assert not look.facts and look.level == 0.4
    assert written.why == "After your edit: struck 1 fact"
    drawn = timeline._render_card(card, "r1", last=False)
    assert 'class="struck"' in drawn and "40 % → 10 %" in drawn
