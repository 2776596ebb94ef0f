"""Lines of a text that an editor, a mailer or a typesetter wrapped become one; other lines stay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.web.extract.plain_text import join_wrapped_lines
from tests.tables import by_table

WRAPPED = """\
The kiln is fired slowly at first, because clay that is still wet cracks when
Water turns to steam inside it. After some hours the heat may rise well-
known limits notwithstanding, up to the cone that the glaze needs. A kiln-
Wright knows."""


def test_the_lines_of_a_wrapped_paragraph_become_one_and_divided_words_whole() -> None:
    assert join_wrapped_lines(f"{WRAPPED}\n\n\nThe end\nof it") == (
        "The kiln is fired slowly at first, because clay that is still wet cracks when Water turns to steam "
        "inside it. After some hours the heat may rise wellknown limits notwithstanding, up to the cone that "
        "the glaze needs. A kiln-Wright knows.\n\nThe end\nof it"
    )


@by_table
def test_lists_settings_code_and_titles_keep_their_lines(text: str) -> None:
    assert join_wrapped_lines(text) == text


def test_an_item_goes_on_below_its_mark() -> None:
    text = "- Open the lid of the kiln, and put the pots into it with\n  care, one by one\n- Close it"
    assert join_wrapped_lines(text).split("\n")[0].endswith("with care, one by one")


@given(st.text(alphabet=st.sampled_from("aB. ,-\n\u00ad|1"), max_size=400))
def test_no_letter_is_lost(text: str) -> None:
    def letters(shown: str) -> str:
        return "".join(c for c in shown if c.isalnum())

    assert letters(join_wrapped_lines(text)) == letters(text)
