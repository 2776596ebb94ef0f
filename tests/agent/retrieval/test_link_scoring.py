"""Leads: hits, links and names on one scale."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval import link_scoring
from agent.retrieval.link_scoring import score_links, split_path_words, strip_title_suffix
from agent.types import Fact, Lead, Link, Outcome, Page, SearchHit, SearchResult
from tests.records import fill
from tests.tables import by_table

ASKED = "When was the ferry Blue Heron built?"


def result(*titles: str, query: str = ASKED) -> SearchResult:
    hits = [
        SearchHit(
            url=f"https://h{n}.example/",
            title=title,
            snippet="",
            rank=n + 1,
            engine="",
            published_at="",
            publication=None,
        )
        for n, title in enumerate(titles)
    ]
    return fill(SearchResult, query=query, outcome=Outcome.OK, hits=hits)


def fact(quote: str, title: str = "", **more) -> Fact:
    return Fact(
        **{
            "id": "f",
            "statement": quote,
            "quote": quote,
            "title": title,
            "url": "https://a.example/",
            "verified": True,
            **more,
        }
    )


def url(value: str, **more) -> Lead:
    known = {"id": link_scoring.lead_id("url", value), "kind": "url", "text": "", "why": ""}
    return fill(Lead, value=value, **known | more)


def page(text: str, *links: tuple[str, str], title: str = "") -> Page:
    return Page(
        url="https://a.example/",
        final_url="https://a.example/",
        outcome=Outcome.OK,
        title=title,
        text=text,
        links=[Link(url=where, text=anchor) for where, anchor in links],
    )


def test_the_same_address_or_the_same_words_are_the_same_lead() -> None:
    assert link_scoring.lead_id("url", "HTTPS://A.example/x/?utm_source=q#top") == link_scoring.lead_id(
        "url", "https://a.example/x"
    )
    assert link_scoring.lead_id("query", "ferries, blue") == link_scoring.lead_id("query", "Blue ferry!")
    assert link_scoring.lead_id("query", "a.example") != link_scoring.lead_id("url", "a.example")


@by_table
def test_a_bare_title(title: str, short: str) -> None:
    assert link_scoring.strip_title_suffix(title) == short


def test_hits_keep_the_engines_order_unless_a_title_is_named() -> None:
    found = link_scoring.make_hit_leads(ASKED, result("News", "Weather", "Harbour", "Blue Heron"), 3)
    assert [lead.text for lead in found] == ["Blue Heron", "News", "Weather", "Harbour"]
    assert all(
        lead.found_on == f"search: {ASKED}"
        and lead.step == 3
        and lead.status == "open"
        and 0 < lead.score < 1
        for lead in found
    )


def test_a_link_in_a_sentence_that_bears_on_the_question_comes_before_a_menu() -> None:
    text = "Home\nThe ferry Blue Heron was built at the Quill yard in the north.\nContact"
    links = [
        ("https://a.example/home", "Home"),
        ("https://a.example/yard", "Quill yard"),
        ("https://a.example/contact", "Contact"),
    ]
    found = link_scoring.make_page_leads(ASKED, page(text, *links), [], 2)
    assert found[0].value == "https://a.example/yard" and "built at the Quill yard" in found[0].why
    assert found[0].score > 2 * found[1].score
    assert all(lead.found_on == "https://a.example/" for lead in found)


def test_links_worth_showing_are_distinct_have_words_and_are_limited() -> None:
    links = [Link(url=f"https://a.example/{n}", text=f"Page {n}") for n in range(50)]
    links += [
        Link(url="https://a.example/3#x", text="again"),
        Link(url="javascript:void", text="no"),
        Link(url="https://a.example/z", text=" "),
    ]
    links.append(Link(url="https://a.example/heron", text="Blue Heron"))
    shown = link_scoring.rank_links(ASKED, links, "", limit=10)
    assert len(shown) == 10 and shown[0].text == "Blue Heron" and shown[1].text == "Page 0"
    assert len(link_scoring.rank_links(ASKED, links, "", limit=99)) == 51


def test_of_leads_found_at_like_places_the_one_whose_words_fit_comes_first() -> None:
    fits = url(
        "https://b.example/", text="a page", why="The ferry Blue Heron was built at a yard.", prior=0.2
    )
    other = url("https://a.example/", text="a page", why="The town has a fair.", prior=0.2)
    ranked = link_scoring.score_leads(ASKED, [other, fits])
    assert [lead.value for lead in ranked] == [fits.value, other.value] and ranked[1].score == 0.1


def test_a_lead_found_at_two_places_keeps_the_better_prior_and_the_search_becomes_its_place() -> None:
    known = url("https://b.example/", prior=0.5, found_on="https://a.example/", why="a link")
    again = url("https://b.example/", prior=0.4, found_on="search: heron", why="result 1")
    [both] = link_scoring.merge_leads({known.id: known}, [again])
    assert (both.prior, both.found_on, both.why) == (0.5, "search: heron", "result 1")
    [other_way] = link_scoring.merge_leads({again.id: again}, [known])
    assert (other_way.prior, other_way.found_on) == (0.5, "search: heron")


def test_the_first_query_is_the_question_or_its_words_of_content() -> None:
    assert link_scoring.make_first_query("Who built it, according to https://a.example/x?") == "Who built it?"
    long = "Who was the builder of the ferry? " * 20
    assert len(link_scoring.make_first_query(long)) <= 300
    assert "the" not in link_scoring.make_first_query(long).split()
    assert link_scoring.make_first_query("https://a.example/x") == "https://a.example/x"


@given(
    st.text(),
    st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=5),
    st.text(max_size=200),
)
def test_any_page_and_any_hits_give_leads_in_order(
    question: str, links: list[tuple[str, str]], text: str
) -> None:
    found = link_scoring.make_page_leads(
        question, page(text, *links, ("https://b.example/", text)), [fact(text)], 1
    )
    found += link_scoring.make_hit_leads(question, result(*(anchor for _, anchor in links)), 1)
    ranked = link_scoring.score_leads(question, found)
    assert all(0 <= lead.score <= 1 for lead in ranked) and [lead.score for lead in ranked] == sorted(
        (lead.score for lead in ranked), reverse=True
    )


def test_a_title_of_blanks_or_brackets_is_walked_once() -> None:
    assert strip_title_suffix(f"The Cup{' ' * 300_000}x (1999 film)") == "The Cup x"
    assert strip_title_suffix("The Cup " + "(" * 300_000 + "x").startswith("The Cup (")


def best(question: str, *links: Link) -> str:
    found = score_links(question, links)
    return links[max(range(len(found)), key=found.__getitem__)].url


def at(path: str, text: str = "") -> Link:
    return Link(url=f"https://a.example/{path}", text=text)


def test_the_words_of_a_path_are_split() -> None:
    words = split_path_words("https://a.example/Help/orderTracking_page-2.html?topic=lost")
    assert words == "Help order Tracking page 2 topic lost"


def test_link_text_and_path_count() -> None:
    links = at("a"), at("b", "Returns and refunds"), at("returns")
    assert best("How do I return an order?", *links) in ("https://a.example/b", "https://a.example/returns")


def test_a_word_that_all_have_tells_nothing_apart() -> None:
    parts = (at(f"c2-{n}", f"C2 part {n}") for n in range(5))
    assert best("C2 price", *parts, at("shop", "Price list")).endswith("shop")
