"""A full report on the demo world as a person orders it: length chosen in the form, a document with tables and
a chart, quotes at each cell, another length and a file to paste."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.looks import NAMELESS, PALE
from tests.browser.screen import TOO_WIDE, Screen, Tab
from tests.browser.served import Served
from tests.web.hut_model import QUESTION, HutScript
from tests.web.model_server import ModelServer


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
        card = page.locator(".st-key-research-answer")
        for heading in ("Three huts on Norrvidda", "Summary", "The huts compared", "Limits of the evidence"):
            expect(card.get_by_role("heading", name=heading)).to_be_visible()
        table = card.get_by_role("table").first
        expect(table.get_by_role("row", name="Storfall 1956")).to_contain_text("340 kronor")
        expect(card.locator("canvas, svg.marks").first).to_be_visible()
        cell = table.get_by_role("row", name="Storfall 1956").get_by_role("cell").nth(1)
        cell.locator("summary").first.click()
        expect(cell.get_by_text("Storfall hut has 36 beds.")).to_be_visible()
        assert page.evaluate(NAMELESS) == [] and page.evaluate(PALE) == []
        narrow = Screen(tab(width=400), server.url).open(screen.run_id)
        expect(narrow.page.get_by_role("heading", name="The huts compared")).to_be_visible()
        assert narrow.page.evaluate(TOO_WIDE) == []

        with (
            screen.menu(card.get_by_role("button", name="Export"), screen.button("Markdown")),
            page.expect_download() as waiting,
        ):
            screen.button("Markdown").click()
        text = Path(waiting.value.path()).read_text(encoding="utf-8")
        assert text.startswith("# Three huts on Norrvidda") and "| **2025** | 1,342 [" in text

        card.get_by_text("Outline", exact=True).click()
        editor = page.get_by_label("Sections and their facts")
        lines = editor.input_value().splitlines()
        kept = next(line for line in lines if "has kept Storfall" in line)
        others = "\n".join(line for line in lines if line != kept)
        editor.fill(f"{others.partition('Not used:')[0]}\nThe oldest keeper\n{kept}")
        page.get_by_role("button", name="Write it again by this outline").click()
        section = card.get_by_role("heading", name="The oldest keeper")
        expect(section).to_be_visible()
        screen.stands("Answer to review")
        expect(card.get_by_text("after your edit: changed the outline").first).to_be_visible()

        card.get_by_role("button", name="Length").click()
        page.get_by_role("button", name="Brief", exact=True).click()
        screen.stands("Answer to review")
        expect(card.get_by_text("after your edit: asked for a brief answer").first).to_be_visible()
        expect(card.get_by_role("heading", name="The huts compared")).to_have_count(0)
