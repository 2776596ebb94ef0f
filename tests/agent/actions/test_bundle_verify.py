"""A bundle holds or it does not: every change is told, by byte and by meaning; and its sources are asked
again."""

from __future__ import annotations

import io
import json
import random
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.answering import recheck_answers
from agent.engine.run_state import RunState
from agent.engine.state import to_jsonable
from agent.export import bundle
from agent.export.archive import MANIFEST, pack, unpack
from agent.types import Answer, Fact, Sentence, StatementCounts, Status, Step
from agent.workbench import Workbench
from tests.records import fill
from tests.tables import by_table

pytestmark = pytest.mark.slow


def test_an_honest_bundle_holds_and_tells_its_figures(made):
    found = verify_bundle(made)
    assert found.is_valid
    assert not found.remarks
    assert found.found_quote_count == found.quote_count > 3
    assert len(found.sha256) == 64
    assert found.contents and found.contents.calls[0].prompt[0]["content"] == "What now?"


def read_steps(made: bytes) -> tuple[bundle.BundleContents, list[Step]]:
    """What a bundle holds, and its steps to be changed."""
    contents = bundle.read_bundle(made)
    return contents, [step.model_copy(deep=True) for step in contents.steps]


def forged(made: bytes, name: str, old: str, new: str) -> bytes:
    """The bundle with something else written in a file, and its hashes made anew: a hand that knows what it
    does."""
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist()}
    about = {key: value for key, value in json.loads(files.pop(MANIFEST)).items() if key != "files"}
    chosen = [entry for entry in files if entry.startswith(name)]
    changed = {entry: files[entry].replace(old.encode(), new.encode()) for entry in chosen}
    assert changed != {entry: files[entry] for entry in chosen}, "nothing was forged"
    return pack(files | changed, about)


@by_table
def test_what_a_careful_hand_changes_is_told_too(made, name, old, new, hint):
    found = verify_bundle(forged(made, name, old, new))
    assert not found.is_valid and any(hint in trouble for trouble in found.problems), found.problems


def test_a_quote_that_does_not_stand_in_its_page_is_told(made):
    changed = forged(made, "steps.jsonl", '"quote":"', '"quote":"Not ')
    told = verify_bundle(forged(changed, "facts.json", '"quote": "', '"quote": "Not '))
    assert any("a quote is not in its page" in trouble for trouble in told.problems)
    assert told.found_quote_count < told.quote_count


def test_a_bundle_without_a_page_it_names_does_not_hold(made):
    found = verify_bundle(forged(made, "run.json", '"missing_pages": []', '"missing_pages": ["abc"]'))
    assert any("text of a page is missing" in trouble for trouble in found.problems)


def test_a_page_that_is_only_named_does_not_hold(made):
    contents, steps = read_steps(made)
    for named in [page for step in steps for page in step.change.get("pages", ()) if page["page_id"]]:
        named["page_id"] = '"><b>'
    found = verify_bundle(bundle.write_bundle(replace(contents, steps=steps)))
    assert any('text of a page is missing: "><b>' in trouble for trouble in found.problems), found.problems


WRONG = [None, -1, True, "x", [], {}, [[1]], {"id": 1}, 10**15, "../x", "\u202e"]


def bent(value: Any, dice: random.Random) -> Any:
    """The value with something of a wrong kind somewhere inside."""
    if isinstance(value, dict | list) and value and dice.random() < 0.85:
        key = dice.choice(list(value)) if isinstance(value, dict) else dice.randrange(len(value))
        value[key] = bent(value[key], dice)
        return value
    return dice.choice(WRONG)


def test_what_is_of_a_wrong_kind_is_told_or_harmless(made):
    """Whole bundles by a hand that puts anything anywhere: a verdict each time, never a fall."""
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist()}
    about = {key: value for key, value in json.loads(files.pop(MANIFEST)).items() if key != "files"}
    dice, held = random.Random(5), 0
    for _ in range(80):
        name = dice.choice(["run.json", "facts.json", "steps.jsonl", "pages.jsonl", "calls.jsonl"])
        lines = (
            [json.loads(line) for line in files[name].splitlines()]
            if name.endswith("l")
            else [json.loads(files[name])]
        )
        at = dice.randrange(len(lines))
        lines[at] = bent(lines[at], dice)
        body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        held += verify_bundle(pack(files | {name: body.encode()}, about)).is_valid
    assert held < 40, "most of it is told"


