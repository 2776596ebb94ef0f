"""A person's word is counted with everything the run knows: marks, conflicts and confidence follow, whoever
calls."""

from __future__ import annotations

import pytest

from agent.answering.confidence import assess_confidence
from agent.answering.fact_intake import add_facts
from agent.answering.recompute import apply_person_edits, recompute_after_edit, record_note
from agent.answering.verdict import record_answer
from agent.engine.run_state import RunState
from agent.engine.state import fold, merge, shallow_copy, to_jsonable
from agent.evidence.contradiction import groups, resolution, statements
from agent.flows.research.state import ResearchState
from agent.roles.report import ReportReply
from agent.roles.role import RoleResult
from agent.types import Conflict, ConflictSide, Fact, Note, Step
from tests.agent.answering.written import build_answer

pytestmark = pytest.mark.slow


def said(name: str, statement: str, url: str, **marks) -> Fact:
    return Fact(
        id=name,
        statement=statement,
        quote=statement,
        url=url,
        page_id=f"p{name}",
        sha256=name,
        verified=True,
        relevance=0.9,
        **marks,
    )


A = said("a", "Berga dairy was founded in 1974.", "https://one.example/a")
B = said("b", "Berga dairy was founded in 1979.", "https://two.example/b")
C = said("c", "Berga dairy was founded in 1974, says the register.", "https://three.example/c")
QUESTION = "When was Berga dairy founded?"


def knowing(*facts: Fact) -> RunState:
    state = RunState(own=ResearchState(), question=QUESTION)
    return merge(state, to_jsonable(recompute_after_edit(state, 1, facts=facts)))


def after(state: RunState, step: int = 2, **word) -> RunState:
    return merge(shallow_copy(state), to_jsonable(recompute_after_edit(state, step, **word)))


def test_two_values_dispute_each_other_and_a_struck_one_ends_it():
    state = knowing(A, B)
    clash = next(iter(state.conflicts.values()))
    assert clash.status == "open" and all(fact.disputed for fact in state.facts.values())
    now = after(
        state, facts=[state.facts["b"].model_copy(update={"decision": "struck"})], why="struck 1 fact"
    )
    assert now.facts["a"].can_support and not now.facts["b"].can_support
    assert (
        now.conflicts[clash.id].status == "settled"
        and now.conflicts[clash.id].reason == resolution.FACTS_GONE_REASON
    )
    assert now.current_confidence > state.current_confidence and now.confidence[-1].moves[
        0
    ].reason.startswith("struck 1 fact: ")
    assert [(edit.step, edit.text) for edit in now.edits] == [(2, "struck 1 fact")]


def test_what_was_struck_and_comes_back_disputes_again():
    state = knowing(A, B)
    struck = after(state, facts=[state.facts["b"].model_copy(update={"decision": "struck"})])
    back = after(struck, 3, facts=[struck.facts["b"].model_copy(update={"decision": "none"})])
    assert back.facts == state.facts and back.current_confidence == state.current_confidence
    assert next(iter(back.conflicts.values())).status == "open"


def test_a_pin_settles_a_conflict_only_as_long_as_it_stands():
    state = knowing(A, B)
    pinned = after(state, facts=[state.facts["a"].model_copy(update={"decision": "pinned"})])
    clash = next(iter(pinned.conflicts.values()))
    assert (clash.status, clash.chosen, clash.reason) == ("settled", "1974", resolution.PINNED_REASON)
    assert pinned.facts["b"].disputed and not pinned.facts["a"].disputed
    loose = after(pinned, 3, facts=[pinned.facts["a"].model_copy(update={"decision": "none"})])
    assert next(iter(loose.conflicts.values())).status == "open" and loose.facts["a"].disputed


def test_a_conflict_a_person_settled_stays_settled_and_decides_the_marks():
    state = knowing(A, B)
    clash = next(iter(state.conflicts.values())).model_copy(
        update={"status": "settled", "chosen": "1979", "reason": "the deed says so", "settled_by": "person"}
    )
    now = after(state, conflicts=[clash], why="settled 1 conflict")
    assert now.facts["a"].disputed and now.facts["b"].can_support
    later = after(now, 3, facts=[C])
    assert next(iter(later.conflicts.values())).reason == "the deed says so" and later.facts["c"].disputed


def test_only_what_changed_is_in_the_change():
    state = knowing(A, C)
    change = recompute_after_edit(state, 2, facts=[A])
    assert change == {"facts": [], "conflicts": []}
    assert [
        fact.id
        for fact in recompute_after_edit(state, 2, facts=[A.model_copy(update={"decision": "pinned"})])[
            "facts"
        ]
    ] == ["a"]


def test_a_conflict_the_model_told_is_left_as_it_is():
    told = Conflict(id="model", subject="the owner", attribute="", kind="name", values=[], found_by="model")
    state = merge(knowing(A, C), to_jsonable({"conflicts": [told]}))
    assert after(state, facts=[A.model_copy(update={"decision": "pinned"})]).conflicts["model"] == told


