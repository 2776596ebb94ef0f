"""A person's edits on a real run over the demo world, keyless: the answer follows, and every export holds
afterwards."""

from __future__ import annotations

import csv
import html
import io
import json

import pytest

from agent.actions import export, fact_edits, sources, undo_edits
from agent.actions.bundles import import_bundle, verify_bundle
from agent.actions.fact_edits import FactEdit
from agent.answering import fact_view
from agent.answering.fact_view import main_fact_status
from agent.errors import UsageError
from agent.text.urls import site
from agent.types import Status
from tests.web.demo_runs import DEMO, cited, reviewed, rewritten
from tests.web.notes import rule_out

pytestmark = pytest.mark.slow

EMPLOYED = "How many people does Älvmora Mejeri employ?"
FOUNDED = "In which year was Älvmora Mejeri founded?"


def test_marks_are_steps_and_the_answer_follows(bench):
    run_id = reviewed(bench)
    first = cited(bench.snapshot(run_id).state)[0]
    other = next(
        name
        for name, fact in bench.snapshot(run_id).state.facts.items()
        if name not in cited(bench.snapshot(run_id).state) and fact.verified
    )
    bench.act(run_id, "mark", facts=[other], decision="pinned")
    state = rewritten(bench, run_id)
    assert cited(state)[0] == other and state.answer.n == 2
    bench.act(run_id, "mark", facts=[first], decision="struck")
    assert first not in cited(rewritten(bench, run_id))
    bench.act(run_id, "mark", facts=[first], decision="none")
    bench.act(run_id, "mark", facts=[other], decision="none")
    state = rewritten(bench, run_id)
    assert state.answer.because.startswith("after your edits: restored 1 fact")
    assert [step.name for step in bench.snapshot(run_id).steps if step.by == "person"][1:] == [
        "pin",
        "strike",
        "restore",
        "unpin",
    ]
    with pytest.raises(UsageError, match="at least one"):
        bench.act(run_id, "mark", facts=[], decision="struck")


def test_a_fact_from_a_page_is_looked_up_there(bench):
    run_id = reviewed(bench, FOUNDED)
    known = bench.snapshot(run_id).state
    url = "https://www.alvmora-mejeri.example/"
    bench.act(
        run_id,
        "add",
        statement="It makes five cheeses.",
        url="www.alvmora-mejeri.example",
        quote="Älvmora Mejeri makes five cheeses in Lövnäs",
    )
    state = rewritten(bench, run_id)
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
            bench.act(run_id, "add", statement="It makes nine cheeses.", url=url, quote=quote)
    assert bench.snapshot(run_id).head == len(bench.snapshot(run_id).steps) - 1
    assert bench.snapshot(run_id).run.status is Status.REVIEW


def test_a_quote_of_two_stretches_holds_in_every_export(bench):
    run_id = reviewed(bench, FOUNDED)
    words = "Älvmora Mejeri makes five cheeses in Lövnäs ... In 2024 we took in 5,610 tonnes of milk"
    bench.act(
        run_id,
        "add",
        statement="The dairy makes five cheeses.",
        url="www.alvmora-mejeri.example",
        quote=words,
    )
    fact = next(f for f in rewritten(bench, run_id).facts.values() if len(f.spans) == 2)
    text = bench.page(fact.page_id).text
    assert fact.quote == words.replace("...", "…") == fact.read_quote(text)
    assert "roof" in text[fact.start : fact.end] and "roof" not in fact.quote
    found = verify_bundle(export.export_run(bench, run_id, "bundle"))
    assert found.is_valid, found.problems
    assert fact.quote in export.export_run(bench, run_id, "csv").decode()


def test_a_page_outside_the_allowed_domains_is_not_read_for_a_person_either(bench):
    run_id = reviewed(bench, allowed_domains=["www.alvmora-mejeri.example"])
    with pytest.raises(UsageError, match="outside the domains chosen"):
        bench.act(
            run_id, "add", statement="x y", url="https://norrviddawiki.example/", quote="Älvmora Mejeri"
        )


