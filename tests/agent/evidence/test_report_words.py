"""The fixed words of a report: each language has all of them, with the same blanks, and a question finds its
own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.evidence import report_words
from agent.evidence.report_words import find_report_language, load_report_words, words_for
from agent.text.word_lists import read_sections

FILE = Path(report_words.__file__).parent / "data" / "report_words.txt"
LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "pl"]
QUESTIONS = {
    "en": ["How many employees does it have?", "Compare the kilns of Østby and Lunde", "Volvo founder"],
    "de": ["Wann wurde die Fabrik gegründet?", "Vergleiche Wärmepumpen und Gasheizungen"],
    "fr": ["Combien d'employés compte l'usine ?", "Qui dirige les fours de Lunde ?"],
    "es": ["¿Cuántos empleados tiene la fábrica?", "Comparar bombas de calor y calderas de gas"],
    "it": ["Quanti dipendenti ha la fabbrica?"],
    "pt": ["Quando foi construída a ponte?"],
    "nl": ["Hoeveel werknemers heeft de fabriek?"],
    "sv": ["Vem driver ugnarna i Lunde?", "När byggdes bron?"],
    "da": ["Hvornår blev broen bygget?"],
    "nb": ["Når ble broen bygget?"],
    "pl": ["Ilu pracowników ma fabryka?", "Kiedy zbudowano most?"],
}


def test_every_language_has_every_word_with_the_same_blanks() -> None:
    assert list(read_sections(FILE)) == LANGUAGES
    english = load_report_words("en")
    for language, lines in read_sections(FILE).items():
        own = dict(line.split(": ", 1) for line in lines)
        assert own.keys() == english.keys(), language
        for key, text in own.items():
            if key == "taken":  # its counts are English words
                continue
            assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", english[key])), (
                language,
                key,
            )


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_finds_the_words_of_its_language(language: str) -> None:
    assert [find_report_language(question) for question in QUESTIONS[language]] == [language] * len(
        QUESTIONS[language]
    )


@pytest.mark.parametrize(
    "question", ["", "42", "Сколько рабочих на заводе?", "この工場はいつ建てられましたか"]
)
def test_a_question_in_a_language_without_a_table_gets_english_words(question: str) -> None:
    assert words_for(question)["summary"] == "Summary"


@pytest.mark.parametrize("question", ["In which year was Lunde Mejeri founded?", "Volvo", "Who is in Lunde?"])
def test_an_english_question_word_needs_no_detector(monkeypatch, question: str) -> None:
    def fail(*_: object) -> str:
        raise AssertionError("the detector takes a second and 120 MB")

    monkeypatch.setattr(report_words, "choose_language", fail)
    find_report_language.cache_clear()
    assert find_report_language(question) == "en"
