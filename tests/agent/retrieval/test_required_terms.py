"""What a question asks about the thing it names: codes and names exactly, other words by kin, and what a site
is about left out."""

from __future__ import annotations

import pytest

from agent.retrieval.required_terms import (
    collect_prefixes,
    find_exact_terms,
    find_required_terms,
    find_subject_words,
    lowercase_common_opening,
    restore_spelling,
)


@pytest.mark.parametrize(
    ("question", "exact"),
    [
        ("What does error E17 mean?", {"e17"}),
        ("what does it cost in japan", set()),
        ("What is the price of the C2 in Japan?", {"c2", "japan"}),
        ("Is PayPal accepted?", {"paypal"}),
        ("Refund policy", set()),
        ("Write me a poem", set()),
        ("Investment Portfolio Setup for all", set()),
        ("How Much Does It Cost In Japan?", set()),
        ("Who is the CEO of Kallsteg?", {"kallst"}),
        ("Is the 60 kg model sold?", set()),
    ],
)
def test_codes_and_names_inside_a_question_have_to_be_met_as_they_are(question: str, exact: set[str]):
    assert find_exact_terms(question) == exact


def test_a_point_is_met_by_kindred_words_a_code_only_by_itself():
    price = find_required_terms("How much does it cost?")
    assert (
        price.covered_share(collect_prefixes(["The price is 90 kr"])) == 1
        and price.covered_share(collect_prefixes(["It is blue"])) == 0
    )
    error = find_required_terms("What does error E4 mean?")
    assert error.missing_exact_terms(collect_prefixes(["Error E40 is a fault"])) == {
        "e4"
    } and not error.missing_exact_terms(collect_prefixes(["(E4) Full"]))


def test_what_the_site_is_about_is_not_what_is_asked_about_it():
    pages = [
        collect_prefixes([text])
        for text in ("The lamp is green", "A lamp for rooms", "Lamps and their prices")
    ]
    about = find_subject_words(pages)
    assert "lamp" in about and set(find_required_terms("Does the lamp come in red?", about).words) == {"red"}
    assert find_subject_words(pages[:2]) == frozenset(), "two pages tell nothing of what a site is about"
    assert find_required_terms("Tell me about lamps", about).covered_share(set()) == 1.0


def test_faint_words_count_only_where_nothing_else_is_asked():
    assert (
        not find_required_terms("Which is the best one?").has_specific_words
        and find_required_terms("When was the dairy founded?").has_specific_words
    )


def test_words_are_told_as_the_question_spells_them_and_a_common_first_word_is_no_name():
    assert restore_spelling("Is E4 sold in Japan?", ["japan", "e4", "other"]) == ["Japan", "E4", "other"]
    assert (
        lowercase_common_opening("Write me a poem") == "write me a poem"
        and lowercase_common_opening("Kallsteg makes what?") == "Kallsteg makes what?"
    )
