"""Every edit of a fact and its undoing, on states of a few facts: what a person says stands, and goes away
without a trace."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.actions import fact_edits, sources, undo_edits
from agent.actions.fact_edits import FactEdit
from agent.engine.run_state import RunState
from agent.engine.state import Change, fold, to_jsonable
from agent.errors import ConcurrentChange, NotFound, UsageError
from agent.evidence.quote_match import verify_quote
from agent.flows.research.state import ResearchState
from agent.types import (
    Answer,
    Edit,
    Fact,
    Note,
    NoteReading,
    Outcome,
    Page,
    PageRef,
    Proposal,
    Sentence,
    Settings,
    Status,
    Step,
)
from tests.records import fill

pytestmark = pytest.mark.slow

TEXT = "Berga dairy was founded in 1974. It stands by the river Ljung. Nobody swims there."
URL = "https://www.one.example/a"
PAGE = Page(
    url=URL,
    final_url=URL,
    outcome=Outcome.OK,
    title="Berga dairy",
    text=TEXT,
    sha256=hashlib.sha256(TEXT.encode()).hexdigest(),
)
PAGES = {"pa": PAGE}


def said(name: str, quote: str, url: str = PAGE.url, page: str = "pa") -> Fact:
    bare = Fact(
        id=name,
        statement=quote,
        quote=quote,
        url=url,
        page_id=page,
        relevance=0.9,
        subject="Berga dairy",
        attribute=f"about {name}",
    )
    return verify_quote(bare, TEXT, PAGE.sha256)


A = said("a", "Berga dairy was founded in 1974.")
B = said("b", "It stands by the river Ljung.")
C = said("c", "Nobody swims there.", "https://two.example/c", "pc")


class Ledger:
    """A run of person's words: each is worked out on the state of then and kept as a step."""

    def __init__(self, *facts: Fact) -> None:
        first = {
            "question": "When was Berga dairy founded?",
            "facts": list(facts),
            "pages": [fill(PageRef, url=PAGE.url, page_id="pa")],
        }
        self.steps = [fill(Step, name="ask", change=to_jsonable(first), next="decide")]

    def state(self, until: int | None = None) -> RunState:
        return fold(RunState(own=ResearchState()), self.steps[:until])

    def say(self, name: str, work, *args) -> RunState:
        """Do what the step of this `work` says."""
        run = SimpleNamespace(status=Status.RUNNING)
        view = SimpleNamespace(run=run, state=self.state(), steps=self.steps, head=len(self.steps) - 1)
        return self.record(name, work(view, *args).change)

    def record(self, name: str, change: Change) -> RunState:
        n = len(self.steps)
        self.steps.append(Step(n=n, name=name, change=to_jsonable(change), next="decide", by="person"))
        return self.state()

    def add(self, statement: str, *of_page) -> RunState:
        return self.say("add", fact_edits.add_fact, statement, *of_page)

    def revise(self, *drafts: FactEdit, name: str = "revise") -> RunState:
        return self.say(name, fact_edits.edit_facts, drafts, PAGES)

    def find(self, name: str) -> Edit | None:
        pick = undo_edits.find_undoable if name == "undo" else undo_edits.find_redoable
        return pick(SimpleNamespace(steps=self.steps))  # type: ignore[arg-type]

    def undo(self, name: str = "undo") -> RunState:
        return self.say(name, undo_edits.undo if name == "undo" else undo_edits.redo)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(A, B, C)


@pytest.mark.parametrize(
    ("decision", "told"),
    [("pinned", "pinned 2 facts of one.example"), ("struck", "excluded 2 facts of one.example")],
)
def test_many_facts_are_marked_in_one_step_that_says_what_it_did(ledger, decision, told):
    state = ledger.revise(FactEdit("a", decision=decision), FactEdit("b", decision=decision))
    assert [fact.decision for fact in state.facts.values()] == [decision, decision, "none"]
    assert [edit.text for edit in state.edits] == [told] and len(ledger.steps) == 2


