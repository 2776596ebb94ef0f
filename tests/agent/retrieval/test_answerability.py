"""Do these passages answer? More of the question held, rarer words, the kind of thing asked for: likelier.
And the words held nowhere."""

from __future__ import annotations

from agent.retrieval.answerability import (
    COEFFICIENTS,
    MAX_SENTENCE_PASSAGES,
    MIN_ANSWER_PROBABILITY,
    Answerability,
    compute_features,
    count_passage_terms,
    estimate_answer_likelihood,
    score_question_coverage,
)
from agent.retrieval.term_rarity import CollectionCounts, compute_idf
from agent.text.question_analysis import parse_question
from agent.types import Passage

COUNTS = CollectionCounts(2000, {"ferry": 40, "brannvik": 5, "ticket": 30, "cost": 300})
QUESTION = "What does a ticket for the Brannvik ferry cost?"


def passage(text: str, page: str = "p", title: str = "", start: int = 0) -> Passage:
    return Passage(
        id=f"{page}:{start}",
        page_id=page,
        url=f"file:{page}",
        title=title,
        text=text,
        start=start,
        end=start + len(text),
    )


TELLS = passage(
    "A ticket for the Brannvik ferry costs 38 kronor. Children ride free.", title="The Brannvik ferry"
)
NEAR = passage("The ferry of Skarholm is old and slow and was painted last year.", page="q", title="Skarholm")
ELSE = passage("Herons eat frogs in shallow water.", page="r", title="Herons")


def test_what_holds_the_question_is_likelier_to_answer() -> None:
    told, near, beside = (estimate_answer_likelihood(QUESTION, [one], COUNTS) for one in (TELLS, NEAR, ELSE))
    assert (
        told.probability > MIN_ANSWER_PROBABILITY > near.probability > beside.probability
        and told.is_answerable
        and not near.is_answerable
    )
    assert told.covered == 1.0 and told.missing == ()


def test_the_words_that_the_best_page_holds_nowhere_are_named_as_spelled() -> None:
    assert estimate_answer_likelihood(
        "What does a ticket for the Brannvik submarine cost?", [TELLS, NEAR], COUNTS
    ).missing == ("submarine",)
    assert estimate_answer_likelihood(
        "Tell me something new about the good submarine", [TELLS], COUNTS
    ).missing == ("submarine",), "words that say nothing are no loss"
    assert estimate_answer_likelihood("Herons?", [], COUNTS) == Answerability(0.0, 0.0, ("herons",))


def test_a_rare_word_that_is_missing_costs_more_than_a_usual_one() -> None:
    rare = estimate_answer_likelihood("What does a ticket for the Zanzibar ferry cost?", [TELLS], COUNTS)
    usual = estimate_answer_likelihood(
        "What does a ticket for the Brannvik ferry cost again today?", [TELLS], COUNTS
    )
    assert rare.probability < usual.probability


def test_nothing_asked_or_nothing_found_is_not_answered() -> None:
    assert (
        estimate_answer_likelihood("", [TELLS], COUNTS).probability == 0.0
        and estimate_answer_likelihood(QUESTION, [], COUNTS).probability == 0.0
    )


def test_the_order_of_the_passages_does_not_matter() -> None:
    assert estimate_answer_likelihood(QUESTION, [TELLS, NEAR, ELSE], COUNTS) == estimate_answer_likelihood(
        QUESTION, [ELSE, NEAR, TELLS], COUNTS
    )


def test_the_estimate_is_made_of_named_inputs_of_the_order_of_one() -> None:
    asked = parse_question(QUESTION)
    weights = compute_idf(list(asked.weights), COUNTS)
    values = compute_features(
        asked, count_passage_terms([TELLS, NEAR, ELSE][:MAX_SENTENCE_PASSAGES], weights), weights
    )
    assert set(values) == set(COEFFICIENTS) and all(0.0 <= value <= 5.0 for value in values.values())


def test_relevance_is_the_share_of_the_questions_weight() -> None:
    told, near, beside = score_question_coverage(QUESTION, [TELLS, NEAR, ELSE], COUNTS)
    assert told.score == 1.0 > near.score > beside.score == 0.0
    titled = score_question_coverage(
        "Brannvik ferry", [passage("It costs much.", title="The Brannvik ferry")], COUNTS
    )[0]
    assert titled.score == 0.8, "only the title holds it"
