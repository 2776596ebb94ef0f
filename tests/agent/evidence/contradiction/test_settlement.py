"""What settles a conflict, and which conflicts are about what is asked."""

from agent.evidence.contradiction.groups import find_conflicts
from agent.text.question_analysis import parse_question
from agent.types import Conflict
from tests.agent.evidence.contradiction.test_groups import A, B, C, D, fact, make_sides


def test_two_more_independent_sites_settle_it() -> None:
    lone = fact("The Nordvik dairy was founded in 1923.", D)
    assert find_conflicts([*make_sides(A, B), lone])[0].status == "open"
    settled = find_conflicts([*make_sides(A, B, C), lone])[0]
    assert (settled.status, settled.chosen) == (
        "settled",
        "1921",
    ) and "3 independent sites against 1" in settled.reason


def test_a_person_s_settlement_is_kept() -> None:
    facts = [*make_sides(A), fact("The Nordvik dairy was founded in 1923.", D)]
    known = find_conflicts(facts)[0].model_copy(
        update={
            "status": "settled",
            "chosen": "1923",
            "reason": "the register says so",
            "step": 3,
            "settled_by": "person",
        }
    )
    again = find_conflicts([*facts, *make_sides(B, C)[1:]], [known])[0]
    assert (again.status, again.chosen, again.reason, again.step) == (
        "settled",
        "1923",
        "the register says so",
        3,
    )


def test_a_pinned_fact_settles_it() -> None:
    facts = [*make_sides(A, B, C), fact("The Nordvik dairy was founded in 1923.", D, decision="pinned")]
    assert (find_conflicts(facts)[0].chosen, find_conflicts(facts)[0].reason) == (
        "1923",
        "a person pinned this value",
    )


def test_a_model_s_conflict_is_kept() -> None:
    told = Conflict(id="m1", subject="x", attribute="y", kind="name", values=[], found_by="model")
    assert find_conflicts([], [told]) == [told]


def test_a_conflict_about_what_is_asked_is_marked_and_comes_first() -> None:
    staff = [
        fact("The Nordvik Dairy employs 120 people.", A),
        fact("The Nordvik Dairy employs 180 people.", B),
    ]
    founded = [
        fact("The Nordvik Dairy was founded in 1921.", A),
        fact("The Nordvik Dairy was founded in 1923.", B),
    ]
    for question, first in (
        ("When was the Nordvik Dairy founded?", "1921"),
        ("How many people does the Nordvik Dairy employ?", "120 people"),
    ):
        found = find_conflicts([*staff, *founded], [], [parse_question(question)])
        assert [conflict.asks for conflict in found] == [True, False]
        assert found[0].values[0].text == first
    other = parse_question("When was the Skarvik Brewery founded?")
    assert not any(conflict.asks for conflict in find_conflicts([*staff, *founded], [], [other]))


def test_a_conflict_about_any_part_of_the_question_is_about_it() -> None:
    facts = [
        fact("The Nordvik Dairy employs 120 people.", A),
        fact("The Nordvik Dairy employs 180 people.", B),
        fact("The Nordvik Dairy was founded in 1921.", A),
        fact("The Nordvik Dairy was founded in 1923.", B),
    ]
    parts = ["When was the Nordvik Dairy founded", "how many people does it employ? (Nordvik Dairy)"]
    assert [c.asks for c in find_conflicts(facts, [], [*map(parse_question, parts)])] == [True, True]


def test_a_settlement_holds_when_the_value_is_written_otherwise_later() -> None:
    one, other = (
        fact("The Nordvik dairy was founded in 1921.", A),
        fact("The Nordvik dairy was founded in 1923.", B),
    )
    known = find_conflicts([one, other])[0].model_copy(
        update={"status": "settled", "chosen": "1923", "reason": "seen the deed", "settled_by": "person"}
    )
    later = fact("The Nordvik dairy was founded in 1925.", C)
    found = find_conflicts([later, one, other], [known])
    assert [(c.id, c.status, c.chosen, c.reason) for c in found] == [
        (known.id, "settled", "1923", "seen the deed")
    ]
    assert find_conflicts([other, later], [known])[0].chosen == "1923", (
        "the earliest fact is not looked at any more: by what the others have in common"
    )
