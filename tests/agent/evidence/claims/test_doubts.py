"""What differs beside figures and names: negation, roles, quantifiers, modality, opposites."""

import pytest

from agent.evidence.claims.doubts import find_doubts
from agent.evidence.claims.words import align, read_text


def _find(claim: str, quote: str) -> list[tuple[str, bool]]:
    quotes = [read_text(quote)]
    alignment = align(read_text(claim), quotes)
    assert alignment is not None
    return [(doubt.kind, doubt.is_veto) for doubt in find_doubts(quotes, alignment, read_text(""))]


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Surgery cures the disease.", "Surgery will not cure the disease."),
        ("Nordvik is a village.", "Nordvik is not a village but a town."),
        ("The warranty covers the battery.", "The warranty does not cover the battery."),
        ("You may open the lid without gloves.", "You must not open the lid without gloves."),
        ("The warranty never covers the battery.", "The warranty covers the battery."),
        ("She didn't paint the old mill.", "She painted the old mill. She didn't mind."),
    ],
)
def test_a_negation_on_one_side_of_like_words_is_a_veto(claim: str, quote: str) -> None:
    assert ("negation", True) in _find(claim, quote)


def test_not_only_but_also_denies_nothing() -> None:
    assert _find("The tower survived and grew.", "The tower not only survived but grew.") == []


@pytest.mark.parametrize(
    ("kind", "claim", "quote"),
    [
        ("negation", "He was happy at the hotel.", "He told us about his week. He wasn't happy here."),
        (
            "negation",
            "It covers batteries and seams.",
            "It covers seams. It does not cover wear or batteries.",
        ),
        ("negation", "The tour is free and takes an hour.", "A tour costs 15 and takes an hour."),
        (
            "negation",
            "The tour is free and takes an hour.",
            "A tour costs 15. You need not book or bring lamps.",
        ),
        ("negation", "Lunch is included.", "The boat is included, lunch is not."),
        ("negation", "Guests over 12 may swim.", "Guests under 12 may not swim."),
        ("quantifier", "Double the members came.", "Many members came."),
        ("quantifier", "She has no sense of music.", "She has no good sense of music."),
        ("quantifier", "They sell only milk.", "They sell only milk and cheese."),
        ("roles", "It was designed by Dale and built by Berg.", "It was designed by Berg and built by Dale."),
        ("roles", "Dale Dairy bought Berg Foods.", "Berg Foods bought Dale Dairy."),
        ("roles", "Berg Foods was bought by Dale Dairy.", "Berg Foods bought Dale Dairy."),
        ("quantifier", "All residents supported the plan.", "Residents supported the plan."),
        ("quantifier", "Residents supported the plan.", "Most residents supported the plan."),
        ("quantifier", "Only farmers supported the plan.", "Farmers supported the plan."),
        ("quantifier", "No birds live here.", "No sea birds live here."),
        ("quantifier", "The farm sells cheese and honey.", "The farm sells cheese."),
        ("modality", "The town will build a school.", "The town may build a school."),
        ("modality", "The town builds a new school.", "The town plans to build a new school."),
        ("roles", "Berg sold the mill to Dale.", "The mill was sold by Dale to Berg."),
        ("modality", "She won.", "She would have won."),
        ("modality", "The mill burnt in May.", "The mill reportedly burnt in May."),
        ("comparative", "Sales were lower in May.", "Sales were higher in May."),
        ("antonym", "The council rejected the plan.", "The council accepted the plan."),
        ("antonym", "The effect is known.", "The effect is unknown."),
    ],
)
def test_a_plain_difference_is_a_doubt(kind: str, claim: str, quote: str) -> None:
    assert (kind, False) in _find(claim, quote)


def test_what_is_denied_beside_the_quote_is_a_doubt() -> None:
    quotes, nearby = (
        [read_text("A ride takes an hour.")],
        read_text("A ride takes an hour. Dogs may not swim."),
    )
    alignment = align(read_text("Dogs may swim."), quotes)
    assert alignment is not None
    assert find_doubts(quotes, alignment, read_text("")) == []
    doubts = find_doubts(quotes, alignment, read_text(""), nearby)
    assert [(doubt.kind, doubt.quoted) for doubt in doubts] == [("negation", "not swim")]


@pytest.mark.parametrize(
    ("kind", "claim", "quote"),
    [
        ("negation", "Surgery is no cure.", "Surgery does not cure it and is no relief either."),
        ("negation", "It failed to open.", "It did not open."),
        ("negation", "The company uses non-GAAP figures.", "The company uses figures beyond GAAP."),
        (
            "negation",
            "It costs nothing within the country.",
            "Delivery within the country is free of charge.",
        ),
        ("negation", "No, the shop is closed at three.", "The shop is closed at three."),
        (
            "negation",
            "Breakfast is included, meals are not included.",
            "Breakfast is included, meals are not.",
        ),
        ("negation", "Boats cannot use the lock in May.", "The lock is closed to boats in May."),
        ("negation", "Prices for guests do not change.", "Members pay 12. Guest prices stay as they are."),
        ("negation", "Milk is good for hens.", "Milk is not only good for hens, but for pigs as well."),
        ("negation", "Entry is free of charge.", "There is no charge for entry."),
        ("quantifier", "They never help with coughs.", "The drops never help with coughs."),
        ("quantifier", "It does not cover theft or rust.", "It does not cover theft, loss or rust."),
        ("antonym", "Berg Dairy was established in May.", "Berg Dairy was founded in May."),
        ("antonym", "Guests get soup.", "Guests are given soup."),
        (
            "roles",
            "Dale Bridge, a wooden bridge in Berg, was designed by Kari Lund.",
            "Dale Bridge is a wooden bridge in Berg.",
        ),
        ("quantifier", "The refund is made within ten days.", "The refund is within ten days."),
        ("negation", "The mill was painted.", "The mill was painted, although Kari did not like it."),
        ("roles", "Dale sold the mill to Berg.", "The mill was sold by Dale to Berg."),
        ("modality", "She moved to Dale.", "She would later move to Dale."),
        ("roles", "The dairy of Dale was founded by Berg.", "Berg founded the dairy of Dale."),
        (
            "roles",
            "The roof has had solar panels since Monday.",
            "Since Monday there are solar panels on the roof.",
        ),
        ("roles", "The dairy of Berg opened in Dale.", "Berg dairy opened in Dale."),
        (
            "roles",
            "Kari Lund, who built Dale Bridge, led the union.",
            "Kari Lund, the builder of the bridge, was the first to lead the union.",
        ),
        ("quantifier", "Its most recent plan is the third one.", "The third plan is its latest."),
        ("modality", "The mill burnt in May.", "The mill burnt in May, and the dairy may follow."),
        (
            "antonym",
            "They left the old hall.",
            "A new tenant asked for help before they left their hall.",
        ),
    ],
)
def test_a_word_that_governs_something_else_is_no_doubt(kind: str, claim: str, quote: str) -> None:
    assert kind not in [found for found, _ in _find(claim, quote)]