def test_what_changes_nothing_or_nobody_is_refused(ledger):
    with pytest.raises(UsageError, match="are like that already"):
        ledger.revise(FactEdit("a", decision="none"))
    with pytest.raises(NotFound):
        ledger.revise(FactEdit("zzz", decision="struck"))
    with pytest.raises(UsageError, match="empty"):
        ledger.revise(FactEdit("a", statement="  "))


def test_a_correction_keeps_the_former_words_and_is_checked_at_once(ledger):
    state = ledger.revise(FactEdit("a", statement="The Berga dairy was founded in 1974."))
    assert state.facts["a"].former == A.statement
    assert state.facts["a"].verified
    assert state.facts["a"].quote == A.quote
    wrong = ledger.revise(FactEdit("a", statement="The dairy of Berga was founded in 1879."))
    assert wrong.facts["a"].former == A.statement
    assert not wrong.facts["a"].verified
    assert not wrong.facts["a"].can_support
    back = ledger.revise(FactEdit("a", statement=A.statement))
    assert back.facts["a"] == A.replace(marked=3)


def test_a_corrected_quote_is_looked_for_in_the_stored_page(ledger):
    state = ledger.revise(
        FactEdit("a", quote="Berga dairy was founded in 1974. It stands by the river Ljung.")
    )
    fact = state.facts["a"]
    assert fact.verified and TEXT[fact.start : fact.end] == fact.quote and fact.sha256 == PAGE.sha256
    with pytest.raises(UsageError, match="copy the exact words"):
        ledger.revise(FactEdit("a", quote="Berga dairy was founded in 1879."))


def test_own_knowledge_counts_and_is_never_verified(ledger):
    said = "My grandmother worked there in 1975."
    state = ledger.add(said)
    [fact] = [one for one in state.facts.values() if one.statement == said]
    mine = fact
    assert mine.is_own_knowledge and mine.can_support and not mine.verified and mine.decision == "pinned"
    assert state.edits[-1].text == "added 1 fact of your own knowledge"
    assert Ledger().add(said).current_confidence == 0, "a person's word makes no page surer"
    with pytest.raises(UsageError, match="fact already"):
        ledger.add(said)
    struck = ledger.revise(FactEdit(fact.id, decision="struck"))
    assert not struck.facts[fact.id].can_support
    assert ledger.revise(FactEdit(fact.id, decision="none")).facts[fact.id].decision == "pinned"
    reworded = ledger.revise(FactEdit(fact.id, statement="My grandmother worked there in 1976."))
    assert reworded.facts[fact.id].quote == "My grandmother worked there in 1976."
    assert not reworded.facts[fact.id].verified


def test_a_quoted_fact_must_stand_on_its_page_and_be_carried_by_it(ledger):
    fact = list(ledger.add("", "It stands by the river Ljung.", PAGE, "pa").facts.values())[-1]
    assert fact.verified and fact.by == "person" and fact.origin == "page" and fact.statement == fact.quote
    with pytest.raises(UsageError, match="own knowledge"):
        ledger.add("", "It stands by the sea.", PAGE, "pa")
    with pytest.raises(UsageError, match="does not support"):
        ledger.add("It was founded in 1879.", "Berga dairy was founded in 1974.", PAGE, "pa")


def answering(ledger: Ledger) -> Ledger:
    told = {"It was founded in 1974.": ["a"], "Nobody swims.": ["b", "c"]}
    sentences = [Sentence(text=text, fact_ids=ids, backed=True) for text, ids in told.items()]
    change = {"answers": [Answer(n=1, verdict="answered", sentences=sentences, step=1)]}
    ledger.steps.append(fill(Step, n=1, name="report", change=to_jsonable(change), next="review"))
    return ledger


@pytest.mark.parametrize("source", ["one.example", "www.one.example", PAGE.url, "ONE.example/"])
def test_striking_a_source_tells_first_what_falls_and_then_takes_it(ledger, source):
    fall = sources.preview_strike(answering(ledger).state(), source)
    assert [fact.id for fact in fall.facts] == ["a", "b"]
    assert [s.text for s in fall.sentences] == ["It was founded in 1974."]
    assert [s.text for s in fall.weakened] == ["Nobody swims."]
    state = ledger.say("strike_source", sources.strike_source, source)
    assert [fact.decision for fact in state.facts.values()] == ["struck", "struck", "none"]
    assert list(state.strikes) == [fall.source]
    assert state.edits[-1].text == f"excluded the source {fall.source} with 2 facts"
    with pytest.raises(UsageError, match="excluded already"):
        ledger.say("strike_source", sources.strike_source, source)


