"""Contradictions are found, series and different events are not, and a settlement survives more reading."""

from itertools import count

import pytest

from agent.evidence.conflicts import find_conflicts, find_disputed
from agent.types import Fact

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


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("The Nordvik dairy was founded in 1921.", "The Nordvik dairy was founded in 1923.", "date"),
        (
            "The Nordvik dairy was founded on 3 May 1921 by Anna Berg.",
            "Anna Berg founded the Nordvik dairy in 1923.",
            "date",
        ),
        ("The Nordvik dairy employs 120 people.", "The Nordvik dairy employs 180 people.", "number"),
        (
            "The Nordvik dairy makes twelve percent of the cheese.",
            "The Nordvik dairy makes 15 % of the cheese.",
            "number",
        ),
        (
            "The Nordvik dairy makes 12 % of the cheese.",
            "The Nordvik dairy makes 0.15 of the cheese.",
            "number",
        ),
        (
            "The road to the Nordvik dairy is 10 km long.",
            "The road to the Nordvik dairy is 10 miles long.",
            "number",
        ),
        (
            "Water in the Nordvik spring is 20 °C warm.",
            "Water in the Nordvik spring is 90 °F warm.",
            "number",
        ),
        (
            "The Nordvik dairy was founded on 3/5/1921.",
            "The Nordvik dairy was founded on 1921-07-03.",
            "date",
        ),
        (
            "As of 2023 the Nordvik dairy employs 120 people.",
            "As of 2023 the Nordvik dairy employs 180 people.",
            "number",
        ),
    ],
)
def test_a_contradiction_is_named(one: str, other: str, kind: str) -> None:
    found = find_conflicts([fact(one, A), fact(other, B)])
    assert [conflict.kind for conflict in found] == [kind]
    assert len(found[0].values) == 2 and found[0].status == "open"
    assert [value.sites for value in found[0].values] == [["a.example"], ["b.example"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Nordvik dairy was founded in 1921.", "The Nordvik dairy was founded on 3 May 1921."),
        (
            "The Nordvik dairy makes 12 % of the cheese.",
            "The Nordvik dairy makes twelve percent of the cheese.",
        ),
        (
            "The Nordvik dairy makes twelve percent of the cheese.",
            "The Nordvik dairy makes 0.12 of the cheese.",
        ),
        ("The road to the Nordvik dairy is 10 km long.", "The road to the Nordvik dairy is 6.2 miles long."),
        (
            "Water in the Nordvik spring is 20 degrees Celsius warm.",
            "Water in the Nordvik spring is 68 °F warm.",
        ),
        ("The Nordvik dairy was opened on 31/03/1889.", "The Nordvik dairy was opened on March 31, 1889."),
        ("The Nordvik dairy was opened on 31.3.1889.", "The Nordvik dairy was opened in March 1889."),
        (
            "The Nordvik dairy was founded by Dr. Anna M. Berg.",
            "The Nordvik dairy was founded by Anna Maria Berg.",
        ),
        ("The Nordvik dairy was not sold.", "The Nordvik dairy was never sold."),
        (
            "As of 2023 the Nordvik dairy employs 120 people.",
            "As of 2025 the Nordvik dairy employs 180 people.",
        ),
        ("In 2023 the Nordvik dairy employed 120 people.", "In 2025 the Nordvik dairy employed 180 people."),
        ("The Nordvik dairy employed 120 people in 2023.", "The Nordvik dairy employs 180 people."),
        ("The Nordvik dairy was founded in 1921.", "The Nordvik dairy was sold in 1987."),
        ("The Nordvik dairy has 12 vats.", "The Nordvik dairy has 40 employees."),
        ("Anna Berg was born in Lillehavn in 1890.", "Olaf Lund was born in Lillehavn in 1901."),
        ("Lillehavn is a town in Nordvik.", "Skarvik is a town in Nordvik."),
        ("The population of Lillehavn was 5,000.", "The population of Skarvik was 6,000."),
        (
            "She was the third of five Berg children from Lillehavn.",
            "She was the fifth of five Berg children from Lillehavn.",
        ),
        ("The Heinkel HD 39 was a cargo aircraft.", "The Heinkel HD 40 was a cargo aircraft."),
        ("The Nordvik dairy employs about 12,000 people.", "The Nordvik dairy employs 12,340 people."),
    ],
)
def test_what_is_no_contradiction_is_not_named(one: str, other: str) -> None:
    assert find_conflicts([fact(one, A), fact(other, B)]) == []


def test_sentences_about_another_page_s_subject_do_not_meet() -> None:
    one = fact("The film was released on November 17, 1933, by Fox.", A, title="The Grey Harbour")
    other = fact("The film was released on September 27, 1931, by Fox.", B, title="A Winter Song")
    assert find_conflicts([one, other]) == []
    assert len(find_conflicts([one, other.model_copy(update={"title": "The Grey Harbour (film)"})])) == 1


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


def test_given_subject_and_attribute_need_no_like_wording() -> None:
    one = fact(
        "It all began in 1921, when Anna Berg bought two cows.",
        A,
        subject="Nordvik dairy",
        attribute="founding year",
    )
    other = fact(
        "The firm's registration is dated 4 June 1923.",
        B,
        subject="nordvik  Dairy",
        attribute="Founding year",
    )
    found = find_conflicts([one, other])
    assert [(c.subject, c.attribute, c.kind) for c in found] == [("Nordvik dairy", "founding year", "date")]


def test_a_date_beside_a_given_attribute_hides_no_contradiction_and_two_dates_are_a_series() -> None:
    given = {"subject": "Skarvik mast", "attribute": "height"}
    one = fact("The Skarvik mast is 112 metres high.", A, **given)
    other = fact("The Skarvik mast, opened in 1969, has a height of 121 metres.", B, **given)
    assert [[v.text for v in c.values] for c in find_conflicts([one, other])] == [
        ["112 metres", "121 metres"]
    ]
    dated = one.replace(statement="In 2001 the Skarvik mast was 112 metres high.")
    assert find_conflicts([dated, other]) == []


