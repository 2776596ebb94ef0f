"""Two facts answer one question only where both speak of what it asks."""

from __future__ import annotations

from pytest import mark

from agent.evidence.conflicts import find_conflicts
from agent.evidence.contradiction import is_on_question, states_same_answer
from agent.text.question_analysis import parse_question
from agent.types import Fact

REOPENED = parse_question("On what date did the Halden bridge reopen to traffic?")
FOUNDED = parse_question("When was Berga Dairy founded?")
EMPLOYS = parse_question("How many people does Berga Dairy employ?")


def fact(name: str, statement: str, **more: str) -> Fact:
    url = f"https://{name}.example/"
    given = {"id": name, "statement": statement, "quote": statement, "url": url, "title": "", **more}
    return Fact(**given, verified=True, step=1)  # type: ignore[arg-type]


REPAIRED = fact("a", "The Halden bridge reopened to traffic on 2 November 2024, after long repairs.")


@mark.parametrize(
    ("other", "is_conflict"),
    [
        ("On 9 November 2024 the Halden bridge was reopened, and lorries drove over it.", True),
        ("The Halden bridge was closed to all traffic on 18 June 2024 after divers found cracks.", False),
        ("The council sold the Halden bridge on 3 March 2019 for a single crown.", False),
    ],
)
def test_another_event_of_the_same_thing_is_no_other_answer(other: str, is_conflict: bool) -> None:
    assert bool(find_conflicts([REPAIRED, fact("b", other)], [], [REOPENED])) is is_conflict


def test_another_wording_within_one_site_is_another_event() -> None:
    other = fact("b", "Lorries and buses: the Halden bridge was reopened to traffic on 9 May 2011, too.")
    assert find_conflicts([REPAIRED, other], [], [REOPENED])
    assert not find_conflicts([REPAIRED, other.replace(url="https://a.example/2")], [], [REOPENED])


@mark.parametrize(
    ("one", "other", "asked", "is_same"),
    [
        (
            "Berga Dairy was founded in 1979 by two partners and entered on the roll in that year.",
            "Berga Dairy was founded in 1979 by the sisters Anna and Olga Lund, in an empty mill.",
            FOUNDED,
            True,
        ),
        (
            "Dairy: Berga Dairy; Village: Skarvik; Founded: 1979",
            "Founded in 1979, Berga Dairy …",
            FOUNDED,
            True,
        ),
        ("Berga Dairy was founded in 1979.", "Berga Dairy was founded in 1974 by a priest.", FOUNDED, False),
        ("Berga Dairy was founded in 1979.", "Berga Dairy lost its oldest roof in 1979.", FOUNDED, False),
        ("Berga Dairy was founded in 1979.", "Skarvik Brewery was founded in 1979.", FOUNDED, False),
        ("Berga Dairy employs 24 people.", "The 24 people whom Berga Dairy employs eat here.", EMPLOYS, True),
        ("Berga Dairy employs 24 people.", "Berga Dairy employs 31 people in summer.", EMPLOYS, False),
    ],
)
def test_the_same_answer_needs_the_same_value_of_the_same_matter(
    one: str, other: str, asked: object, is_same: bool
) -> None:
    assert states_same_answer(fact("a", one), fact("b", other), asked) is is_same  # type: ignore[arg-type]


def test_a_byline_says_nothing_about_its_author() -> None:
    line, about = "By Nils Amundsen · Published {}", {"title": "The Halden bridge"}
    one = fact("a", line.format("2 November 2024"), **about)
    other = fact("b", line.format("18 June 2024"), **about)
    assert find_conflicts([one, other], [], [REOPENED]) == []


@mark.parametrize(
    ("statement", "is_about"),
    [
        ("The Halden bridge reopened on 3 May 2021.", True),
        ("It reopened on 3 May 2021.", False),
        ("The Halden market has stalls.", False),
    ],
)
def test_a_fact_on_a_question_has_half_of_its_words_and_one_of_its_names(
    statement: str, is_about: bool
) -> None:
    assert is_on_question(fact("a", statement), REOPENED) == is_about
