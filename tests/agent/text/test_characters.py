"""Characters in their plain form, and what must not change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.characters import lower_figures, normalize_characters, raise_figures


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("eﬃcient ﬁre", "efficient fire"),
        ("ＫＩＬＮ　１２", "KILN　12"),
        ("exam\u00adple\u200b", "example"),
        ("e\u0301te\u0301", "été"),
        ("𝐊iln №\u00a05", "Kiln No 5"),
        ("20\u202f℃", "20 °C"),
    ],
)
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