def test_a_struck_source_takes_its_sentences_along_and_undo_brings_them_back(bench):
    run_id = reviewed(bench, FOUNDED)
    before = bench.snapshot(run_id).state
    wiki = next(site(fact.url) for fact in before.facts.values() if "norrviddawiki" in fact.url)
    fall = sources.preview_strike(bench.snapshot(run_id).state, wiki)
    assert fall.facts and fall.sentences + fall.weakened
    bench.act(run_id, "strike_source", source=wiki)
    state = rewritten(bench, run_id)
    assert not any("norrviddawiki" in source.url for source in state.answer.sources)
    assert "1974" not in state.answer.text
    assert not [clash for clash in state.conflicts.values() if clash.status == "open"]
    edit = undo_edits.find_undoable(bench.snapshot(run_id))
    assert edit is not None and edit.text == f"excluded the source {wiki} with {len(fall.facts)} facts"
    bench.act(run_id, "undo")
    back = rewritten(bench, run_id)
    assert (back.facts, back.conflicts, back.strikes) == (before.facts, before.conflicts, {})
    assert back.answer.text == before.answer.text and back.current_confidence == before.current_confidence
    assert undo_edits.find_undoable(bench.snapshot(run_id)) is None
    assert undo_edits.find_redoable(bench.snapshot(run_id)).text == edit.text
    bench.act(run_id, "redo")
    assert rewritten(bench, run_id).facts == state.facts
    bench.act(run_id, "restore_source", source=wiki)
    assert rewritten(bench, run_id).answer.text == before.answer.text
    with pytest.raises(UsageError, match="to redo is not possible now"):
        bench.act(run_id, "redo")


def test_what_came_later_of_a_struck_source_goes_and_comes_with_it(bench):
    run_id = reviewed(bench)
    source = "alvmora-mejeri.example"
    bench.act(run_id, "strike_source", source=source)
    rewritten(bench, run_id)
    known = set(bench.snapshot(run_id).state.facts)
    words = "Älvmora Mejeri has 412 solar panels on the roof of its dairy in the village, since the summer of 2024."
    bench.act(run_id, "supply", url=f"https://www.{source}/new-page", text=words)
    later = [fact for name, fact in rewritten(bench, run_id).facts.items() if name not in known]
    assert later and {fact.struck_with for fact in later} == {source}
    bench.act(run_id, "undo")
    state = rewritten(bench, run_id)
    assert not state.strikes
    assert {(fact.decision, fact.struck_with) for fact in state.facts.values()} == {("none", "")}
    bench.act(run_id, "redo")
    state = rewritten(bench, run_id)
    assert {state.facts[fact.id].struck_with for fact in later} == {source} == set(state.strikes)
    page = later[0].url
    bench.act(run_id, "strike_source", source=page)
    bench.act(run_id, "restore_source", source=source)
    assert {fact.id for fact in rewritten(bench, run_id).facts.values() if fact.decision == "struck"} == {
        fact.id for fact in later
    }


def test_a_settled_conflict_is_named_as_long_as_both_sides_stand(bench):
    run_id = reviewed(bench, EMPLOYED)
    clash = next(clash for clash in bench.snapshot(run_id).state.conflicts.values() if clash.status == "open")
    own, other = (next(value for value in clash.values if figure in value.text) for figure in ("31", "24"))
    bench.act(
        run_id,
        "settle",
        conflict=clash.id,
        ruling="take",
        value=own.text,
        because="the dairy counts its own people",
    )
    assert "northernbrief" in rewritten(bench, run_id).answer.sentences[0].text, (
        "both sides are told while both stand"
    )
    bench.act(run_id, "strike_source", source=other.sites[0])
    answer = rewritten(bench, run_id).answer
    assert "31" in answer.sentences[0].text, "nothing is left to be settled"
    assert "24" not in answer.text and "northernbrief" not in answer.text
    assert (answer.statements.unsupported, answer.statements.dropped) == (0, 0)
    bench.act(run_id, "strike_source", source=own.sites[0])
    assert "settled" not in rewritten(bench, run_id).answer.text, (
        "a ruling for what does not stand is not told"
    )


def test_what_stands_on_a_persons_word_alone_makes_no_page_answer_but_is_not_lost(bench):
    run_id = reviewed(bench, EMPLOYED)
    counted = next(
        name for name, fact in bench.snapshot(run_id).state.facts.items() if "31 people" in fact.quote
    )
    mine = "I know the dairy; they employ a few students in summer."
    bench.act(run_id, "add", statement=mine)
    bench.act(run_id, "strike_source", source="northernbrief.example")
    assert "31 people" in rewritten(bench, run_id).answer.text
    drafts = [FactEdit(counted, statement="Älvmora Mejeri employs 33 people.")]
    bench.act(run_id, "revise", edits=drafts)
    assert [fact.id for fact in fact_edits.find_unsupported_facts(bench.snapshot(run_id), drafts)] == [
        counted
    ]
    others = [
        fact.id
        for fact in bench.snapshot(run_id).state.facts.values()
        if fact.is_active and not fact.rests_on_person
    ]
    bench.act(run_id, "mark", facts=others, decision="struck")
    answer = rewritten(bench, run_id).answer
    assert answer.verdict == "no_evidence" and not answer.text
    assert mine in answer.certainty
    assert "employs 33 people" in answer.certainty
    assert "not backed by a page" in answer.certainty
    bench.act(run_id, "undo")
    bench.act(run_id, "undo")
    assert "31 people" in rewritten(bench, run_id).answer.text
    assert not fact_edits.find_unsupported_facts(bench.snapshot(run_id), drafts)


