"""Every edit of a fact and its undoing, on states of a few facts: what a person says stands, and goes away
without a trace."""

from __future__ import annotations

import hashlib
import random

import pytest

from agent.actions import fact_edits, source_strikes, undo_edits
from agent.actions.fact_edits import FactEdit
from agent.engine.run_state import RunState
from agent.engine.state import fold, merge, shallow_copy, to_jsonable
from agent.errors import NotFound, UsageError
from agent.evidence.quote_match import verify_quote
from agent.types import Answer, Fact, Outcome, Page, PageRef, Sentence, Step

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
            "pages": [PageRef(url=PAGE.url, page_id="pa")],
        }
        self.steps = [Step(n=0, name="ask", change=to_jsonable(first), next="decide")]

    def state(self, until: int | None = None) -> RunState:
        return fold(RunState(), self.steps[:until])

    def say(self, name: str, work, *args) -> RunState:
        n = len(self.steps)
        self.steps.append(
            Step(n=n, name=name, change=to_jsonable(work(self.state(), n, *args)), next="decide", by="person")
        )
        return self.state()

    def revise(self, *drafts: FactEdit, name: str = "revise") -> RunState:
        return self.say(name, fact_edits.edit_facts, drafts, PAGES)

    @property
    def names(self) -> dict[int, str]:
        return {step.n: step.name for step in self.steps}

    def undo(self, name: str = "undo") -> RunState:
        state = self.state()
        edit = (undo_edits.newest_edit if name == "undo" else undo_edits.newest_undo)(state.edits, self.names)
        assert edit is not None
        return self.say(name, undo_edits.undo_edit, edit, self.state(edit.step), self.state(edit.step + 1))


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


def test_marks_are_taken_away_in_other_words(ledger):
    ledger.revise(FactEdit("a", decision="pinned"), FactEdit("b", decision="struck"))
    state = ledger.revise(FactEdit("a", decision="none"), FactEdit("b", decision="none"))
    assert state.edits[-1].text == "unpinned 1 fact of one.example, restored 1 fact of one.example"
    assert state.facts == Ledger(A, B, C).state().facts


def test_what_changes_nothing_or_nobody_is_refused(ledger):
    with pytest.raises(UsageError, match="are like that already"):
        ledger.revise(FactEdit("a", decision="none"))
    with pytest.raises(NotFound):
        ledger.revise(FactEdit("zzz", decision="struck"))
    with pytest.raises(UsageError, match="empty"):
        ledger.revise(FactEdit("a", statement="  "))


def test_a_correction_keeps_the_former_words_and_is_checked_at_once(ledger):
    state = ledger.revise(FactEdit("a", statement="The Berga dairy was founded in 1974."))
    assert (
        state.facts["a"].former == A.statement
        and state.facts["a"].verified
        and state.facts["a"].quote == A.quote
    )
    wrong = ledger.revise(FactEdit("a", statement="The dairy of Berga was founded in 1879."))
    assert (
        wrong.facts["a"].former == A.statement
        and not wrong.facts["a"].verified
        and not wrong.facts["a"].can_support
    )
    back = ledger.revise(FactEdit("a", statement=A.statement))
    assert back.facts["a"] == A


def test_a_corrected_quote_is_looked_for_in_the_stored_page(ledger):
    state = ledger.revise(
        FactEdit("a", quote="Berga dairy was founded in 1974. It stands by the river Ljung.")
    )
    fact = state.facts["a"]
    assert fact.verified and TEXT[fact.start : fact.end] == fact.quote and fact.sha256 == PAGE.sha256
    with pytest.raises(UsageError, match="copy the exact words"):
        ledger.revise(FactEdit("a", quote="Berga dairy was founded in 1879."))


def test_what_stands_near_a_quote_does_not_speak_for_a_correction(ledger):
    near = ledger.revise(FactEdit("b", statement="It stands by the river Ljung since 1974."))
    assert not near.facts["b"].verified
    longer = ledger.revise(FactEdit("b", quote="founded in 1974. It stands by the river Ljung."))
    assert longer.facts["b"].verified


def test_without_its_stored_page_a_corrected_fact_is_not_verified(ledger):
    assert not ledger.revise(FactEdit("c", statement="Nobody ever swims there.")).facts["c"].verified


def test_own_knowledge_counts_and_is_never_verified(ledger):
    fact = fact_edits.build_own_fact(ledger.state(), 1, "My grandmother worked there in 1975.")
    state = ledger.say("add", fact_edits.add_fact, fact)
    mine = state.facts[fact.id]
    assert mine.is_own_knowledge and mine.can_support and not mine.verified and mine.decision == "pinned"
    assert state.edits[-1].text == "added 1 fact of your own knowledge"
    assert Ledger().say("add", fact_edits.add_fact, fact).current_confidence == 0, (
        "a person's word makes no page surer"
    )
    with pytest.raises(UsageError, match="fact already"):
        ledger.say("add", fact_edits.add_fact, fact)
    struck = ledger.revise(FactEdit(fact.id, decision="struck"))
    assert not struck.facts[fact.id].can_support
    assert ledger.revise(FactEdit(fact.id, decision="none")).facts[fact.id].decision == "pinned"
    reworded = ledger.revise(FactEdit(fact.id, statement="My grandmother worked there in 1976."))
    assert (
        reworded.facts[fact.id].quote == "My grandmother worked there in 1976."
        and not reworded.facts[fact.id].verified
    )


