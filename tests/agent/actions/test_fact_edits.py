"""A person's edits on a real run over the demo world, keyless: the answer follows, and every export holds
afterwards."""

from __future__ import annotations

import csv
import html
import io
import json

import pytest

from agent.actions import fact_edits, sources, undo_edits
from agent.actions.bundles import import_bundle, verify_bundle
from agent.actions.fact_edits import FactEdit
from agent.answering import fact_view
from agent.answering.fact_view import main_fact_status
from agent.errors import UsageError
from agent.text.urls import site
from agent.types import Status
from tests.web.demo_runs import Reviewed
from tests.web.notes import rule_out

pytestmark = pytest.mark.slow

EMPLOYED = "How many people does Älvmora Mejeri employ?"
FOUNDED = "In which year was Älvmora Mejeri founded?"


def test_marks_are_steps_and_the_answer_follows(bench):
    run = Reviewed(bench)
    first = run.cited[0]
    other = next(name for name, fact in run.state.facts.items() if name not in run.cited and fact.verified)
    run.act("mark", facts=[other], decision="pinned")
    state = run.rewrite()
    assert run.cited[0] == other and state.answer.n == 2
    run.act("mark", facts=[first], decision="struck")
    assert first not in (run.rewrite() and run.cited)
    run.act("mark", facts=[first], decision="none")
    run.act("mark", facts=[other], decision="none")
    state = run.rewrite()
    assert state.answer.because.startswith("after your edits: restored 1 fact")
    assert [step.name for step in run.view.steps if step.by == "person"][1:] == [
        "pin",
        "strike",
        "restore",
        "unpin",
    ]
    with pytest.raises(UsageError, match="at least one"):
        run.act("mark", facts=[], decision="struck")


def test_a_fact_from_a_page_is_looked_up_there(bench):
    run = Reviewed(bench, FOUNDED)
    known = run.state
    url = "https://www.alvmora-mejeri.example/"
    run.act(
        "add",
        statement="It makes five cheeses.",
        url="www.alvmora-mejeri.example",
        quote="Älvmora Mejeri makes five cheeses in Lövnäs",
    )
    state = run.rewrite()
    new = next(fact for name, fact in state.facts.items() if name not in known.facts)
    page = bench.page(new.page_id)
    assert new.verified
    assert new.by == "person"
    assert page.text[new.start : new.end] == new.quote
    assert new.url.rstrip("/") == url.rstrip("/")
    assert any(ref.page_id == new.page_id for ref in state.pages.values())
    for url, quote, told in [
        ("www.alvmora-mejeri.example", "It makes nine cheeses", "copy the exact words"),
        ("www.alvmora-mejeri.example", "", "needs its address and the words|needs both|needs"),
        ("not an address", "five cheeses here", "not a web address"),
        ("https://www.alvmora-mejeri.example/none-such", "five cheeses here", "could not be read"),
    ]:
        with pytest.raises(UsageError, match=told):
            run.act("add", statement="It makes nine cheeses.", url=url, quote=quote)
    assert run.view.head == len(run.view.steps) - 1
    assert run.view.run.status is Status.REVIEW


def test_a_quote_of_two_stretches_holds_in_every_export(bench):
    run = Reviewed(bench, FOUNDED)
    words = "Älvmora Mejeri makes five cheeses in Lövnäs ... In 2024 we took in 5,610 tonnes of milk"
    run.act("add", statement="The dairy makes five cheeses.", url="www.alvmora-mejeri.example", quote=words)
    fact = next(f for f in run.rewrite().facts.values() if len(f.spans) == 2)
    text = bench.page(fact.page_id).text
    assert fact.quote == words.replace("...", "…") == fact.read_quote(text)
    assert "roof" in text[fact.start : fact.end] and "roof" not in fact.quote
    found = verify_bundle(run.export("bundle"))
    assert found.is_valid, found.problems
    assert fact.quote in run.export("csv").decode()


def test_a_page_outside_the_allowed_domains_is_not_read_for_a_person_either(bench):
    run = Reviewed(bench, allowed_domains=["www.alvmora-mejeri.example"])
    with pytest.raises(UsageError, match="outside the domains chosen"):
        run.act("add", statement="x y", url="https://norrviddawiki.example/", quote="Älvmora Mejeri")


