"""A quote is found in whatever spelling, and never when its meaning was touched."""

import pytest

from agent.evidence.quote_match import find_quote, verify_quote
from agent.types import Fact
from tests.tables import by_table

PAGE = (
    "The Nordvik dairy was founded on 3 May 1921 by Anna Berg, a farmer's daughter from Lillehavn. "
    "It did not export cheese before 1950, and in 1962 it employed 1,240 people in three towns. "
    "Its turnover grew by 12.5 % to $4.2 million; the losses of 1931 came to −3.5 million kroner. "
    "Critics said: “The well‑known brown cheese … is an acquired taste.” The café beside the mill is open all year. "
    "The head office has an ef\ufb01cient, mod\u00adern building with a floor of 500 m². "
    "Nobody was convicted after the fire[12] of 1977, the report of the commission of inquiry concluded in its final chapter. "
    "The management recieved several complaints about the smell of the whey that was pumped into the river. "
    "人口は約千二百人で、町の中心に乳製品工場がある。"
)


def found(quote: str, text: str = PAGE) -> str | None:
    span = find_quote(quote, text)
    return None if span is None else text[span.start : span.end]


@by_table
def test_another_spelling_of_the_same_words_is_found(quote: str) -> None:
    assert found(quote)


def test_a_hyphen_at_the_end_of_a_line_is_part_of_the_word() -> None:
    assert (
        found("the pasteurisation plant", "They opened the pasteuri-\nsation plant.")
        == "the pasteuri-\nsation plant"
    )


@by_table
def test_an_altered_quote_is_never_found(quote: str) -> None:
    assert found(quote) is None


def test_nothing_may_be_cut_from_behind_a_negation() -> None:
    assert found("guilty of arson", "The court found that she was not guilty of arson.") is None
    assert found("guilty of arson", "It was not so. She is guilty of arson.") == "guilty of arson"
    assert found("guilty of arson", "The court found that she was not\nguilty of arson.") is None
    assert (
        found("Bridge | open | 1931", "Ferry | closed | none\nBridge | open | 1931\n")
        == "Bridge | open | 1931"
    )


def test_a_later_whole_occurrence_is_taken_when_the_first_is_cut() -> None:
    text = "It sold 12,500 cheeses. Later it sold 12 cheeses."
    assert text.index("sold 12 ") == find_quote("sold 12", text).start  # type: ignore[union-attr]


@by_table
def test_contractions_percent_and_accents_are_spelling(quote: str, page: str) -> None:
    assert found(quote, page)


@by_table
def test_half_a_contraction_a_bare_figure_or_another_mood_is_not_the_quote(quote: str, page: str) -> None:
    assert found(quote, page) is None


BURG = (
    "The tower of Hallby, which has three bells, was built in 1874 by Ole Dahl. It burned down in 1901. "
    "No one was hurt (the ringers were away) and the council, not the church, paid for the repair. "
    "The bells were cast again in Falun. They ring at noon. The old oak door – a gift – survived the fire. "
    "Ole Dahl later moved to the coast in the year his brother bought a boat in 1911."
)


@by_table
def test_two_stretches_are_found_with_two_places(quote: str, spans: list[str] | None) -> None:
    span = find_quote(quote, BURG)
    assert span is not None and len(span.spans) > 1
    stretches = [BURG[start:end] for start, end in span.spans]
    assert span.read(BURG) == " … ".join(stretches) and (spans is None or stretches == spans)
    assert (span.start, span.end) == (span.spans[0][0], span.spans[1][1])


@by_table
def test_a_joint_that_makes_another_meaning_is_refused(quote: str) -> None:
    assert found(quote, BURG) is None


def test_the_rest_of_a_broken_sentence_may_not_deny_it() -> None:
    page = "The ferry runs on Sundays but not in winter. The quay is made of granite."
    assert find_quote("The ferry runs on Sundays … The quay is made of granite", page) is None
    page = page.replace("but not", "except")
    assert find_quote("The ferry runs on Sundays … The quay is made of granite", page) is not None


def test_stretches_far_apart_are_two_quotes() -> None:
    page = "The quay is made of granite. " + "Gulls cry over the bay. " * 200 + "The ferry runs on Sundays."
    assert find_quote("The quay is made of granite … The ferry runs on Sundays", page) is None


def test_verify_keeps_the_two_stretches_of_the_page() -> None:
    quote = "The tower of Hallby ... was built in 1874"
    kept = verify_quote(Fact(id="f1", statement="The tower was built in 1874.", quote=quote), BURG, "abc")
    assert kept.verified and kept.quote == "The tower of Hallby … was built in 1874" == kept.read_quote(BURG)
    again = Fact.model_validate_json(kept.model_dump_json())
    assert again == kept and again.places == kept.spans


def test_verify_sets_the_marks_and_keeps_the_page_s_own_words() -> None:
    fact = Fact(
        id="f1", statement="Anna Berg founded it in 1921.", quote="founded  on 3 May 1921 by Anna Berg"
    )
    kept = verify_quote(fact, PAGE, "abc")
    assert kept.verified and kept.quote == PAGE[kept.start : kept.end] == "founded on 3 May 1921 by Anna Berg"
    assert kept.sha256 == "abc"
    assert not fact.verified


@pytest.mark.parametrize("quote", ["founded on 4 May 1921 by Anna Berg", "Nordvik"])
def test_verify_refuses_what_is_not_there_or_too_short(quote: str) -> None:
    kept = verify_quote(
        Fact(id="f1", statement="So.", quote=quote, start=3, end=9, verified=True), PAGE, "abc"
    )
    assert not kept.verified and (kept.start, kept.end) == (-1, -1) and kept.quote == quote


STEPS = (
    "1. Open the lid of the kiln.\n2. Lift out the grey tray.\n3. Brush the ash from it.\nNow close the lid."
)


def test_the_steps_of_an_instruction_are_joined_without_their_numbers():
    quote = "Open the lid of the kiln. … Lift out the grey tray. … Brush the ash from it."
    found = find_quote(quote, STEPS)
    assert found and found.read(STEPS) == quote and len(found.spans) == 3


@by_table
def test_a_joined_quote_that_the_page_does_not_hold_in_order_is_refused(quote):
    text = STEPS if "kiln" in quote else "\n".join(f"Step number {n} is here." for n in range(9))
    assert find_quote(quote, text) is None


def test_the_signs_that_a_quote_opens_with_stay():
    found = find_quote(
        "--quiet  Say nothing while the kiln heats.", "Options: --quiet\nSay nothing while the kiln heats."
    )
    assert found
    assert found.read("Options: --quiet\nSay nothing while the kiln heats.").startswith("--quiet\nSay")


def test_a_list_is_joined_to_the_line_that_introduces_it():
    page = "The kiln may crack from one of the following:\n\n- wet clay - a cold draught\n\nIt is not glazed."
    found = find_quote("The kiln may crack from one of the following: … - wet clay - a cold draught", page)
    assert found and found.read(page).endswith("the following … wet clay - a cold draught")
    assert find_quote("The kiln may crack … a cold draught", page) is None, "words are left out"
