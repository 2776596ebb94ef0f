"""One spelling for what differs in spelling only."""

from agent.evidence.claims.words import read_text
from tests.tables import by_table


@by_table
def test_another_spelling_has_the_same_words(one: str, other: str) -> None:
    assert read_text(one).keys == read_text(other).keys


@by_table
def test_another_meaning_has_other_words(one: str, other: str) -> None:
    assert read_text(one).keys != read_text(other).keys


def test_words_keep_their_place_and_spelling() -> None:
    read = read_text("It paid $5 million.")
    assert [(word.text, read.text[word.start : word.end]) for word in read.words][-1] == ("$5 million",) * 2


def test_the_first_of_a_range_has_the_unit_of_the_second() -> None:
    assert [(n.value, n.unit) for n in read_text("5 to 6 hours").quantities] == [(18000, "s"), (21600, "s")]
