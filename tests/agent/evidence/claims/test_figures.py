"""A figure that no quote gives is a veto; one that a reader could work out is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.claims.figures import (
    find_added_units,
    find_figure_vetoes,
    find_moved_figures,
    find_other_bounds,
)
from agent.evidence.claims.words import read_text


def _veto(claim: str, *quotes: str) -> list[tuple[str, str, str]]:
    nothing = read_text("")
    found = find_figure_vetoes(read_text(claim), [read_text(quote) for quote in quotes], nothing, nothing)
    assert all(finding.is_veto for finding in found)
    return [(finding.kind, finding.claimed, finding.quoted) for finding in found]


@pytest.mark.parametrize(
    ("claim", "quote", "found"),
    [
        ("Ninety percent recovered.", "20 percent recovered.", ("figure", "Ninety percent", "20 percent")),
        ("It is 20 miles long.", "It is 20 km long.", ("figure", "20 miles", "20 km")),
        ("It opened in 1962.", "It opened in 1961.", ("date", "1962", "1961")),
        ("It opened on 3 May 1961.", "It opened on 4 May 1961.", ("date", "3 May 1961", "4 May 1961")),
        ("It opened on 3 May 1961.", "It opened in 1961.", ("date", "3 May 1961", "1961")),
        ("It costs $20 to $65.", "It costs $20 to $45.", ("figure", "$65", "$20, $45")),
        ("It opens in October.", "It opens in March.", ("date", "October", "")),
        ("It opens on Monday.", "It opens on Tuesday.", ("date", "Monday", "")),
        ("It closes at 6 pm.", "It closes at 17:00.", ("time", "6 pm", "17:00")),
        ("It takes two hours.", "It takes 90 minutes.", ("figure", "two hours", "90 minutes")),
        ("six men slept", "two men slept", ("figure", "six", "two")),
        ("the third prize", "the second prize", ("figure", "third", "second")),
        ("Profit fell in Q3.", "Profit fell in the second quarter.", ("figure", "Q3", "second quarter")),
        ("An A380 landed.", "An A350 landed.", ("figure", "A380", "A350")),
        ("学校有400名学生。", "学校有350名学生。", ("figure", "400", "350")),
        ("It costs $1000.", "It costs $900.", ("figure", "$1000", "$900")),
        ("It opened after 1962.", "It opened in 1961.", ("date", "1962", "1961")),
        ("Over 80 shops open.", "Over 100 shops open.", ("figure", "80 shops", "100 shops")),
    ],
)
def test_another_figure_is_a_veto(claim: str, quote: str, found: tuple[str, str, str]) -> None:
    assert _veto(claim, quote) == [found]


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("20% recovered.", "20 percent recovered."),
        ("It has 12 cows.", "It has twelve brown cows."),
        ("It opened in 1961.", "It opened on 4 May 1961."),
        ("It opened on 4 May 1961.", "In 1961 much changed. On 4 May it opened."),
        ("It was built before 1975.", "It was built in 1972."),
        ("It closed later than 1975.", "It closed in March 1982."),
        ("It earned 1.2 million.", "It earned 1,234,567."),
        ("It has about 7,600 people.", "It has 7,585 people."),
        ("Over 130 shops open.", "136 shops open."),
        ("It takes 90 minutes.", "It takes 1.5 hours."),
        ("It takes 140 minutes.", "It takes 2 hours 20 minutes."),
        ("It opened on 3 May 1961.", "In 1961 it opened, on 3 May."),
        ("It stood for 25 years.", "Built in 1961, it fell in 1986."),
        ("She was elected aged 24.", "Born in 1961, she was elected in 1986."),
        ("Sales rose by 30 tonnes.", "Sales were 120 tonnes, then 150 tonnes."),
        ("25 % voted.", "Of 120 members, 30 voted."),
        ("Two friends, Anna and Kari, met.", "Anna met Kari."),
        ("Lund, 75 years old, won.", "At the age of 75, Lund won."),
        ("Profit fell in Q2.", "Profit fell in the second quarter."),
    ],
)
def test_what_a_reader_can_work_out_is_no_veto(claim: str, quote: str) -> None:
    assert _veto(claim, quote) == []


@pytest.mark.parametrize(
    ("claim", "quote", "context", "nearby", "vetoes", "doubts"),
    [
        ("Dale Hall is 23.5 metres long.", "Dale Hall | 23.5", "Hall | Length in metres", "", 0, 0),
        ("Dale Hall is 23.5 metres long.", "Dale Hall | 23.5", "", "Hall | Length in metres", 0, 0),
        ("Dale Hall is 23.5 metres long.", "Hall: Dale Hall; metres: 23.5", "", "", 0, 0),
        ("Dale Hall is 23.5 metres long.", "Dale Hall | 23.5", "", "", 0, 1),
        ("Dale Hall is 23.5 feet long.", "Dale Hall | 23.5", "Hall | Length in metres", "", 1, 0),
        ("Dale Hall is 24.5 metres long.", "Dale Hall | 23.5", "Hall | Length in metres", "", 1, 0),
        ("A boat is let for nine days.", "Bicycles are let for three days, boats for nine.", "", "", 0, 0),
        ("A boat is let for nine weeks.", "Bicycles are let for three days, boats for nine.", "", "", 1, 0),
        ("It has 40,000 members.", "It has 40k members.", "", "", 0, 0),
        ("It costs 3 million dollars.", "It costs 3 mln bucks.", "", "", 0, 0),
        ("Sales fell in 3Q.", "Sales fell in the third quarter.", "", "", 0, 0),
    ],
)
def test_a_unit_may_stand_in_a_heading_or_be_left_out(
    claim: str, quote: str, context: str, nearby: str, vetoes: int, doubts: int
) -> None:
    texts = read_text(claim), [read_text(quote)], read_text(context)
    assert len(find_figure_vetoes(*texts, read_text(""))) == vetoes
    added = list(find_added_units(*texts, read_text(nearby)))
    assert len(added) == doubts and not any(doubt.is_veto for doubt in added)


def test_figures_may_come_from_several_quotes() -> None:
    assert _veto("It has 12 cows and 7 goats.", "It has 12 cows.", "It has 7 goats.") == []


@given(st.integers(min_value=11, max_value=9999), st.integers(min_value=11, max_value=9999))
def test_a_length_is_given_only_by_itself(one: int, other: int) -> None:
    vetoes = _veto(f"The road is {one} km long.", f"The road is {other}.5 km long.")
    assert bool(vetoes) or abs(one - other) < max(one, other) / 10
    assert _veto(f"The road is {one} km long.", f"The road is {one} km long.") == []


@pytest.mark.parametrize(
    ("claim", "quote", "found"),
    [
        ("30 % are lost.", "Up to 30 % are lost.", [("30 %", "Up to 30 %")]),
        ("At least 30 cows are lost.", "30 cows are lost.", [("At least 30 cows", "30 cows")]),
        ("Up to 30 % are lost.", "Up to 30 % are lost.", []),
        ("About 30 % are lost.", "Nearly 30 % are lost.", []),
    ],
)
def test_a_bound_on_one_side_is_a_doubt(claim: str, quote: str, found: list[tuple[str, str]]) -> None:
    doubts = list(find_other_bounds(read_text(claim), [read_text(quote)]))
    assert [(doubt.claimed, doubt.quoted) for doubt in doubts] == found
    assert not any(doubt.is_veto for doubt in doubts)


@pytest.mark.parametrize(
    ("claim", "doubts"),
    [
        ("The dairy has 200 cows and 30 sheep.", ["200 cows", "30 sheep"]),
        ("The dairy has 30 cows and 200 sheep.", []),
        ("The dairy has 200 animals.", []),
    ],
)
def test_a_figure_of_another_thing_is_a_doubt(claim: str, doubts: list[str]) -> None:
    quotes = [read_text("The dairy has 200 sheep and 30 cows.")]
    assert [doubt.claimed for doubt in find_moved_figures(read_text(claim), quotes)] == doubts


@pytest.mark.parametrize(("title", "count"), [("Karl Brandt, 4th Duke of Selm", 0), ("The Dukes of Selm", 1)])
def test_an_ordinal_of_a_title_that_the_heading_has_is_no_figure(title: str, count: int) -> None:
    claim, quote = "Karl, the 4th Duke, followed the 3rd Duke.", "He followed the 3rd Duke."
    found = find_figure_vetoes(read_text(claim), [read_text(quote)], read_text(title), read_text(""))
    assert len(found) == count
