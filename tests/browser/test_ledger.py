"""The ledger in a real browser: a person pins, corrects in the table, adds, strikes a source after being
asked, takes it back."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, Position, expect

from tests.browser.screen import FOUNDED, Screen, act_until
from tests.browser.served import Served

WRONG = "The dairy began in 1989 with two partners."
EXCLUDES = re.compile("^Exclude it with")


def changed(page: Page, former: int, why: str) -> None:
    """Wait until the answer after this one stands, and says why it was written."""
    expect(page.get_by_text(f"What changed since answer {former}")).to_be_visible()
    expect(page.get_by_text(f"Updated after your edit: {why}")).to_be_visible()


def typed_in_the_table(page: Page, text: str, saves: Locator) -> None:
    """Double-click the statement of the first row, write another, leave the cell; wait for the button that
    saves it."""
    grid, cell = page.locator(".dvn-scroller"), page.locator("#portal textarea")

    def write() -> None:
        grid.dblclick(position={"x": 200, "y": 54})
        cell.fill(text)
        expect(cell).to_have_value(text)
        cell.press("Enter")

    act_until(write, saves)


def ticked(page: Page, then: Locator) -> None:
    """Choose the first row of the table; wait for the button that appears for it. One click too many takes the
    first back."""
    row: Position = {"x": 18, "y": 54}
    act_until(lambda: then.is_visible() or page.locator(".dvn-scroller").click(position=row), then)


def test_a_person_edits_the_ledger_and_the_answer_follows(tab, server: Served) -> None:
    page: Page = tab()
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    answer = screen.answer
    expect(answer).to_contain_text("The sources differ")

    evidence = screen.see(1, 1)  # from a sentence to its words, and to what may be done with them
    card = evidence.locator("[class*=st-key-evidence-f]").filter(has_text="bolagsrullen.example").first
    expect(card.locator("mark").first).to_be_visible()
    card.get_by_role("button", name="Always use").click()
    changed(page, 1, "pinned 1 fact of bolagsrullen.example")
    expect(answer).to_contain_text("1979")
    expect(answer.locator(".answer")).not_to_contain_text("sources differ")
    expect(page.locator(".st-key-evidence-head")).to_be_visible()  # what is open stays open

    panel = screen.tab("Facts")
    find = panel.get_by_label("Find in the facts")
    find.fill("roll on 12 May")
    rows = panel.locator("canvas [role=row]")
    expect(rows).to_have_count(2)
    typed_in_the_table(page, WRONG, screen.button("Save"))
    screen.button("Save").click()
    expect(screen.notice.filter(has_text="more than the quote supports")).to_be_visible()
    changed(page, 2, "corrected 1 fact of bolagsrullen.example")
    beside = answer.locator(".sentence.mute", has_text="1989")
    expect(beside).to_have_attribute("title", re.compile("^Own knowledge"))
    expect(answer.get_by_role("button", name="⊘ not checked")).to_be_visible()
    screen.button("Undo: corrected 1 fact of bolagsrullen.example").click()
    changed(page, 3, "undid: corrected 1 fact of bolagsrullen.example")
    expect(answer.locator(".answer")).not_to_contain_text("sources differ")
    expect(answer.locator(".sentence.mute")).to_have_count(0)

    screen.button("Add a fact").click()
    page.get_by_label("The fact, in a sentence").fill("Älvmora Mejeri was founded by my aunt and her friend.")
    page.get_by_text("My own knowledge").click()
    expect(page.get_by_text("It never counts as backed")).to_be_visible()
    screen.button("Add it").click()
    changed(page, 4, "added 1 fact of your own knowledge")
    expect(answer.locator(".sentence.mute")).to_contain_text("my aunt")

    screen.stands("Answer to review")
    sources = screen.tab("Sources")
    site = sources.locator("[class*=st-key-source-]").filter(has_text="bolagsrullen.example")
    opens, does = (
        site.get_by_role("button", name="Exclude", exact=True),
        page.get_by_role("button", name=EXCLUDES),
    )
    act_until(lambda: does.is_visible() or opens.last.click(), does)
    expect(page.get_by_text("The answer loses")).to_be_visible()
    does.click()
    changed(page, 5, "excluded the source bolagsrullen.example")
    expect(answer.locator(".answer")).not_to_contain_text("1979")

    panel = screen.tab("Facts")
    find.fill("my aunt")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="my aunt")).to_be_attached()
    screen.stands("Answer to review")
    strikes = screen.button("Exclude 1 fact")
    ticked(page, strikes)
    strikes.click()
    changed(page, 6, "excluded 1 fact")
    expect(answer.locator(".answer")).not_to_contain_text("my aunt")
    assert screen.too_wide() == []
