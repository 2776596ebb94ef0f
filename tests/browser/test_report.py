"""A full report on the demo world as a person orders it: length chosen in the form, a document with tables and
a chart, quotes at each cell, another length and a file to paste."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.looks import NAMELESS, PALE
from tests.browser.screen import TOO_WIDE, Screen, Tab, act_until
from tests.browser.served import Served
from tests.web.hut_model import QUESTION, HutScript
from tests.web.model_server import ModelServer

BLACK = """() => [...document.querySelectorAll('.answer-pane svg :is(rect, circle, text)')]
  .filter(e => getComputedStyle(e).fill === 'rgb(0, 0, 0)').map(e => e.outerHTML)"""


def test_a_full_report_is_ordered_read_shortened_and_taken_along(
    served: Callable[..., Served], tab: Tab
) -> None:
    with ModelServer(HutScript().served) as model:
        server = served(OPENAI_BASE_URL=model.url, MODEL="served", STEP_GAP="0.05")
        page = tab(height=1400)
        screen = Screen(page, server.url).open()
        screen.question.fill(QUESTION)
        screen.choose_demo()
        with screen.menu(screen.button("Options"), page.get_by_label("Length of the answer")):
            screen.pick("Length of the answer", "Full report")
        expect(page.get_by_text("· full report ·")).to_be_visible()
        screen.start.click()
        page.wait_for_url("**/?run=*")
        screen.stands("Answer to review")
        for heading in ("Three huts on Norrvidda", "Summary", "The huts compared", "Limits of the evidence"):
            expect(screen.answer.get_by_role("heading", name=heading)).to_be_visible()
        table = screen.answer.get_by_role("table").first
        row = table.get_by_role("row", name="Storfall 1956")
        expect(row).to_contain_text("340 kronor")
        expect(screen.answer.locator("svg[role=img]").first).to_be_visible()
        assert page.evaluate(BLACK) == [], "a chart has the colours of the page"
        cell = row.get_by_role("cell").nth(1)
        cell.get_by_role("button").first.click()
        evidence = page.locator(".st-key-pane-evidence")
        expect(evidence.locator("mark")).to_have_text("Storfall hut has 36 beds.")
        stays = screen.answer.get_by_role("table").nth(1)
        expect(
            stays.locator("xpath=ancestor::*[contains(@class, 'scroll')]/following-sibling::p[1]")
        ).to_contain_text("Source of each cell")
        assert stays.locator(".cite").count() == 0, "a source of all cells stands once, below the table"
        stays.get_by_text("1,490").focus()
        page.keyboard.press("Enter")
        expect(evidence.get_by_role("table")).to_contain_text(
            re.compile("Season.*Storfall.*2021.*1,490", re.DOTALL)
        )
        assert page.evaluate(NAMELESS) == [] and page.evaluate(PALE) == []
        evidence.get_by_role("link", name="See it in the page").click()
        expect(page.locator(".paper mark.chosen")).to_have_text("2021 | 845 | 1,490 | 598")
        page.get_by_role("link", name="Back to the run").click()
        expect(stays.locator(".sentence.chosen")).to_be_in_viewport()
        narrow = Screen(tab(width=400), server.url).open(screen.run_id)
        expect(narrow.page.get_by_role("heading", name="The huts compared")).to_be_visible()
        assert narrow.page.evaluate(TOO_WIDE) == []

        with screen.menu(screen.button("Export"), screen.button("Markdown")):
            text = Path(screen.download("Markdown").path()).read_text(encoding="utf-8")
        assert text.startswith("# Three huts on Norrvidda") and re.search(r"\|[ *]+2025[ *]+\| 1,342", text)

        heading = screen.answer.get_by_role("heading", name="The huts compared")
        heading.get_by_role("button").focus()
        stands = page.locator(".stMain").evaluate("e => e.scrollTop")
        page.keyboard.press("Space")  # it opens, and does not scroll
        expect(evidence.locator(".evidence-said")).to_have_text("The huts compared")
        expect(heading.get_by_role("button")).to_be_focused()
        assert page.locator(".stMain").evaluate("e => e.scrollTop") == stands
        expect(evidence.get_by_label("Comment on it")).to_be_visible()
        screen.button("All evidence").click()
        page.get_by_text("Outline", exact=True).click()
        editor = page.get_by_label("Sections and their facts")
        lines = editor.input_value().splitlines()
        kept = next(line for line in lines if "has kept Storfall" in line)
        others = "\n".join(line for line in lines if line != kept)
        editor.fill(f"{others.partition('Not used:')[0]}\nThe oldest keeper\n{kept}")
        screen.button("Write it again by this outline").click()
        expect(screen.answer.get_by_role("heading", name="The oldest keeper")).to_be_visible()
        expect(screen.answer).to_contain_text("after your edit: changed the outline")
        screen.stands("Answer to review")

        brief = screen.button("Brief")
        act_until(lambda: brief.is_visible() or screen.button("Length").click(), brief)
        brief.click()
        expect(screen.answer).to_contain_text("after your edit: asked for a brief answer")
        screen.stands("Answer to review")
        expect(screen.answer.get_by_role("heading", name="The huts compared")).to_have_count(0)
