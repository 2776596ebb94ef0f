"""Which conflicts are about what is asked."""

from agent.evidence.conflicts import find_conflicts
from agent.text.question_analysis import parse_question
from tests.agent.evidence.contradiction.test_groups import A, B, fact


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
