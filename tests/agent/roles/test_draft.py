"""The writer of the site flow by rule and as a prompt: sections, sentences, and three kinds of refusal."""

from __future__ import annotations

from agent.retrieval.answer import MAX_WORDS, WORDS_BELOW
from agent.retrieval.passages import infer_headings, split_passages
from agent.roles.prompt_templates import render
from agent.roles.site import draft_fallback as fallback
from agent.types import Outcome, Page, Turn

TEXT = """Lamp fever
Overview
Lamp fever is a made-up illness that befalls people who read at night, and it passes by itself in most of them.

Symptoms
What are the symptoms of lamp fever? The first symptom is a warm nose, which is noticed by others before oneself. It is followed by green ears.

Treatment
Treatment is sleep in a dark room, and nothing else has been shown to help at all. Carrots may be eaten with it."""


def page(text: str = TEXT, title: str = "Lamp fever") -> list:
    read = Page(
        url="https://a.example/lamp",
        final_url="https://a.example/lamp",
        outcome=Outcome.OK,
        title=title,
        text=text,
    )
    return split_passages(infer_headings(read), "p1")


def draft(question: str, **more):
    given = {
        "question": question,
        "asked": question,
        "history": [],
        "instruction": "",
        "notes": [],
        "reasoning": "",
        "passages": page(),
        "site": "a.example",
        "forced": "",
        "former": "",
    }
    return fallback(**{**given, **more})


def said(reply) -> str:
    return " ".join(sentence.text for sentence in reply.answer)


def test_the_lead_comes_from_the_section_that_is_asked_for_without_heading_or_question():
    first = draft("What are the symptoms of lamp fever?").answer[0]
    assert (first.place, first.heading) == ("lead", "Symptoms")
    assert first.text.startswith("The first symptom is a warm nose")
    assert said(draft("What is the treatment of lamp fever?")).startswith("Treatment is sleep in a dark room")


def test_each_sentence_quotes_its_passage_word_for_word():
    by_id = {passage.id: passage.text for passage in page()}
    for sentence in draft("What are the symptoms of lamp fever?").answer:
        assert sentence.quotes
        for quote in sentence.quotes:
            assert all(part in by_id[quote.passage_id] for part in quote.quote.split(" … "))


def test_an_answer_keeps_within_its_words():
    long = "Lamp fever\nSymptoms\n" + " ".join(
        f"Symptom number {n} of lamp fever is a sound like that of a kettle far away." for n in range(60)
    )
    shown = [
        one
        for one in draft("What are the symptoms of lamp fever?", passages=page(long)).answer
        if one.place != "other"
    ]
    assert sum(len(one.text.split()) for one in shown) <= MAX_WORDS + WORDS_BELOW


def test_three_refusals():
    away = draft("Who won the football cup?")
    assert away.refusal == "off_topic" and "a.example" in away.message and "football" in away.message
    assert not away.answer
    near = draft("Which insurer pays in Peru for the fever?")
    assert near.refusal == "not_covered" and "peru" in near.message.lower()
    assert draft("And that one?", passages=[]).refusal == "needs_clarification"
    later = draft("And that one?", passages=[], history=[Turn(user="What is lamp fever?")])
    assert later.refusal == "not_covered"


def test_a_question_in_another_language_than_the_pages_is_refused_with_that_reason():
    assert "another language" in draft("Wer hat das gewonnen und warum ist das so?").message


def test_the_prompt_holds_what_a_writer_needs_and_fences_the_pages():
    messages = render(
        "draft",
        question="And at night?",
        asked="Is lamp fever worse at night?",
        history=[Turn(user="What is lamp fever?", bot="An illness.")],
        instruction="Be kind.",
        notes=["Shorter"],
        reasoning="Enough was read.",
        passages=page(),
        site="a.example",
        forced="All 5 explorations are used.",
        former="It is bad.",
    )
    system, user = messages[0]["content"], messages[1]["content"]
    assert "off_topic" in system and "needs_clarification" in system
    expected = (
        "a.example",
        "Be kind.",
        "Is lamp fever worse at night?",
        "What is lamp fever?",
        "Shorter",
        "Enough was read.",
        "All 5 explorations are used.",
        "It is bad.",
    )
    assert all(part in user for part in expected)
    assert user.count("<passage-") == len(page())