def test_a_source_comes_back_with_what_fell_with_it_alone(ledger):
    ledger.revise(FactEdit("b", decision="struck"))
    ledger.say("strike_source", sources.strike_source, "one.example")
    state = ledger.say("restore_source", sources.restore_source, "one.example")
    assert [fact.decision for fact in state.facts.values()] == ["none", "struck", "none"]
    assert not state.strikes
    with pytest.raises(UsageError, match="not excluded"):
        ledger.say("restore_source", sources.restore_source, "one.example")
    with pytest.raises(UsageError, match="this run has nothing"):
        ledger.say("strike_source", sources.strike_source, "elsewhere.example")


def known(state: RunState) -> tuple:
    return state.facts, state.conflicts, state.strikes, state.notes, state.confidence, state.plan_parts


def learn(ledger: Ledger, n: int) -> None:
    new = said("d", TEXT[:32], "https://three.example/d", "pd")
    ledger.steps.append(fill(Step, n=n, name="analyze", change=to_jsonable({"facts": [new]}), next="decide"))


def test_undo_of_an_addition_after_more_was_learnt_takes_only_the_addition(ledger):
    [mine] = ledger.add("Berga dairy was founded in 1969.").facts.keys() - {"a", "b", "c"}
    learn(ledger, 2)
    assert mine not in ledger.undo().facts and "d" in ledger.state().facts
    assert ledger.undo("redo").facts[mine].can_support


def test_a_note_is_undone_with_what_a_model_read_of_it_and_its_words_are_told_nowhere(ledger):
    before = known(ledger.state())
    note = fill(Note, step=1, text="Leave out one.example.", private=True)
    assert ledger.record("steer", {"notes": [note]}).notes
    reading = fill(NoteReading, note=1, step=2, by="model", excluded_sites=["two.example"])
    ledger.steps.append(
        fill(Step, n=2, name="revise", change={"readings": [reading.model_dump()]}, next="decide")
    )
    state = ledger.undo()
    assert known(state) == before and not state.readings
    assert [edit.text for edit in state.edits] == ["undid: your note of step 1"]


def test_an_undo_of_what_is_not_the_newest_any_more_is_refused(ledger):
    ledger.revise(FactEdit("a", decision="pinned"), name="pin")
    ledger.revise(FactEdit("b", decision="struck"), name="strike")
    with pytest.raises(ConcurrentChange, match="edited meanwhile"):
        ledger.say("undo", undo_edits.undo, 1)
    assert ledger.say("undo", undo_edits.undo, 2).facts["b"].decision == "none"


def test_what_a_model_reads_of_a_note_that_was_undone_meanwhile_does_not_count(ledger):
    ledger.record("steer", {"notes": [fill(Note, step=1, text="Leave out one.example.")]})
    state = ledger.undo()
    reading = fill(NoteReading, note=1, step=3, by="model", excluded_sites=["two.example"])
    ledger.steps.append(
        fill(Step, n=3, name="revise", change={"readings": [reading.model_dump()]}, next="decide")
    )
    assert fold(state, ledger.steps[3:]).readings == ledger.state().readings == []


def test_undoing_a_note_takes_back_what_it_proposed(ledger):
    ledger.record("steer", {"notes": [fill(Note, step=1, text="Look at one.example.")]})
    ledger.steps.append(
        fill(
            Step,
            n=2,
            name="decide",
            change={"pending": fill(Proposal, next_action="act").model_dump()},
            next="approve",
        )
    )
    view = SimpleNamespace(
        run=SimpleNamespace(status=Status.WAITING, settings=Settings()),
        state=ledger.state(),
        steps=ledger.steps,
        head=2,
    )
    step = undo_edits.undo(view)  # type: ignore[arg-type]
    assert step.change["pending"] is None and step.next == "decide"