def test_the_models_judgement_is_kept_when_a_person_edits():
    state = knowing(A, C)
    held = assess_confidence(state, 1, model=0.4)
    merge(state, to_jsonable({"confidence": [held]}))
    now = after(state, facts=[A.model_copy(update={"decision": "pinned"})]).confidence[-1]
    assert now.value > held.value and (now.model, now.parts[0].judgement) == (0.4, 0.4)


def answered(*facts: Fact, text: str, model: float = 0.9) -> RunState:
    """A run with these facts and an answer of one sentence that cites the first."""
    state = knowing(*facts)
    merge(state, to_jsonable({"confidence": [assess_confidence(state, 2, model=model)]}))
    reply = ReportReply(answer=[{"text": text, "fact_ids": [facts[0].id]}])
    answer = build_answer(state, RoleResult(value=reply, by="model"), 3)
    return merge(state, to_jsonable(record_answer(state, answer)))


def test_after_the_write_up_the_confidence_rests_on_its_claims():
    state = answered(A, C, text=A.statement)
    assert state.current_confidence == state.answer.confidence > 0.8
    struck = after(state, 4, facts=[C.model_copy(update={"decision": "struck"})])
    assert 0 < struck.current_confidence < state.current_confidence
    both = after(struck, 5, facts=[A.model_copy(update={"decision": "struck"})])
    assert both.current_confidence == 0.0, "its claim lost its last source"


def test_striking_a_fact_never_raises_an_answer_that_its_quotes_do_not_support():
    state = answered(A, C, text="Berga dairy was founded in 1911.")
    assert state.current_confidence == 0.0
    assert after(state, 4, facts=[C.model_copy(update={"decision": "struck"})]).current_confidence == 0.0


def test_keys_with_a_minus_leave_entries_out_in_every_fold():
    state = knowing(A, C)
    steps = [
        Step(
            n=2,
            name="undo",
            change={"-facts": ["c"], "-conflicts": ["none such"]},
            next="decide",
            by="person",
        )
    ]
    assert set(fold(shallow_copy(state), steps).facts) == {"a"} and set(state.facts) == {"a", "c"}


def overtaken(state: RunState, word: dict) -> tuple[RunState, list[Step]]:
    spoken = Step(n=5, name="strike", change=to_jsonable(word), next="decide", by="person")
    return fold(shallow_copy(state), [spoken]), [spoken]


def test_a_steps_change_keeps_what_a_person_said_meanwhile():
    state = knowing(A, C)
    made = to_jsonable(
        recompute_after_edit(state, 4, facts=[B])
    )  # a page was analysed: A and C became disputed by B
    assert {fact["id"] for fact in made["facts"]} == {"a", "b", "c"}
    now, spoken = overtaken(
        state,
        recompute_after_edit(
            state, 5, facts=[A.model_copy(update={"decision": "struck"})], why="struck 1 fact"
        ),
    )
    done = merge(shallow_copy(now), apply_person_edits(now, {**made, "report": {"by": "keyless"}}, spoken))
    assert done.facts["a"].decision == "struck" and done.facts["b"].disputed and done.facts["c"].disputed
    assert done.own.report == {"by": "keyless"}


def test_what_was_found_on_a_source_struck_meanwhile_is_struck():
    state = knowing(A)
    made = to_jsonable(recompute_after_edit(state, 4, facts=[B]))
    now, spoken = overtaken(state, {"struck_sources": ["two.example"], "edits": []})
    done = merge(shallow_copy(now), apply_person_edits(now, made, spoken))
    assert (
        done.facts["b"].decision == "struck" and done.facts["a"].can_support and not done.facts["a"].disputed
    )


def test_a_change_nobody_touched_is_recorded_as_it_is():
    state = knowing(A)
    made = to_jsonable(recompute_after_edit(state, 4, facts=[B]))
    note = Step(n=5, name="steer", change={"notes": []}, next="decide", by="person")
    assert apply_person_edits(state, made, [note]) is made


def test_many_facts_are_counted_in_time_and_only_the_near_ones_are_compared(monkeypatch):
    monkeypatch.setattr("agent.answering.recompute.FULL_COMPARISON_LIMIT", 3)
    other = said("", "Something else of no bearing.", "").model_copy(update={"relevance": 0.0})
    far = [other.model_copy(update={"id": f"x{n}", "url": f"https://s{n}.example/"}) for n in range(60)]
    state = knowing(A, B, *far)
    now = after(state, facts=[state.facts["b"].model_copy(update={"decision": "struck"})])
    assert (
        now.facts["a"].can_support
        and ConflictSide.model_validate(next(iter(now.conflicts.values())).values[0]).text == "1974"
    )


def test_an_edit_among_very_many_facts_compares_few(monkeypatch):
    made = [0]

    def counted(*given, **more):
        made[0] += 1
        return compared(*given, **more)

    compared = groups._compare
    monkeypatch.setattr(groups, "_compare", counted)
    firms = [
        said(
            f"f{n}", f"The firm Alpha was founded in {1900 + n % 90} by person {n}.", f"https://s{n}.example/"
        )
        for n in range(1400)
    ]
    after(
        RunState(question=QUESTION, facts={firm.id: firm for firm in firms}),
        facts=[firms[3].model_copy(update={"decision": "pinned"})],
    )
    assert 0 < made[0] <= 300 * 299 / 2


