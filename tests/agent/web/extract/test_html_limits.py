"""Pages made to be slow are made harmless; all others are left exactly as they are."""

from __future__ import annotations

import pytest

from agent.web.extract.html_page import estimate_depth, limit_html

FILLER = (
    "<p class='a' data-x=\"1 > 0\">The dairy was founded in 1921.</p>\n<!-- <a x=\" --><script>if (a <b && c='\">') {}</script>"
    * 600
)


@pytest.mark.parametrize(
    "html",
    ["", "<p>short", FILLER, FILLER + "<a href='data:" + "x" * 50_000 + "'>y</a>", "<div>" * 40 + FILLER],
)
def test_honest_pages_are_left_as_they_are(html: str) -> None:
    assert limit_html(html) is html


@pytest.mark.parametrize(
    "attribute", ["a{}=1", "a{}", "a{}='>'", 'a{}=">"', 'x"="> y" b{}', "<a{}", "a{}=b/c"]
)
def test_a_tag_with_thousands_of_attributes_loses_them(attribute: str) -> None:
    many = " ".join(attribute.format(n) for n in range(20_000))
    tamed = limit_html(f"{FILLER}<a {many}>link</a><p>fact</p>")
    assert len(tamed) < len(FILLER) + 60_000
    assert tamed.endswith("<p>fact</p>")


def test_absurd_nesting_loses_its_tags_and_keeps_its_words() -> None:
    tamed = limit_html("<div><b>" * 20_000 + "one<i>two</i><p>three" + "</div>" * 20_000)
    assert "onetwo<br>three" in tamed
    assert estimate_depth(tamed) < 10


def test_depth_is_counted_without_what_closes_itself() -> None:
    assert estimate_depth("<div><p>a<p>b<br><ul><li>c<li>d</ul></div>") == 2
    assert estimate_depth("</div></div><div>") == 1


def test_tags_that_never_end_are_walked_once():
    assert estimate_depth("<b><i>" + "<a" * 300_000) == 2
    limit_html("<b>" * 20_000 + "<script>" + "</script" * 200_000)
    assert limit_html("<div>" * 20_000 + "<a" * 300_000).endswith("<a<a")