def test_a_word_that_cannot_be_taken_back_is_passed_over(ledger):
    ledger.revise(FactEdit("a", decision="struck"), name="strike")
    ledger.revise(FactEdit("b", decision="pinned"), name="supply")
    assert ledger.find("undo").step == 1
    state = ledger.undo()
    assert (state.facts["a"].decision, state.facts["b"].decision) == ("none", "pinned")


RIVALS = [
    A.replace(id=f"r{n}", statement=f"Berga dairy was founded in {1974 + n}.", url=f"https://r{n}.example/")
    for n in range(3)
]
FACTS = [A, B, C, *RIVALS]
MARKS = st.builds(
    lambda names, decision: ("mark", names, decision),
    st.sets(st.sampled_from([fact.id for fact in FACTS]), min_size=1),
    st.sampled_from(["pinned", "struck", "none"]),
)
SOURCES = st.tuples(st.just("source"), st.sampled_from(["one.example", "two.example", "r1.example"]))
YEARS = st.integers(1800, 1900)
CORRECTIONS = st.tuples(st.just("word"), st.sampled_from([fact.id for fact in FACTS]), YEARS)
ADDITIONS = st.tuples(st.just("add"), YEARS)
NOTES = st.tuples(st.just("note"), st.sampled_from(["Which year?", "Look at two.example."]))
BACKWARDS = st.tuples(st.sampled_from(["undo", "redo"]))


def speak(ledger: Ledger, act: tuple) -> None:
    """Let a person do this, where it is possible."""
    kind, *what = act
    try:
        if kind == "mark":
            edits = [FactEdit(name, decision=what[1]) for name in sorted(what[0])]
            ledger.revise(*edits, name="strike")
        elif kind == "word":
            statement = f"Berga dairy was founded in {what[1]}."
            ledger.revise(FactEdit(what[0], statement=statement), name="correct")
        elif kind == "add":
            ledger.add(f"Berga dairy was founded in {what[0]}.")
        elif kind == "note":
            ledger.record("steer", {"notes": [fill(Note, step=len(ledger.steps), text=what[0])]})
        elif kind == "source":
            is_struck = what[0] in ledger.state().strikes
            build = sources.restore_source if is_struck else sources.strike_source
            ledger.say("restore_source" if is_struck else "strike_source", build, what[0])
        elif ledger.find(kind):
            ledger.undo(kind)
    except UsageError:
        pass


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(MARKS, CORRECTIONS, ADDITIONS, SOURCES, NOTES, BACKWARDS), max_size=8))
def test_whatever_was_edited_all_undone_is_as_if_nothing_had_been(acts):
    ledger = Ledger(*FACTS)
    before = known(ledger.state())
    for act in acts:
        speak(ledger, act)
    done = known(ledger.state())
    count = 0
    while ledger.find("undo"):
        ledger.undo()
        count += 1
    assert known(ledger.state()) == before
    for _ in range(count):
        ledger.undo("redo")
    assert known(ledger.state()) == done


@settings(max_examples=20, deadline=None)
@given(
    st.permutations(
        [
            ("mark", {"a"}, "pinned"),
            ("word", "r1", 1850),
            ("source", "two.example"),
            ("add", 1830),
            ("note", "Which year?"),
        ]
    )
)
def test_edits_of_different_things_come_to_the_same_in_any_order(acts):
    ledger = Ledger(*FACTS)
    for act in acts:
        speak(ledger, act)
    state = ledger.state()
    facts = {name: fact.replace(marked=0, step=0) for name, fact in state.facts.items()}
    conflicts = [
        (c.id, c.status, c.chosen, sorted(v.text for v in c.values)) for c in state.conflicts.values()
    ]
    assert len(ledger.steps) == 6
    assert (sorted(facts), sorted(conflicts)) == EXPECTED.setdefault(
        "state", (sorted(facts), sorted(conflicts))
    )
    assert facts == EXPECTED.setdefault("facts", facts)


EXPECTED: dict[str, object] = {}
"""What the first order came to."""