def test_a_struck_source_takes_its_sentences_along_and_undo_brings_them_back(bench):
    run = Reviewed(bench, FOUNDED)
    before = run.state
    wiki = next(site(fact.url) for fact in before.facts.values() if "norrviddawiki" in fact.url)
    fall = sources.preview_strike(run.state, wiki)
    assert fall.facts and fall.sentences + fall.weakened
    run.act("strike_source", source=wiki)
    state = run.rewrite()
    assert not any("norrviddawiki" in source.url for source in state.answer.sources)
    assert "1974" not in state.answer.text
    assert not [clash for clash in state.conflicts.values() if clash.status == "open"]
    edit = undo_edits.find_undoable(run.view)
    assert edit is not None and edit.text == f"excluded the source {wiki} with {len(fall.facts)} facts"
    run.act("undo")
    back = run.rewrite()
    assert (back.facts, back.conflicts, back.strikes) == (before.facts, before.conflicts, {})
    assert back.answer.text == before.answer.text and back.current_confidence == before.current_confidence
    assert undo_edits.find_undoable(run.view) is None
    assert undo_edits.find_redoable(run.view).text == edit.text
    run.act("redo")
    assert run.rewrite().facts == state.facts
    run.act("restore_source", source=wiki)
    assert run.rewrite().answer.text == before.answer.text
    with pytest.raises(UsageError, match="to redo is not possible now"):
        run.act("redo")


def test_what_came_later_of_a_struck_source_goes_and_comes_with_it(bench):
    run = Reviewed(bench)
    source = "alvmora-mejeri.example"
    run.act("strike_source", source=source)
    run.rewrite()
    known = set(run.state.facts)
    words = "Älvmora Mejeri has 412 solar panels on the roof of its dairy in the village, since the summer of 2024."
    run.act("supply", url=f"https://www.{source}/new-page", text=words)
    later = [fact for name, fact in run.rewrite().facts.items() if name not in known]
    assert later and {fact.struck_with for fact in later} == {source}
    run.act("undo")
    state = run.rewrite()
    assert not state.strikes
    assert {(fact.decision, fact.struck_with) for fact in state.facts.values()} == {("none", "")}
    run.act("redo")
    state = run.rewrite()
    assert {state.facts[fact.id].struck_with for fact in later} == {source} == set(state.strikes)
    page = later[0].url
    run.act("strike_source", source=page)
    run.act("restore_source", source=source)
    assert {fact.id for fact in run.rewrite().facts.values() if fact.decision == "struck"} == {
        fact.id for fact in later
    }


def test_a_settled_conflict_is_named_as_long_as_both_sides_stand(bench):
    run = Reviewed(bench, EMPLOYED)
    clash = next(clash for clash in run.state.conflicts.values() if clash.status == "open")
    own, other = (next(value for value in clash.values if figure in value.text) for figure in ("31", "24"))
    run.act(
        "settle", conflict=clash.id, ruling="take", value=own.text, because="the dairy counts its own people"
    )
    assert "northernbrief" in run.rewrite().answer.sentences[0].text, "both sides are told while both stand"
    run.act("strike_source", source=other.sites[0])
    answer = run.rewrite().answer
    assert "31" in answer.sentences[0].text, "nothing is left to be settled"
    assert "24" not in answer.text and "northernbrief" not in answer.text
    assert (answer.statements.unsupported, answer.statements.dropped) == (0, 0)
    run.act("strike_source", source=own.sites[0])
    assert "settled" not in run.rewrite().answer.text, "a ruling for what does not stand is not told"


def test_what_stands_on_a_persons_word_alone_makes_no_page_answer_but_is_not_lost(bench):
    run = Reviewed(bench, EMPLOYED)
    counted = next(name for name, fact in run.state.facts.items() if "31 people" in fact.quote)
    mine = "I know the dairy; they employ a few students in summer."
    run.act("add", statement=mine)
    run.act("strike_source", source="northernbrief.example")
    assert "31 people" in run.rewrite().answer.text
    drafts = [FactEdit(counted, statement="Älvmora Mejeri employs 33 people.")]
    run.act("revise", edits=drafts)
    assert [fact.id for fact in fact_edits.find_unsupported_facts(run.view, drafts)] == [counted]
    others = [fact.id for fact in run.state.facts.values() if fact.is_active and not fact.rests_on_person]
    run.act("mark", facts=others, decision="struck")
    answer = run.rewrite().answer
    assert answer.verdict == "no_evidence" and not answer.text
    assert mine in answer.certainty
    assert "employs 33 people" in answer.certainty
    assert "not backed by a page" in answer.certainty
    run.act("undo")
    run.act("undo")
    assert "31 people" in run.rewrite().answer.text
    assert not fact_edits.find_unsupported_facts(run.view, drafts)


