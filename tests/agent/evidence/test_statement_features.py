"""A statement's values: names, polarity, frame; and whether its figures stand in its sources."""

import pytest

from agent.evidence.statement_features import extract_features, has_supported_figures


def test_a_statement_is_taken_apart() -> None:
    values = extract_features("The Nordvik dairy was founded on 3 May 1921 by Anna Berg with 12 cows.")
    assert [d.text for d in values.dates] == ["3 May 1921"]
    assert [(q.value, q.unit) for q in values.quantities] == [(12, "cow")]
    assert [name.text for name in values.names] == ["Nordvik", "Anna Berg"]
    assert values.frame == ("nordvik", "dairy", "founded", "anna", "berg")
    assert not values.is_negated


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("It did not close.", True),
        ("It didn't close.", True),
        ("It never did not close.", False),
        ("It closed.", False),
    ],
)
def test_polarity(text: str, denied: bool) -> None:
    assert extract_features(text).is_negated is denied


def test_numbers_of_names_and_ordinals_are_labels() -> None:
    assert extract_features("The Heinkel HD 40 was built.").quantities == ()
    assert extract_features("The 1971 Lillehavn Games were held.").dates == ()
    assert extract_features("He was the third owner.").labels == frozenset({3.0})


@pytest.mark.parametrize(
    ("statement", "source", "holds"),
    [
        ("Founded in 1921.", "on 3 May 1921", True),
        ("Founded in 1922.", "on 3 May 1921", False),
        ("It grew by 12 %.", "by twelve percent", True),
        ("It grew by 13 %.", "by twelve percent", False),
        ("It has 1240 people.", "1,240 people", True),
        ("Two sites say so.", "they say so", True),
        ("The HD 40 flew.", "the HD 39 flew", False),
        ("It began in 1989.", "on 12 May of that year", False),
        ("It began on 12 May.", "on 12 May 1989", True),
        ("", "", True),
    ],
)
def test_figures_stand_in_the_sources(statement: str, source: str, holds: bool) -> None:
    assert has_supported_figures(statement, source) is holds
