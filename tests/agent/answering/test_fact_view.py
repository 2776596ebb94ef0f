"""The facts a prompt shows, and the pause that new conflicts call for."""

from __future__ import annotations

from agent.answering import fact_view
from agent.engine.run_state import RunState
from agent.types import Conflict, Fact, Settings
from tests.records import fill


def test_memory_shows_pinned_facts_first_and_struck_ones_never():
    facts = [
        Fact(id="a", statement="", quote="", relevance=0.2),
        Fact(id="b", statement="", quote="", relevance=0.9),
        Fact(id="c", statement="", quote="", relevance=0.1, decision="pinned"),
        Fact(id="d", statement="", quote="", relevance=1.0, decision="struck"),
    ]
    assert [
        fact.id for fact in fact_view.facts_for_prompt(RunState(facts={fact.id: fact for fact in facts}))
    ] == ["c", "b", "a"]


def test_every_part_has_its_share_of_the_facts_a_prompt_shows():
    many = [Fact(id=f"a{n}", statement="", quote="", relevance=0.9, part="1") for n in range(9)]
    few = [Fact(id=f"b{n}", statement="", quote="", relevance=0.1, part="2") for n in range(3)]
    state = RunState(facts={fact.id: fact for fact in [*many, *few]})
    assert [fact.id for fact in fact_view.facts_for_prompt(state, most=6)] == "a0 a1 a2 b0 b1 b2".split()


def test_facts_are_shown_whole_while_there_is_room_then_those_of_settled_parts_by_their_statement():
    def make(name: str, part: str, chars: int, **more: str) -> Fact:
        return Fact(id=name, statement="x" * chars, quote="", part=part, **more)

    few = [make("a", "1", 300), make("b", "2", 300)]
    assert fact_view.show_facts(few, ["1"]) == {"facts": few, "brief": []}
    most = fact_view.MAX_FACT_CHARS
    half = [make("a", "1", most // 2), make("b", "2", most // 2 - 100), make("p", "1", 9, decision="pinned")]
    assert fact_view.show_facts(half[:2], ["1"]) == {"facts": half[:2], "brief": ["a"]}
    assert fact_view.show_facts(half, ["1"])["brief"] == ["a"]
    many = [make(f"a{n}", "1", most // 4) for n in range(9)] + [make("b", "2", most // 4)]
    assert [fact.id for fact in fact_view.show_facts(many)["facts"]] == ["a0", "a1", "b"]


def test_until_the_next_conflict_counts_each_open_one_once():
    known = {
        name: fill(Conflict, id=name, subject="Kallsteg", attribute=name, kind="date", status=status)
        for name, status in (("a", "open"), ("b", "open"), ("c", "settled"))
    }
    state = RunState(settings=Settings(until="conflict"), conflicts=known, met=["a"])
    halt = fact_view.pause_for_new_conflicts(state)
    assert halt.conflicts == ["b"] and halt.why == "Sources disagree: Kallsteg · b."
    state.met.append("b")
    assert fact_view.pause_for_new_conflicts(state) is None
    assert (
        fact_view.pause_for_new_conflicts(state.model_copy(update={"met": [], "settings": Settings()}))
        is None
    )
    both = Settings(until="conflict", mode="step")
    assert both.stop_point == "step"
    assert fact_view.pause_for_new_conflicts(state.model_copy(update={"met": [], "settings": both})) is None


def test_a_run_without_a_recorded_plan_has_its_question_as_one_part() -> None:
    question = "When was the bridge built, and who designed it?"
    assert [(part.id, part.question) for part in RunState(question=question).plan] == [("1", question)]
    asked = RunState(question="and the other?", asked="Is B open?").plan
    assert [part.question for part in asked] == ["Is B open?"]
