"""Contradictions are found, series and different events are not, and a settlement survives more reading."""

from itertools import count

from agent.evidence.conflicts import find_conflicts, find_disputed
from agent.types import Fact
from tests.tables import by_table

_numbers = count(1)


def fact(statement: str, url: str, **more: object) -> Fact:
    n = next(_numbers)
    given: dict[str, object] = {
        "id": f"f{n:03}",
        "statement": statement,
        "quote": statement,
        "url": url,
        "verified": True,
        "step": n,
        **more,
    }
    return Fact(**given)  # type: ignore[arg-type]


A, B, C, D = "https://a.example/1", "https://b.example/2", "https://c.example/3", "https://d.example/4"


def make_sides(*urls: str) -> list[Fact]:
    wordings = [
        "The Nordvik dairy was founded in 1921.",
        "Founded in 1921: the Nordvik dairy.",
        "In 1921 the Nordvik dairy was founded.",
    ]
    return [fact(text, url) for text, url in zip(wordings, urls, strict=False)]


@by_table
def test_a_contradiction_is_named(one: str, other: str, kind: str) -> None:
    found = find_conflicts([fact(one, A), fact(other, B)])
    assert [conflict.kind for conflict in found] == [kind]
    assert len(found[0].values) == 2 and found[0].status == "open"
    assert [value.sites for value in found[0].values] == [["a.example"], ["b.example"]]


@by_table
def test_what_is_no_contradiction_is_not_named(one: str, other: str) -> None:
    assert find_conflicts([fact(one, A), fact(other, B)]) == []


def test_a_fact_that_does_not_count_contradicts_nothing() -> None:
    said = fact("The Nordvik dairy was founded in 1921.", A)
    other = fact("The Nordvik dairy was founded in 1923.", B)
    assert find_conflicts([said, other])
    assert not find_conflicts([said, other.replace(decision="struck")])


def test_a_page_does_not_contradict_itself() -> None:
    assert (
        find_conflicts(
            [
                fact("The fair was held in Nordvik in 1921.", A),
                fact("The fair was held in Nordvik in 1923.", A),
            ]
        )
        == []
    )


def test_ids_do_not_depend_on_order_or_on_what_joins_later() -> None:
    facts = [
        fact("The Nordvik dairy was founded in 1921.", A),
        fact("The Nordvik dairy was founded in 1923.", B),
    ]
    before = find_conflicts(facts)
    later = [fact("In 1924 the Nordvik dairy was founded.", C), *reversed(facts)]
    assert (
        [c.id for c in find_conflicts(later)]
        == [c.id for c in before]
        == [c.id for c in find_conflicts(reversed(facts))]
    )
    assert [v.text for v in find_conflicts(later)[0].values] == ["1921", "1923", "1924"]


@by_table
def test_namesakes_are_no_conflict(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert find_conflicts([fact(one[0], A, title=one[1]), fact(other[0], B, title=other[1])]) == []


def test_subjects_that_were_given_tell_namesakes_apart() -> None:
    one = fact("He died in 1040.", A, subject="Emperor Jingo of the East", attribute="death")
    other = fact("He died in 1190.", B, subject="Emperor Jingo of the West", attribute="death")
    assert find_conflicts([one, other]) == []
    assert len(find_conflicts([one, other.replace(subject=one.subject)])) == 1


@by_table
def test_sentences_that_agree_are_no_conflict(one: str, other: str) -> None:
    assert find_conflicts([fact(one, A), fact(other, B)]) == []


def test_only_the_facts_that_state_a_value_are_disputed() -> None:
    one, other = (
        fact("The Nordvik dairy was founded in 1921.", A),
        fact("The Nordvik dairy was founded in 1923.", B),
    )
    beside = [
        fact("The Nordvik dairy employs 120 people.", A),
        fact("The Nordvik dairy stands by the river since 1921.", C),
        fact("The Nordvik dairy won a prize in 1950.", D),
    ]
    known = [one, other, *beside]
    assert find_disputed(find_conflicts(known)) == {one.id, other.id}


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
        found = find_conflicts([*staff, *founded], [], [question])
        assert [conflict.asks for conflict in found] == [True, False]
        assert found[0].values[0].text == first
    other = "When was the Skarvik Brewery founded?"
    assert not any(conflict.asks for conflict in find_conflicts([*staff, *founded], [], [other]))