LIE = "The bridge collapsed on 3 May 1999 and was never built again."


@pytest.mark.parametrize(
    ("told", "hint"), [({"text": LIE}, "does not carry it"), ({"fact_ids": []}, "cites nothing")]
)
def test_a_lie_in_the_place_of_a_backed_sentence_is_told(made, told, hint):
    """The quotes below it stand as they did; it is the sentence that no longer follows from them."""
    contents, steps = read_steps(made)
    sentences = [
        sentence
        for step in steps
        for answer in step.change.get("answers", [])
        for sentence in answer["sentences"]
        if sentence["backed"]
    ]
    assert sentences
    sentences[0].update(told)
    found = verify_bundle(bundle.write_bundle(replace(contents, steps=steps)))
    assert not found.is_valid
    assert found.found_quote_count == found.quote_count
    assert any(hint in trouble for trouble in found.problems), found.problems


def test_a_statement_of_a_run_without_a_model_that_was_changed_in_all_places_is_told(made):
    """Its quote stands in its page, its sentence repeats it: only its wording is not what code makes of it."""
    contents, steps = read_steps(made)
    backed = [
        sentence
        for step in steps
        for answer in step.change.get("answers", [])
        for sentence in answer["sentences"]
        if sentence["backed"]
    ]
    stated = backed[0]["text"]
    assert any(fact["statement"] == stated for step in steps for fact in step.change.get("facts", []))

    def forge(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: forge(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [forge(inner) for inner in value]
        return f"Not so: {stated}" if value == stated and name in ("statement", "text") else value

    changed = [Step(**forge(step.model_dump())) for step in steps]
    facts = [Fact(**forge(fact.model_dump())) for fact in contents.facts]
    found = verify_bundle(bundle.write_bundle(replace(contents, steps=changed, facts=facts)))
    assert found.problems and found.found_quote_count == found.quote_count
    assert all("wording is not its page's" in trouble for trouble in found.problems), found.problems


def test_a_fact_that_was_undone_after_the_answer_is_looked_up_in_its_page_too(made):
    contents, steps = read_steps(made)
    at = next(n for n, step in enumerate(steps) if step.change.get("answers"))
    [answer] = steps[at].change["answers"]
    sentence, given = answer["sentences"][0], [f for s in steps for f in s.change.get("facts", ())]
    fact = next(fact for fact in given if fact["id"] in sentence["fact_ids"])
    sentence.update(text=LIE, fact_ids=["ghost"], check="quoted")
    for source in answer["sources"]:
        source["fact_ids"].append("ghost")
    ghost = {**fact, "id": "ghost", "statement": LIE, "quote": LIE}
    added = {"facts": [ghost], "edits": [{"step": at, "text": "added 1 fact"}]}
    person = steps[at - 1].replace(name="add", by="person", seconds=0, cpu_ms=0, change=added)
    steps.insert(at, person)
    end = len(steps)
    undone = {"edits": [{"step": end, "text": "undid", "undoes": at}]}
    steps.append(person.replace(name="undo", next=steps[-1].next, change=undone))
    steps = [step.replace(n=n) for n, step in enumerate(steps)]
    run = contents.run.replace(steps=end)
    found = verify_bundle(bundle.write_bundle(replace(contents, run=run, steps=steps)))
    assert any("a quote is not in its page" in problem for problem in found.problems), found.problems
    added["facts"] = [3]
    found = verify_bundle(bundle.write_bundle(replace(contents, run=run, steps=steps)))
    assert not found.is_valid and not found.state


@pytest.mark.parametrize(
    ("told", "hint"),
    [
        ({"check": "judged_supported"}, "no model was asked"),
        ({"text": LIE, "check": "quoted"}, "does not carry it"),
        ({"check": "not_checked"}, "against its own check"),
    ],
)
def test_a_check_that_does_not_come_out_again_is_told(made, told, hint):
    contents, steps = read_steps(made)
    [sentence, *_] = [s for step in steps for a in step.change.get("answers", []) for s in a["sentences"]]
    assert sentence["check"] == "quoted"
    sentence.update(told)
    found = verify_bundle(bundle.write_bundle(replace(contents, steps=steps)))
    assert any(hint in trouble for trouble in found.problems), found.problems


def test_a_bundle_that_calls_itself_of_the_former_version_is_held_to_its_facts_too(made):
    [problem] = verify_bundle(as_former(made)).problems
    assert "its steps are of this one" in problem
    contents, steps = read_steps(made)
    for step in steps:
        for name in ("rulings", "assessments", "strikes"):
            step.change.pop(name, None)
        for answer in step.change.get("answers", []):
            for block in answer["blocks"]:
                del block["role"]
    assert verify_bundle(as_former(bundle.write_bundle(replace(contents, steps=steps)))).is_valid
    [sentence, *_] = [s for step in steps for a in step.change.get("answers", []) for s in a["sentences"]]
    sentence["text"] = LIE
    found = verify_bundle(as_former(bundle.write_bundle(replace(contents, steps=steps))))
    assert any("does not carry it" in problem for problem in found.problems), found.problems


def test_a_bundle_of_the_version_before_verifies_and_says_what_is_not_computed_again(made):
    contents, steps = read_steps(made)
    for step in steps:
        for one in step.change.get("assessments", []):
            one["inconsistency"] = ""
        for said in (said for answer in step.change.get("answers", []) for said in answer["sentences"]):
            said["fit"] = None
    run = contents.run.replace(confidence=0.466)
    found = verify_bundle(bundle.write_bundle(replace(contents, steps=steps, run=run)))
    assert found.is_valid and any("not computed again" in remark for remark in found.remarks)
    assert not verify_bundle(bundle.write_bundle(replace(contents, run=run))).is_valid


def as_former(made: bytes) -> bytes:
    about, files = unpack(made)
    return pack(files, {**about, "version": bundle.FORMER_VERSION})


@by_table
def test_a_usage_that_its_calls_and_steps_do_not_make_is_told(made, more):
    contents = bundle.read_bundle(made)
    forged = replace(contents, usage=contents.usage.model_copy(update=more))
    assert any("another usage" in trouble for trouble in verify_bundle(bundle.write_bundle(forged)).problems)


def honest(bench: Workbench, run_id: str) -> None:
    """It holds, and it has an answer with backed sentences, so that there was something to hold."""
    found = verify_bundle(export_run(bench, run_id, "bundle"))
    assert found.is_valid, found.problems
    assert found.state
    assert any(sentence.backed for answer in found.state.answers for sentence in answer.sentences), (
        found.state.answers
    )


def test_an_honest_run_holds_whatever_a_person_did_to_it(bench, ran):
    """Edited decisions, notes that rule a source out, answers that were sent back: each answer is checked by
    what was known then."""
    sent = ran("How many people does Älvmora Mejeri employ?")
    bench.act(sent, "send_back", bench.snapshot(sent).head, note="Leave out alvmora-mejeri.example")
    bench.drive(sent)
    assert len(bench.snapshot(sent).state.answers) == 2
    honest(bench, sent)
    stepwise = ran(mode="step")
    bench.act(
        stepwise,
        "edit",
        bench.snapshot(stepwise).head,
        next_action="search_duckduckgo",
        query_or_url="Stenfors bridge reopened to traffic date",
    )
    while bench.drive(stepwise) is Status.WAITING:
        bench.act(stepwise, "approve", bench.snapshot(stepwise).head)
    honest(bench, stepwise)


def test_an_answer_that_a_word_overtook_is_checked_by_what_it_was_written_from():
    """A person struck the fact while the answer was written; it was recorded after their word, and says
    itself at which step it was begun."""
    fact = Fact(
        id="f",
        statement="The mill has 31 wheels.",
        quote="The mill has 31 wheels.",
        url="https://m.example/",
        verified=True,
    )
    sentence = Sentence(text="The mill has 31 wheels.", fact_ids=["f"], backed=True, check="quoted")
    told = Answer(n=1, verdict="answered", sentences=[sentence], statements=StatementCounts(backed=1), step=2)
    changes = [{"facts": [fact]}, {}, {"facts": [fact.replace(decision="struck")]}, {"answers": [told]}]
    steps = [
        fill(Step, n=n, name="s", change=to_jsonable(change), next="review")
        for n, change in enumerate(changes)
    ]
    assert list(recheck_answers.find_answer_problems(RunState(), steps)) == []
    steps[3] = steps[3].replace(change=to_jsonable({"answers": [told.replace(step=3)]}))
    assert len(list(recheck_answers.find_answer_problems(RunState(), steps))) == 1