def test_a_site_run_is_written_anew_from_its_facts(bench):
    run_id = bench.start(
        "When is the farm shop open?",
        DEMO.model_copy(update={"flow": "site", "start_urls": ["https://www.alvmora-mejeri.example/"]}),
    )
    assert bench.drive(run_id) is Status.REVIEW
    first, gone = bench.snapshot(run_id).state.answer, cited(bench.snapshot(run_id).state)
    bench.act(run_id, "mark", facts=gone, decision="struck")
    state = rewritten(bench, run_id)
    assert not set(gone) & set(cited(state)) and state.answer.n == 2 and state.answer.because
    bench.act(run_id, "undo")
    back = rewritten(bench, run_id).answer
    assert back.text == first.text
    assert verify_bundle(export.export_run(bench, run_id, "bundle")).is_valid
    bench.act(run_id, "send_back", bench.snapshot(run_id).head, note="How many farms bring the milk?")
    assert "from 27 farms" in rewritten(bench, run_id).answer.text, "a note is heeded after edits, too"


def test_every_export_tells_what_was_edited_and_the_bundle_still_holds(bench):
    run_id = reviewed(bench, FOUNDED)
    state = bench.snapshot(run_id).state
    first, second = [name for name, fact in state.facts.items() if fact.verified][:2]
    bench.act(
        run_id,
        "revise",
        edits=[
            FactEdit(first, statement="It was founded in 1850.", decision="pinned"),
            FactEdit(second, decision="struck"),
        ],
    )
    wrong = next(said for said in rewritten(bench, run_id).answer.sentences if first in said.fact_ids)
    assert "1850" in wrong.text and not wrong.backed, "its quote does not carry the correction"
    bench.act(run_id, "add", statement="My uncle says 1975.")
    rewritten(bench, run_id)
    bench.act(run_id, "strike_source", source=site(state.facts[second].url))
    rewritten(bench, run_id)
    bench.act(run_id, "undo")
    rewritten(bench, run_id)
    bundle = export.export_run(bench, run_id, "bundle")
    found = verify_bundle(bundle)
    assert found.is_valid, found.problems
    opened = import_bundle(bench, bundle).run_id
    bench.act(opened, "redo")
    assert rewritten(bench, opened).strikes, "an imported run's edits can be taken back and done again"
    rows = list(csv.DictReader(io.StringIO(export.export_run(bench, run_id, "csv").decode("utf-8-sig"))))
    by_id = {row["id"]: row for row in rows}
    assert by_id[first]["former"] == state.facts[first].statement
    assert by_id[first]["decision"] == "pinned"
    assert by_id[second]["decision"] == "struck"
    assert [row["statement"] for row in rows if row["origin"] == "person"] == ["My uncle says 1975."]
    data = json.loads(export.export_run(bench, run_id, "json"))
    assert data["because"].startswith("after your edit: undid: excluded the source")
    assert len(data["edits"]) == 4
    text = html.unescape(export.export_run(bench, run_id, "evidence.md").decode())
    assert "My uncle says 1975." in text and "own knowledge" in text and "excluded the source" in text
    assert state.facts[first].statement in text, "the former statement is told"
    assert "excluded the source" not in export.export_run(bench, run_id, "html").decode()
    assert export.export_run(bench, run_id, "docx")[:2] == b"PK"


def test_what_a_note_leaves_out_is_told_as_excluded_everywhere_and_no_mark_brings_it_back(bench):
    run_id = reviewed(bench, "How old are the children of the couple who run Älvmora Mejeri?")
    known = bench.snapshot(run_id).state.facts.values()
    source = next(site(f.url) for f in known if site(f.url) != "alvmora-mejeri.example")
    gone = [f.id for f in known if site(f.url) == source]
    rule_out(bench, run_id, source)
    after = rewritten(bench, run_id)
    listed = {fact.id: fact for fact in fact_view.all_facts(after)}
    assert gone and {name for name, fact in listed.items() if main_fact_status(fact) == "struck"} == set(gone)
    rows = csv.DictReader(io.StringIO(export.export_run(bench, run_id, "csv").decode("utf-8-sig")))
    by = f"{source}, left out by a note"
    told = {row["id"]: (row["decision"], row["struck with"]) for row in rows}
    assert [told[name] for name in gone] == [("struck", by)] * len(gone)
    evidence = export.export_run(bench, run_id, "evidence.md").decode()
    assert evidence.count(f"verified, struck with {by}") == len(gone)
    assert verify_bundle(export.export_run(bench, run_id, "bundle")).is_valid
    with pytest.raises(UsageError, match="a note leaves this fact out"):
        bench.act(run_id, "mark", facts=gone[:1], decision="none")