def test_a_site_run_is_written_anew_from_its_facts(bench):
    start = ["https://www.alvmora-mejeri.example/"]
    run = Reviewed(bench, "When is the farm shop open?", flow="site", start_urls=start)
    first, gone = run.state.answer, run.cited
    run.act("mark", facts=gone, decision="struck")
    state = run.rewrite()
    assert not set(gone) & set(run.cited) and state.answer.n == 2 and state.answer.because
    run.act("undo")
    back = run.rewrite().answer
    assert back.text == first.text
    assert verify_bundle(run.export("bundle")).is_valid
    run.act("send_back", run.view.head, note="How many farms bring the milk?")
    assert "from 27 farms" in run.rewrite().answer.text, "a note is heeded after edits, too"


def test_every_export_tells_what_was_edited_and_the_bundle_still_holds(bench):
    run = Reviewed(bench, FOUNDED)
    state = run.state
    first, second = [name for name, fact in state.facts.items() if fact.verified][:2]
    run.act(
        "revise",
        edits=[
            FactEdit(first, statement="It was founded in 1850.", decision="pinned"),
            FactEdit(second, decision="struck"),
        ],
    )
    wrong = next(said for said in run.rewrite().answer.sentences if first in said.fact_ids)
    assert "1850" in wrong.text and not wrong.backed, "its quote does not carry the correction"
    run.act("add", statement="My uncle says 1975.")
    run.rewrite()
    run.act("strike_source", source=site(state.facts[second].url))
    run.rewrite()
    run.act("undo")
    run.rewrite()
    bundle = run.export("bundle")
    found = verify_bundle(bundle)
    assert found.is_valid, found.problems
    opened = import_bundle(bench, bundle).run_id
    bench.act(opened, "redo")
    assert bench.drive(opened) is Status.REVIEW
    assert bench.snapshot(opened).state.strikes, "an imported run's edits can be taken back and done again"
    rows = list(csv.DictReader(io.StringIO(run.export("csv").decode("utf-8-sig"))))
    by_id = {row["id"]: row for row in rows}
    assert by_id[first]["former"] == state.facts[first].statement
    assert by_id[first]["decision"] == "pinned"
    assert by_id[second]["decision"] == "struck"
    assert [row["statement"] for row in rows if row["origin"] == "person"] == ["My uncle says 1975."]
    data = json.loads(run.export("json"))
    assert data["because"].startswith("after your edit: undid: excluded the source")
    assert len(data["edits"]) == 4
    text = html.unescape(run.export("evidence.md").decode())
    assert "My uncle says 1975." in text and "own knowledge" in text and "excluded the source" in text
    assert state.facts[first].statement in text, "the former statement is told"
    assert "excluded the source" not in run.export("html").decode()
    assert run.export("docx")[:2] == b"PK"


def test_what_a_note_leaves_out_is_told_as_excluded_everywhere_and_no_mark_brings_it_back(bench):
    run = Reviewed(bench, "How old are the children of the couple who run Älvmora Mejeri?")
    known = run.state.facts.values()
    source = next(site(f.url) for f in known if site(f.url) != "alvmora-mejeri.example")
    gone = [f.id for f in known if site(f.url) == source]
    rule_out(bench, run.id, source)
    after = run.rewrite()
    listed = {fact.id: fact for fact in fact_view.all_facts(after)}
    assert gone and {name for name, fact in listed.items() if main_fact_status(fact) == "struck"} == set(gone)
    rows = csv.DictReader(io.StringIO(run.export("csv").decode("utf-8-sig")))
    by = f"{source}, left out by a note"
    told = {row["id"]: (row["decision"], row["struck with"]) for row in rows}
    assert [told[name] for name in gone] == [("struck", by)] * len(gone)
    evidence = run.export("evidence.md").decode()
    assert evidence.count(f"verified, struck with {by}") == len(gone)
    assert verify_bundle(run.export("bundle")).is_valid
    with pytest.raises(UsageError, match="a note leaves this fact out"):
        run.act("mark", facts=gone[:1], decision="none")
