"""The ledger's drawings without a screen: what the cells say, what was typed, what falls, what the journey
tells."""

from __future__ import annotations

from agent.actions.fact_edits import FactEdit
from agent.engine.run_state import RunState
from agent.types import Answer, Confidence, Fact, Run, Settings, Step, Usage
from agent.workbench import RunSnapshot
from pages.widgets.evidence import facts
from pages.widgets.run import timeline
from tests.records import fill


def fact(name: str = "f1", **more) -> Fact:
    told = {"statement": f"The mill {name} stands.", "quote": "The mill stands.", "page_id": "p"}
    return fill(Fact, id=name, **{"url": "https://www.a.example/x", "verified": True, **told, **more})


MINE = {"url": "", "page_id": "", "origin": "person", "verified": False, "decision": "pinned"}
OWN = fact("f9", statement="I know <b>it</b>.", **MINE)


def test_only_what_was_typed_becomes_an_edit():
    shown = [fact("a"), fact("b", decision="struck"), fact("c")]
    drafts = {
        "a": {"choose": True},
        "b": {"decision": "–", "statement": shown[1].statement},
        "c": {"statement": "New.", "quote": "Other.", "decision": "always used"},
    }
    assert facts.collect_edits([*shown, OWN], drafts) == [
        FactEdit("b", decision="none"),
        FactEdit("c", "New.", "Other.", "pinned"),
    ]
    view = RunSnapshot(fill(Run, settings=Settings()), RunState(question="q"), [], Usage(), 0, "")
    rows = facts.build_frame(view, [*shown, OWN], {})
    assert list(rows.columns) == list(facts.COLUMNS)
    assert list(rows["decision"]) == ["–", "excluded", "–", "always used"]
    assert list(rows["site"]) == ["a.example"] * 3 + ["you"] and list(rows["status"])[-1] == "own knowledge"
    rows = facts.build_frame(view, shown, drafts)
    assert list(rows["statement"])[-1] == "New." and list(rows["choose"]) == [True, False, False]


def test_a_draft_outlives_the_table_it_was_typed_into():
    shown, drafts = [fact("a"), fact("b"), fact("c")], {}
    facts.take_up(drafts, facts.Grid("one", "", shown, {}), {1: {"statement": "New."}, "2": {"choose": True}})
    again = facts.Grid("two", "", shown[:2], {"b": {"statement": "New."}})  # under a filter that hides c
    facts.take_up(drafts, again, {1: {"decision": "excluded"}})
    facts.take_up(drafts, again, {0: {"choose": True}, 1: {"decision": "excluded"}})
    assert facts.collect_edits(shown, drafts) == [FactEdit("b", "New.", None, "struck")]
    assert [name for name, cells in drafts.items() if cells.get("choose")] == ["a", "c"]


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
    state = RunState(confidence=points, answers=[Answer(n=2, verdict="answered", confidence=0.1)])
    view = RunSnapshot(fill(Run, settings=Settings(model="")), state, steps, Usage(), 3, "")
    look, card, written = timeline.build_cards(view)
    assert (card.title, card.level) == ("You struck 1 fact of a.example", 0.1)
    assert look.level == 0.4
    assert written.why == "After your edit: struck 1 fact."
    drawn = timeline.render_card(card, last=False)
    assert 'class="struck"' in drawn and "40 % → 10 %" in drawn
