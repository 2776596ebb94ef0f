"""One spelling for what differs in spelling only."""

import pytest

from agent.evidence.claims.words import read_text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It doesn't open.", "It does n't open"),
        ("It cannot open.", "It can not open."),
        ("It is a café.", "it is a cafe"),
        ("20% of them", "twenty per cent of them"),
        ("$5 million", "5 million dollars"),
        ("on 3 May 1921", "on May 3, 1921"),
        ("the 2nd team", "the second team"),
        ("1,200 cows", "1200 cows"),
        ("٣٥٠ people", "350 people"),
        ("۱۲ مدرسه", "12 مدرسه"),
        ("Lund [3] left", "Lund left"),
    ],
)
def test_another_spelling_has_the_same_words(one: str, other: str) -> None:
    assert read_text(one).keys == read_text(other).keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("20%", "20 people"),
        ("$5", "5 euros"),
        ("at 5 pm", "at 5 am"),
        ("on 3 May 1921", "on 4 May 1921"),
        ("It does open", "It doesn't open"),
    ],
)
def test_another_meaning_has_other_words(one: str, other: str) -> None:
    assert read_text(one).keys != read_text(other).keys


def test_words_keep_their_place_and_spelling() -> None:
    read = read_text("It paid $5 million.")
    assert [(word.text, read.text[word.start : word.end]) for word in read.words][-1] == ("$5 million",) * 2


def test_the_first_of_a_range_has_the_unit_of_the_second() -> None:
    assert [(n.value, n.unit) for n in read_text("5 to 6 hours").quantities] == [(18000, "s"), (21600, "s")]