def test_a_quoted_fact_must_stand_on_its_page_and_be_carried_by_it(ledger):
    state = ledger.state()
    fact = fact_edits.build_quoted_fact(state, 1, "", "It stands by the river Ljung.", PAGE, "pa")
    assert fact.verified and fact.by == "person" and fact.origin == "page" and fact.statement == fact.quote
    with pytest.raises(UsageError, match="own knowledge"):
        fact_edits.build_quoted_fact(state, 1, "", "It stands by the sea.", PAGE, "pa")
    with pytest.raises(UsageError, match="does not support"):
        fact_edits.build_quoted_fact(
            state, 1, "It was founded in 1879.", "Berga dairy was founded in 1974.", PAGE, "pa"
        )


def answering(ledger: Ledger) -> Ledger:
    told = {"It was founded in 1974.": ["a"], "Nobody swims.": ["b", "c"]}
    sentences = [Sentence(text=text, fact_ids=ids, backed=True) for text, ids in told.items()]
    change = {"answers": [Answer(n=1, verdict="answered", sentences=sentences, step=1)]}
    ledger.steps.append(Step(n=1, name="report", change=to_jsonable(change), next="review"))
    return ledger


@pytest.mark.parametrize("source", ["one.example", "www.one.example", PAGE.url, "ONE.example/"])
def test_striking_a_source_tells_first_what_falls_and_then_takes_it(ledger, source):
    fall = source_strikes.preview_strike(answering(ledger).state(), source)
    assert [fact.id for fact in fall.facts] == ["a", "b"]
    assert [s.text for s in fall.sentences] == ["It was founded in 1974."] and [
        s.text for s in fall.weakened
    ] == ["Nobody swims."]
    state = ledger.say("strike_source", source_strikes.build_strike, source)
    assert [fact.decision for fact in state.facts.values()] == ["struck", "struck", "none"]
    assert (
        state.struck_sources == [fall.source]
        and state.edits[-1].text == f"excluded the source {fall.source} with 2 facts"
    )
    with pytest.raises(UsageError, match="excluded already"):
        ledger.say("strike_source", source_strikes.build_strike, source)


def test_a_source_comes_back_with_what_fell_with_it_alone(ledger):
    ledger.revise(FactEdit("b", decision="struck"))
    ledger.say("strike_source", source_strikes.build_strike, "one.example")
    state = ledger.say("restore_source", source_strikes.build_restore, "one.example")
    assert [fact.decision for fact in state.facts.values()] == [
        "none",
        "struck",
        "none",
    ] and not state.struck_sources
    with pytest.raises(UsageError, match="not excluded"):
        ledger.say("restore_source", source_strikes.build_restore, "one.example")
    with pytest.raises(UsageError, match="this run has nothing"):
        ledger.say("strike_source", source_strikes.build_strike, "elsewhere.example")


WORDS = {
    "pin": lambda ledger: ledger.revise(FactEdit("a", decision="pinned"), name="pin"),
    "strike": lambda ledger: ledger.revise(
        FactEdit("a", decision="struck"), FactEdit("c", decision="struck"), name="strike"
    ),
    "correct": lambda ledger: ledger.revise(
        FactEdit("a", statement="It was founded in 1879."), name="correct"
    ),
    "revise": lambda ledger: ledger.revise(
        FactEdit("a", statement="In 1974 it was founded."), FactEdit("b", decision="pinned")
    ),
    "add": lambda ledger: ledger.say(
        "add",
        fact_edits.add_fact,
        fact_edits.build_own_fact(ledger.state(), 1, "Berga dairy was founded in 1969."),
    ),
    "strike_source": lambda ledger: ledger.say("strike_source", source_strikes.build_strike, "one.example"),
}


def known(state: RunState) -> tuple:
    return state.facts, state.conflicts, state.struck_sources, state.current_confidence


@pytest.mark.parametrize("word", WORDS)
def test_undo_gives_back_exactly_what_was_and_redo_does_it_again(ledger, word):
    before = known(ledger.state())
    after = known(WORDS[word](ledger))
    assert after[:3] != before[:3]
    undone = ledger.undo()
    assert known(undone)[:3] == before[:3] and len(ledger.steps) == 3
    assert undone.edits[-1].text == f"undid: {undone.edits[0].text}" and undone.edits[-1].undoes == 1
    assert known(ledger.undo("redo")) == after
    assert known(ledger.undo())[:3] == before[:3]
    assert undo_edits.newest_edit(ledger.state().edits, ledger.names) is None


