"""A statement worded without a model says its quote, a row's cells with their columns, or a list's items, and
nothing else but the term or line that stands over it."""

from __future__ import annotations

import pytest

from agent.actions.bundles import is_rule_statement
from agent.retrieval.answer import cut_lines
from agent.retrieval.passages import split_passages
from agent.types import Fact, Page
from agent.web.extract.dispatch import extract_content
from tests.tables import by_table

HTML = """<html><head><title>Kiln manual</title></head><body><main><h1>Kiln manual</h1>
<p>The Harrow kiln was built in Selby by two brothers and has been in use since then.</p>
<dl><dt>ramp_rate</dt><dd><p>Degrees that the kiln gains in an hour. The default is 90 degrees.</p></dd>
<dt>hold_time</dt><dd><p>Minutes that the kiln stays at the top. The longest is 240 minutes.</p></dd></dl>
<p>Before the first firing:</p>
<ol><li>Open the damper fully.</li><li>Set the cones.</li>
<li>Dry the shelves at the lowest heat for two hours with the door ajar and the fan on.</li></ol>
<table><tr><th>Cone</th><th>Colour</th></tr><tr><td>Cone 6</td><td>green</td></tr>
<tr><td>Cone 10</td><td>brown</td></tr></table>
<table><tr><th>Cone</th><th>Price</th></tr><tr><td>Cone 4</td><td>3.20</td></tr>
<tr><td>Cone 5</td><td>3.40</td></tr></table>
</main></body></html>"""


@pytest.fixture(scope="module")
def page() -> Page:
    url = "https://kiln.example/manual"
    return extract_content(HTML.encode(), "text/html", url).to_page(url=url, final_url=url)


def says_its_quote(page: Page, quote: str, statement: str) -> bool:
    fact = Fact(id="f", statement=statement, quote=quote)
    return statement == quote or is_rule_statement(fact, page, split_passages(page, "p"))


def test_what_is_cut_from_a_page_without_a_model_is_one_stretch_of_it_and_holds(page):
    lines = [line for passage in split_passages(page, "p") for line in cut_lines(passage)]
    told = {statement for _, statement in lines}
    assert {"ramp_rate — The default is 90 degrees.", "Cone: Cone 6; Colour: green"} <= told
    for quote, statement in lines:
        assert says_its_quote(page, quote, statement), statement


@by_table
def test_any_other_statement_is_refused_though_all_its_words_are_the_page_s(page, quote, statement):
    assert not says_its_quote(page, quote, statement)
