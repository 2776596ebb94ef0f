"""A text gives away the words of a private note that nobody knows otherwise."""

import pytest

from agent.text.folded_search import find_private_words

NOTE = "The client is Zyxantor Holdings; budget 48211, keep to sources after 2020."


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("ferry Zyxantor launch", ["zyxantor"]),
        ("ferry ZYXANTÓR", ["zyxantor"]),
        ("ferry z y x a n t o r", ["zyxantor"]),
        ("ferryzyxantorlaunch", ["zyxantor"]),
        ("holding company of the ferry", ["holdings"]),
        ("ferry 48211", ["48211"]),
        ("ferry of the client", []),
        ("when was the ferry Vinga launched", []),
        ("", []),
    ],
)
def test_the_words_of_a_note_are_found_in_any_spelling(query: str, words: list[str]) -> None:
    assert find_private_words(query, [NOTE], ["Which client runs the ferry?"]) == words


def test_what_the_question_or_a_page_says_is_no_secret() -> None:
    assert find_private_words("Zyxantor ferry", [NOTE], ["Zyxantor Holdings bought the ferry."]) == []
    assert find_private_words("Zyxantor ferry", [], []) == []