def test_pairs_that_share_a_side_are_one_conflict_however_they_come():
    told = [
        said(f"g{n}", f"The firm Alpha was founded in {1900 + n}.", f"https://s{n}.example/")
        for n in range(6)
    ]
    found = groups.find_conflicts(told)
    assert len(found) == 1 and len(found[0].values) == 6


def test_an_edit_of_many_facts_compares_what_changed_and_what_clashes(monkeypatch):
    compared, plain = [], statements.find_contradiction
    monkeypatch.setattr(
        statements, "find_contradiction", lambda a, b, **how: compared.append(1) or plain(a, b, **how)
    )
    many = [
        said(f"x{n}", f"Berga dairy employed {n + 20} people.", f"https://s{n}.example/") for n in range(1400)
    ]
    state = merge(RunState(question=QUESTION), to_jsonable({"facts": [A, B, C, *many]}))
    pin = [many[700].model_copy(update={"decision": "pinned"})]
    state = after(state, facts=[A, B, C])
    compared.clear()
    now = after(state, 3, facts=pin)
    assert len(compared) < 41 * 41 and now.facts["x700"].decision == "pinned"
    compared.clear()
    now = after(state, 3, facts=[said("new", "Berga dairy employed 7 people.", "https://new.example/")])
    assert 1400 <= len(compared) < 1400 + 3000
    clash = next(
        clash for clash in now.conflicts.values() if any("new" in value.fact_ids for value in clash.values)
    )
    assert clash.kind == "number" and len(clash.values) > 1000


def test_a_note_that_rules_a_source_out_takes_its_conflict_and_confidence_along():
    state = knowing(A, B)
    before = state.current_confidence
    note = Note(step=2, text="Do not use two.example.")
    change = record_note(state, note)
    now = merge(shallow_copy(state), to_jsonable(change))
    assert change["notes"] == [note] and "edits" not in change
    assert [conflict.reason for conflict in now.conflicts.values()] == [resolution.FACTS_GONE_REASON]
    assert now.current_confidence > before and now.facts["a"].can_support
    assert record_note(state, Note(step=2, text="Be brief.")) == {"notes": [Note(step=2, text="Be brief.")]}


def test_what_a_step_found_meanwhile_on_a_source_that_a_note_rules_out_makes_no_conflict():
    state = knowing(A)
    made = to_jsonable(recompute_after_edit(state, 2, facts=[B]))
    assert made["conflicts"]
    note = Note(step=3, text="Leave out two.example.")
    told = merge(shallow_copy(state), to_jsonable(record_note(state, note)))
    spoken = Step(n=3, name="steer", change=to_jsonable({"notes": [note]}), next="decide", by="person")
    recorded = apply_person_edits(told, made, [spoken])
    now = merge(told, recorded)
    assert not any(conflict.status == "open" for conflict in now.conflicts.values())
    assert now.facts["a"].can_support


def test_a_note_that_ends_the_conflict_of_one_part_leaves_the_other_part_disputed():
    employs = [
        said(
            "d",
            "Berga Dairy employs 24 people, which is a lot in so small a village.",
            "https://four.example/",
        ),
        said("e", "Berga Dairy employs 31 people, counted on 1 September 2025.", "https://five.example/"),
    ]
    founded = [
        said(
            "a",
            "Berga Dairy was founded in 1979 by two partners and entered on the roll.",
            "https://one.example/",
        ),
        said("b", "Berga Dairy was founded in 1974 and is the oldest of all.", "https://two.example/"),
        said(
            "c",
            "Berga Dairy was founded in 1979 by the sisters Lund, in an empty mill.",
            "https://three.example/",
        ),
    ]
    state = RunState(
        own=ResearchState(), question="When was Berga Dairy founded and how many people does it employ?"
    )
    state = merge(state, to_jsonable(add_facts(state, 1, [*employs, *founded])))
    assert [conflict.asks for conflict in state.conflicts.values()] == [True, True]
    reply = RoleResult(value=ReportReply(answer=[]), by="keyless")
    state = merge(state, to_jsonable(record_answer(state, build_answer(state, reply, 2))))
    assert [part.disputed for part in state.confidence[-1].parts] == [True, True]
    now = merge(
        shallow_copy(state), to_jsonable(record_note(state, Note(step=3, text="Do not use two.example.")))
    )
    first, second = now.confidence[-1].parts
    assert (first.disputed, first.sources) == (False, ["one.example", "three.example"])
    assert second.disputed and len(second.sources) == 1
    assert now.current_confidence > state.current_confidence
    rewritten = ReportReply(answer=[{"text": founded[0].statement, "fact_ids": ["a"]}])
    again = build_answer(now, RoleResult(value=rewritten, by="keyless"), 4)
    assert again.missing == "“how many people does Berga Dairy employ”: the sources differ on it."
