"""Turns that lean on the ones before them, what is added to them, and what is searched for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.evaluation.metrics import token_f1
from agent.text.focus import listen
from agent.text.followup import ADDED, SOUGHT, context, search_query, standalone, widened
from agent.types import Turn

BEFORE = [Turn(user="Tell me about Mount Everest"), Turn(user="How do I return a Kallsteg C2 logger?")]
RETURN = [
    Turn(
        user="How do I return a Kallsteg C2 logger?",
        bot="Write to the service for a number, then send it off. It takes 30 days.",
    )
]
DAIRY = [
    Turn(user="Who runs Älvmora Mejeri?", bot="The dairy is run by Ida Holmqvist, who bought it in 1998.")
]
GOUT = [
    Turn(user="What are the symptoms of gout?", bot="Pain in a joint."),
    Turn(user="How is it treated?", bot="With drugs and rest."),
]
OFFER = [
    Turn(
        user="Which loggers do you sell?", bot="We sell the C1, the C2 and the C4 Pro. Which one do you want?"
    )
]
FERRY = [Turn(user="When does the ferry to Skarholm leave?"), Turn(user="What does a ticket cost?")]
OWN = [
    (RETURN, "And for a faulty one?", "How do I return a faulty Kallsteg C2 logger?"),
    (RETURN, "What about a used one?", "How do I return a used Kallsteg C2 logger?"),
    (RETURN, "And who pays for the postage?", "Who pays for the postage of a returned Kallsteg C2 logger?"),
    (RETURN, "No, I mean the C1", "How do I return a Kallsteg C1 logger?"),
    (RETURN, "Can I do that online?", "Can I return a Kallsteg C2 logger online?"),
    (RETURN, "How long does it take?", "How long does it take to return a Kallsteg C2 logger?"),
    (RETURN, "Is it waterproof?", "Is the Kallsteg C2 logger waterproof?"),
    (RETURN, "And from Norway?", "How do I return a Kallsteg C2 logger from Norway?"),
    (RETURN, "Is there a fee?", "Is there a fee for returning a Kallsteg C2 logger?"),
    (DAIRY, "When was she born?", "When was Ida Holmqvist born?"),
    (DAIRY, "Where is it?", "Where is Älvmora Mejeri?"),
    (DAIRY, "And who founded it?", "Who founded Älvmora Mejeri?"),
    (DAIRY, "Does the Mejeri sell butter?", "Does the Älvmora Mejeri sell butter?"),
    (GOUT, "Can it be cured?", "Can gout be cured?"),
    (GOUT, "What about in children?", "How is gout treated in children?"),
    (GOUT, "risk factors", "risk factors for gout"),
    (GOUT, "Tell me more", "Tell me more about gout"),
    (OFFER, "What does the last one cost?", "What does the C4 Pro cost?"),
    (OFFER, "Which of them is waterproof?", "Which of the C1, the C2 and the C4 Pro is waterproof?"),
    (FERRY, "And in winter?", "What does a ticket for the ferry cost in winter?"),
]
ALONE = [
    (RETURN, "What does error E17 mean?"),
    (RETURN, "Who won the football world cup in 1998?"),
    (RETURN, "What is the capital of Sweden?"),
    (RETURN, "How much does the C4 Pro cost?"),
    (DAIRY, "How do solar panels generate electricity?"),
    (DAIRY, "Is Warsaw the capital of Poland?"),
    (GOUT, "What are the symptoms of mumps?"),
    (FERRY, "Which museums are open on Mondays in Port Ember?"),
    (GOUT, "Is it better to sleep early?"),
    (RETURN, "Thanks!"),
    (DAIRY, "ok thank you"),
    (RETURN, "Danke"),
    (RETURN, "谢谢"),
    (OFFER, "Hello"),
    (RETURN, "What is a heron and why is it grey?"),
    (RETURN, "Wer gewann 1998 die Weltmeisterschaft?"),
    (RETURN, "瑞典的首都是哪里？"),
]


def test_a_small_set_of_follow_ups_is_read_as_a_person_would() -> None:
    got = [token_f1(standalone(question, turns), human) for turns, question, human in OWN]
    copied = [token_f1(question, human) for _, question, human in OWN]
    exact = sum(f1 == 1.0 for f1 in got)
    assert sum(got) / len(got) >= 0.9 and exact >= 12, [OWN[n][1] for n, f1 in enumerate(got) if f1 < 0.8]
    assert sum(got) / len(got) > sum(copied) / len(copied) + 0.25 and not [
        OWN[n][1] for n in range(len(OWN)) if got[n] < copied[n]
    ]


@pytest.mark.parametrize(("turns", "question"), ALONE)
def test_what_stands_alone_is_left_as_it_is(turns: list[Turn], question: str) -> None:
    assert standalone(question, turns) == question


@pytest.mark.parametrize(
    ("former", "question", "made"),
    [
        (
            "Wie sende ich einen Kallsteg C2 zurück?",
            "Und wer bezahlt das Porto?",
            "Und wer bezahlt das Porto? (Kallsteg C2)",
        ),
        ("Wie sende ich einen Kallsteg C2 zurück?", "Warum?", "Warum? (Kallsteg C2)"),
        ("Hur returnerar jag en Kallsteg C2?", "Är den vattentät?", "Är den vattentät? (Kallsteg C2)"),
        ("Comment renvoyer un Kallsteg C2 ?", "Pourquoi ?", "Pourquoi ? (Kallsteg C2)"),
        ("如何退回 Kallsteg C2 记录仪？", "它防水吗？", "它防水吗？ (Kallsteg C2)"),
        (
            "Wie flicke ich ein Fischernetz?",
            "Und wie lange dauert das?",
            "Und wie lange dauert das? (Fischernetz)",
        ),
        ("Hur returnerar jag en Kallsteg C2?", "Vad är Sveriges huvudstad?", "Vad är Sveriges huvudstad?"),
    ],
)
def test_in_other_languages_the_names_stand_behind(former: str, question: str, made: str) -> None:
    assert standalone(question, [Turn(user=former)]) == made


def test_a_turn_that_points_at_a_former_piece_goes_further_back() -> None:
    talk = [*RETURN, Turn(user="And for a faulty one?")]
    assert standalone("And in Norway?", talk) == "How do I return a faulty Kallsteg C2 logger in Norway?"


def test_the_newest_turn_lends_its_names_first_and_not_too_many() -> None:
    asked = standalone("And who pays for the postage?", BEFORE)
    assert (
        asked.startswith("And who pays for the postage") and "Kallsteg C2" in asked and "Everest" not in asked
    )
    assert len(asked.split()) - len("And who pays for the postage".split()) <= ADDED + 2


def test_words_the_pages_do_not_know_are_not_what_is_meant() -> None:
    assert "Kallsteg" not in standalone(
        "Is it dangerous?", BEFORE, unheard=lambda word: word in ("Kallsteg", "C2", "logger")
    )
    former = [Turn(user="Ist Kallsteg bei Lövnäs?")]
    assert standalone("Und warum?", former, unheard=lambda word: word == "Kallsteg") == "Und warum? (Lövnäs)"


def test_without_earlier_turns_nothing_is_added() -> None:
    assert standalone("Is it dangerous?", []) == search_query("Is it dangerous?", []) == "Is it dangerous?"


def test_what_is_searched_for_holds_the_reading_and_more_of_the_talk() -> None:
    query = search_query("Can it be cured?", GOUT)
    assert query.startswith("Can gout be cured? ") and "symptoms" in query and query.count("gout") == 1
    long = [Turn(user="Compare goats, sheep, cows, pigs, hens, ducks, geese, mules and horses.")]
    assert len(widened("Herons?", long).split()) == 1 + SOUGHT
    assert "symptoms" not in widened("Can gout be cured?", GOUT, unheard=lambda word: word == "symptoms")


def test_the_words_of_a_talk_are_its_newest_names_first() -> None:
    assert context("And the postage?", RETURN) == ["Kallsteg", "C2", "return", "logger"]


def test_a_long_talk_of_pieces_is_not_heard_over_and_over(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    monkeypatch.setattr("agent.text.followup.listen", lambda turns: heard.append(len(turns)) or listen(turns))
    talk = [Turn(user="And the red one?", bot="Well, that is so. ") for _ in range(30)]
    assert standalone("And the blue one?", talk).startswith("And the blue one?") and len(heard) < 300


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_any_turn_of_any_talk_can_be_read(question: str, said: list[str]) -> None:
    turns = [Turn(user=text, bot=text) for text in said]
    assert isinstance(standalone(question, turns), str) and search_query(question, turns).startswith(
        standalone(question, turns)
    )


REFUSAL = "The pages of kallsteg.example that were read touch on the subject, but nothing there that would answer speaks of “red”."


def _failed(*said: str) -> list[Turn]:
    return [Turn(user=user, bot=REFUSAL, answered=False) for user in said]


def test_a_refusal_lends_no_words_and_it_stays_the_thing() -> None:
    assert (
        standalone("And in blue?", _failed("Does the C2 logger come in red?"))
        == "Does the C2 logger come in blue?"
    )
    both = _failed("Does the C2 logger come in red?", "And in blue?")
    assert (
        standalone("How often must it be calibrated?", both) == "How often must the C2 logger be calibrated?"
    )
    assert "touch" not in search_query("How often must it be calibrated?", both)


def test_a_turn_that_failed_does_not_lend_what_it_failed_for() -> None:
    talk = [
        Turn(user="What is the deposit for a torque wrench?", bot="It is 40 crowns."),
        *_failed("Who won the election?"),
    ]
    assert standalone("And how long may I keep it?", talk) == "And how long may I keep the torque wrench?"
    assert "election" not in search_query("And how long may I keep it?", talk)


@pytest.mark.parametrize("said", ["And in 2024?", "And during 2024?", "What about 2024?", "And 2024?"])
def test_another_year_is_the_same_question_in_that_year(said: str) -> None:
    talk = [
        Turn(
            user="How many tonnes of milk did the dairy take in during 2025?", bot="It took in 4,180 tonnes."
        )
    ]
    assert standalone(said, talk) == "How many tonnes of milk did the dairy take in during 2024?"
    assert (
        standalone("And before 2018?", [Turn(user="Who was the chair in 2019?")])
        == "Who was the chair before 2018?"
    )
