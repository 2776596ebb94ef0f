"""From a found name to the next page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.multi_hop import (
    MAX_BRIDGE_FACTS,
    find_bridge_names,
    find_bridges,
    has_bridge_name,
    join_tokens,
    measure_bridge_gain,
)
from agent.text.question_analysis import parse_question
from agent.text.tokens import stem_prefix, stem_words
from agent.types import Fact

ASKED = parse_question("How old are the children of the couple who run Älvmora Mejeri?")


def fact(quote: str, title: str = "", n: int = 0) -> Fact:
    return Fact(
        id=f"f{n}", statement=quote, quote=quote, title=title, url=f"https://h{n}.example/", verified=True
    )


COUPLE = fact("Älvmora Mejeri is run by the couple Ragnhild Tjäder and Emil Tjäder.", "About us")
CHEESE = fact("The cheese is called Blå Berget.", "Cheeses", 1)


def words(text: str) -> frozenset[str]:
    return frozenset(stem_prefix(stem) for stem in stem_words(text))


def test_the_quote_that_says_most_is_the_best_bridge_and_gives_its_names() -> None:
    first, second = find_bridges(ASKED, [CHEESE, COUPLE])
    assert first.fact is COUPLE and second.fact is CHEESE and first.covered_share > second.covered_share
    assert [name for name, _ in first.names] == ["Ragnhild Tjäder", "Emil Tjäder"]
    assert set(first.uncovered) >= {"childr"} and "alvmor" not in first.uncovered


def test_the_questions_own_names_lead_nowhere_and_an_adjective_less_far() -> None:
    assert find_bridge_names(ASKED, "Älvmora Mejeri is old.") == []
    assert dict(find_bridge_names(ASKED, "A Swedish cheese of Lövnäs.")) == {"Swedish": 0.4, "Lövnäs": 1.0}


def test_a_page_that_speaks_of_a_name_follows() -> None:
    bridge = find_bridges(ASKED, [COUPLE])[0]
    assert has_bridge_name(bridge, join_tokens("Births: Emil Tjäder and his wife have three children."))
    assert not has_bridge_name(bridge, join_tokens("Emil and Tjäder")) and not has_bridge_name(bridge, "")


def test_what_closes_a_bridge_is_what_it_left_open() -> None:
    bridge = find_bridges(ASKED, [COUPLE])[0]
    here, yet = measure_bridge_gain(bridge, words("Their children are old."))
    assert here > 0 and yet > 0
    assert measure_bridge_gain(bridge, words("Älvmora Mejeri")) == (0.0, 0.0)
    everything = find_bridges(ASKED, [fact(ASKED.text)])[0]
    assert measure_bridge_gain(everything, words(ASKED.text)) == (0.0, 0.0), "nothing is open"


def test_only_the_best_facts_are_looked_at() -> None:
    assert len(find_bridges(ASKED, [fact(f"Nothing {n}", n=n) for n in range(30)])) == MAX_BRIDGE_FACTS
    assert find_bridges(ASKED, []) == []


@given(st.text(), st.lists(st.text(max_size=80), max_size=4), st.text(max_size=80))
def test_any_text_can_be_a_bridge(question: str, quotes: list[str], page: str) -> None:
    asked = parse_question(question)
    for bridge in find_bridges(asked, [fact(quote, n=n) for n, quote in enumerate(quotes)]):
        assert all(0 <= part <= 1.000001 for part in measure_bridge_gain(bridge, words(page)))
        assert isinstance(has_bridge_name(bridge, join_tokens(page)), bool)
