"""Rows of words: what only looks different is one spelling, what means something stays apart, and offsets are
the original's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.normalization import (
    blank_note_marks,
    has_note_marks,
    lower_figures,
    normalize_characters,
    normalize_text,
    raise_figures,
)
from tests.tables import by_table


@by_table
def test_what_only_looks_different_is_the_same_row(one, other):
    assert normalize_text(one).words == normalize_text(other).words


@by_table
def test_what_means_something_is_not_lost(one, other):
    assert normalize_text(one).words != normalize_text(other).words


def test_chinese_and_japanese_are_a_row_of_characters():
    assert normalize_text("東京は42 km").words == ["東", "京", "は", "42", "km"]


@given(st.text(max_size=80))
def test_offsets_lead_back_to_the_text(text):
    found = normalize_text(text)
    assert len(found.words) == len(found.starts) == len(found.ends)
    at = 0
    for word, start, end in zip(found.words, found.starts, found.ends, strict=True):
        assert at <= start < end <= len(text) and word
        assert normalize_text(text[start:end]).words == [word] or not text[start:end].isalnum()
        at = end


def test_reference_marks_can_be_passed_over_without_moving_anything():
    text = "It rained.[3] Then [note 2] sun [a][citation needed]; see [1999] and [x y]."
    clean = blank_note_marks(text)
    assert len(clean) == len(text) and "[3]" not in clean and "citation" not in clean and "[1999]" in clean
    assert "[x y]" in clean
    assert has_note_marks(text) and not has_note_marks(clean)
    assert normalize_text(text, notes=False).words == normalize_text(clean).words


@by_table
def test_ligatures_and_styled_letters_are_plain(text: str, plain: str) -> None:
    assert normalize_characters(text) == plain


@pytest.mark.parametrize(
    "text",
    ["10²", "H₂O", "3½", "① open", "“so” … ‘it’ – is’t", "你好！很好，对吗？", "´¨", "می‌خواهم", "a\tb\n"],
)
def test_what_means_something_stays(text: str) -> None:
    assert normalize_characters(text) == text


def test_figures_are_raised_and_words_are_not() -> None:
    assert (raise_figures("-2"), raise_figures("st"), raise_figures("")) == ("⁻²", "", "")
    assert (lower_figures("12"), lower_figures("n")) == ("₁₂", "")


@given(st.text())
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = normalize_characters(text)
    assert normalize_characters(once) == once