def test_edits_are_taken_back_newest_first_and_a_new_one_ends_the_redoing(ledger):
    states = [known(ledger.state())]
    for word in ("strike", "correct", "add", "strike_source"):
        states.append(known(WORDS[word](ledger)))
    for state in states[-2::-1]:
        assert known(ledger.undo())[:3] == state[:3]
    for state in states[1:3]:
        assert known(ledger.undo("redo"))[:3] == state[:3]
    ledger.revise(FactEdit("b", decision="pinned"), name="pin")
    assert undo_edits.newest_undo(ledger.state().edits, ledger.names) is None
    assert known(ledger.undo())[:3] == states[2][:3]


def test_undo_leaves_what_was_learnt_since(ledger):
    ledger.revise(FactEdit("a", decision="struck"), name="strike")
    new = said("d", TEXT[:32], "https://three.example/d", "pd")
    ledger.steps.append(Step(n=2, name="analyze", change=to_jsonable({"facts": [new]}), next="decide"))
    state = ledger.undo()
    assert (
        state.facts["a"].decision == "none"
        and state.facts["d"].quote == new.quote
        and state.facts["a"].statement == A.statement
    )


def test_undo_of_an_addition_after_more_was_learnt_takes_only_the_addition(ledger):
    mine = fact_edits.build_own_fact(ledger.state(), 1, "Berga dairy was founded in 1969.")
    ledger.say("add", fact_edits.add_fact, mine)
    new = said("d", "Nobody swims there.", "https://three.example/d")
    ledger.steps.append(Step(n=2, name="analyze", change=to_jsonable({"facts": [new]}), next="decide"))
    assert mine.id not in ledger.undo().facts and "d" in ledger.state().facts
    assert ledger.undo("redo").facts[mine.id].can_support


def test_a_word_that_cannot_be_taken_back_is_passed_over(ledger):
    ledger.revise(FactEdit("a", decision="struck"), name="strike")
    ledger.revise(FactEdit("b", decision="pinned"), name="supply")
    assert undo_edits.newest_edit(ledger.state().edits, ledger.names).step == 1
    state = ledger.undo()
    assert (state.facts["a"].decision, state.facts["b"].decision) == ("none", "pinned")


def test_a_change_is_the_same_before_and_after_it_was_stored(ledger):
    state = ledger.state()
    change = source_strikes.build_strike(state, 1, "one.example")
    assert (
        merge(shallow_copy(state), to_jsonable(change)).facts
        == ledger.say("strike_source", source_strikes.build_strike, "one.example").facts
    )


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 12))])
def test_whatever_was_edited_all_undone_is_as_if_nothing_had_been(seed):
    chance = random.Random(seed)
    told = {f"r{n}": f"Berga dairy was founded in {1974 + n}." for n in range(3)}
    rivals = [
        A.model_copy(update={"id": name, "statement": text, "url": f"https://{name}.example/"})
        for name, text in told.items()
    ]
    ledger = Ledger(A, B, C, *rivals)
    settled = ledger.revise(
        FactEdit("b", decision="pinned"), name="begin"
    )  # conflicts are found and marks set; not an edit to be undone
    before, made = known(settled)[:3], 0
    for _ in range(14):
        state, made = ledger.state(), made + 1
        name = chance.choice(list(state.facts))
        word = chance.choice(["mark", "mark", "word", "add", "source", "undo", "redo"])
        try:
            if word == "mark":
                picked = chance.sample(list(state.facts), chance.randint(1, 4))
                ledger.revise(
                    *(FactEdit(one, decision=chance.choice(["pinned", "struck", "none"])) for one in picked),
                    name="strike",
                )
            elif word == "word":
                ledger.revise(
                    FactEdit(name, statement=f"Berga dairy was founded in {1900 + made}."), name="correct"
                )
            elif word == "add":
                ledger.say(
                    "add",
                    fact_edits.add_fact,
                    fact_edits.build_own_fact(state, 1, f"Berga dairy was founded in {1800 + made}."),
                )
            elif word == "source":
                source = chance.choice(["one.example", "two.example", "r1.example"])
                there = source in state.struck_sources
                ledger.say(
                    "restore_source" if there else "strike_source",
                    source_strikes.build_restore if there else source_strikes.build_strike,
                    source,
                )
            elif (undo_edits.newest_edit if word == "undo" else undo_edits.newest_undo)(
                state.edits, ledger.names
            ):
                ledger.undo(word)
        except UsageError:
            pass
    while undo_edits.newest_edit(ledger.state().edits, ledger.names):
        ledger.undo()
    assert known(ledger.state())[:3] == before
    while undo_edits.newest_undo(ledger.state().edits, ledger.names):
        ledger.undo("redo")
    assert undo_edits.newest_undo(ledger.state().edits, ledger.names) is None
