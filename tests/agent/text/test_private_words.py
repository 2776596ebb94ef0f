"""A text gives away the words of a private note that nobody knows otherwise."""

from agent.text.folded_search import find_private_words
from tests.tables import by_table

NOTE = "The client is Zyxantor Holdings; budget 48211, keep to sources after 2020."


@by_table
def test_the_words_of_a_note_are_found_in_any_spelling(query: str, words: list[str]) -> None:
    assert find_private_words(query, [NOTE], ["Which client runs the ferry?"]) == words


def test_what_the_question_or_a_page_says_is_no_secret() -> None:
    assert find_private_words("Zyxantor ferry", [NOTE], ["Zyxantor Holdings bought the ferry."]) == []
    assert find_private_words("Zyxantor ferry", [], []) == []