def test_unverified_and_struck_facts_do_not_count() -> None:
    one, other = (
        fact("The Nordvik dairy was founded in 1921.", A),
        fact("The Nordvik dairy was founded in 1923.", B),
    )
    assert find_conflicts([one, other.model_copy(update={"verified": False})]) == []
    assert find_conflicts([one, other.model_copy(update={"decision": "struck"})]) == []


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


def test_a_page_s_title_as_subject_does_not_part_sentences_on_one_thing() -> None:
    one = fact(
        "Nordvik Dairy was founded in 1921 by two partners.",
        A,
        subject="Nordvik Dairy Ltd",
        title="Nordvik Dairy Ltd",
    )
    other = fact(
        "Nordvik Dairy was founded in 1923 and is the oldest of all.",
        B,
        subject="Dairies of the county",
        title="Dairies of the county",
    )
    found = find_conflicts([one, other])
    assert [(c.subject, c.attribute, [v.text for v in c.values]) for c in found] == [
        ("Nordvik Dairy", "founded", ["1921", "1923"])
    ]


def test_a_table_row_contradicts_prose_and_takes_its_side() -> None:
    one, other = fact("Nordvik Dairy was founded in 1921.", A), fact("Nordvik Dairy was founded in 1923.", B)
    row = fact("Dairy: Nordvik Dairy; Village: Lillehavn; Founded: 1923; Known for: cheese", C)
    assert [[v.text for v in c.values] for c in find_conflicts([one, row])] == [["1921", "1923"]]
    values = find_conflicts([one, other, row])[0].values
    assert [(v.fact_ids, v.sites) for v in values] == [
        ([one.id], ["a.example"]),
        ([other.id, row.id], ["b.example", "c.example"]),
    ]


def test_rows_of_two_tables_contradict_each_other_in_one_cell_and_are_namesakes_in_all() -> None:
    one = fact("Dairy: Nordvik Dairy; Village: Lillehavn; Founded: 1921; Staff: 12", A)
    other = fact("Dairy: Nordvik Dairy; Village: Lillehavn; Founded: 1923; Staff: 12", B)
    namesake = fact("Dairy: Nordvik Dairy; Founded: 1890; Staff: 40", C)
    assert [[v.text for v in c.values] for c in find_conflicts([one, other])] == [["1921", "1923"]]
    assert find_conflicts([one, namesake]) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("Amber Road is an album by Anna Berg.", "Amber Road (Anna Berg album)"),
            ("Amber Road is an album by Olaf Lund.", "Amber Road (Olaf Lund album)"),
        ),
        (
            ("The Grey Harbour was released on 3 May 1933.", "The Grey Harbour (1933 film)"),
            ("The Grey Harbour was released on 9 June 1971.", "The Grey Harbour (1971 film) – Filmbase"),
        ),
        (
            ("Anna Berg was born in 1890.", "Anna Berg (footballer)"),
            ("Anna Berg was born in 1931.", "Anna Berg (chemist) | Who is who"),
        ),
        (
            ("The town has 4,210 inhabitants today.", "Lillehavn, Agder"),
            ("The town has 9,800 inhabitants today.", "Lillehavn, Telemark"),
        ),
        (
            ("The population was 4,210 at the census.", "Lillehavn"),
            ("The population was 9,800 at the census.", "Skarvik"),
        ),
        (
            ("Anna Berg (born 1890) is a Norwegian farmer.", ""),
            ("Anna Berg (born 1931) is a Norwegian chemist.", ""),
        ),
        (
            ("Amber Road is the first album by the singer Anna Berg.", ""),
            ("Amber Road is a 1999 album by the drummer Olaf Lund.", ""),
        ),
    ],
)
def test_namesakes_are_no_conflict(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert find_conflicts([fact(one[0], A, title=one[1]), fact(other[0], B, title=other[1])]) == []


def test_subjects_that_were_given_tell_namesakes_apart() -> None:
    one = fact("He died in 1040.", A, subject="Emperor Jingo of the East", attribute="death")
    other = fact("He died in 1190.", B, subject="Emperor Jingo of the West", attribute="death")
    assert find_conflicts([one, other]) == []
    assert len(find_conflicts([one, other.replace(subject=one.subject)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The hall was opened in 1921 and rebuilt in 1934.",
            "The hall was opened in 1934.",
        ),
        ("The hall seats 100 to 200 people.", "The hall seats 150 people."),
        ("The hall was in use in 1939–45.", "The hall was in use in 1941."),
        ("Anna Berg and Olaf Lund own the old hall.", "Olaf Lund and Anna Berg own the old hall."),
    ],
)
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


def test_a_conflict_names_what_is_counted() -> None:
    [found] = find_conflicts([fact("Selm hut has 36 beds.", A), fact("Selm hut has 32 beds.", B)])
    assert found.topic == "Selm (hut beds)"
    [found] = find_conflicts(
        [fact("The mast of Skarvik is 80 m high.", A), fact("The mast of Skarvik is 95 m high.", B)]
    )
    assert found.topic == "Skarvik (mast high)", "a unit of measure says nothing"
    [found] = find_conflicts([fact("Selm has a 36-bed hut.", A), fact("Selm has a 32-bed hut.", B)])
    assert found.topic == "Selm (hut)", "a value is no topic"
    assert not find_conflicts(
        [
            fact("Selm has 12 mills, three more than Orrin.", A),
            fact("Orrin has 9 mills, two fewer than Selm.", B),
        ]
    )
