"""Passages as a person would cut them: offsets are the page's own, and each says what it stands under."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.retrieval.passages import (
    MAX_DESCRIPTION_CHARS,
    PASSAGE_CHARS,
    PASSAGE_ROWS,
    describe_page,
    infer_headings,
    split_passages,
)
from agent.types import Block, Heading, Outcome, Page, Passage, Table
from agent.web.extract.html_page import extract_html


def page(text: str, **more) -> Page:
    return Page(
        url="https://a.example/x", final_url="https://a.example/y", outcome=Outcome.OK, text=text, **more
    )


@st.composite
def pages(draw) -> Page:
    text = draw(
        st.text(alphabet=st.sampled_from("aB c. \n|;。あД\u00a0"), max_size=3000) | st.text(max_size=300)
    )
    place = st.integers(0, len(text) + 5)
    headings = [
        Heading(start=at, level=draw(st.integers(1, 6)), text=f"H{at}")
        for at in sorted(draw(st.lists(place, max_size=5)))
    ]
    tables = [
        Table(start=draw(place), end=draw(place), rows=[["a", "b"]] * draw(st.integers(0, 1)))
        for _ in range(draw(st.integers(0, 3)))
    ]
    kinds = st.sampled_from(["paragraph", "term", "definition", "item", "code", "post"])
    blocks = [
        Block(draw(kinds), start, start + draw(st.integers(0, 1500)))
        for start in sorted(draw(st.lists(place, max_size=12)))
    ]
    return page(text, headings=headings, tables=tables, blocks=blocks)


@given(pages())
@settings(max_examples=150)
def test_offsets_are_the_pages_own_and_nothing_but_headings_is_left_out(page: Page) -> None:
    found = split_passages(page, "p1")
    at, left_out = 0, ""
    for passage in found:
        assert page.text[passage.start : passage.end] == passage.text and passage.text.strip()
        assert passage.start >= at
        left_out += page.text[at : passage.start]
        at = passage.end
    left_out += page.text[at:]
    assert page.headings or not left_out.strip()
    assert len({passage.id for passage in found}) == len(found)
    assert found == split_passages(page, "p1")


def test_a_passage_says_where_it_stands() -> None:
    text = (
        "Heron House\n\nHistory\n\nIt was built in 1907.\n\nEarly years\n\nIt stood empty.\n\nVisit\n\nOpen "
        "daily."
    )
    marks = [(1, "Heron House"), (2, "History"), (3, "Early years"), (2, "Visit")]
    headings = [Heading(start=text.index(name), level=level, text=name) for level, name in marks]
    found = split_passages(page(text, title="Heron House", headings=headings), "p1")
    assert [(passage.heading, passage.text) for passage in found] == [
        ("History", "It was built in 1907."),
        ("History › Early years", "It stood empty."),
        ("Visit", "Open daily."),
    ]
    first = found[0]
    assert (first.id, first.page_id, first.url, first.title) == (
        "p1:0",
        "p1",
        "https://a.example/y",
        "Heron House",
    )


def test_table_rows_come_in_groups_under_their_header_row() -> None:
    rows = [["Lake", "Depth"], *([f"Lake {n}", f"{n} m"] for n in range(20))]
    lines = "\n".join(" | ".join(row) for row in rows)
    text = f"Lakes of the north.\n{lines}\nAfter the table."
    start = text.index("Lake | Depth")
    found = split_passages(page(text, tables=[Table(start=start, end=start + len(lines), rows=rows)]), "p")
    assert [passage.rows for passage in found] == [False, True, True, True, False]
    assert all(
        passage.label == "Lake | Depth" and passage.text.count("\n") < PASSAGE_ROWS
        for passage in found
        if passage.rows
    )
    assert found[-1].text == "After the table."


def test_rows_of_a_table_without_header_row_stand_under_the_heading_above() -> None:
    text = "Heron\n\nTechnical data\n\nWeight | 310 g\nPrice | 90 kr"
    table = Table(
        start=text.index("Weight"),
        end=len(text),
        rows=[["Weight", "310 g"], ["Price", "90 kr"]],
        headed=False,
    )
    marks = [Heading(start=text.index("Technical"), level=2, text="Technical data")]
    found = split_passages(page(text, tables=[table], headings=marks), "p")
    assert [(passage.heading, passage.rows) for passage in found][-1] == ("Technical data", True)
    unmarked = table.model_copy(update={"headed": True})
    assert (
        split_passages(page(text, tables=[unmarked], headings=marks), "p")[-1].heading == "Technical data"
    ), "a figure is no column's name"
    years = table.model_copy(update={"headed": True, "rows": [["Lake", "2025"], ["Gran", "40 m"]]})
    assert split_passages(page(text, tables=[years], headings=marks), "p")[-1].label == "Lake | 2025"


def read(html: str) -> list[Passage]:
    """The passages of a page with this body."""
    body = f"<html><title>Kiln</title><body><main>{html}</main></body></html>"
    return split_passages(extract_html(body, "https://kiln.example/").to_page(url="x", final_url="x"), "p")


def cuts(html: str) -> list[tuple[str, str, str]]:
    return [(passage.kind, passage.label, passage.text) for passage in read(html)]


FILLER = "The kiln is fired slowly, because wet clay cracks when its water boils. "


def test_a_term_is_cut_with_its_definition_and_several_terms_with_one():
    assert cuts("<dl><dt>-q<dt>--quick<dd>Fires fast.<dt>-v<dd><p>Says more.</p><p>Much more.</p></dl>") == [
        ("definition", "-q\n--quick", "-q\n--quick\nFires fast."),
        ("definition", "-v", "-v\n\nSays more.\n\nMuch more."),
    ]


def test_a_long_definition_is_cut_and_all_of_it_says_its_term():
    long = "".join(f"<p>{FILLER * 8}</p>" for _ in range(3))
    found = read(f"<h2>Options</h2><dl><dt>-q<dd>{long}<pre>kiln -q</pre></dl>")
    assert [(passage.kind, passage.label, passage.heading) for passage in found[:3]] == [
        ("definition", "-q", "Options")
    ] * 3
    assert found[0].text.startswith("-q\n") and not found[1].text.startswith("-q")
    assert all(len(passage.text) <= PASSAGE_CHARS for passage in found)
    assert "kiln -q" in found[-1].text


def test_a_definition_inside_another_stands_under_the_outer_term():
    inner = f"<dl><dt>open()<dd>Opens it.<dt>close()<dd>{FILLER * 11}</dl>"
    found = read(f"<h2>Classes</h2><dl><dt>class Kiln<dd><p>A kiln. {FILLER}</p>{inner}</dl>")
    assert [(passage.heading, passage.label) for passage in found] == [
        ("Classes", "class Kiln"),
        ("Classes › class Kiln", "open()"),
        ("Classes › class Kiln", "close()"),
    ]


def test_an_item_is_never_cut_off_from_the_line_that_introduces_its_list():
    items = "".join(f"<li>Cone {n}. {FILLER}" for n in range(30))
    found = read(f"<p>{FILLER * 5}These cones are known:</p><ul>{items}</ul><p>End of it.</p>")
    lists = [passage for passage in found if passage.kind == "list"]
    assert len(lists) > 2 and {passage.label for passage in lists} == {"These cones are known:"}
    assert lists[0].text.startswith("These cones are known:\n\nCone 0.")
    assert all(passage.text.endswith("boils.") for passage in lists), "cut between items"
    assert [passage.kind for passage in found if passage.kind != "list"] == ["prose", "prose"]


def test_code_is_cut_with_the_sentence_before_it():
    assert cuts("<p>Light it. Then fire it with:</p><pre>kiln fire\n  --slow</pre><p>Wait.</p>") == [
        ("code", "Then fire it with:", "Light it. Then fire it with:\n\nkiln fire\n  --slow"),
        ("prose", "", "Wait."),
    ]


def test_long_code_is_cut_between_lines_and_keeps_its_label():
    code = "".join(f"cone {n} = {n * 40} C\n" for n in range(99))
    found = read(f"<p>The whole table:</p><pre>{code}</pre>")
    assert len(found) > 1 and all((p.kind, p.label) == ("code", "The whole table:") for p in found)
    assert all(passage.text.endswith(" C") for passage in found)


def test_short_paragraphs_under_one_heading_share_a_passage_and_headings_part_them():
    assert cuts("<h2>Clay</h2><p>Red.</p><p>White.</p><h2>Glaze</h2><p>Ash.</p>") == [
        ("prose", "", "Red.\n\nWhite."),
        ("prose", "", "Ash."),
    ]


def test_rows_of_a_definition_table_stand_under_their_heading_and_caption():
    table = "<table><caption>Data</caption><tr><th>Weight<td>310 kg<tr><th>Since<td>1907</table>"
    found = read(f"<h2>Kiln 4</h2>{table}<h2>Kiln 5</h2>{table.replace('310', '90')}")
    assert [(passage.kind, passage.heading, passage.label) for passage in found] == [
        ("rows", "Kiln 4 › Data", ""),
        ("rows", "Kiln 5 › Data", ""),
    ]


def test_headings_with_nothing_below_them_are_kept_together_and_a_single_one_is_dropped():
    assert cuts("<h2>Why clay?</h2><h2>Why fire?</h2>") == [("prose", "", "Why clay?\n\nWhy fire?")]
    assert cuts(f"<p>{FILLER}</p><h2>See also</h2>") == [("prose", "", FILLER.strip())]


def test_lists_of_a_text_without_blocks_are_known_by_their_marks():
    text = "Cones are made of:\n- clay\n- feldspar, which\n  melts\n\nThe end of it."
    assert [(found.kind, found.label, found.text) for found in split_passages(page(text), "p")] == [
        ("list", "Cones are made of:", "Cones are made of:\n- clay\n- feldspar, which\n  melts"),
        ("prose", "", "The end of it."),
    ]


def test_links_alone_are_no_passage_unless_a_line_introduces_them():
    menu = "<ul><li><a href=a>Raku</a><li><a href=b>Porcelain</a></ul>"
    assert cuts(f"<h2>Contents</h2>{menu}<h2>Clay</h2><p>{FILLER}</p>") == [("prose", "", FILLER.strip())]
    label = "These kinds are fired:"
    assert cuts(f"<p>{FILLER}</p><p>{label}</p>{menu}")[-1] == ("list", label, f"{label}\n\nRaku\nPorcelain")


def test_a_forum_post_is_a_passage_of_its_own():
    posts = "".join(
        f"<div class='post p{n}'><b>potter{n}</b><p>Mine cracks.</p><p>Why?</p></div>" for n in range(3)
    )
    assert cuts(f"<h1>Cracks</h1>{posts}<p>{FILLER}</p>") == [
        *[("post", "", f"potter{n}\n\nMine cracks.\n\nWhy?") for n in range(3)],
        ("prose", "", FILLER.strip()),
    ]
    long = "".join(f"<li class=comment><p>{FILLER * 9}</p><p>{FILLER * 9}</p>" for _ in range(2))
    assert [passage.kind for passage in read(f"<ul>{long}</ul>")] == ["post"] * 4


@pytest.mark.slow
def test_blocks_nested_without_end_cost_no_recursion():
    found = read("<ul><li>clay " * 3000)
    assert sum(passage.text.count("clay") for passage in found) == 3000


def test_a_short_paragraph_above_a_longer_one_is_a_heading_and_a_term_is_none():
    found = read(f"<p>{FILLER}</p><p><b>Firing</b></p><p>{FILLER}</p><dl><dt>cone<dd>{FILLER}</dl>")
    assert [(passage.kind, passage.heading, passage.label) for passage in found] == [
        ("prose", "", ""),
        ("prose", "Firing", ""),
        ("definition", "Firing", "cone"),
    ]


def test_a_table_inside_a_list_keeps_its_rows_and_header():
    html = (
        "<h1>Kiln wear</h1><p>Two ways to count:</p><ul><li>By years.<table><tr><th>Year</th><th>Worth</th></tr>"
        "<tr><td>1</td><td>900</td></tr><tr><td>2</td><td>800</td></tr></table></li><li>By firings.</li></ul>"
    )
    read = extract_html(html, "https://a.example/wear").to_page(url="https://a.example/wear", final_url="")
    [rows] = [passage for passage in split_passages(read, "p") if passage.rows]
    assert rows.label == "Year | Worth" and "2 | 800" in rows.text


def test_a_page_cut_into_crumbs_has_no_more_passages_than_a_page_may():
    crumbs = "".join(f"Head {n}\n\nx\n\n" for n in range(200))
    heads = [Heading(start=crumbs.index(f"Head {n}\n"), level=2, text=f"Head {n}") for n in range(200)]
    assert len(split_passages(page(crumbs, headings=heads), "p")) == 200
    assert len(split_passages(page(crumbs, headings=heads), "p", longest=2_000)) == 50


def plain(text: str, **more) -> Page:
    return Page(
        url="https://a.example/",
        final_url="https://a.example/",
        outcome=Outcome.OK,
        title="Fever",
        text=text,
        **more,
    )


LONG = "This line is a sentence that goes on for quite some words indeed."


def test_a_short_line_above_a_longer_one_is_a_heading():
    page = infer_headings(plain(f"Fever\nSymptoms\n{LONG}\nIs it bad?\n{LONG}\nA | B\n{LONG}"))
    assert [heading.text for heading in page.headings] == ["Symptoms"] and page.text[
        page.headings[0].start :
    ].startswith("Symptoms")


def described(text: str, title: str = "", *headings: str, tables: list[Table] | None = None) -> Page:
    found = [Heading(start=max(0, text.find(heading)), level=2, text=heading) for heading in headings]
    return Page(
        url="file:a.txt",
        final_url="file:a.txt",
        outcome=Outcome.OK,
        text=text,
        title=title,
        headings=found,
        tables=tables or [],
    )


def test_headings_follow_but_not_the_title_or_the_numbers_of_pages():
    told = describe_page(
        described(
            "Herons\nNests\nFood\nHerons eat fish and small frogs.",
            "Herons",
            "Herons",
            "Nests",
            "Food",
            "Page 3",
        )
    )
    assert told == "Herons: Herons eat fish and small frogs. — Nests; Food"


def test_a_sentence_without_blanks_between_words_counts_by_its_characters():
    assert (
        describe_page(described("茶\n普洱茶产于云南，存放多年后味道更醇厚。", "茶"))
        == "茶: 普洱茶产于云南，存放多年后味道更醇厚。"
    )


def test_a_table_is_described_by_its_header():
    text = "name | kind | address | open on all the days of the week.\nA | b | c | d"
    assert describe_page(described(text, "places", tables=[Table(start=0, end=len(text))])).startswith(
        "places: name | kind"
    )


@pytest.mark.parametrize("text", ["", "x", "word " * 2000, "长" * 2000])
def test_it_is_never_empty_and_never_long(text):
    assert 0 < len(describe_page(described(text, "", "heading " * 50))) <= MAX_DESCRIPTION_CHARS
    assert describe_page(described("")) == "file:a.txt"
