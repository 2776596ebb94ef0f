"""A statement's values: names, frame."""

from agent.evidence.statement_features import extract_features


def test_a_statement_is_taken_apart() -> None:
    values = extract_features("The Nordvik dairy was founded on 3 May 1921 by Anna Berg with 12 cows.")
    assert [d.text for d in values.dates] == ["3 May 1921"]
    assert [(q.value, q.unit) for q in values.quantities] == [(12, "cow")]
    assert [name.text for name in values.names] == ["Nordvik", "Anna Berg"]
    assert values.frame == ("nordvik", "dairy", "founded", "anna", "berg")


def test_numbers_of_names_and_ordinals_are_labels() -> None:
    assert extract_features("The Heinkel HD 40 was built.").quantities == ()
    assert extract_features("The 1971 Lillehavn Games were held.").dates == ()
    assert extract_features("He was the third owner.").labels == frozenset({3.0})
