"""A quote is found in whatever spelling, and never when its meaning was touched."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.evidence.quote_match import MIN_FUZZY_SIMILARITY, find_quote, verify_quote
from agent.types import Fact

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


def how(quote: str, text: str = PAGE) -> str | None:
    span = find_quote(quote, text)
    return None if span is None else span.how


def test_an_exact_quote_is_found_where_it_stands() -> None:
    quote = "founded on 3 May 1921 by Anna Berg"
    span = find_quote(quote, PAGE)
    assert span is not None and PAGE[span.start : span.end] == quote and span.how == "exact"


@pytest.mark.parametrize(
    "quote",
    [
        "It did  not\nexport\u00a0cheese before 1950",
        "a farmer’s daughter from Lillehavn",
        '"The well-known brown cheese ... is an acquired taste."',
        "an efficient, modern building",
        "…by Anna Berg, a farmer's daughter…",
        "turnover grew by 12.5% to $4.2 million",
        "employed 1240 people in three towns",
        "convicted after the fire of 1977, the report",
        "The cafe\u0301 beside the mill is open all year",
        "a floor of 500 m²",
        "it did not export cheese",
        "a farmer&#39;s daughter",
        "人口は約千二百人で 町の中心に",
    ],
)
def test_another_spelling_of_the_same_words_is_found(quote: str) -> None:
    assert how(quote) in ("exact", "normalised")


def test_a_hyphen_at_the_end_of_a_line_is_part_of_the_word() -> None:
    assert (
        found("the pasteurisation plant", "They opened the pasteuri-\nsation plant.")
        == "the pasteuri-\nsation plant"
    )


def test_the_closing_mark_of_a_sentence_belongs_to_the_span() -> None:
    assert found("is  open all year.") == "is open all year."


@pytest.mark.parametrize(
    "quote",
    [
        "The management received several complaints about the smell of the whey that was pumped into the river",
        "The cafe beside the mill is open all year. The head office has an efficient, modern building with a floor of 500 m²",
        "The head office has an efficient, mod ern building with a floor of 500 m²",
    ],
)
def test_a_slip_of_the_pen_is_forgiven_and_the_real_span_kept(quote: str) -> None:
    span = find_quote(quote, PAGE)
    assert span is not None and span.how == "fuzzy" and PAGE[span.start : span.end] != quote


ALTERED = [
    "The Nordvik dairy was founded on 4 May 1921 by Anna Berg",
    "The Nordvik dairy was founded on 3 May 1912 by Anna Berg, a farmer's daughter from Lillehavn",
    "The Nordvik dairy was founded on 3 June 1921 by Anna Berg, a farmer's daughter from Lillehavn",
    "The Nordvik dairy was founded on 3 May 1921 by Anne Berg, a farmer's daughter from Lillehavn",
    "The Nordvick dairy was founded on 3 May 1921 by Anna Berg, a farmer's daughter from Lillehavn",
    "It did export cheese before 1950, and in 1962 it employed 1,240 people in three towns",
    "It did not export cheese before 1950, and in 1962 it employed 1,240 people in five towns",
    "It did not export cheese before 1950, and in 1962 it employed 1,240 men in three towns",
    "Its turnover grew by 12.5 to $4.2 million",
    "Its turnover fell by 12.5 % to $4.2 million; the losses of 1931 came to −3.5 million kroner",
    "Its turnover grew by 12.5 % to $4.2 million; the losses of 1931 came to 3.5 million kroner",
    "The Nordvik dairy was founded ... by Anna Berg, a farmer's daughter from Lillehavn",
    "The Nordvik dairy was founded on 3 May 1921 … from Lillehavn",
    "a floor of 50 m²",
    "a floor of 500 m",
    "employed 1,24",
    "grew by 12",
    "to $4.2",
    "3.5 million kroner",
    "somebody was convicted after the fire[12] of 1977, the report of the commission of inquiry concluded in its final chapter",
    "open all ye",
    "pen all year",
    "It did not export cheese.",
    "the report of the commission of inquiry concluded in its first chapter",
    "",
    "...",
    "“”",
]


@pytest.mark.parametrize("quote", ALTERED)
def test_an_altered_quote_is_never_found(quote: str) -> None:
    assert found(quote) is None


def test_nothing_may_be_cut_from_behind_a_negation() -> None:
    assert found("guilty of arson", "The court found that she was not guilty of arson.") is None
    assert found("guilty of arson", "It was not so. She is guilty of arson.") == "guilty of arson"


def test_a_later_whole_occurrence_is_taken_when_the_first_is_cut() -> None:
    text = "It sold 12,500 cheeses. Later it sold 12 cheeses."
    assert text.index("sold 12 ") == find_quote("sold 12", text).start  # type: ignore[union-attr]


def test_words_that_look_alike_are_not_slips() -> None:
    text = "The commission examined the casual relation between the smell and the several illnesses that had been reported."
    assert found(text.replace("casual", "causal"), text) is None
    assert found(text.replace("reported", "retorted"), text) is None


WORDS = [
    "dairy",
    "river",
    "cheese",
    "opened",
    "the",
    "of",
    "and",
    "farmers",
    "mountain",
    "Berg",
    "Nordvik",
    "company",
    "not",
    "with",
    "sold",
    "market",
]
NUMBERS = st.one_of(
    st.integers(0, 9999).map(str),
    st.integers(1000, 9_999_999).map(lambda n: f"{n:,}"),
    st.floats(0.1, 99).map(lambda f: f"{f:.1f}"),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=8, max_size=30), NUMBERS, NUMBERS, st.integers(0, 7))
def test_a_changed_number_is_never_accepted(words: list[str], right: str, wrong: str, at: int) -> None:
    if float(right.replace(",", "")) == float(wrong.replace(",", "")):
        return
    page = " ".join([*words[:at], right, *words[at:]])
    quote = " ".join([*words[:at], wrong, *words[at:]])
    assert find_quote(quote, f"Before that. {page}. After it.") is None


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), min_size=8, max_size=30),
    st.integers(0, 7),
    st.sampled_from(["drop", "put", "swap"]),
)
def test_a_changed_word_is_never_accepted(words: list[str], at: int, kind: str) -> None:
    changed = list(words)
    if kind == "drop":
        del changed[at + 1 if at == 0 else at]
    elif kind == "put":
        changed.insert(at + 1, "unexpectedly")
    else:
        changed[at] = "glacier"
    page, quote = " ".join(words), " ".join(changed)
    if f" {quote} " not in f" {page} ":
        assert find_quote(quote, page) is None


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([*WORDS, "1,240", "3.5", "don't", "12 %"]), min_size=4, max_size=30),
    st.randoms(),
)
def test_whitespace_and_punctuation_never_hide_a_quote(words: list[str], rng: random.Random) -> None:
    page = " ".join(words)
    quote = re.sub(" ", lambda _: rng.choice([" ", "  ", "\n", "\u00a0", "\t "]), page).replace("'", "’")
    assert find_quote(f"“{quote}”", f"Before. {page}. After.") is not None


def _text(size: int) -> str:
    rng = random.Random(5)
    vocabulary = ["".join(rng.choices("abcdefghilmnoprstu", k=rng.randint(2, 10))) for _ in range(4000)]
    words: list[str] = []
    length = 0
    while length < size:
        words.append(rng.choice(vocabulary) if rng.random() > 0.04 else str(rng.randint(1, 5000)))
        length += len(words[-1]) + 1
        if rng.random() < 0.07:
            words[-1] += "."
    return " ".join(words)


def test_trials_of_true_and_altered_quotes() -> None:
    """300 of each, as the trust cases ask: no false accept, at least 98 % true accepts (here all)."""
    rng, page = random.Random(11), _text(40_000)
    words = page.split(" ")
    true = false = 0
    for trial in range(300):
        at = rng.randint(0, len(words) - 40)
        quote = words[at : at + rng.randint(6, 30)]
        spelled = [
            " ".join(quote),
            "  ".join(quote),
            "\n".join(quote),
            f"“{' '.join(quote)}”",
            f"... {' '.join(quote)} …",
        ][trial % 5]
        true += find_quote(spelled, page) is not None
        changed, i = list(quote), rng.randint(1, len(quote) - 2)
        if trial % 3 == 0:
            changed[i] = words[rng.randint(0, len(words) - 1)]
        elif trial % 3 == 1:
            changed[i] = str(rng.randint(1, 5000))
        else:
            changed[i : i + 1] = ["..."]
        false += changed != quote and find_quote(" ".join(changed), page) is not None
    assert (true, false) == (300, 0)


def test_a_long_page_is_no_trouble() -> None:
    page = _text(200_000)
    words = page.split(" ")
    assert find_quote(" ".join(words[20_000:20_030]), page) is not None
    assert find_quote(" ".join([*words[20_000:20_030], "zzzz", *words[20_030:20_050]]), page) is None


def test_verify_sets_the_marks_and_keeps_the_page_s_own_words() -> None:
    fact = Fact(
        id="f1", statement="Anna Berg founded it in 1921.", quote="founded  on 3 May 1921 by Anna Berg"
    )
    kept = verify_quote(fact, PAGE, "abc")
    assert (
        kept.verified
        and kept.quote == PAGE[kept.start : kept.end] == "founded on 3 May 1921 by Anna Berg"
        and kept.sha256 == "abc"
    )
    assert not fact.verified


@pytest.mark.parametrize("quote", ["founded on 4 May 1921 by Anna Berg", "Nordvik"])
def test_verify_refuses_what_is_not_there_or_too_short(quote: str) -> None:
    kept = verify_quote(
        Fact(id="f1", statement="So.", quote=quote, start=3, end=9, verified=True), PAGE, "abc"
    )
    assert not kept.verified and (kept.start, kept.end) == (-1, -1) and kept.quote == quote


def test_the_bar_for_likeness_is_the_promised_one() -> None:
    assert MIN_FUZZY_SIMILARITY == 0.95
